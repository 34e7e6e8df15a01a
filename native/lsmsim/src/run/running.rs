//! The trial of a running store: a store that another config built is opened, overwritten once, and
//! measured while records arrive at a rate.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Run, Trial};
use crate::failure::Failure;
use crate::load::{Keys, Load, RandomKeys, Sample};
use crate::options::{Options, Style};
use crate::reads::data_blocks;
use crate::table::Sizes;
use crate::tree::Tree;

/// The steps of a trial of a running store.
#[derive(Clone, Debug, Deserialize)]
pub struct Running {
    /// The options that built the store.
    pub baseline: Options,
    /// Records that arrive per second.
    pub rate: f64,
    /// How often each key is written before anything is measured.
    pub turn_over: f64,
    /// Seconds without a limit of the rate, at the rate, and at the rate with a measurement.
    pub capacity_s: f64,
    pub calm_s: f64,
    pub window_s: f64,
}

/// The number of times that gets are counted in the window, and the number of keys each time.
const LOOKS: f64 = 32.0;
const KEYS_PER_LOOK: usize = 100;
/// The lateness, as a share of the window, and the growth of the backlog, as a share of the written
/// bytes, from which on a store cannot keep the rate.
const MOST_LATE: f64 = 0.02;
const MOST_GROWTH: f64 = 0.1;
const LEAST_OVERLOAD: f64 = 0.5;
/// Writes with the load's own choice of keys, as a share of all keys.
const OWN_CHOICE: f64 = 0.25;
/// The share of the window that is its first and its last part.
const QUARTER: f64 = 0.25;
/// A rest of a step that is due to rounding.
const ROUNDING_S: f64 = 1e-9;

/// Records that arrive at a rate, and those that have arrived and are not written yet.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub rate: f64,
    pub queue: f64,
}

impl Pace {
    /// Whether a record waits for the writer.
    pub fn waits(&self) -> bool {
        self.queue >= 1.0
    }
}

/// Predict the metrics of the window, by the names of lsmtune's metrics.
pub fn simulate_running(
    trial: Trial,
    running: &Running,
) -> Result<BTreeMap<&'static str, f64>, Failure> {
    let load = trial.load;
    let options = trial.options.clone().sanitised();
    let baseline = running.baseline.clone().sanitised();
    let of_memtable = |options: &Options| {
        Sizes::new(load, options).records_per_memtable(options.write_buffer_size)
    };
    let sample = Sample::of(load, of_memtable(&options).min(of_memtable(&baseline)));
    let (tree, sequence) = built(trial, &baseline, sample)?;
    let keys = Keys::turning_over(load, sample, trial.seed, sequence);
    let mut run = Run::new(trial, &options, Sizes::new(load, &options), keys, 0.0);
    run.open(tree)?;
    run.phase(None, turned_over(load, running), f64::INFINITY, None)?;
    let (capacity, _) = run.measured(None, running.capacity_s)?;
    run.settle()?;
    run.phase(Some(running.rate), f64::INFINITY, running.calm_s, None)?;
    let (of_window, window) = run.measured(Some(running.rate), running.window_s)?;
    let record = (load.key_size + load.value_size) as f64;
    if of_window.records < 1.0 || capacity.records < 1.0 {
        return Err(Failure::Stuck);
    }
    let mut metrics = window.metrics();
    let written = of_window.flushed + of_window.compacted + of_window.backlog;
    metrics.insert("write_amp", written / (of_window.records * record));
    metrics.insert("flush_write_bytes", of_window.flushed);
    metrics.insert("compact_write_bytes", of_window.compacted);
    metrics.insert("cpu_us_per_op", of_window.cpu_s * 1e6 / of_window.records);
    let fastest = capacity.records / running.capacity_s;
    let capacity_ops_s = fastest / (1.0 + capacity.owed_share());
    metrics.insert("capacity_ops_s", capacity_ops_s);
    let late = metrics["behind_s"] / (MOST_LATE * running.window_s);
    // What universal compaction owes grows until the next full merge, in every store.
    let grown = match options.compaction_style {
        Style::Universal => {
            let flushed = options.min_write_buffer_number_to_merge as f64 * run.memtables.capacity;
            window.level0.growth() * of_window.flushed / of_window.records * flushed
        }
        _ => of_window.backlog,
    };
    let lagging = grown / (MOST_GROWTH * (of_window.flushed + of_window.compacted).max(1.0));
    // What is owed also grows for some seconds in a store that can take much more.
    let used = of_window.records / running.window_s / capacity_ops_s;
    metrics.insert("overload", late.max(lagging.min(used)).max(LEAST_OVERLOAD));
    Ok(metrics)
}

