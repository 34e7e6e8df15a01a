//! The simulator for Python, which takes and returns lines of JSON and uses all cores. The start of
//! the driver.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use lsmsim::{
    record, simulate, simulate_running, Failure, Load, Machine, Measurement, Options, Probe,
    Running, Trial, Version,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A run to predict.
#[derive(Deserialize)]
struct Request {
    workload: Load,
    knobs: Options,
    #[serde(default)]
    version: Version,
    #[serde(default = "first")]
    seed: u64,
    probe: Option<Probe>,
    running: Option<Running>,
}

impl Request {
    fn read(line: &str) -> serde_json::Result<Self> {
        let mut request: Self = serde_json::from_str(line)?;
        request.knobs.version = request.version;
        if let Some(running) = &mut request.running {
            running.baseline.version = request.version;
        }
        Ok(request)
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
    Predicted { metrics: Measurement },
    PredictedWindow { metrics: BTreeMap<&'static str, f64> },
    Refused { error: String, hangs: bool },
}

/// Return the prediction for each line: `{"metrics": {…}}`, or `{"error": "…", "hangs": false}`.
///
/// A line is `{"workload": {…}, "knobs": {…}, "version": "11.8.1", "seed": 1}`. With `"probe":
/// {"reads": 10000, "scan_length": 10}`, reads follow. With `"running": {…}`, the metrics are those
/// of a running store at a rate, without a probe. `machine` contains the constants of the
/// machine as JSON. A wrong line does not stop the others. ValueError for a machine that cannot be
/// read.
#[pyfunction]
fn simulate_lines(py: Python<'_>, lines: Vec<String>, machine: &str) -> PyResult<Vec<String>> {
    let machine: Machine =
        serde_json::from_str(machine).map_err(|error| PyValueError::new_err(error.to_string()))?;
    interruptible(py, |stop| lines.par_iter().map(|line| answer(line, &machine, stop)).collect())
}

/// The time between two checks for signals in a long call.
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);

/// Do the work in another thread, and check for signals. If a signal's handler raises an exception,
/// such as KeyboardInterrupt, end the work and raise it.
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
                match results.recv_timeout(BETWEEN_CHECKS) {
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

fn predicted(request: &Request, machine: &Machine, stop: &AtomicBool) -> Result<Answer, Failure> {
    let trial = request.on(machine, stop);
    match &request.running {
        None => Ok(Answer::Predicted { metrics: simulate(trial)? }),
        Some(running) => Ok(Answer::PredictedWindow { metrics: simulate_running(trial, running)? }),
    }
}

fn answer(line: &str, machine: &Machine, stop: &AtomicBool) -> String {
    let refused = |error: String, hangs| Answer::Refused { error, hangs };
    let answer = match Request::read(line) {
        Err(error) => refused(error.to_string(), false),
        Ok(request) => predicted(&request, machine, stop)
            .unwrap_or_else(|failure| refused(failure.to_string(), failure == Failure::Stuck)),
    };
    serde_json::to_string(&answer).expect("an answer is numbers and texts")
}

/// Return a recording of the run of a line as JSON of a `Recording`, with at most `frames` frames
/// and the last one.
///
/// ValueError for a machine or a line that cannot be read, and for a run that would never end.
#[pyfunction]
fn record_line(py: Python<'_>, line: &str, machine: &str, frames: usize) -> PyResult<String> {
    let wrong = |error: String| PyValueError::new_err(error);
    let machine: Machine = serde_json::from_str(machine).map_err(|e| wrong(e.to_string()))?;
    let request = Request::read(line).map_err(|e| wrong(e.to_string()))?;
    let recording = interruptible(py, |stop| record(request.on(&machine, stop), frames))?
        .map_err(|failure| wrong(failure.to_string()))?;
    Ok(serde_json::to_string(&recording).expect("a recording is numbers and names"))
}

/// Return the constants of the machine that is used if none is given, as JSON.
#[pyfunction]
fn default_machine() -> String {
    serde_json::to_string(&Machine::default()).expect("a machine is numbers and names")
}

/// Return the options that the simulator knows. It ignores all others.
#[pyfunction]
fn known_options() -> Vec<String> {
    let all = serde_json::to_value(Options::default()).expect("options are numbers and names");
    all.as_object().expect("options have names").keys().cloned().collect()
}

/// Return the parameters of a workload that the simulator knows. It ignores all others.
#[pyfunction]
fn known_parameters() -> Vec<String> {
    let all = serde_json::to_value(Load::default()).expect("a load is numbers and names");
    all.as_object().expect("parameters have names").keys().cloned().collect()
}

/// Return the steps of a trial of a running store, which a line may have as `"running": {…}`.
#[pyfunction]
fn known_steps() -> [&'static str; 6] {
    ["baseline", "rate", "turn_over", "capacity_s", "calm_s", "window_s"]
}

/// Carry out the plan on standard input and end the process, see the crate lsmdriver.
///
/// The process must do nothing else, because it ends without Python's cleanup.
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
    module.add_function(wrap_pyfunction!(known_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(known_steps, module)?)?;
    module.add_function(wrap_pyfunction!(record_line, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_lines, module)?)
}
