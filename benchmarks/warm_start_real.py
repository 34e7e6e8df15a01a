"""Measure what a warm start saves or costs on real RocksDB.

    .venv/bin/python benchmarks/warm_start_real.py HOME

gp-ucb tunes random writes without an earlier study and after two other workloads: a similar one,
with values half as large, and a misleading one, with keys in order: nothing overlaps, and
compactions move files. There are no constraints: with a few thousand reads, latency constraints
exclude configs by chance. Nothing else should run. An interrupted call continues. Writes
results/warm_start_real.json.
"""

import json
import sys
from pathlib import Path

from warm_start import LIFTED, taken

from lsmtune.cli.progress import TerminalObserver
from lsmtune.engines.registry import make_engine
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.workloads import Workload
from lsmtune_reproductions.comparison.compare import engine_studies, on_engine

RESULTS = Path(__file__).parent / "results" / "warm_start_real.json"
ARMS = ("cold", "similar", "misleading")
TRIALS, SEARCHES, NUM = 24, 3, 200_000


def studies() -> dict[str, list[StudySettings]]:
    """Return the studies of each arm; earlier studies come first."""
    spec = StudySettings(
        workload=Workload(num=NUM), trials=TRIALS, optimizer="gp-ucb", limits=LIFTED,
        early_stop=False,
    )  # fmt: skip
    loads = {
        "similar": Workload(num=2 * NUM, value_size=512),
        "misleading": Workload(name="fillseq", num=NUM),
    }
    arms = {"cold": engine_studies(spec, [spec.optimizer], SEARCHES)}
    for name, load in loads.items():
        before = f"before-{name}"
        arms[before] = [_alone(spec, study=before, workload=load)]
        arms[name] = [
            _alone(spec, study=f"warm-{name}-{seed}", seed=seed, warm_start=(before,))
            for seed in range(1, SEARCHES + 1)
        ]
    return arms


def _alone(spec: StudySettings, **changed: object) -> StudySettings:
    return spec.model_copy(update={"repeats": 0, "pairs": 0, **changed})


def main() -> None:
    engine = make_engine("rocksdb", "db_bench", None)
    with Home(Path(sys.argv[1]), create=True) as home:
        curves = {
            arm: list(on_engine(specs, engine, home, TerminalObserver()))
            for arm, specs in studies().items()
        }
    found: dict[str, object] = {"trials": TRIALS, "searches": SEARCHES, "num": NUM,
                                "optimizer": "gp-ucb"}  # fmt: skip
    found |= taken({arm: curves[arm] for arm in ARMS}, (TRIALS // 2, TRIALS), TRIALS)
    found["ends"] = {arm: [curve.costs[-1] for curve in own] for arm, own in curves.items()}
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
