//! The limit of the bytes that the clients of a group write per second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::cpu;

/// All bytes of an interval may be written at its start, as with db_bench's limiter
/// (NewGenericRateLimiter). Such bursts matter for readers: with a steady stream of the same
/// writes, the 99th percentile of reads was half as high.
const INTERVAL: Duration = Duration::from_millis(100);
/// The longest sleep before the next check whether the run has ended.
const LONGEST_SLEEP: Duration = Duration::from_millis(20);

/// A limit of the bytes that all clients of a group write per second.
pub struct Pace {
    bytes_per_second: f64,
    started: Instant,
    /// The time at which all booked bytes are written.
    until: Mutex<Instant>,
}

impl Pace {
    pub fn new(bytes_per_second: u64) -> Self {
        Self::from(bytes_per_second as f64, Instant::now())
    }

    fn from(bytes_per_second: f64, started: Instant) -> Self {
        Self { bytes_per_second, started, until: Mutex::new(started) }
    }

    /// Wait until this many bytes may be written, or until `stop` is set. Return the CPU time of
    /// the wait.
    pub fn wait(&self, bytes: usize, stop: &AtomicBool) -> Duration {
        let begin = self.book(bytes, Instant::now());
        let mut before = None;
        loop {
            let left = begin.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.load(Ordering::Relaxed) {
                return before.map_or(Duration::ZERO, |before| cpu::of_thread() - before);
            }
            before.get_or_insert_with(cpu::of_thread);
            thread::sleep(left.min(LONGEST_SLEEP));
        }
    }

    /// Book these bytes. Return the time from which they may be written.
    ///
    /// Clients that are late, because a sleep took too long, make up for one interval at most.
    fn book(&self, bytes: usize, now: Instant) -> Instant {
        let mut until = self.until.lock().expect("a panic ends the process");
        let begin = (*until).max(now.checked_sub(INTERVAL).unwrap_or(now));
        *until = begin + Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
        let passed = begin.saturating_duration_since(self.started).as_nanos();
        begin - Duration::from_nanos((passed % INTERVAL.as_nanos()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(pace: &Pace, now: Instant, count: u32) -> Vec<u128> {
        let begins = (0..count).map(|_| pace.book(40, now));
        begins.map(|begin| begin.duration_since(pace.started).as_millis()).collect()
    }

    #[test]
    fn the_bytes_of_an_interval_are_written_at_its_begin() {
        let pace = Pace::from(1000.0, Instant::now());
        let expected = [0, 0, 0, 100, 100, 200, 200, 200, 300, 300];
        assert_eq!(moments(&pace, pace.started, 10), expected);
    }

    #[test]
    fn a_short_delay_is_made_up_for_and_a_long_one_not() {
        let pace = Pace::from(1000.0, Instant::now());
        assert_eq!(moments(&pace, pace.started + INTERVAL, 4), [0, 0, 0, 100]);
        assert_eq!(moments(&pace, pace.started + 90 * INTERVAL, 4), [8900, 8900, 8900, 9000]);
    }

    #[test]
    fn the_end_of_a_phase_ends_a_wait() {
        let pace = Pace::new(1);
        let stop = AtomicBool::new(true);
        pace.wait(1 << 40, &stop);
        pace.wait(1, &stop); // would wait for thousands of years
    }
}
