//! Events: lines of JSON on standard output.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::cpu::CpuSeconds;
use crate::end::end;
use crate::failure::{Failure, Kind};
use crate::kinds::Operation;
use crate::samples::Samples;
use crate::stores::{OptionsFile, Report};
use crate::times::Results;

/// The exit code of a plan that failed, and of a process whose standard output is closed.
const FAILED: i32 = 1;
/// The exit code of a plan that cannot be read or asks for something impossible.
const WRONG_PLAN: i32 = 2;

/// Locked by the thread that ends the process.
static ENDING: Mutex<()> = Mutex::new(());

/// An event of a plan.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The store is open.
    Opened {
        version: Option<String>,
        /// The time that it took to open the store.
        seconds: f64,
        #[serde(flatten)]
        file: Option<OptionsFile>,
    },
    /// A phase begins.
    Phase {
        phase: &'a str,
    },
    /// The operations of a run from `from_s` to `to_s`, in seconds after its start.
    Second {
        phase: &'a str,
        from_s: f64,
        to_s: f64,
        operations: BTreeMap<Operation, Results>,
    },
    /// The store while a run lasted.
    Samples {
        phase: &'a str,
        #[serde(flatten)]
        samples: Samples,
    },
    /// A run has ended.
    Run {
        phase: &'a str,
        seconds: f64,
        operations: BTreeMap<Operation, Results>,
        /// The median of how late operations began in the last quarter of the run, of the group
        /// that is the latest.
        behind_s: Option<f64>,
        wakeup_us: Option<Wakeups>,
        /// None for a store whose threads have no names.
        cpu_s: Option<CpuSeconds>,
    },
    Flushed {
        seconds: f64,
    },
    Compacted {
        seconds: f64,
    },
    /// The store was at work for `seconds`, and then quiet. `judged_by` is what showed that.
    Settled {
        seconds: f64,
        judged_by: &'a str,
    },
    /// Statistics as the store prints them. `id` is that of the command; None for a phase.
    Report {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        #[serde(flatten)]
        report: Report,
    },
    /// A command has changed options.
    Changed {
        id: u64,
        #[serde(flatten)]
        file: Option<OptionsFile>,
    },
    /// A command was not carried out. `id` is None if the command had none.
    Refused {
        id: Option<u64>,
        message: String,
    },
    /// The plan has failed.
    Failed {
        #[serde(flatten)]
        failure: &'a Failure,
    },
    /// The store is closed, and the plan has ended.
    Ended {
        /// The bytes that the process has written to the device, or that the page cache will write.
        disk_write_bytes: u64,
    },
}

/// How late operations began for which a client waited.
#[derive(Serialize)]
pub struct Wakeups {
    pub count: u64,
    pub p50_us: f64,
    pub p99_us: f64,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    event: &'a Event<'a>,
    /// The time of the event, in Unix seconds.
    time_s: f64,
}

/// Print an event as one line. If standard output is closed, end the process.
pub fn print(event: &Event) {
    let line = Line { event, time_s: unix_s() };
    let mut text = serde_json::to_string(&line).expect("an event is numbers and texts");
    text.push('\n');
    let mut output = io::stdout().lock();
    if output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_err() {
        end(FAILED);
    }
}

/// Print a failure and end the process. Only the first failure is printed.
pub fn end_with(failure: &Failure) -> ! {
    let _guard = ENDING.lock();
    print(&Event::Failed { failure });
    end(if failure.kind == Kind::Plan { WRONG_PLAN } else { FAILED })
}

fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |passed| passed.as_secs_f64())
}
