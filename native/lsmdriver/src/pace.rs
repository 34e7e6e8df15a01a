//! How fast the clients of a group may write.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The time that clients may make up for. db_bench's limiter has such intervals
/// (NewGenericRateLimiter). A sleep is longer than asked for, so without it the rate is too low.
const MADE_UP: Duration = Duration::from_millis(100);
/// The longest sleep between two looks at whether the phase has ended.
const LOOK: Duration = Duration::from_millis(20);

/// A limit of the bytes that all clients of a group write per second.
pub struct Pace {
    bytes_per_second: f64,
    /// When the bytes are written that clients have asked for.
    until: Mutex<Instant>,
}

impl Pace {
    pub fn new(bytes_per_second: u64) -> Self {
        Self { bytes_per_second: bytes_per_second as f64, until: Mutex::new(Instant::now()) }
    }

    /// Wait until this many bytes may be written, or until `stop` is set.
    pub fn wait(&self, bytes: usize, stop: &AtomicBool) {
        let begin = self.book(bytes, Instant::now());
        loop {
            let left = begin.saturating_duration_since(Instant::now());
            if left.is_zero() || stop.load(Ordering::Relaxed) {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    }

    /// When writing these bytes may begin. Those that come later wait until they are written.
    fn book(&self, bytes: usize, now: Instant) -> Instant {
        let mut until = self.until.lock().expect("a panic ends the process");
        let begin = (*until).max(now.checked_sub(MADE_UP).unwrap_or(now));
        *until = begin + Duration::from_secs_f64(bytes as f64 / self.bytes_per_second);
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn bytes_are_written_one_after_the_other() {
        let start = Instant::now() + SECOND;
        let pace = Pace { bytes_per_second: 1000.0, until: Mutex::new(start) };
        for number in 0..10 {
            assert_eq!(pace.book(500, start), start + number * SECOND / 2);
        }
    }

    #[test]
    fn a_short_delay_is_made_up_for_and_a_long_one_not() {
        let start = Instant::now() + SECOND;
        let pace = Pace { bytes_per_second: 1000.0, until: Mutex::new(start) };
        assert_eq!(pace.book(50, start + MADE_UP / 2), start);
        assert_eq!(pace.book(50, start + MADE_UP), start + MADE_UP / 2);
        assert_eq!(pace.book(50, start + 9 * SECOND), start + 9 * SECOND - MADE_UP);
    }

    #[test]
    fn the_end_of_a_phase_ends_a_wait() {
        let pace = Pace::new(1);
        let stop = AtomicBool::new(true);
        pace.wait(1 << 40, &stop);
        pace.wait(1, &stop); // would wait for thousands of years
    }
}
