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
