//! Operations with due times: when each is due, and the wait of a client for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::cpu;
use crate::plan::{Group, Run};
use crate::random::{mixed, share};
use crate::times::Times;

/// Makes the start of the arrivals independent of the keys.
const OF_ARRIVALS: u64 = 0x6172_7269_7661_6C73;
/// The longest sleep before the next check whether the run has ended.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);
/// How much later than asked the system may wake a thread. Its default is 50 us.
const SLACK_NS: libc::c_ulong = 1000;
/// A client wakes so much before the due time, and then spins. With sleep alone, half of the
/// operations began more than 50 us late.
const SPIN: Duration = Duration::from_micros(30);
/// `behind_s` is measured in the last part of a run, this one of its parts.
const PARTS: u32 = 4;

/// The due times of the operations of a group: one after each interval. The clients get them in
/// turn.
pub struct Arrivals {
    clients: u64,
    interval_s: f64,
    first_s: f64,
}

impl Arrivals {
    /// The arrivals of a group, which is the `place`-th of its run. None for a group without rate.
    pub fn of(group: &Group, place: usize) -> Option<Self> {
        let interval_s = 1.0 / group.per_second?;
        let random = mixed(mixed(group.seed ^ OF_ARRIVALS) ^ place as u64);
        Some(Self { clients: group.clients, interval_s, first_s: share(random) * interval_s })
    }

    /// When an operation of a client is due, after the start of the run.
    fn due(&self, client: u64, operation: u64) -> Duration {
        let arrival = operation as f64 * self.clients as f64 + client as f64;
        Duration::from_secs_f64(self.first_s + arrival * self.interval_s)
    }
}

/// The due times of one client, and how it keeps them.
pub struct Schedule<'a> {
    arrivals: &'a Arrivals,
    client: u64,
    started: Instant,
    /// The end of the run, and the time from which lateness counts.
    end: Option<Instant>,
    counts_from: Option<Instant>,
    pub kept: Kept,
}

/// How a client has kept its due times.
#[derive(Clone)]
pub struct Kept {
    /// How late operations began that began in the last part of the run.
    pub behind: Times,
    /// How late operations began for which the client waited.
    pub wakeups: Times,
}

/// An operation that is due.
pub struct Due {
    pub time: Instant,
    /// Whether the client was waiting when it became due.
    waited: bool,
    /// The CPU time of the wait.
    pub cpu: Duration,
}

impl<'a> Schedule<'a> {
    /// The schedule of a client of a run that started at `started`. It belongs to this thread.
    pub fn begin(arrivals: &'a Arrivals, client: u64, run: &Run, started: Instant) -> Self {
        // SAFETY: the call changes a number of this thread.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, SLACK_NS) };
        let length = run.seconds.map(Duration::from_secs_f64);
        Self {
            arrivals,
            client,
            started,
            end: length.map(|length| started + length),
            counts_from: length.map(|length| started + length / PARTS * (PARTS - 1)),
            kept: Kept { behind: Times::new(), wakeups: Times::new() },
        }
    }

    /// Wait until an operation is due. None if the run ends before it can begin.
    pub fn wait(&mut self, operation: u64, stop: &AtomicBool) -> Option<Due> {
        let time = self.started + self.arrivals.due(self.client, operation);
        let until = self.end.map_or(time, |end| end.min(time));
        let mut left = until.saturating_duration_since(Instant::now());
        let (waited, before) = (!left.is_zero(), (!left.is_zero()).then(cpu::of_thread));
        while !left.is_zero() && !stop.load(Ordering::Relaxed) {
            match left.checked_sub(SPIN).filter(|sleep| !sleep.is_zero()) {
                Some(sleep) => thread::sleep(sleep.min(LONGEST_SLEEP)),
                None => std::hint::spin_loop(),
            }
            left = until.saturating_duration_since(Instant::now());
        }
        let now = Instant::now();
        if stop.load(Ordering::Relaxed) || self.end.is_some_and(|end| now >= end) {
            if now > time {
                self.kept.behind.count(now - time);
            }
            return None;
        }
        let cpu = before.map_or(Duration::ZERO, |before| cpu::of_thread() - before);
        Some(Due { time, waited, cpu })
    }

