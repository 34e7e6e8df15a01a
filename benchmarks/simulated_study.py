"""The parameter study on the simulator: 2,000 configs at 1,000,000 pairs, beside the real runs.

    .venv/bin/python benchmarks/simulated_study.py [CONFIGS]

The same space and the same analysis as of the screening that ships, which was made at 200,000
pairs. Writes results/simulated_study.json.
"""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from scipy.stats import spearmanr

from lsmtune.analysis.importance import Importance, find_importance, runs_of
from lsmtune.batch import BatchLine, as_flags
from lsmtune.knobs.design import design_configs
from lsmtune.recipes.jin2022.study import Plan, shipped
from lsmtune.simulator import Run, known_knobs, predict
from lsmtune.spec import Ground, catalogue_of, without_load
from lsmtune.trials import Base
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results" / "simulated_study.json"
CONFIGS, NUM = 2000, 1_000_000
METRICS = ("write_amp", "live_sst_bytes", "total_s", "stall_s")
REPEATS = 3
MOST_KNOBS = 8


def simulated(configs: int) -> tuple[list[BatchLine], float]:
    """The runs of the design, and the seconds that they took."""
    spec = Plan().screening("honest")
    catalogue = catalogue_of(spec.engine, spec.workload)
    base = Base(options="", settings=catalogue.defaults(1))
    space = spec.space(Ground(catalogue, base, 20_000))
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


def shares(found: Importance) -> dict[str, dict[str, float]]:
    """By metric and knob how much held-out R² falls without it."""
    return {
        metric.metric: {knob.knob: knob.permutation.median for knob in metric.knobs}
        for metric in found.metrics
    }


def main() -> None:
    configs = int(sys.argv[1]) if len(sys.argv) > 1 else CONFIGS
    lines, took_s = simulated(configs)
    catalogue = catalogue_of("rocksdb", Workload())
    foretold = find_importance(runs_of(lines, catalogue), METRICS, REPEATS)
    measured = find_importance(runs_of(shipped("honest"), catalogue), METRICS, REPEATS)
    there, here = shares(foretold), shares(measured)
    document: dict[str, object] = {
        "configs": configs, "num": NUM, "seconds": took_s,
        "failed": sum(not line.metrics for line in lines),
        "real_configs": measured.configs, "metrics": {},
    }  # fmt: skip
    for metric in METRICS:
        both = sorted(here[metric].keys() & there[metric].keys() & known_knobs())
        ranked = sorted(here[metric], key=lambda knob: -here[metric][knob])[:MOST_KNOBS]
        document["metrics"][metric] = {  # type: ignore[index]
            "spearman": float(
                spearmanr(
                    [here[metric][k] for k in both], [there[metric][k] for k in both]
                ).statistic
            ),
            "knobs": {knob: [here[metric][knob], there[metric].get(knob)] for knob in ranked},
        }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
