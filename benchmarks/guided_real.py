"""Compare the optimizer guided after 8 trials with others after 36, on real RocksDB.

    .venv/bin/python benchmarks/guided_real.py HOME

Three workloads and three seeds, chosen before the runs, and three more seeds of guided alone, with
the default objective and constraints and without an earlier study. After the searches, six pairs
of runs with the baseline measure each winner again. In a home that `lsmtune doctor --calibrate` has
calibrated, only guided runs, with the three additional seeds. Nothing else should run. An
interrupted call continues. Writes results/guided_real.json while it runs: the best value so far
after each trial, the verified value of the winner, and whether it kept each constraint.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from opened import open_study

from lsmtune.cli.progress import TerminalObserver
from lsmtune.engines.base import Engine
from lsmtune.engines.registry import make_engine
from lsmtune.spec import MIN_PAIRS, StudySettings
from lsmtune.stats import Interval
from lsmtune.store.home import Home
from lsmtune.study.verify import verify
from lsmtune.workloads import Workload
from lsmtune_reproductions.comparison.compare import on_engine

RESULTS = Path(__file__).parent / "results" / "guided_real.json"
LOADS = {
    "random writes": Workload(num=100_000),
    "overwrites": Workload(name="overwrite", num=100_000),
    "small values": Workload(num=400_000, value_size=128),
}
OTHERS = (("gp-ucb", "tpe", "genetic"), ("random",))
"""What learns first: an early end leaves whole comparisons with these."""

GUIDED, MOST = 8, 36
SEEDS, UNSEEN = (1, 2, 3), (4, 5, 6)
"""Guided was changed after it had been measured under the first three."""

Step = Callable[[StudySettings, Engine, Home], dict[str, Any]]


def search(load: str, optimizer: str, seed: int) -> StudySettings:
    """Return the search of that optimizer with that workload."""
    return StudySettings(
        study=f"{load}-{optimizer}-{seed}".replace(" ", "-"), workload=LOADS[load],
        optimizer=optimizer, seed=seed, trials=GUIDED if optimizer == "guided" else MOST,
        early_stop=False, repeats=0, pairs=MIN_PAIRS, max_pairs=MIN_PAIRS,
    )  # fmt: skip


def searched(spec: StudySettings, engine: Engine, home: Home) -> dict[str, Any]:
    """Return the measured best value so far after each trial; 1 is the baseline."""
    (curve,) = on_engine([spec], engine, home, TerminalObserver())
    return {"costs": list(curve.costs)}


def confirmed(spec: StudySettings, engine: Engine, home: Home) -> dict[str, Any]:
    """Return the winner's value relative to the baseline with its interval, and its constraints.

    The value is 1 if no trial beat the baseline.
    """
    with open_study(home, spec, engine, TerminalObserver()) as study:
        # Measured again it may lose its place, but it stays the one that the search chose.
        begun = home.verifications(study.stored)
        if not begun and study.best() is None:
            return {"again": asdict(Interval(1.0, 1.0, 1.0)), "limits": []}
        chosen = begun[0].best_trial if begun else None
        found = verify(study, spec.scale, spec.workload, chosen)
        limits = [limit.model_dump() for limit in found.limits]
        return {"again": asdict(found.objective), "limits": limits}


def plan(*, calibrated: bool) -> Iterator[tuple[Step, int, str, str]]:
    """Yield the order of the searches: seed, workload, optimizer."""
    for seeds in (UNSEEN,) if calibrated else (SEEDS, UNSEEN):
        for step in (searched, confirmed):
            yield from product((step,), seeds, LOADS, ("guided",))
    for others, seed in product(() if calibrated else OTHERS, SEEDS):
        for step in (searched, confirmed):
            yield from product((step,), (seed,), LOADS, others)


def main() -> None:
    engine = make_engine("rocksdb", "db_bench", None)
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else []
    rows = {(row["load"], row["optimizer"], row["seed"]): row for row in kept}
    with Home(Path(sys.argv[1]), create=True) as home:
        calibrated = home.machine_path.is_file()
        for step, seed, load, optimizer in plan(calibrated=calibrated):
            spec = search(load, optimizer, seed)
            name = f"{optimizer}, calibrated" if calibrated else optimizer
            row = {"load": load, "optimizer": name, "seed": seed}
            rows[load, name, seed] = rows.get((load, name, seed), row) | step(spec, engine, home)
            RESULTS.write_text(json.dumps([*rows.values()], indent=2) + "\n")


if __name__ == "__main__":
    main()