    /// Count how late an operation began.
    pub fn begun(&mut self, due: &Due, began: Instant) -> Duration {
        let late = began.saturating_duration_since(due.time);
        if due.waited {
            self.kept.wakeups.count(late);
        }
        if self.counts_from.is_some_and(|from| began >= from) {
            self.kept.behind.count(late);
        }
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Phase;
    use crate::reading::read;

    const MS: Duration = Duration::from_millis(1);

    fn run(seed: u64, clients: u64, per_second: f64, seconds: f64) -> Run {
        let plan = serde_json::json!({
            "library": "lib.so", "folder": "db",
            "phases": [{
                "do": "run", "name": "window", "num": 10, "key_size": 16, "value_size": 100,
                "compression_ratio": 0.5, "seconds": seconds,
                "groups": [{
                    "seed": seed, "keys": {"kind": "uniform"}, "mix": {"put": 1},
                    "clients": clients, "per_second": per_second,
                }],
            }],
        });
        match read(&plan.to_string()).unwrap().phases.remove(0) {
            Phase::Run(run) => run,
            _ => unreachable!("the phase is a run"),
        }
    }

    fn arrivals(run: &Run, place: usize) -> Arrivals {
        Arrivals::of(&run.groups[0], place).unwrap()
    }

    #[test]
    fn the_clients_of_a_group_get_evenly_spaced_arrivals_in_turn() {
        let given = arrivals(&run(1, 3, 500.0, 1.0), 0);
        let first = given.due(0, 0);
        assert!(first < 2 * MS);
        for (arrival, (client, operation)) in
            [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)].into_iter().enumerate()
        {
            let spaced = first + 2 * MS * arrival as u32;
            let found = given.due(client, operation);
            assert!(found.abs_diff(spaced) < MS / 1000, "{found:?} {spaced:?}");
        }
    }

    #[test]
    fn the_start_follows_from_the_seed_and_the_place() {
        let start = |seed, place| arrivals(&run(seed, 1, 1.0, 1.0), place).due(0, 0);
        assert_eq!(start(1, 0), start(1, 0));
        assert_ne!(start(1, 0), start(2, 0));
        assert_ne!(start(1, 0), start(1, 1));
        let mean = (0..1000).map(|seed| start(seed, 0).as_secs_f64()).sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }

    #[test]
    fn a_late_client_works_off_its_queue_at_once() {
        let run = run(1, 1, 1000.0, 1e6);
        let (given, stop) = (arrivals(&run, 0), AtomicBool::new(false));
        let mut schedule = Schedule::begin(&given, 0, &run, Instant::now() - 100 * MS);
        let before = Instant::now();
        for operation in 0..90 {
            let due = schedule.wait(operation, &stop).unwrap();
            assert!(!due.waited);
            assert_eq!(schedule.begun(&due, due.time + 3 * MS), 3 * MS);
        }
        assert_eq!(schedule.kept.wakeups.len(), 0);
        assert_eq!(schedule.kept.behind.len(), 0); // the last quarter has not begun
        while before.elapsed() < 5 * MS {}
        let due = schedule.wait(1_000, &stop).unwrap();
        assert!(due.waited && due.time <= Instant::now());
        schedule.begun(&due, Instant::now());
        assert_eq!(schedule.kept.wakeups.len(), 1);
    }

    #[test]
    fn the_end_of_a_run_ends_the_wait_and_counts_what_is_left() {
        let run = run(1, 1, 1000.0, 0.1);
        let (given, stop) = (arrivals(&run, 0), AtomicBool::new(false));
        let mut schedule = Schedule::begin(&given, 0, &run, Instant::now() - 200 * MS);
        assert!(schedule.wait(50, &stop).is_none()); // due, but never begun
        assert_eq!(schedule.kept.behind.len(), 1);
        assert!(schedule.kept.behind.us(0.5) > 145_000.0);
        assert!(schedule.wait(300, &stop).is_none()); // due after the end
        assert_eq!(schedule.kept.behind.len(), 1);

        stop.store(true, Ordering::Relaxed);
        let mut schedule = Schedule::begin(&given, 0, &run, Instant::now() + 1_000_000 * MS);
        assert!(schedule.wait(0, &stop).is_none()); // would be due in a quarter of an hour
    }

    #[test]
    fn operations_of_the_last_quarter_tell_how_late_a_run_is() {
        let run = run(1, 1, 1000.0, 100.0);
        let (given, stop) = (arrivals(&run, 0), AtomicBool::new(false));
        let started = Instant::now() - 80_000 * MS;
        let mut schedule = Schedule::begin(&given, 0, &run, started);
        for (late, counted) in [(20_000, 0), (74_990, 0), (75_010, 1), (79_000, 2)] {
            let due = schedule.wait(0, &stop).unwrap();
            schedule.begun(&due, started + late * MS);
            assert_eq!(schedule.kept.behind.len(), counted);
        }
    }
}