/// The number of records that are written before anything is measured: each key, and then some with
/// the load's own choice of keys.
fn turned_over(load: &Load, running: &Running) -> f64 {
    let own = if running.turn_over > 0.0 && load.write_skew.is_some() { OWN_CHOICE } else { 0.0 };
    (running.turn_over + own) * load.num as f64
}

/// The tree of the store that the baseline built: each key once, then overwritten, then settled.
/// With the sequence number of its last record.
fn built(trial: Trial, baseline: &Options, sample: Sample) -> Result<(Tree, u32), Failure> {
    let (load, seed) = (trial.load, trial.seed);
    let records = load.num as f64;
    let uniform = Load { write_skew: None, ..load.clone() };
    let each = Keys::each_once(sample, seed);
    let mut build = Run::new(trial, baseline, Sizes::new(load, baseline), each, records);
    build.go(&mut |_| {})?;
    let sequence = build.memtables.sequence();
    let again = Keys::turning_over(&uniform, sample, !seed, sequence);
    let mut overwritten = build.followed_by(again, records);
    overwritten.go(&mut |_| {})?;
    Ok((overwritten.tree, overwritten.memtables.sequence()))
}

/// Sums so far.
#[derive(Clone, Copy)]
struct Sums {
    records: f64,
    flushed: f64,
    compacted: f64,
    backlog: f64,
    cpu_s: f64,
}

impl Sums {
    /// How much compactions owe more than before, as a share of the written bytes.
    fn owed_share(&self) -> f64 {
        self.backlog.max(0.0) / (self.flushed + self.compacted).max(1.0)
    }

    fn since(self, before: Self) -> Self {
        Self {
            records: self.records - before.records,
            flushed: self.flushed - before.flushed,
            compacted: self.compacted - before.compacted,
            backlog: self.backlog - before.backlog,
            cpu_s: self.cpu_s - before.cpu_s,
        }
    }
}

impl Run<'_> {
    /// Open the settled store of another config.
    fn open(&mut self, mut tree: Tree) -> Result<(), Failure> {
        let (options, needed) = (self.options, tree.deepest().map_or(0, |level| level + 1));
        if options.num_levels < needed {
            return Err(Failure::TooFewLevels { levels: options.num_levels, needed });
        }
        // From 8.3 on, `DBImpl::Recover` moves files to the last levels for dynamic levels.
        let down = options.version.drains_levels()
            && options.level_compaction_dynamic_level_bytes
            && !options.disable_auto_compactions;
        tree.reopen(options.num_levels, down);
        self.tree = tree;
        self.files_changed();
        Ok(())
    }

    /// Let records arrive, without a rate as fast as they can be written, until so many are written
    /// or so many seconds have passed.
    fn phase(
        &mut self,
        rate: Option<f64>,
        records: f64,
        seconds: f64,
        mut window: Option<&mut Window>,
    ) -> Result<(), Failure> {
        // Records that waited at the end of the phase before still wait.
        let queue = self.pace.map_or(0.0, |pace| pace.queue);
        self.pace = rate.map(|rate| Pace { rate, queue });
        self.records = self.memtables.written + records;
        self.until_s = self.now_s + seconds;
        loop {
            self.check_stop()?;
            self.schedule();
            if self.is_written() || self.until_s - self.now_s < ROUNDING_S {
                return Ok(());
            }
            let (before_s, state) = (self.now_s, State::of(self));
            self.step()?;
            if let Some(window) = &mut window {
                window.add(self, &state, before_s);
            }
            if self.memtables.room() <= 0.0 {
                self.switch_memtable();
            }
        }
    }

    /// Let all jobs end without writes, as the trial does before the rate begins.
    fn settle(&mut self) -> Result<(), Failure> {
        self.pace = Some(Pace { rate: 0.0, queue: 0.0 });
        self.until_s = f64::INFINITY;
        self.records = f64::INFINITY;
        loop {
            self.check_stop()?;
            self.schedule();
            if self.jobs.is_empty() {
                return Ok(());
            }
            self.step()?;
        }
    }

    /// Run for some seconds. Return the sums of this time, and the state of the store in it.
    fn measured(&mut self, rate: Option<f64>, seconds: f64) -> Result<(Sums, Window), Failure> {
        let before = self.sums();
        let mut window = Window::new(self, seconds);
        self.phase(rate, f64::INFINITY, seconds, Some(&mut window))?;
        let mut sums = self.sums().since(before);
        if self.options.compaction_style != Style::Universal {
            sums.backlog = window.pending.growth();
        }
        Ok((sums, window))
    }

    fn sums(&self) -> Sums {
        let written = |flushes: bool| -> f64 {
            let jobs = self.jobs.iter().filter(|job| job.is_flush() == flushes);
            jobs.map(|job| job.written_bytes()).sum()
        };
        let used: f64 = self.jobs.iter().map(|job| job.cost.cpu_s * (1.0 - job.left)).sum();
        Sums {
            records: self.memtables.written,
            flushed: self.totals.flushed_bytes + written(true),
            compacted: self.totals.compacted_bytes + written(false),
            backlog: self.owed_bytes(),
            cpu_s: self.totals.cpu_s + used,
        }
    }

    /// The bytes that compactions still have to write.
    ///
    /// RocksDB reports none for universal compaction, whose largest cost is the merge of all sorted
    /// runs. It comes when all runs but the last have a share of the size of the last one. So each
    /// byte outside the last run owes its part of this merge.
    fn owed_bytes(&self) -> f64 {
        if self.options.compaction_style != Style::Universal {
            return self.shape.pending_bytes(&self.tree, self.options) as f64;
        }
        let all = self.tree.live_bytes() as f64;
        let last = match self.tree.deepest() {
            None => return 0.0,
            Some(0) => self.tree.levels[0].iter().map(|&id| self.tree.file(id).bytes).max(),
            Some(level) => Some(self.tree.level_bytes(level)),
        };
        let last = last.unwrap_or(0).max(1) as f64;
        let most = self.options.universal_max_size_amplification_percent as f64 / 100.0;
        all * ((all - last) / (last * most)).min(1.0)
    }

    fn space(&self) -> f64 {
        let logged =
            if self.options.disable_wal { 0.0 } else { self.memtables.unflushed_records() };
        let being_written: f64 = self.jobs.iter().map(|job| job.written_bytes()).sum();
        self.tree.live_bytes() as f64 + being_written + logged * self.costs.sizes.batch
    }
}

