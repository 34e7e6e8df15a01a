//! A run from its first write to the settled tree, event by event.
//!
//! An event is a full memtable, the end of a job, or the end of the load. Between two events, the
//! speeds of the writer and of all jobs are constant.

mod background;
mod running;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::controller::{would_stall, Backlog, Controller, Writes};
use crate::cost::Costs;
use crate::failure::Failure;
use crate::jobs::Job;
use crate::load::{Keys, Load, Sample};
use crate::machine::Machine;
use crate::measurement::{Measurement, Totals};
use crate::memtables::Memtables;
use crate::options::{Options, Style};
use crate::pick::{Cursors, Running as Compacting};
use crate::reads::{probed, Probe};
use crate::shape::Shape;
use crate::share::fair_shares;
use crate::table::Sizes;
use crate::tree::Tree;

use running::Pace;
pub use running::{simulate_running, Running};

/// The state of a run between two events.
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

/// A load on a store on a machine, and the reads after it (None: no reads).
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

/// Run the load on the store, and call `watch` between events.
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
        measured.reads = probed(probe, load, &run.tree, &options, &run.costs, seed);
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
    /// The time at which the phase of a running store ends.
    until_s: f64,
    /// None: records arrive as fast as they can be written.
    pace: Option<Pace>,
    write_skew: Option<f64>,
    memtables: Memtables,
    tree: Tree,
    shape: Shape,
    cursors: Cursors,
    running: Compacting,
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
            until_s: f64::INFINITY,
            pace: None,
            write_skew: trial.load.write_skew,
            memtables: Memtables::new(keys, capacity),
            shape: Shape::of(&tree, options),
            tree,
            cursors: Cursors::new(options.num_levels),
            running: Compacting::default(),
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

    /// Return a run that starts with the settled tree of this one.
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
            self.check_stop()?;
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

    fn check_stop(&self) -> Result<(), Failure> {
        match self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            true => Err(Failure::Stopped),
            false => Ok(()),
        }
    }

    /// Whether the flush after the load has to wait. It waits until it would not slow down writes:
    /// `WaitUntilFlushWouldNotStallWrites` in db/db_impl/db_impl_compaction_flush.cc.
    fn flush_waits(&self) -> bool {
        let now = self.backlog();
        let is_idle = now.memtables < self.options.min_write_buffer_number_to_merge
            && now.runs < self.options.level0_file_num_compaction_trigger;
        let then = Backlog { memtables: now.memtables + 1, runs: now.runs + 1, ..now };
        !is_idle && would_stall(then, self.options)
    }

    /// Fail if FIFO compaction has dropped keys that no other file has.
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
        let until_caught_up = match self.pace {
            Some(pace) if pace.waits() && records_per_s > pace.rate => {
                pace.queue / (records_per_s - pace.rate)
            }
            _ => f64::INFINITY,
        };
        let until_event = until_full.min(until_caught_up).min(self.until_s - self.now_s);
        let step_s = until_done.fold(until_event, f64::min);
        if step_s.is_infinite() {
            return Err(Failure::Stuck);
        }
        self.now_s += step_s;
        if !self.is_written() {
            self.totals.stall_s += step_s * self.stalled_share(cores[0]);
            self.totals.cpu_s += step_s * cpus[0];
            // Whole records at the end of a memtable or of the load. Otherwise a rounding error
            // could leave a tiny rest again and again.
            let all = step_s >= until_full;
            self.memtables.written += if all { room } else { records_per_s * step_s };
            if all {
                self.memtables.written = self.memtables.written.round();
            }
        }
        if let Some(pace) = &mut self.pace {
            let left = pace.queue + (pace.rate - records_per_s) * step_s;
            pace.queue = if step_s >= until_caught_up { 0.0 } else { left.max(0.0) };
        }
        for (job, speed) in self.jobs.iter_mut().zip(&speeds) {
            job.left -= speed * step_s;
        }
        self.finish_jobs();
        Ok(())
    }

    /// The share of a core that the writer would use.
    fn wanted_by_writer(&self) -> f64 {
        let cores = |records_per_s: f64| records_per_s * self.put_s / self.costs.machine.cpu_share;
        let arriving = match self.pace {
            Some(pace) if !pace.waits() => cores(pace.rate),
            _ => 1.0,
        };
        match self.controller.writes {
            _ if self.is_written() => 0.0,
            Writes::Stopped => 0.0,
            Writes::Delayed => {
                cores(self.controller.rate / self.costs.sizes.batch).min(1.0).min(arriving)
            }
            Writes::Free => arriving.min(1.0),
        }
    }

    /// The share of the time in which the writer is stalled. A delayed writer gets the `share` of a
    /// core, which is compared with the share that it would get without the delay.
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

    /// The bytes per second that each job can read and write. The rate limiter may lower them.
    fn device_share(&self) -> f64 {
        let device = self.costs.machine.device_bytes_per_s;
        let most = match self.options.rate_limiter_bytes_per_sec {
            0 => device,
            limit => device.min(limit as f64),
        };
        most / self.jobs.len().max(1) as f64
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
            // In almost all cases, files of the other levels have older records below them.
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
}
