//! A run from its first write to the settled tree, event by event.
//!
//! Between two events every rate is constant: how fast records are written, and how far each job
//! comes. An event is a full memtable, a job's end, or the load's.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::compaction::{merge, Compaction};
use crate::controller::{would_stall, Backlog, Controller, Writes};
use crate::cost::{Cost, Costs};
use crate::failure::Failure;
use crate::jitter::jitter;
use crate::jobs::{Job, Task};
use crate::load::{Keys, Load, Sample};
use crate::machine::Machine;
use crate::measurement::{Measurement, Totals};
use crate::memtables::Memtables;
use crate::options::{Options, Style};
use crate::pick::{pick, Cursors, Running};
use crate::reads::{probed, Probe};
use crate::shape::Shape;
use crate::share::fair_shares;
use crate::table::Sizes;
use crate::tree::{File, Tree};

/// How widely alike jobs vary in the time that they take, in logarithms.
const JITTER: f64 = 0.1;

/// What a run looks like between two events.
pub struct Moment<'a> {
    pub now_s: f64,
    pub tree: &'a Tree,
    pub writes: Writes,
    /// Full memtables that are not in a file yet.
    pub memtables: usize,
    pub written_records: f64,
    pub totals: &'a Totals,
    pub jobs: &'a [Job],
    /// Number of keys that the run follows.
    pub keys: u32,
}

/// What is run: a load on a store on a machine, and the reads behind it if there are any.
///
/// The same seed gives the same run.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub load: &'a Load,
    pub options: &'a Options,
    pub machine: &'a Machine,
    pub seed: u64,
    pub probe: Option<Probe>,
    /// Another thread sets it to end the run.
    pub stop: Option<&'a AtomicBool>,
}

/// Run the load on the store.
pub fn simulate(trial: Trial) -> Result<Measurement, Failure> {
    observe(trial, |_| {})
}

/// Run the load, and let somebody watch.
pub fn observe(trial: Trial, mut watch: impl FnMut(&Moment)) -> Result<Measurement, Failure> {
    let Trial { load, seed, probe, .. } = trial;
    let options = trial.options.clone().sanitised();
    let sizes = Sizes::new(load, &options);
    let capacity = sizes.records_per_memtable(options.write_buffer_size);
    let sample = Sample::of(load, capacity);
    let keys = Keys::new(load, sample, seed);
    let mut run = if load.is_prepared() {
        let built = Keys::each_once(sample, seed);
        let mut build = Run::new(trial, &options, sizes, built, load.num as f64);
        build.go(&mut |_| {})?;
        build.followed_by(keys, load.operations())
    } else {
        Run::new(trial, &options, sizes, keys, load.operations())
    };
    run.go(&mut watch)?;
    let mut measured = run.totals.measurement(load, &options, &run.costs.sizes);
    if let Some(probe) = probe {
        run.check_kept()?;
        measured.reads = probed(probe, &run.tree, &options, &run.costs, seed);
    }
    Ok(measured)
}

struct Run<'a> {
    stop: Option<&'a AtomicBool>,
    options: &'a Options,
    costs: Costs,
    put_s: f64,
    /// Records of the whole load.
    records: f64,
    memtables: Memtables,
    tree: Tree,
    shape: Shape,
    cursors: Cursors,
    running: Running,
    controller: Controller,
    jobs: Vec<Job>,
    started_jobs: u64,
    /// Whether the rest of the load is being flushed, or is in files.
    is_closed: bool,
    /// Keys of the sample in files that were dropped.
    dropped: BTreeSet<u32>,
    rng: fastrand::Rng,
    now_s: f64,
    totals: Totals,
}

