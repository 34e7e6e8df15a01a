"""Measure the time of a trial outside its load and its compactions.

    .venv/bin/python benchmarks/overhead.py HOME

Runs a study of 12 trials with 200,000 records and prints medians in seconds: the time of a trial
beyond load + settle, and the time between two trials without db_bench. Writes
benchmarks/results/overhead.json. Nothing else may run on the machine.
"""

import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from lsmtune.engines.rocksdb import RocksDB
from lsmtune.engines.rocksdb.db_bench import DbBench, client
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.studies.study import open_study
from lsmtune.system.process import ChildProcess, ExitStatus
from lsmtune.trials import Role
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results" / "overhead.json"
SPEC = StudySpec(
    study="overhead", workload=Workload(num=200_000), trials=12, base_runs=1, repeats=0
)
lifetimes: list[tuple[float, float]] = []


class TimedProcess(ChildProcess):
    """A child process that records its start and when its end was noticed."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._born = time.monotonic()
        super().__init__(*args, **kwargs)

    def wait(self, timeout_s: float) -> ExitStatus:
        """Wait as usual and record the time."""
        status = super().wait(timeout_s)
        lifetimes.append((self._born, time.monotonic()))
        return status


def main() -> None:
    """Run the study, measure it, and write the medians."""
    client.ChildProcess = TimedProcess  # type: ignore[misc]
    with (
        Home(Path(sys.argv[1]), create=True) as home,
        open_study(home, SPEC, RocksDB(DbBench("db_bench")), lambda event: None) as study,
    ):
        study.tune()
        trials = [t for t in study.trials(Role.TRIAL) if t.result.measurement]
    ours = lifetimes[1:]  # the first one only told the version
    gaps = [start - end for (_, end), (start, _) in pairwise(ours)]
    document = {
        "trials": len(trials),
        "trial_beyond_load_and_settle_s": median(
            t.duration_s - t.result.metrics["total_s"] for t in trials
        ),
        "between_db_benches_s": median(gaps),
        "between_probe_and_next_load_s": median(gaps[1::2]),
        "longest_between_db_benches_s": max(gaps),
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
