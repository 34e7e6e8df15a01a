//! Flushes and compactions of a run: when they start, and what they change when they end.

use super::Run;
use crate::compaction::{merge, Compaction};
use crate::cost::Cost;
use crate::jitter::jitter;
use crate::jobs::{Job, Task};
use crate::options::Style;
use crate::pick::pick;
use crate::tree::File;

/// How much the times of equal jobs vary, as a logarithm.
const JITTER: f64 = 0.1;

impl Run<'_> {
    /// Start all flushes and compactions that may run now.
    pub(super) fn schedule(&mut self) {
        let (flushes, _) = self.options.job_limits(self.controller.pressure);
        let least = if self.is_closed { 1 } else { self.options.min_write_buffer_number_to_merge };
        while self.jobs.iter().filter(|job| job.is_flush()).count() < flushes
            && self.memtables.waiting() >= least
        {
            self.start_flush();
        }
        while !self.options.disable_auto_compactions {
            let (_, limit) = self.options.job_limits(self.controller.pressure);
            if self.jobs.iter().filter(|job| !job.is_flush()).count() >= limit {
                return;
            }
            let found =
                pick(&self.tree, &self.shape, self.options, &self.running, &mut self.cursors);
            match found {
                None => return,
                Some(moved) if moved.is_trivial_move || moved.is_deletion => {
                    self.move_files(&moved)
                }
                Some(compaction) => self.start_compaction(compaction),
            }
        }
    }

    fn start_flush(&mut self) {
        let flushed = self.memtables.flush();
        let codec = self.options.flush_codec();
        let filtered = self.is_filtered(0);
        let bytes = self.costs.sizes.file(flushed.kept, codec, filtered, false);
        let file = File::new(flushed.sampled, bytes as u64, codec, filtered);
        let cost = self.costs.flush(flushed.records, &file);
        self.start(Task::Flush { number: flushed.number, file }, cost, 1.0);
    }

    fn start_compaction(&mut self, compaction: Compaction) {
        let filtered = self.is_filtered(compaction.output_level);
        let (sizes, every) = (&self.costs.sizes, self.costs.sample.every as f64);
        let files = merge(&compaction, &self.tree, self.options, sizes, every, filtered);
        let inputs = compaction.files().map(|id| self.tree.file(id));
        let cost = self.costs.compaction(inputs, &files);
        for (level, ids) in &compaction.inputs {
            self.tree.mark_being_compacted(*level, ids);
        }
        self.running.add(&compaction);
        let splits = compaction.output_level > 0
            && (compaction.start_level() == 0 || self.options.compaction_style == Style::Universal);
        let width = if splits { self.options.subcompactions.max(1) as f64 } else { 1.0 };
        self.start(Task::Compact { compaction, files }, cost, width);
    }

    fn start(&mut self, task: Task, cost: Cost, width: f64) {
        self.started_jobs += 1;
        // If equal jobs took the same time, compactions could stay in step with flushes forever.
        let cpu_s = cost.cpu_s * jitter(&mut self.rng, JITTER);
        self.jobs.push(Job::new(self.started_jobs, task, Cost { cpu_s, ..cost }, width));
    }

    /// Whether files of a level have a filter. With `optimize_filters_for_hits`, those of the
    /// deepest level have none.
    fn is_filtered(&self, level: usize) -> bool {
        let deepest = level > 0 && self.tree.deepest().is_none_or(|deepest| level >= deepest);
        self.options.bloom_bits > 0.0 && !(self.options.optimize_filters_for_hits && deepest)
    }

    /// Take the jobs that are done, and change the tree by their results.
    pub(super) fn finish_jobs(&mut self) {
        const DONE: f64 = 1e-9;
        let (done, left): (Vec<Job>, Vec<Job>) =
            std::mem::take(&mut self.jobs).into_iter().partition(|job| job.left < DONE);
        self.jobs = left;
        for Job { task, cost, .. } in done {
            self.totals.cpu_s += cost.cpu_s;
            match task {
                Task::Flush { number, file } => self.finish_flush(number, file),
                Task::Compact { compaction, files } => {
                    self.totals.compaction_cpu_s += cost.cpu_s;
                    self.finish_compaction(&compaction, files);
                }
            }
        }
    }

    fn finish_flush(&mut self, number: u64, file: File) {
        for file in self.memtables.finish(number, file) {
            self.totals.flushed_bytes += file.bytes as f64;
            let id = self.tree.create(file);
            self.tree.insert(0, &[id]);
        }
        self.files_changed();
    }

    fn finish_compaction(&mut self, compaction: &Compaction, files: Vec<File>) {
        self.running.remove(compaction);
        let written: f64 = files.iter().map(|file| file.bytes as f64).sum();
        self.totals.compacted_bytes += written;
        self.note_space(written);
        for (level, ids) in &compaction.inputs {
            self.tree.remove(*level, ids);
            for &id in ids {
                self.tree.drop_records(id);
            }
        }
        let ids: Vec<_> = files.into_iter().map(|file| self.tree.create(file)).collect();
        self.tree.insert(compaction.output_level, &ids);
        self.files_changed();
    }

    /// Move files to another level, or drop them.
    fn move_files(&mut self, compaction: &Compaction) {
        let (level, ids) = &compaction.inputs[0];
        self.tree.remove(*level, ids);
        if compaction.is_deletion {
            for &id in ids {
                self.dropped.extend(self.tree.file(id).records.iter().map(|record| record.key()));
                self.tree.drop_records(id);
            }
        } else {
            self.tree.insert(compaction.output_level, ids);
        }
        self.files_changed();
    }
}