impl<'a> Run<'a> {
    fn new(trial: Trial<'a>, options: &'a Options, sizes: Sizes, keys: Keys, records: f64) -> Self {
        let tree = Tree::new(options.num_levels);
        let machine = trial.machine.clone();
        let costs = Costs { machine, mapped: options.mmap_write, sample: keys.sample, sizes };
        let capacity = costs.sizes.records_per_memtable(options.write_buffer_size);
        Self {
            stop: trial.stop,
            options,
            put_s: costs.put_s(capacity, !options.disable_wal),
            costs,
            records,
            memtables: Memtables::new(keys, capacity),
            shape: Shape::of(&tree, options),
            tree,
            cursors: Cursors::new(options.num_levels),
            running: Running::default(),
            controller: Controller::new(options),
            jobs: Vec::new(),
            started_jobs: 0,
            is_closed: false,
            dropped: BTreeSet::new(),
            rng: fastrand::Rng::with_seed(trial.seed),
            now_s: 0.0,
            totals: Totals::default(),
        }
    }

    /// A run on the settled tree of this one.
    fn followed_by(self, keys: Keys, records: f64) -> Self {
        let mut next = Self {
            records,
            memtables: Memtables::new(keys, self.memtables.capacity),
            controller: Controller::new(self.options),
            is_closed: false,
            now_s: 0.0,
            totals: Totals::default(),
            ..self
        };
        next.files_changed();
        next
    }

