//! The simulator for Python: lines of JSON in, lines of JSON out, on all cores.

use lsmsim::{simulate, Load, Machine, Measurement, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A run to be predicted.
#[derive(Deserialize)]
struct Asked {
    workload: Load,
    knobs: Options,
    #[serde(default = "first")]
    seed: u64,
}

fn first() -> u64 {
    1
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Answer {
    Metrics(Measurement),
    Error(String),
}

/// For each line what the run comes to: `{"metrics": {…}}`, or `{"error": "…"}`.
///
/// A line is `{"workload": {…}, "knobs": {…}, "seed": 1}`, `machine` the constants of the machine
/// as JSON. A wrong line never stops the others. ValueError for a machine that cannot be read.
#[pyfunction]
fn simulate_lines(py: Python<'_>, lines: Vec<String>, machine: &str) -> PyResult<Vec<String>> {
    let machine: Machine =
        serde_json::from_str(machine).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let answers = py.detach(|| lines.par_iter().map(|line| answer(line, &machine)).collect());
    Ok(answers)
}

fn answer(line: &str, machine: &Machine) -> String {
    let found =
        serde_json::from_str::<Asked>(line).map_err(|error| error.to_string()).and_then(|asked| {
            simulate(&asked.workload, &asked.knobs, machine, asked.seed)
                .map_err(|error| error.to_string())
        });
    let answer = match found {
        Ok(metrics) => Answer::Metrics(metrics),
        Err(reason) => Answer::Error(reason),
    };
    serde_json::to_string(&answer).expect("an answer is numbers and texts")
}

/// The options that the simulator knows; it ignores all others.
#[pyfunction]
fn known_options() -> Vec<String> {
    let all = serde_json::to_value(Options::default()).expect("options are numbers and names");
    all.as_object().expect("options have names").keys().cloned().collect()
}

#[pymodule]
#[pyo3(name = "lsmsim")]
fn define(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(known_options, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_lines, module)?)
}
