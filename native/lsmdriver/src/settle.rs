//! Waiting until a store has nothing to do.

use std::fs;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cpu::TASKS;
use crate::failure::{Failure, Kind};
use crate::log::Follower;
use crate::stores::Store;

/// States of a thread in /proc. R: it runs or waits for a processor. D: it waits for the device.
const AWAKE: [&[u8]; 2] = [b"R", b"D"];
const TICK: Duration = Duration::from_millis(10);

/// How long a store was at work, and what showed that.
pub struct Settled {
    pub seconds: f64,
    pub judged_by: &'static str,
}

/// Wait until for `quiet_s` seconds no job runs, no thread for jobs is awake and the LOG does not
/// grow. Fail after `limit_s` seconds.
///
/// If the store has no properties, the LOG shows which jobs run. If it has no LOG, the threads do.
pub fn settle(store: &dyn Store, quiet_s: f64, limit_s: f64) -> Result<Settled, Failure> {
    let mut log = store.logs().then(|| Follower::new(store.folder()));
    let mut look = || {
        let unreadable = |path: &Path, error: io::Error| {
            Kind::Operation.because(format!("{}: {error}", path.display()))
        };
        let grown = log.as_mut().map_or(Ok(false), Follower::read);
        let grown = grown.map_err(|error| unreadable(&store.folder().join("LOG"), error))?;
        let logged = log.as_ref().is_some_and(Follower::busy);
        let awake = awake(store.threads()).map_err(|error| unreadable(TASKS.as_ref(), error))?;
        Ok(Look { active: grown || awake, logged, counted: store.running()? })
    };
    look()?; // lines that the LOG has already are not new
    let started = Instant::now();
    let (mut last, mut judged_by) = (Duration::ZERO, if store.logs() { "LOG" } else { "threads" });
    loop {
        let seen = look()?;
        let passed = started.elapsed();
        judged_by = if seen.counted.is_some() { "properties" } else { judged_by };
        if seen.active || seen.counted.unwrap_or(seen.logged) {
            last = passed;
        } else if (passed - last).as_secs_f64() >= quiet_s {
            return Ok(Settled { seconds: last.as_secs_f64(), judged_by });
        }
        if passed.as_secs_f64() > limit_s {
            let message = format!("the store was still at work after {limit_s} s (limit_s)");
            return Err(Kind::Restless.because(message));
        }
        sleep(TICK);
    }
}

/// What a store does at one moment.
struct Look {
    /// Whether the LOG has grown, or a thread for jobs is awake.
    active: bool,
    /// Whether a job runs, by the LOG.
    logged: bool,
    /// Whether a job runs, by the properties. None if the store has none.
    counted: Option<bool>,
}

/// Whether a thread for jobs is awake.
///
/// On a busy machine, a thread may wait for a processor much longer than the quiet time. Its job
/// has then not begun.
fn awake(names: &[u8]) -> io::Result<bool> {
    let own = std::process::id().to_string();
    for task in fs::read_dir(TASKS)? {
        let task = task?;
        if task.file_name() == *own {
            continue; // the thread that calls `settle`
        }
        let Ok(line) = fs::read(task.path().join("stat")) else { continue }; // it has ended
        if at_work(&line, names) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line of /proc, such as `7 (rocksdb:low) R …`, shows a thread for jobs that is awake.
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