    fn go(&mut self, watch: &mut impl FnMut(&Moment)) -> Result<(), Failure> {
        loop {
            if self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Failure::Stopped);
            }
            self.schedule();
            if self.is_written() && !self.is_closed && !self.flush_waits() {
                self.is_closed = true;
                self.switch_memtable();
                self.schedule();
            }
            watch(&self.moment());
            if self.is_closed && self.jobs.is_empty() {
                self.totals.total_s = self.now_s;
                self.totals.live_bytes = self.tree.live_bytes() as f64;
                return Ok(());
            }
            let was_written = self.is_written();
            self.step()?;
            if !was_written && self.is_written() {
                self.totals.load_s = self.now_s;
            } else if !was_written && self.memtables.room() <= 0.0 {
                self.switch_memtable();
            }
        }
    }

    /// Whether the flush behind the load waits, which it does until it would slow no writes down:
    /// `WaitUntilFlushWouldNotStallWrites` in db/db_impl/db_impl_compaction_flush.cc.
    fn flush_waits(&self) -> bool {
        let now = self.backlog();
        let is_idle = now.memtables < self.options.min_write_buffer_number_to_merge
            && now.runs < self.options.level0_file_num_compaction_trigger;
        let then = Backlog { memtables: now.memtables + 1, runs: now.runs + 1, ..now };
        !is_idle && would_stall(then, self.options)
    }

    /// A failure where keys were dropped that no other file has.
    fn check_kept(&self) -> Result<(), Failure> {
        let lost = self.dropped.iter().filter(|&&key| !self.tree.has(key)).count();
        match lost as u64 * self.costs.sample.every {
            0 => Ok(()),
            keys => Err(Failure::Lost { keys }),
        }
    }

    fn is_written(&self) -> bool {
        self.memtables.written >= self.records
    }

    fn moment(&self) -> Moment<'_> {
        Moment {
            now_s: self.now_s,
            tree: &self.tree,
            writes: self.controller.writes,
            memtables: self.memtables.unflushed(),
            written_records: self.memtables.written,
            totals: &self.totals,
            jobs: &self.jobs,
            keys: self.costs.sample.keys,
        }
    }

    /// Let time pass until the next event.
    fn step(&mut self) -> Result<(), Failure> {
        let mut wanted = vec![self.wanted_by_writer()];
        wanted.extend(self.jobs.iter().map(|job| job.width));
        let cores = fair_shares(self.costs.machine.cores, &wanted);
        let cpus: Vec<f64> = cores.iter().map(|own| own * self.costs.machine.cpu_share).collect();
        let device = self.device_share();
        let speeds: Vec<f64> =
            self.jobs.iter().zip(&cpus[1..]).map(|(job, &own)| job.speed(own, device)).collect();
        let room = self.memtables.room().min(self.records - self.memtables.written);
        let records_per_s = cpus[0] / self.put_s;
        let until_full = if records_per_s > 0.0 { room / records_per_s } else { f64::INFINITY };
        let until_done = self.jobs.iter().zip(&speeds).map(|(job, speed)| job.left / speed);
        let step_s = until_done.fold(until_full, f64::min);
        if step_s.is_infinite() {
            return Err(Failure::Stuck);
        }
        self.now_s += step_s;
        if !self.is_written() {
            self.totals.stall_s += step_s * self.stalled_share(cores[0]);
            self.totals.cpu_s += step_s * cpus[0];
            // Whole numbers, when a memtable or the load ends: rounding must not hold time up.
            let all = step_s >= until_full;
            self.memtables.written += if all { room } else { records_per_s * step_s };
            if all {
                self.memtables.written = self.memtables.written.round();
            }
        }
        for (job, speed) in self.jobs.iter_mut().zip(&speeds) {
            job.left -= speed * step_s;
        }
        self.finish_jobs();
        Ok(())
    }

    /// How much of a core the writer would use.
    fn wanted_by_writer(&self) -> f64 {
        match self.controller.writes {
            _ if self.is_written() => 0.0,
            Writes::Stopped => 0.0,
            Writes::Delayed => {
                let cpus = self.controller.rate / self.costs.sizes.batch * self.put_s;
                (cpus / self.costs.machine.cpu_share).min(1.0)
            }
            Writes::Free => 1.0,
        }
    }

    /// How much of the time the writer sleeps, beside what it would have of a core if it did not.
    fn stalled_share(&self, share: f64) -> f64 {
        match self.controller.writes {
            Writes::Free => 0.0,
            Writes::Stopped => 1.0,
            Writes::Delayed => {
                let others: f64 = self.jobs.iter().map(|job| job.width).sum();
                let free = (self.costs.machine.cores / (others + 1.0)).min(1.0);
                (1.0 - share / free).max(0.0)
            }
        }
    }

    /// What each job has of the device, or of what the rate limiter leaves of it.
    fn device_share(&self) -> f64 {
        let device = self.costs.machine.device_bytes_per_s;
        let most = match self.options.rate_limiter_bytes_per_sec {
            0 => device,
            limit => device.min(limit as f64),
        };
        most / self.jobs.len().max(1) as f64
    }

    fn finish_jobs(&mut self) {
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

    /// Files that change their level, or go.
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

    fn files_changed(&mut self) {
        self.shape = Shape::of(&self.tree, self.options);
        self.note_space(0.0);
        self.control();
    }

    fn control(&mut self) {
        self.controller.recalculate(self.backlog(), self.options);
    }

    fn backlog(&self) -> Backlog {
        let below = match self.options.compaction_style {
            Style::Universal => self.tree.levels[1..].iter().filter(|l| !l.is_empty()).count(),
            _ => 0,
        };
        Backlog {
            memtables: self.memtables.unflushed(),
            runs: self.tree.levels[0].len() + below,
            pending_bytes: self.shape.pending_bytes(&self.tree, self.options),
            // Files of other levels have some below in almost all cases.
            bottommost_bytes: self.tree.deepest().map_or(0, |level| self.tree.level_bytes(level)),
        }
    }

    fn note_space(&mut self, being_written: f64) {
        let records =
            if self.options.disable_wal { 0.0 } else { self.memtables.unflushed_records() };
        let wal = records * self.costs.sizes.batch;
        let all = self.tree.live_bytes() as f64 + being_written + wal;
        self.totals.peak_bytes = self.totals.peak_bytes.max(all);
    }

    fn switch_memtable(&mut self) {
        self.memtables.switch();
        self.control();
    }

    fn schedule(&mut self) {
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
        // If alike jobs took exactly as long, compactions could keep step with flushes for ever.
        let cpu_s = cost.cpu_s * jitter(&mut self.rng, JITTER);
        self.jobs.push(Job::new(self.started_jobs, task, Cost { cpu_s, ..cost }, width));
    }

    /// Whether files of a level have a filter: the deepest needs none where most gets hit.
    fn is_filtered(&self, level: usize) -> bool {
        let deepest = level > 0 && self.tree.deepest().is_none_or(|deepest| level >= deepest);
        self.options.bloom_bits > 0.0 && !(self.options.optimize_filters_for_hits && deepest)
    }
}
