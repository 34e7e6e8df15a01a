"""Repeat the parameter study on the simulator: 2,000 configs, 1,000,000 records.

    .venv/bin/python benchmarks/simulated_study.py [CONFIGS]

Space and analysis are those of the screening that ships, which has 200,000 records. For each knob
it computes how much the held-out R² of extra trees falls without the knob, its importance in the
paper's random forest, and whether it separates the best tenth of the configs. Writes
results/simulated_study.json.
"""

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from scipy.stats import spearmanr

from lsmtune.analysis.importance import Runs, runs_of
from lsmtune.analysis.screened import shipped
from lsmtune.batch import BatchLine, as_flags
from lsmtune.knobs.design import design_configs
from lsmtune.learning.importance import mdi, ped_anova, permutation
from lsmtune.learning.models import FOREST, forest, held_out_accuracy
from lsmtune.simulator import Run, known_knobs, predict
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, catalogue_of, without_load
from lsmtune.trials import Base
from lsmtune.workloads import Workload
from lsmtune_reproductions.recipes.jin2022.study import Plan

RESULTS = Path(__file__).parent / "results" / "simulated_study.json"
CONFIGS, NUM = 2000, 1_000_000
METRICS = ("write_amp", "live_sst_bytes", "total_s", "stall_s")
REPEATS, SEED = 1, 1


def simulated(configs: int) -> tuple[list[BatchLine], float]:
    """Return the runs of the design and the seconds that they took."""
    spec = Plan().screening("honest")
    catalogue = catalogue_of(spec.engine, spec.workload)
    base = Base(options="", settings=catalogue.defaults(1))
    space = knob_space(spec, Ground(catalogue, base, 20_000))
    load = Workload(num=NUM)
    found = [
        BatchLine(str(place), load, as_flags(without_load(space.settings(config)), catalogue))
        for place, config in enumerate(design_configs(space, "sobol", configs, seed=1))
    ]
    begun = time.perf_counter()
    told = predict([Run(line.workload, line.knobs) for line in found])
    took_s = time.perf_counter() - begun
    tuned = {knob.name for knob in space.knobs}
    lines = [
        replace(
            line, metrics=prediction.metrics, error=prediction.error,
            knobs={name: value for name, value in line.knobs.items() if name in tuned},
        )
        for line, prediction in zip(found, told, strict=True)
    ]  # fmt: skip
    return lines, took_s


def analysed(runs: Runs, metric: str) -> dict[str, Any]:
    """Return the forest's held-out R², and the importance of each knob by method."""
    design, outcome = runs.design, runs.outcome(metric)
    falls = permutation(design, outcome, "extra trees", REPEATS, SEED)
    methods: dict[str, Iterable[float]] = {
        "permutation": [fall.median for fall in falls],
        "mdi": mdi(design, forest(SEED).fit(design.matrix, outcome)),
        "ped_anova": ped_anova(design, outcome, lower_is_better=True),
    }
    names = [factor.name for factor in design.factors]
    return {
        "forest_r2": held_out_accuracy(FOREST, design.matrix, outcome, REPEATS, SEED).median,
        **{
            method: {name: float(share) for name, share in zip(names, told, strict=True)}
            for method, told in methods.items()
        },
    }


def beside(real: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Return both analyses of a metric, and the similarity of their rankings of the knobs."""
    both = sorted(real["mdi"].keys() & told["mdi"].keys() & known_knobs())

    def alike(method: str) -> float:
        here, there = ([of[method][knob] for knob in both] for of in (real, told))
        return float(spearmanr(here, there).statistic)

    return {
        "spearman": {method: alike(method) for method in ("permutation", "mdi", "ped_anova")},
        "real": real, "simulated": told,
    }  # fmt: skip


def main() -> None:
    configs = int(sys.argv[1]) if len(sys.argv) > 1 else CONFIGS
    lines, took_s = simulated(configs)
    catalogue = catalogue_of("rocksdb", Workload())
    real, told = runs_of(shipped(), catalogue), runs_of(lines, catalogue)
    document = {
        "configs": configs, "num": NUM, "seconds": took_s,
        "failed": told.failed, "real_configs": len(real.first),
        "metrics": {
            metric: beside(analysed(real, metric), analysed(told, metric)) for metric in METRICS
        },
    }  # fmt: skip
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
