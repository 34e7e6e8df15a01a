"""Guided beside other searches on real RocksDB: what it has after eight trials, they after 36.

    .venv/bin/lsmtune doctor --calibrate --home HOME
    .venv/bin/python benchmarks/guided_real.py HOME

Three loads and three seeds, chosen beforehand, under the default objective and limits, cold.
After the searches of a seed their winners are measured again, in six pairs of runs with the base.
Nothing else should run. The same call goes on after an interruption. Writes to
results/guided_real.json, as it goes, the best value so far after each trial, and what the winner
came to.
"""

import json
import sys
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from lsmtune.cli.progress import progress
from lsmtune.comparison.runs import on_engine
from lsmtune.engines.base import Engine
from lsmtune.engines.registry import make_engine
from lsmtune.spec import MIN_PAIRS, StudySpec
from lsmtune.stats import Interval
from lsmtune.store.home import Home
from lsmtune.studies.study import open_study
from lsmtune.studies.verify import verify
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results" / "guided_real.json"
LOADS = {
    "random writes": Workload(num=100_000),
    "overwrites": Workload(name="overwrite", num=100_000),
    "small values": Workload(num=400_000, value_size=128),
}
OTHERS = (("gp-ucb", "tpe", "genetic"), ("random",))
"""What learns first: an early end leaves whole comparisons with these."""

GUIDED, MOST = 8, 36
SEEDS = (1, 2, 3)


def search(load: str, optimizer: str, seed: int) -> StudySpec:
    """The search by that optimizer under that load."""
    return StudySpec(
        study=f"{load}-{optimizer}-{seed}".replace(" ", "-"), workload=LOADS[load],
        optimizer=optimizer, seed=seed, trials=GUIDED if optimizer == "guided" else MOST,
        early_stop=False, repeats=0, pairs=MIN_PAIRS, max_pairs=MIN_PAIRS,
    )  # fmt: skip


def searched(spec: StudySpec, engine: Engine, home: Home) -> dict[str, Any]:
    """The best value so far after each trial, as measured; 1 is the base's."""
    (curve,) = on_engine([spec], engine, home, progress)
    return {"costs": list(curve.costs)}


def confirmed(spec: StudySpec, engine: Engine, home: Home) -> dict[str, Any]:
    """What the winner came to beside the base, with its interval; 1 where nothing beat that."""
    with progress(spec) as listener, open_study(home, spec, engine, listener) as study:
        # Measured again it may lose its place, but it stays the one that the search chose.
        begun = home.verifications(study.stored)
        if not begun and study.best() is None:
            return {"again": asdict(Interval(1.0, 1.0, 1.0))}
        chosen = begun[0].best_trial if begun else None
        return {"again": asdict(verify(study, spec.scale, spec.workload, chosen).objective)}


def main() -> None:
    engine = make_engine("rocksdb", "db_bench", None)
    steps = [(searched, *one) for one in product(SEEDS, LOADS, ("guided",))]
    for others, seed in product(OTHERS, SEEDS):
        steps += [(searched, *one) for one in product((seed,), LOADS, others)]
        steps += [(confirmed, *one) for one in product((seed,), LOADS, ("guided", *others))]
    rows: dict[str, dict[str, Any]] = {}
    with Home(Path(sys.argv[1]), create=True) as home:
        for step, seed, load, optimizer in steps:
            spec = search(load, optimizer, seed)
            row = rows.setdefault(spec.name, {"load": load, "optimizer": optimizer, "seed": seed})
            row |= step(spec, engine, home)
            RESULTS.write_text(json.dumps([*rows.values()], indent=2) + "\n")


if __name__ == "__main__":
    main()
