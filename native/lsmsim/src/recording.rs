//! A recording of a run: frames with the state of the tree, evenly spread over its time.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::failure::Failure;
use crate::jobs::{Job, Task};
use crate::measurement::Measurement;
use crate::run::{observe, Moment, Trial};
use crate::tree::{FileId, Tree};

/// A recording of a run. Frames name files and jobs by their numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recording {
    pub levels: usize,
    pub files: BTreeMap<FileId, FileInfo>,
    pub jobs: BTreeMap<u64, JobInfo>,
    pub frames: Vec<Frame>,
    pub metrics: Measurement,
}

/// A file: its bytes, and its range of keys as shares of all keys, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FileInfo {
    pub from: f32,
    pub to: f32,
    pub bytes: u64,
}

/// A flush, or a compaction of these files into a level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobInfo {
    pub is_flush: bool,
    pub inputs: Vec<FileId>,
    pub to: usize,
}

/// The state at one moment, and the files that have moved since the frame before.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Frame {
    pub at_s: f64,
    /// 0: writes are not slowed down, 1: they are delayed, 2: they are stopped.
    pub writes: u8,
    /// Full memtables that are not in a file yet.
    pub memtables: usize,
    pub written_records: f64,
    pub flushed_bytes: f64,
    pub compacted_bytes: f64,
    pub stall_s: f64,
    /// Files with a new level; -1 for files that were deleted.
    pub moved: BTreeMap<FileId, i32>,
    /// The running jobs, with the share of each that is done.
    pub jobs: Vec<(u64, f32)>,
}

/// Run the load, and keep at most `frames` frames and the last one.
pub fn record(trial: Trial, frames: usize) -> Result<Recording, Failure> {
    let mut recorder = Recorder::new();
    let metrics = observe(trial, |moment| recorder.watch(moment))?;
    let Recorder { files, jobs, frames: all, levels, .. } = recorder;
    Ok(Recording { levels, files, jobs, frames: thinned(all, frames), metrics })
}

struct Recorder {
    keys: f32,
    levels: usize,
    places: BTreeMap<FileId, i32>,
    files: BTreeMap<FileId, FileInfo>,
    jobs: BTreeMap<u64, JobInfo>,
    frames: Vec<Frame>,
}

impl Recorder {
    fn new() -> Self {
        Self {
            keys: 0.0,
            levels: 0,
            places: BTreeMap::new(),
            files: BTreeMap::new(),
            jobs: BTreeMap::new(),
            frames: Vec::new(),
        }
    }

    fn watch(&mut self, moment: &Moment) {
        self.levels = moment.tree.levels.len();
        self.keys = moment.keys as f32;
        for job in moment.jobs {
            self.jobs.entry(job.number).or_insert_with(|| info(job));
        }
        let frame = Frame {
            at_s: moment.now_s,
            writes: moment.writes as u8,
            memtables: moment.memtables,
            written_records: moment.written_records,
            flushed_bytes: moment.totals.flushed_bytes,
            compacted_bytes: moment.totals.compacted_bytes,
            stall_s: moment.totals.stall_s,
            moved: self.moved(moment.tree),
            jobs: moment.jobs.iter().map(|job| (job.number, (1.0 - job.left) as f32)).collect(),
        };
        self.frames.push(frame);
    }

    fn moved(&mut self, tree: &Tree) -> BTreeMap<FileId, i32> {
        let mut places = BTreeMap::new();
        for (level, ids) in tree.levels.iter().enumerate() {
            places.extend(ids.iter().map(|&id| (id, level as i32)));
        }
        let mut moved: BTreeMap<FileId, i32> =
            self.places.keys().filter(|id| !places.contains_key(id)).map(|&id| (id, -1)).collect();
        for (&id, &level) in &places {
            if self.places.get(&id) != Some(&level) {
                moved.insert(id, level);
                let file = tree.file(id);
                self.files.entry(id).or_insert_with(|| FileInfo {
                    from: file.smallest() as f32 / self.keys,
                    to: (file.largest() + 1) as f32 / self.keys,
                    bytes: file.bytes,
                });
            }
        }
        self.places = places;
        moved
    }
}

fn info(job: &Job) -> JobInfo {
    match &job.task {
        Task::Flush { .. } => JobInfo { is_flush: true, inputs: Vec::new(), to: 0 },
        Task::Compact { compaction, .. } => JobInfo {
            is_flush: false,
            inputs: compaction.files().collect(),
            to: compaction.output_level,
        },
    }
}

/// Keep the last frame of each of `count` equal spans of time, and the last frame of all. Files
/// that moved in a frame that is left out move in the next one.
fn thinned(all: Vec<Frame>, count: usize) -> Vec<Frame> {
    let end_s = all.last().map_or(0.0, |frame| frame.at_s);
    let span_of = |at_s: f64| (at_s / end_s * count as f64) as usize;
    let ends: Vec<bool> = (0..all.len())
        .map(|at| all.get(at + 1).is_none_or(|next| span_of(next.at_s) > span_of(all[at].at_s)))
        .collect();
    let mut kept = Vec::new();
    let mut moved = BTreeMap::new();
    for (mut frame, is_end) in all.into_iter().zip(ends) {
        moved.append(&mut frame.moved);
        if is_end {
            frame.moved = std::mem::take(&mut moved);
            kept.push(frame);
        }
    }
    kept
}
