"""Measure how long a trial on the driver lasts beyond load, settling and reads.

    .venv/bin/python benchmarks/trial_seconds.py [VERSION]

Runs 12 trials of 200,000 records on an installed library (default 11.8.1), and prints seconds: the
median of a trial from the making of its folder to the removal, and of its parts. Settling includes
the quiet time. At most 0.3 s may be left beyond load, settling and reads. Writes
results/trial_seconds.jsonl after every trial and skips what it contains, and the medians to
results/trial_seconds.json. Nothing else may run on the machine.
"""

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from lsmtune.engines.base import Outcome, Places, Watch
from lsmtune.engines.libraries.installed import loaded_library
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings
from lsmtune.study.opening import describe
from lsmtune.system.workdir import workdir
from lsmtune.trials import Protocol, TrialSpec
from lsmtune.workloads import Workload

FOLDER = Path(__file__).parent / "results"
RUNS, RESULTS = FOLDER / "trial_seconds.jsonl", FOLDER / "trial_seconds.json"
VERSION = "11.8.1"
TRIALS = 12
MOST_S = 0.3
Row = dict[str, Any]


def main() -> None:
    """Run what is missing, and write the medians."""
    version = sys.argv[1] if sys.argv[1:] else VERSION
    FOLDER.mkdir(exist_ok=True)
    RUNS.touch()
    rows = [row for row in stored() if row["version"] == version]
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        for seed in range(len(rows) + 1, TRIALS + 1):
            row = {"version": version, "seed": seed, **run(version, seed, Path(folder))}
            with RUNS.open("a") as file:
                file.write(json.dumps(row) + "\n")
    rows = [row for row in stored() if row["version"] == version]
    parts = [name for name in rows[0] if name.endswith("_s")]
    medians = {name: median(row[name] for row in rows) for name in parts}
    found = {"version": version, "trials": len(rows), "most_s": MOST_S, "medians": medians}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print("| part | median seconds |\n|---|---|")
    print("\n".join(f"| {name} | {value:.3f} |" for name, value in medians.items()))
    print("within the limit" if medians["beyond_s"] <= MOST_S else "too long")


def stored() -> list[Row]:
    """Return the trials that were run."""
    return [json.loads(line) for line in RUNS.read_text().splitlines()]


def run(version: str, seed: int, folder: Path) -> Row:
    """Return the seconds of a trial and of its parts."""
    engine = library_engine(loaded_library(version, None))
    spec = StudySettings(workload=Workload(num=200_000))
    _, ground = describe(spec, engine, folder)
    space = knob_space(spec, ground)
    settings = space.settings(space.default())
    trial = TrialSpec(
        settings=settings, base_settings=settings, workload=spec.workload, protocol=Protocol(),
        seed=seed,
    )  # fmt: skip
    began, began_s = time.monotonic(), time.time()
    with workdir(folder, "trial") as directory:
        places = Places(directory, folder / "templates")
        outcome = engine.run(trial, ground.base, places, Watch(lambda _: None))
        ended, ended_s = time.monotonic(), time.time()
        events = {part: events_of(outcome, part) for part in ("load", "probe")}
    if outcome.result.reason is not None:
        raise SystemExit(outcome.result.reason)
    removed_s = time.monotonic() - ended
    whole_s = ended - began + removed_s
    return parts(events["load"], events["probe"], began_s, ended_s) | {
        "removal_s": removed_s,
        "whole_s": whole_s,
        "beyond_s": whole_s - wanted_s(events["load"], events["probe"]),
    }


def events_of(outcome: Outcome, part: str) -> list[Row]:
    """Return what the driver has told of a part."""
    return [json.loads(line) for line in outcome.evidence[f"{part}-stdout.txt"].open()]


def moment(events: Sequence[Row], kind: str) -> float:
    """Return when the last event of a kind happened."""
    return next(float(one["time_s"]) for one in reversed(events) if one["event"] == kind)


def run_s(events: Sequence[Row]) -> float:
    """Return the seconds in which clients were at work."""
    return sum(float(one["seconds"]) for one in events if one["event"] == "run")


def wanted_s(load: Sequence[Row], probe: Sequence[Row]) -> float:
    """Return the seconds of load, flush, settling with the quiet time, and reads."""
    return run_s(load) + moment(load, "settled") - moment(load, "run") + run_s(probe)


def parts(load: Sequence[Row], probe: Sequence[Row], began_s: float, ended_s: float) -> Row:
    """Return the seconds of each part, in their order."""
    return {
        "opening_s": moment(load, "opened") - began_s,
        "values_s": moment(load, "run") - run_s(load) - moment(load, "opened"),
        "load_s": run_s(load),
        "settle_s": moment(load, "settled") - moment(load, "run"),
        "closing_s": moment(load, "ended") - moment(load, "settled"),
        "probe_opening_s": moment(probe, "opened") - moment(load, "ended"),
        "reads_s": run_s(probe),
        "probe_rest_s": moment(probe, "ended") - moment(probe, "opened") - run_s(probe),
        "reading_results_s": ended_s - moment(probe, "ended"),
    }


if __name__ == "__main__":
    main()
