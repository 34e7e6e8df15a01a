"""Measure how much counted reads and their latencies vary between runs of the baseline.

    .venv/bin/python benchmarks/read_counts.py [RUNS [RECORDS]]
    .venv/bin/python benchmarks/figures.py

Runs the baseline 40 times with each of three workloads, each run with its own seed. Writes
results/read_counts.jsonl after every run and skips what it contains. Then it verifies the baseline
against itself 200 times with pairs of these runs, which takes no engine. Writes the standard
deviations of the logs and the results of the verifications to results/read_counts.json. At most 5 %
of the verifications should claim a gain, 5 % break a constraint, and 10 % leave a constraint on
reads after the workload undecided after 12 pairs. Nothing else may run on the machine. With 100,000
records it takes at most 20 minutes on two cores.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from opened import open_study

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Places, Watch
from lsmtune.engines.registry import engine_of
from lsmtune.limits import default_limits
from lsmtune.objective import Metrics, log_deviation
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import complete_trials
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.history import study_objective
from lsmtune.study.opening import describe, rule_of_new
from lsmtune.study.verify import verify_trial
from lsmtune.system.workdir import workdir
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Protocol, Role, TrialResult, TrialSpec
from lsmtune.verdict import Pair, Verdict, judge
from lsmtune.workloads import Workload

FOLDER = Path(__file__).parent / "results"
ROWS, RESULTS = FOLDER / "read_counts.jsonl", FOLDER / "read_counts.json"
VERSION = "11.8.1"
RUNS, RECORDS = 40, 100_000
LOADS = ("fillrandom", "overwrite", "rangedelete")
COUNTS = ("get_data_blocks", "get_missing_data_blocks", "scan_sorted_runs")
LATENCIES = (
    "get_p50_us", "get_p99_us", "get_missing_p50_us", "get_missing_p99_us", "scan_p50_us",
    "scan_p99_us",
)  # fmt: skip
VERIFICATIONS, PAIRS = 200, 12


def spec_of(load: str, records: int, **settings: Any) -> StudySettings:
    """Return the settings of a study with this workload."""
    return StudySettings(rocksdb=VERSION, workload=Workload(name=load, num=records), **settings)


def measure(load: str, records: int, wanted: int, folder: Path) -> None:
    """Run the baseline until as many runs as wanted are stored."""
    spec = spec_of(load, records)
    engine = engine_of(spec)
    _, ground = describe(spec, engine, folder, rule_of_new(spec))
    space = knob_space(spec, ground)
    settings = space.settings(space.default())
    for seed in range(len(runs(load, records)) + 1, wanted + 1):
        trial = TrialSpec(
            settings=settings, base_settings=settings, workload=spec.workload,
            protocol=Protocol(), seed=seed,
        )  # fmt: skip
        with workdir(folder, "trial") as directory:
            places = Places(directory, folder / "templates")
            result = engine.run(trial, ground.base, places, Watch(lambda _: None)).result
        if result.reason is not None:
            raise SystemExit(f"{load}: {result.reason}")
        row = {"load": load, "records": records, "seed": seed, "metrics": rounded(result.metrics)}
        with ROWS.open("a") as file:
            file.write(json.dumps(row) + "\n")


def rounded(metrics: Metrics) -> dict[str, float]:
    """Return metrics with six significant digits, more than their accuracy."""
    return {name: float(f"{value:.6g}") for name, value in metrics.items()}


def runs(load: str, records: int) -> list[dict[str, float]]:
    """Return the metrics of the stored runs of a workload."""
    rows = map(json.loads, ROWS.read_text().splitlines())
    return [row["metrics"] for row in rows if (row["load"], row["records"]) == (load, records)]


class Replay:
    """Answers each pair of runs with two different stored runs."""

    def __init__(self, stored: Sequence[Metrics], seed: int) -> None:
        self._pairs = drawn(stored, seed)
        self._waiting: list[Metrics] = []

    def __call__(self, spec: TrialSpec) -> TrialResult:
        """Return the next run."""
        if not self._waiting:
            self._waiting = list(next(self._pairs))
        return measured(**{**self._waiting.pop(), "others_cpu_percent": 0.0})


def drawn(stored: Sequence[Metrics], seed: int) -> Iterator[Pair]:
    """Yield pairs of different stored runs without end."""
    rng = np.random.default_rng(seed)
    while True:
        one, other = rng.choice(len(stored), 2, replace=False)
        yield stored[one], stored[other]


def verified(load: str, records: int, seed: int, folder: Path) -> dict[str, Any]:
    """Verify the baseline against itself; return what the verification and 12 pairs say."""
    stored, spec = runs(load, records), spec_of(load, records, study="null", base_runs=2)
    engine = ScriptedEngine(Replay(stored, seed))
    with Home(folder, create=True) as home, open_study(home, spec, engine) as study:
        measure_baseline(study)
        trial = complete_trials(study.trials(), Role.BASE)[0]
        verdict = verify_trial(study, trial, spec.scale, spec.workload)
        objective = study_objective(study.stored, spec)
    pairs = drawn(stored, VERIFICATIONS + seed)
    all_pairs = judge([next(pairs) for _ in range(PAIRS)], objective)
    probed = {
        limit.metric for limit in default_limits(spec.workload, ENGINES[spec.engine]) if limit.probe
    }
    return {
        "load": load,
        "gain": verdict.claim == "gain",
        "broken": metrics_of(verdict, "broken"),
        "undecided": sorted(probed.intersection(metrics_of(all_pairs, "undecided"))),
        "widened": sorted(str(one.limit) for one in all_pairs.limits if one.asked is not None),
    }


def metrics_of(verdict: Verdict, state: str) -> list[str]:
    """Return the metrics of the constraints in this state."""
    return sorted(check.limit.metric for check in verdict.limits if check.state == state)


def summary(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how many verifications are wrong or undecided."""
    return {
        "verifications": len(found),
        "with_a_gain": sum(one["gain"] for one in found),
        "with_a_broken_constraint": sum(bool(one["broken"]) for one in found),
        "with_an_undecided_constraint_of_the_probe": sum(bool(one["undecided"]) for one in found),
    }


def deviations(load: str, records: int) -> dict[str, float | None]:
    """Return the standard deviations of the logs, None for a metric that was always 0."""
    stored = runs(load, records)
    return {name: log_deviation(name, [stored]) for name in (*COUNTS, *LATENCIES)}


def main() -> None:
    """Run what is missing, verify, and write the results."""
    given = list(map(int, sys.argv[1:]))
    wanted, records = [*given, *(RUNS, RECORDS)[len(given) :]]
    FOLDER.mkdir(exist_ok=True)
    ROWS.touch()
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        for load in LOADS:
            measure(load, records, wanted, Path(folder, load))
        found = [
            verified(LOADS[seed % len(LOADS)], records, seed, Path(folder, f"home{seed}"))
            for seed in range(VERIFICATIONS)
        ]
    document = {
        "records": records,
        "runs": {load: len(runs(load, records)) for load in LOADS},
        "deviations": {load: deviations(load, records) for load in LOADS},
        **summary(found),
        "loads": {load: summary([one for one in found if one["load"] == load]) for load in LOADS},
        "found": found,
    }
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(document["deviations"] | summary(found), indent=1) + "\n")


if __name__ == "__main__":
    main()
