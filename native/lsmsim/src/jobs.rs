//! Running flushes and compactions.

use crate::compaction::Compaction;
use crate::cost::Cost;
use crate::tree::File;

/// The result of a job, which changes the tree at the end of the job.
#[derive(Clone, Debug)]
pub enum Task {
    /// The flush of this number makes a file of level 0.
    Flush {
        number: u64,
        file: File,
    },
    Compact {
        compaction: Compaction,
        files: Vec<File>,
    },
}

/// A job: its cost, and the share of it that is left.
#[derive(Clone, Debug)]
pub struct Job {
    pub number: u64,
    pub task: Task,
    pub cost: Cost,
    /// The number of cores that the job can use.
    pub width: f64,
    /// From 1 to 0.
    pub left: f64,
}

/// The shortest time of a job. It is above 0, so that time passes.
const SHORTEST_S: f64 = 1e-9;

impl Job {
    pub fn new(number: u64, task: Task, cost: Cost, width: f64) -> Self {
        Self { number, task, cost, width, left: 1.0 }
    }

    pub fn is_flush(&self) -> bool {
        matches!(self.task, Task::Flush { .. })
    }

    /// The bytes that are written so far.
    pub fn written_bytes(&self) -> f64 {
        let bytes = match &self.task {
            Task::Flush { file, .. } => file.bytes,
            Task::Compact { files, .. } => files.iter().map(|file| file.bytes).sum(),
        };
        bytes as f64 * (1.0 - self.left)
    }

    /// The share of the job that is done per second with these cores and this bandwidth.
    pub fn speed(&self, cpus: f64, device_bytes_per_s: f64) -> f64 {
        let computing_s = self.cost.cpu_s / cpus;
        let moving_s = self.cost.device_bytes / device_bytes_per_s;
        1.0 / computing_s.max(moving_s).max(SHORTEST_S)
    }
}
