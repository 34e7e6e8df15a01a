//! The simulator for Python: lines of JSON in, lines of JSON out, on all cores. And the start of the
//! driver.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use lsmsim::{
    record, simulate, Failure, Load, Machine, Measurement, Options, Probe, Trial, Version,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A run to be predicted.
#[derive(Deserialize)]
struct Asked {
    workload: Load,
    knobs: Options,
    #[serde(default)]
    version: Version,
    #[serde(default = "first")]
    seed: u64,
    probe: Option<Probe>,
}

impl Asked {
    fn read(line: &str) -> serde_json::Result<Self> {
        let mut asked: Self = serde_json::from_str(line)?;
        asked.knobs.version = asked.version;
        Ok(asked)
    }

    fn on<'a>(&'a self, machine: &'a Machine, stop: &'a AtomicBool) -> Trial<'a> {
        let Self { workload: load, knobs: options, seed, probe, .. } = self;
        Trial { load, options, machine, seed: *seed, probe: *probe, stop: Some(stop) }
    }
}

fn first() -> u64 {
    1
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Told { metrics: Measurement },
    Refused { error: String, hangs: bool },
}

/// For each line what the run comes to: `{"metrics": {…}}`, or `{"error": "…", "hangs": false}`.
///
/// A line is `{"workload": {…}, "knobs": {…}, "version": "11.8.1", "seed": 1}`, with `"probe": {"reads": 10000,
/// "scan_length": 10}` where the reads behind it are asked for; `machine` the constants of the
/// machine as JSON. A wrong line never stops the others. ValueError for a machine that cannot be read.
#[pyfunction]
fn simulate_lines(py: Python<'_>, lines: Vec<String>, machine: &str) -> PyResult<Vec<String>> {
    let machine: Machine =
        serde_json::from_str(machine).map_err(|error| PyValueError::new_err(error.to_string()))?;
    interruptible(py, |stop| lines.par_iter().map(|line| answer(line, &machine, stop)).collect())
}

/// How often a long call looks for signals.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Do the work in another thread, and look for signals. The exception of a signal's handler, such
/// as KeyboardInterrupt, ends the work and is raised.
fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = &AtomicBool::new(false);
    py.detach(|| {
        thread::scope(|scope| {
            let (result, results) = channel();
            let worker = scope.spawn(move || {
                let _ = result.send(work(stop)); // fails if a signal has ended the wait
            });
            loop {
                match results.recv_timeout(BETWEEN_LOOKS) {
                    Ok(found) => return Ok(found),
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(raised) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            return Err(raised);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => match worker.join() {
                        Err(panic) => resume_unwind(panic),
                        Ok(()) => unreachable!("the worker sends a result before it ends"),
                    },
                }
            }
        })
    })
}

fn answer(line: &str, machine: &Machine, stop: &AtomicBool) -> String {
    let refused = |error: String, hangs| Answer::Refused { error, hangs };
    let answer = match Asked::read(line) {
        Err(error) => refused(error.to_string(), false),
        Ok(asked) => match simulate(asked.on(machine, stop)) {
            Err(failure) => refused(failure.to_string(), failure == Failure::Stuck),
            Ok(metrics) => Answer::Told { metrics },
        },
    };
    serde_json::to_string(&answer).expect("an answer is numbers and texts")
}

/// The run of a line as a film of so many frames at most: JSON of a `Recording`.
///
/// ValueError for a machine or a line that cannot be read, and for a run that would never end.
#[pyfunction]
fn record_line(py: Python<'_>, line: &str, machine: &str, frames: usize) -> PyResult<String> {
    let wrong = |error: String| PyValueError::new_err(error);
    let machine: Machine = serde_json::from_str(machine).map_err(|e| wrong(e.to_string()))?;
    let asked = Asked::read(line).map_err(|e| wrong(e.to_string()))?;
    let film = interruptible(py, |stop| record(asked.on(&machine, stop), frames))?
        .map_err(|failure| wrong(failure.to_string()))?;
    Ok(serde_json::to_string(&film).expect("a film is numbers and names"))
}

/// The constants of the machine that is taken where none is given, as JSON.
#[pyfunction]
fn default_machine() -> String {
    serde_json::to_string(&Machine::default()).expect("a machine is numbers and names")
}

/// The options that the simulator knows; it ignores all others.
#[pyfunction]
fn known_options() -> Vec<String> {
    let all = serde_json::to_value(Options::default()).expect("options are numbers and names");
    all.as_object().expect("options have names").keys().cloned().collect()
}

/// Carry out the plan on standard input and end the process, as the crate lsmdriver says.
///
/// For a process that does nothing else: it ends without Python's cleaning up.
#[pyfunction]
fn drive() {
    lsmdriver::drive()
}

#[pymodule]
#[pyo3(name = "lsmsim")]
fn define(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(default_machine, module)?)?;
    module.add_function(wrap_pyfunction!(drive, module)?)?;
    module.add_function(wrap_pyfunction!(known_options, module)?)?;
    module.add_function(wrap_pyfunction!(record_line, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_lines, module)?)
}
