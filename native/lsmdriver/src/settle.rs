//! Waiting until a store has nothing to do.

use std::ffi::CStr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Kind};
use crate::log::Follower;
use crate::store::Store;

/// The jobs that run now, and flushes that wait.
///
/// `rocksdb.compaction-pending` is not asked: under universal compaction, RocksDB 7.8 says 1 with
/// nothing left to compact. A compaction that is due begins within less than a quiet time.
const JOBS: [&CStr; 3] = [
    c"rocksdb.num-running-compactions",
    c"rocksdb.num-running-flushes",
    c"rocksdb.mem-table-flush-pending",
];
const TICK: Duration = Duration::from_millis(10);

/// How long a store was at work, and how that was seen.
pub struct Settled {
    pub seconds: f64,
    pub judged_by: &'static str,
}

/// Wait until no job has run and the LOG has not grown for `quiet_s`; fail after `limit_s`.
///
/// A version without the properties is judged by the jobs in its LOG.
pub fn settle(store: &Store, quiet_s: f64, limit_s: f64) -> Result<Settled, Failure> {
    let numbers = store.numbers()?;
    let mut log = Follower::new(store.folder());
    let mut look = || {
        let grown = log.read().map_err(|error| Kind::Operation.because(format!("LOG: {error}")))?;
        Ok(Look { grown, logged: log.busy(), asked: running(&numbers) })
    };
    look()?; // what was logged before is no work of now
    let started = Instant::now();
    let (mut last, mut judged_by) = (Duration::ZERO, "LOG");
    loop {
        let seen = look()?;
        let passed = started.elapsed();
        judged_by = if seen.asked.is_some() { "properties" } else { judged_by };
        if seen.grown || seen.asked.unwrap_or(seen.logged) {
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
    grown: bool,
    logged: bool,
    asked: Option<bool>,
}

/// Whether a job runs; None where the version does not tell.
fn running(numbers: &impl Fn(&CStr) -> Option<u64>) -> Option<bool> {
    let counts: Option<Vec<u64>> = JOBS.into_iter().map(numbers).collect();
    counts.map(|counts| counts.iter().any(|&count| count > 0))
}
