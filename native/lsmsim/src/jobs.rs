//! Flushes and compactions at work.

use crate::compaction::Compaction;
use crate::cost::Cost;
use crate::tree::File;

/// What a job does when it is done.
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

/// A job: how much work it is, and how much of it is left.
#[derive(Clone, Debug)]
pub struct Job {
    pub number: u64,
    pub task: Task,
    pub cost: Cost,
    /// So many cores it can use.
    pub width: f64,
    /// From 1 to 0.
    pub left: f64,
}

/// The shortest job, so that time goes on.
const SHORTEST_S: f64 = 1e-9;

impl Job {
    pub fn new(number: u64, task: Task, cost: Cost, width: f64) -> Self {
        Self { number, task, cost, width, left: 1.0 }
    }

    pub fn is_flush(&self) -> bool {
        matches!(self.task, Task::Flush { .. })
    }

    /// Of all of it, how much is done in a second with these shares.
    pub fn speed(&self, cpus: f64, device_bytes_per_s: f64) -> f64 {
        let computing_s = self.cost.cpu_s / cpus;
        let moving_s = self.cost.device_bytes / device_bytes_per_s;
        1.0 / computing_s.max(moving_s).max(SHORTEST_S)
    }
}
