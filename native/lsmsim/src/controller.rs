//! When writes are slowed down or stopped: `RecalculateWriteStallConditions` and `SetupDelay` in
//! db/column_family.cc.

use crate::options::Options;

const SLOWEST: f64 = (16 << 10) as f64;
const SLOWER: f64 = 0.8;
const NEAR_STOP: f64 = 0.6;
const RECOVERED: f64 = 1.4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    Free,
    Delayed,
    Stopped,
}

/// The state of the store by which the controller decides.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// Full memtables that are not in a table file yet.
    pub memtables: usize,
    /// Files of level 0, or sorted runs.
    pub runs: usize,
    pub pending_bytes: u64,
    /// Bytes of files that have no older records below them.
    pub bottommost_bytes: u64,
}

#[derive(Clone, Debug)]
pub struct Controller {
    pub writes: Writes,
    /// Bytes of write batches per second while writes are delayed.
    pub rate: f64,
    /// Whether more than one compaction may run.
    pub pressure: bool,
    most: f64,
    last_pending_bytes: u64,
}

impl Controller {
    pub fn new(options: &Options) -> Self {
        let most = options.delayed_write_rate as f64;
        Self { writes: Writes::Free, rate: most, pressure: false, most, last_pending_bytes: 0 }
    }

    /// Decide again after a memtable was switched or files have changed.
    pub fn recalculate(&mut self, backlog: Backlog, options: &Options) {
        let (now, near_stop) = condition(backlog, options);
        match now {
            Writes::Stopped => {}
            Writes::Delayed => self.set_rate(backlog.pending_bytes, near_stop, options),
            Writes::Free => {
                if self.writes == Writes::Delayed {
                    self.rate = (self.rate * RECOVERED).min(self.most);
                }
            }
        }
        self.pressure = now != Writes::Free
            || backlog.runs >= pressure_at(options)
            || backlog.pending_bytes >= pressing_debt(backlog.bottommost_bytes, options);
        self.writes = now;
        self.last_pending_bytes = backlog.pending_bytes;
    }

    fn set_rate(&mut self, pending_bytes: u64, near_stop: bool, options: &Options) {
        if options.disable_auto_compactions {
            self.rate = self.most;
        } else if self.writes == Writes::Delayed && self.most > SLOWEST {
            let last = self.last_pending_bytes;
            if near_stop {
                self.rate *= NEAR_STOP;
            } else if last > 0 && last <= pending_bytes {
                self.rate *= SLOWER;
            } else if last > pending_bytes {
                self.rate /= SLOWER;
            }
            self.rate = self.rate.clamp(SLOWEST, self.most);
        }
    }
}

/// Whether writes would be slowed down or stopped.
pub fn would_stall(backlog: Backlog, options: &Options) -> bool {
    condition(backlog, options).0 != Writes::Free
}

/// Return how writes run with this backlog, and whether they are near their stop.
fn condition(backlog: Backlog, options: &Options) -> (Writes, bool) {
    let Backlog { memtables, runs, pending_bytes, .. } = backlog;
    let compacts = !options.disable_auto_compactions;
    let (soft, hard) =
        (options.soft_pending_compaction_bytes_limit, options.hard_pending_compaction_bytes_limit);
    let stopped = memtables >= options.max_write_buffer_number
        || compacts && runs >= options.level0_stop_writes_trigger
        || compacts && hard > 0 && pending_bytes >= hard;
    if stopped {
        return (Writes::Stopped, true);
    }
    if options.max_write_buffer_number > 3
        && memtables >= options.max_write_buffer_number - 1
        && memtables > options.min_write_buffer_number_to_merge
    {
        return (Writes::Delayed, false);
    }
    if compacts && runs >= options.level0_slowdown_writes_trigger {
        return (Writes::Delayed, runs + 2 >= options.level0_stop_writes_trigger);
    }
    if compacts && soft > 0 && pending_bytes >= soft {
        let near = hard > 0 && pending_bytes - soft > 3 * hard.saturating_sub(soft) / 4;
        return (Writes::Delayed, near);
    }
    (Writes::Free, false)
}

/// The number of pending bytes from which on several compactions run at once
/// (`GetPendingCompactionBytesForCompactionSpeedup`).
fn pressing_debt(bottommost_bytes: u64, options: &Options) -> u64 {
    let of_limit = options.soft_pending_compaction_bytes_limit / 4;
    if !options.version.compares_debt() || bottommost_bytes == 0 {
        return of_limit;
    }
    let least = match options.version.has_least_debt() {
        true => options.max_bytes_for_level_base.saturating_mul(2),
        false => 0,
    };
    of_limit.min((bottommost_bytes / 8).max(least))
}

/// The number of runs from which on several compactions run at once
/// (`GetL0ThresholdSpeedupCompaction`).
fn pressure_at(options: &Options) -> usize {
    let trigger = options.level0_file_num_compaction_trigger;
    let quarter = trigger + (options.level0_slowdown_writes_trigger - trigger) / 4;
    trigger.saturating_mul(2).min(quarter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(runs: usize, pending_bytes: u64) -> Backlog {
        Backlog { memtables: 0, runs, pending_bytes, bottommost_bytes: 0 }
    }

    #[test]
    fn runs_slow_writes_down_and_then_stop_them() {
        let options = Options::default().sanitised();
        let mut controller = Controller::new(&options);
        for (runs, expected) in [(7, Writes::Free), (20, Writes::Delayed), (36, Writes::Stopped)] {
            controller.recalculate(backlog(runs, 0), &options);
            assert_eq!(controller.writes, expected);
        }
    }

    #[test]
    fn several_compactions_run_from_twice_the_trigger_on() {
        let options = Options::default().sanitised();
        let mut controller = Controller::new(&options);
        controller.recalculate(backlog(7, 0), &options);
        assert!(!controller.pressure);
        controller.recalculate(backlog(8, 0), &options);
        assert!(controller.pressure);
    }

    #[test]
    fn the_rate_falls_while_debt_grows_and_rises_while_it_shrinks() {
        let options = Options::default().sanitised();
        let mut controller = Controller::new(&options);
        let most = controller.rate;
        controller.recalculate(backlog(20, 100), &options);
        assert_eq!(controller.rate, most);
        controller.recalculate(backlog(21, 100), &options);
        assert_eq!(controller.rate, most * 0.8);
        controller.recalculate(backlog(21, 90), &options);
        assert_eq!(controller.rate, most);
        controller.recalculate(backlog(34, 90), &options);
        assert_eq!(controller.rate, most * 0.6);
    }
}
