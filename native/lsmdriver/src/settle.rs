//! Waiting until a store has nothing to do.

use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Kind};
use crate::log::Follower;
use crate::stores::Store;

/// States of a thread in /proc: it runs or waits for a processor; it waits for the device.
const AWAKE: [&[u8]; 2] = [b"R", b"D"];
const TICK: Duration = Duration::from_millis(10);

/// How long a store was at work, and how that was seen.
pub struct Settled {
    pub seconds: f64,
    pub judged_by: &'static str,
}

/// Wait until no job has run, no thread for jobs was awake and the LOG has not grown for
/// `quiet_s`; fail after `limit_s`.
///
/// A version without the properties is judged by the jobs in its LOG, and a store that writes none
/// by its threads.
pub fn settle(store: &dyn Store, quiet_s: f64, limit_s: f64) -> Result<Settled, Failure> {
    let mut log = store.logs().then(|| Follower::new(store.folder()));
    let mut look = || {
        let unread = |place, error| Kind::Operation.because(format!("{place}: {error}"));
        let grown = log.as_mut().map_or(Ok(false), Follower::read);
        let grown = grown.map_err(|error| unread("LOG", error))?;
        let logged = log.as_ref().is_some_and(Follower::busy);
        let awake = awake(store.threads()).map_err(|error| unread("threads", error))?;
        Ok(Look { active: grown || awake, logged, asked: store.running()? })
    };
    look()?; // what was logged before is no work of now
    let started = Instant::now();
    let (mut last, mut judged_by) = (Duration::ZERO, if store.logs() { "LOG" } else { "threads" });
    loop {
        let seen = look()?;
        let passed = started.elapsed();
        judged_by = if seen.asked.is_some() { "properties" } else { judged_by };
        if seen.active || seen.asked.unwrap_or(seen.logged) {
            last = passed;
        } else if (passed - last).as_secs_f64() >= quiet_s {
            return Ok(Settled { seconds: last.as_secs_f64(), judged_by });
        }
        if passed.as_secs_f64() > limit_s {
            return Err(Kind::Restless.because(format!("the store was at work for {limit_s} s")));
        }
        sleep(TICK);
    }
}

struct Look {
    /// Whether the LOG has grown, or a thread for jobs is awake.
    active: bool,
    logged: bool,
    asked: Option<bool>,
}

/// Whether a thread for jobs is awake.
///
/// On a busy machine a thread may wait for a processor much longer than a quiet time, and the job
/// that it was woken for has then not begun.
fn awake(names: &[u8]) -> io::Result<bool> {
    let own = std::process::id().to_string();
    for task in fs::read_dir("/proc/self/task")? {
        let task = task?;
        if task.file_name() == *own {
            continue; // the thread that waits
        }
        let Ok(line) = fs::read(task.path().join("stat")) else { continue }; // it has ended
        if at_work(&line, names) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line of /proc, `7 (rocksdb:low) R …`, is of a thread for jobs that is awake.
fn at_work(line: &[u8], names: &[u8]) -> bool {
    let Some(start) = line.iter().position(|&byte| byte == b'(') else { return false };
    let Some(end) = line.iter().rposition(|&byte| byte == b')') else { return false };
    let state = line[end + 1..].trim_ascii_start();
    line[start + 1..].starts_with(names) && AWAKE.iter().any(|awake| state.starts_with(awake))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn threads_for_jobs_are_awake_while_they_run_or_wait() {
        for (line, awake) in [
            ("7 (rocksdb:low) R 1 7", true),
            ("7 (rocksdb:high) D 1 7", true),
            ("7 (rocksdb:low) S 1 7", false),
            ("7 (driver) R 1 7", false),
            ("7 (a) R) R 1 7", false),
            ("", false),
        ] {
            assert_eq!(at_work(line.as_bytes(), b"rocksdb:"), awake, "{line}");
        }
    }

    #[test]
    fn a_thread_that_works_is_seen() {
        assert!(!awake(b"rocksdb:").unwrap());
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let named = std::thread::Builder::new().name("rocksdb:low".to_owned());
            let works = || {
                while !ended.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            named.spawn_scoped(scope, works).unwrap();
            while !awake(b"rocksdb:").unwrap() {}
            ended.store(true, Ordering::Relaxed);
        });
    }
}
