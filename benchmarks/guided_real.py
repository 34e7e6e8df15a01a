"""Guided beside other searches on real RocksDB: what it has after eight trials, they after 36.

    .venv/bin/lsmtune doctor --calibrate --home HOME
    .venv/bin/python benchmarks/guided_real.py HOME

Three loads and three seeds, chosen beforehand, under the default objective and limits, cold. Those
of a seed are together, so that an early end leaves whole comparisons. Nothing else should run. The
same call goes on after an interruption. Writes to results/guided_real.json, after each search, the
best value so far after each trial.
"""

import json
import sys
from pathlib import Path

from lsmtune.cli.progress import progress
from lsmtune.comparison.runs import on_engine
from lsmtune.engines.registry import make_engine
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results" / "guided_real.json"
LOADS = {
    "random writes": Workload(num=100_000),
    "overwrites": Workload(name="overwrite", num=100_000),
    "small values": Workload(num=400_000, value_size=128),
}
OTHERS = ("gp-ucb", "tpe", "genetic", "random")
GUIDED, MOST = 8, 36
SEEDS = (1, 2, 3)


def searches() -> list[tuple[str, StudySpec]]:
    """Each search with its load: those of guided, then of the others those of a seed together."""
    return [
        (
            load,
            StudySpec(
                study=f"{load}-{optimizer}-{seed}".replace(" ", "-"), workload=workload,
                optimizer=optimizer, seed=seed, trials=trials,
                early_stop=False, repeats=0, pairs=0,
            ),
        )
        for optimizers, trials in ((("guided",), GUIDED), (OTHERS, MOST))
        for seed in SEEDS
        for load, workload in LOADS.items()
        for optimizer in optimizers
    ]  # fmt: skip


def main() -> None:
    engine = make_engine("rocksdb", "db_bench", None)
    found: dict[str, dict[str, dict[str, list[float]]]] = {load: {} for load in LOADS}
    with Home(Path(sys.argv[1]), create=True) as home:
        for load, spec in searches():
            (curve,) = on_engine([spec], engine, home, progress)
            found[load].setdefault(spec.optimizer, {})[str(spec.seed)] = list(curve.costs)
            RESULTS.write_text(json.dumps({"loads": found}, indent=2) + "\n")


if __name__ == "__main__":
    main()
