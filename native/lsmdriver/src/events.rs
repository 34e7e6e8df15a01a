//! What the driver says: lines of JSON on standard output.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::end::end;
use crate::failure::Failure;
use crate::kinds::Operation;
use crate::store::OptionsFile;
use crate::stores::Report;
use crate::times::Told;

/// The exit code where standard output is closed.
const UNHEARD: i32 = 1;

/// Something that has happened.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// The store is open.
    Opened {
        version: Option<String>,
        /// How long it took to open it.
        seconds: f64,
        #[serde(flatten)]
        file: Option<OptionsFile>,
    },
    /// A phase begins.
    Phase {
        phase: &'a str,
    },
    /// Some operations of a phase, in the time from `from_s` to `to_s` after its start.
    Second {
        phase: &'a str,
        from_s: f64,
        to_s: f64,
        operations: BTreeMap<Operation, Told>,
    },
    /// A phase with clients has ended.
    Run {
        phase: &'a str,
        seconds: f64,
        operations: BTreeMap<Operation, Told>,
    },
    Flushed {
        seconds: f64,
    },
    /// The store was at work for `seconds`, and then quiet. `judged_by` says how that was seen.
    Settled {
        seconds: f64,
        judged_by: &'a str,
    },
    /// Statistics as RocksDB prints them. `id` is that of the command, if one has asked.
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
    /// A command was not carried out. `id` is None where it had none.
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
        /// What the process has written to the device, or will by the page cache.
        disk_write_bytes: u64,
    },
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    event: &'a Event<'a>,
    /// When it happened, in Unix seconds.
    time_s: f64,
}

/// Print an event as one line. Where nobody reads, the process ends.
pub fn tell(event: &Event) {
    let line = Line { event, time_s: unix_s() };
    let mut text = serde_json::to_string(&line).expect("an event is numbers and texts");
    text.push('\n');
    let mut output = io::stdout().lock();
    if output.write_all(text.as_bytes()).and_then(|()| output.flush()).is_err() {
        end(UNHEARD);
    }
}

fn unix_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |passed| passed.as_secs_f64())
}