/// The state of the store between two events.
struct State {
    live: f64,
    runs: f64,
    level0: f64,
    pending: f64,
    queue: f64,
}

impl State {
    fn of(run: &Run) -> Self {
        let below = run.tree.levels[1..].iter().filter(|level| !level.is_empty()).count();
        let level0 = run.tree.levels[0].len();
        Self {
            live: run.tree.live_bytes() as f64,
            runs: (level0 + below) as f64,
            level0: level0 as f64,
            pending: run.shape.pending_bytes(&run.tree, run.options) as f64,
            queue: run.pace.map_or(0.0, |pace| pace.queue),
        }
    }
}

/// Integrals of a value over the whole window, and over its first and its last quarter. All are
/// divided by the time of the part.
#[derive(Default)]
struct Parts {
    all: f64,
    first: f64,
    last: f64,
}

impl Parts {
    /// Add a value that lasts for these shares of the parts.
    fn add(&mut self, value: f64, shares: [f64; 3]) {
        self.all += value * shares[0];
        self.first += value * shares[1];
        self.last += value * shares[2];
    }

    /// The growth from the first to the last quarter, for the whole window. RocksDB counts the
    /// files of level 0 when they are enough for a compaction, and until it has ended. So a moment
    /// says little.
    fn growth(&self) -> f64 {
        (self.last - self.first) / (1.0 - QUARTER)
    }
}

/// What is known of the window.
struct Window {
    begin_s: f64,
    window_s: f64,
    live: Parts,
    runs: Parts,
    level0: Parts,
    pending: Parts,
    queue: Parts,
    rate: f64,
    peak: f64,
    keys: RandomKeys,
    looks: f64,
    blocks: (f64, f64),
}

impl Window {
    fn new(run: &Run, window_s: f64) -> Self {
        Self {
            begin_s: run.now_s,
            window_s,
            live: Parts::default(),
            runs: Parts::default(),
            level0: Parts::default(),
            pending: Parts::default(),
            queue: Parts::default(),
            rate: 0.0,
            peak: run.space(),
            keys: RandomKeys::new(run.write_skew, run.costs.sample, run.started_jobs),
            looks: 0.0,
            blocks: (0.0, 0.0),
        }
    }

    /// Add the time since `before_s`, during which the tree did not change.
    fn add(&mut self, run: &Run, state: &State, before_s: f64) {
        let (quarter_s, step_s) = (QUARTER * self.window_s, run.now_s - before_s);
        let first_s = (self.begin_s + quarter_s - before_s).clamp(0.0, step_s);
        let last_s = (run.now_s - (self.begin_s + self.window_s - quarter_s)).clamp(0.0, step_s);
        let shares = [step_s / self.window_s, first_s / quarter_s, last_s / quarter_s];
        self.live.add(state.live, shares);
        self.runs.add(state.runs, shares);
        self.level0.add(state.level0, shares);
        self.pending.add(state.pending, shares);
        let pace = run.pace.unwrap_or(Pace { rate: 0.0, queue: 0.0 });
        self.rate = pace.rate;
        self.queue.add((state.queue + pace.queue) / 2.0, shares);
        self.peak = self.peak.max(run.space());
        if run.now_s - self.begin_s >= self.looks / LOOKS * self.window_s {
            let keys: Vec<u32> = (0..KEYS_PER_LOOK).map(|_| self.keys.draw()).collect();
            let (found, missing) = data_blocks(&run.tree, run.options, &keys);
            self.blocks = (self.blocks.0 + found, self.blocks.1 + missing);
            self.looks += 1.0;
        }
    }

