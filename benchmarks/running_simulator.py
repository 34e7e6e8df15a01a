"""Compare the simulator's predictions of running stores with real trials.

    .venv/bin/python benchmarks/running_simulator.py

The trials are those of running_trials.py: workload overwrite, random configs, one baseline. The
constants of the machine come from the first three quarters: one factor for its writer, one for its
background jobs, one for its cores and one for each codec, by the capacity and the CPU per
operation. The other trials were not used to fit anything. Trials that could not keep the rate are
left out.

Writes results/running_simulator.json. Write the median error of write amplification into
RUNNING_COMPARED in src/lsmtune/simulator/modelled.py too.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr

from lsmtune.api.simulate import run_of
from lsmtune.batch import BatchLine, read_batch
from lsmtune.simulator import Measured, fitted_constants, predict

FOLDER = Path(__file__).parent / "results"
TRIALS, RESULTS = FOLDER / "running.jsonl", FOLDER / "running_simulator.json"
FITTED, CORES = 0.75, 2
METRICS = ("write_amp", "live_sst_bytes", "scan_sorted_runs", "level0_files", "cpu_us_per_op",
           "peak_space_bytes", "get_data_blocks", "get_missing_data_blocks",
           "capacity_ops_s")  # fmt: skip


def kept(line: BatchLine) -> bool:
    """Return whether a trial was measured and kept the rate."""
    return line.metrics.get("overload", 2.0) <= 1


def errors(real: Sequence[float], told: Sequence[float]) -> dict[str, float]:
    """Return the errors of a metric, and whether the predictions rank the trials correctly."""
    off = np.abs(np.array(told) / np.array(real) - 1)
    return {
        "median_error": float(np.median(off)),
        "error_of_nine_in_ten": float(np.quantile(off, 0.9)),
        "spearman": float(spearmanr(real, told).statistic),
    }


def main() -> None:
    """Fit the machine to a part of the trials, and compare the others."""
    lines = read_batch(TRIALS)
    first = round(FITTED * len(lines))
    fitted = list(filter(kept, lines[:first]))
    constants = fitted_constants([Measured(run_of(line), line.metrics) for line in fitted], CORES)
    held = list(filter(kept, lines[first:]))
    told = predict(list(map(run_of, held)), constants)
    pairs = [(line, one) for line, one in zip(held, told, strict=True) if one.metrics]
    metrics = {}
    for name in METRICS:
        values = [
            (line.metrics[name], one.metrics[name]) for line, one in pairs if name in line.metrics
        ]
        if values:
            metrics[name] = errors(*zip(*values, strict=True))
    found = {
        "rocksdb": lines[0].rocksdb,
        "fitted": len(fitted),
        "trials": len(pairs),
        "overloaded": len(lines) - first - len(held),
        "metrics": metrics,
    }
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
