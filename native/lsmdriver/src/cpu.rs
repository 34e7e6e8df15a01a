//! The CPU time of threads and of the process.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::time::Duration;

use libc::{clock_gettime, clockid_t, timespec};
use serde::Serialize;

use crate::failure::{Failure, Kind};

/// The threads of this process.
pub const TASKS: &str = "/proc/self/task";
/// The clock of a thread's CPU time is this, next to the bits of its number
/// (`pthread_getcpuclockid` makes the same number).
const OF_THREAD: clockid_t = 6;
const NUMBER_SHIFT: u32 = 3;

/// The CPU time of a run, in seconds.
#[derive(Debug, Serialize)]
pub struct CpuSeconds {
    /// That of the threads of the store.
    pub background: f64,
    /// That of the clients, without their waits.
    pub calls: f64,
    /// That of everything else in the process.
    pub driver: f64,
}

/// The CPU time of this thread.
pub fn of_thread() -> Duration {
    time(libc::CLOCK_THREAD_CPUTIME_ID).unwrap_or_default()
}

/// The CPU time of the process, and of each of its threads whose name begins with `names`.
pub struct Spent {
    process: Duration,
    threads: BTreeMap<u32, Duration>,
}

impl Spent {
    pub fn now(names: &[u8]) -> Result<Self, Failure> {
        let threads =
            threads(names).map_err(|error| Kind::Operation.because(format!("{TASKS}: {error}")))?;
        Ok(Self { process: time(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default(), threads })
    }

    /// The CPU time since `earlier`. `calls` is that of the clients, without their waits.
    pub fn since(&self, earlier: &Self, calls: Duration) -> CpuSeconds {
        let grown = self.threads.iter().map(|(thread, &time)| {
            time.saturating_sub(earlier.threads.get(thread).copied().unwrap_or_default())
        });
        let background: Duration = grown.sum();
        let all = self.process.saturating_sub(earlier.process);
        CpuSeconds {
            background: background.as_secs_f64(),
            calls: calls.as_secs_f64(),
            driver: all.saturating_sub(background).saturating_sub(calls).as_secs_f64(),
        }
    }
}

fn threads(names: &[u8]) -> io::Result<BTreeMap<u32, Duration>> {
    let mut found = BTreeMap::new();
    for task in fs::read_dir(TASKS)? {
        let task = task?;
        let Ok(name) = fs::read(task.path().join("comm")) else { continue }; // it has ended
        let number = task.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        if let Some(number) = number.filter(|_| name.starts_with(names)) {
            let clock = !(number as clockid_t) << NUMBER_SHIFT | OF_THREAD;
            found.extend(time(clock).map(|time| (number, time)));
        }
    }
    Ok(found)
}

/// The time of a clock. None if its thread has ended.
fn time(clock: clockid_t) -> Option<Duration> {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes into `time` only.
    let failed = unsafe { clock_gettime(clock, &mut time) } != 0;
    (!failed).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn the_work_of_named_threads_is_told_apart() {
        let before = Spent::now(b"cpu-test").unwrap();
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let named = std::thread::Builder::new().name("cpu-test:1".to_owned());
            let works = || {
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            named.spawn_scoped(scope, works).unwrap();
            loop {
                let spent = Spent::now(b"cpu-test").unwrap().since(&before, Duration::ZERO);
                assert!(spent.driver >= 0.0);
                if spent.background >= 0.05 {
                    break;
                }
            }
            ended.store(true, Ordering::Relaxed);
        });
    }
}