    fn metrics(&self) -> BTreeMap<&'static str, f64> {
        BTreeMap::from([
            ("live_sst_bytes", self.live.all),
            ("scan_sorted_runs", self.runs.all),
            ("level0_files", self.level0.all),
            ("pending_bytes", self.pending.all),
            ("behind_s", self.queue.last / self.rate),
            ("peak_space_bytes", self.peak),
            ("get_data_blocks", self.blocks.0 / self.looks),
            ("get_missing_data_blocks", self.blocks.1 / self.looks),
        ])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{simulate_running, Running};
    use crate::failure::Failure;
    use crate::load::{Load, Name};
    use crate::machine::Machine;
    use crate::options::{Options, Style};
    use crate::run::Trial;
    use crate::version::Version;

    fn options() -> Options {
        Options {
            version: Version(11, 8),
            write_buffer_size: 1 << 20,
            target_file_size_base: 1 << 20,
            max_bytes_for_level_base: 4 << 20,
            level_compaction_dynamic_level_bytes: true,
            ..Options::default()
        }
    }

    fn window(
        options: &Options,
        rate: f64,
        skew: Option<f64>,
    ) -> Result<BTreeMap<&'static str, f64>, Failure> {
        let load = Load {
            name: Name::Overwrite,
            num: 100_000,
            value_size: 1024,
            write_skew: skew,
            ..Load::default()
        };
        let machine = Machine::default();
        let trial =
            Trial { load: &load, options, machine: &machine, seed: 1, probe: None, stop: None };
        let baseline = self::options();
        let (capacity_s, calm_s, window_s) = (1.0, 3.0, 6.0);
        let running = Running { baseline, rate, turn_over: 1.0, capacity_s, calm_s, window_s };
        simulate_running(trial, &running)
    }

    #[test]
    fn a_store_that_keeps_the_rate_owes_nothing_at_the_end() {
        let found = window(&options(), 5_000.0, None).unwrap();
        assert_eq!(found, window(&options(), 5_000.0, None).unwrap());
        assert_eq!((found["overload"], found["behind_s"]), (0.5, 0.0));
        assert!(found["capacity_ops_s"] > 10_000.0);
        assert!((2.0..12.0).contains(&found["write_amp"]));
        // 100,000 records that compress to a half, and some that are overwritten.
        assert!((50e6..90e6).contains(&found["live_sst_bytes"]));
        assert!(found["peak_space_bytes"] > found["live_sst_bytes"]);
        assert!(found["scan_sorted_runs"] > found["level0_files"] + 1.0);
        assert!(found["get_data_blocks"] < found["get_missing_data_blocks"]);
    }

    #[test]
    fn records_that_come_too_fast_wait() {
        let found = window(&options(), 200_000.0, None).unwrap();
        assert!(found["overload"] > 1.0 && found["behind_s"] > 1.0);
    }

    #[test]
    fn filters_save_blocks_in_files_that_the_config_wrote() {
        let filtered = Options { bloom_bits: 10.0, ..options() };
        let found = window(&filtered, 5_000.0, None).unwrap();
        assert!(found["get_missing_data_blocks"] < 0.2);
        assert!((1.0..1.2).contains(&found["get_data_blocks"]));
    }

    #[test]
    fn skewed_writes_are_merged_earlier() {
        let of = |skew| window(&options(), 5_000.0, skew).unwrap()["write_amp"];
        assert!(of(Some(12.0)) < 0.7 * of(None));
    }

    #[test]
    fn a_store_opens_with_other_levels_unless_they_are_too_few() {
        let with = |num_levels| window(&Options { num_levels, ..options() }, 5_000.0, None);
        assert!(with(9).unwrap()["scan_sorted_runs"] < 10.0);
        let too_few = Failure::TooFewLevels { levels: 4, needed: 7 };
        assert_eq!(with(4), Err(too_few));
    }

    #[test]
    fn universal_compaction_owes_a_part_of_its_next_full_merge() {
        let universal = Options { compaction_style: Style::Universal, ..options() };
        let found = window(&universal, 5_000.0, None).unwrap();
        assert_eq!((found["pending_bytes"], found["overload"]), (0.0, 0.5));
        let written = found["flush_write_bytes"] + found["compact_write_bytes"];
        assert_ne!(found["write_amp"], written / (5_000.0 * 6.0 * 1040.0));
    }
}
