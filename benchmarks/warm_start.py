"""Measure what a warm start saves after a similar workload and costs after a misleading one.

    .venv/bin/python benchmarks/warm_start.py [SEARCHES]

Runs on models of the screening that ships. A model of every second config is the tuned workload, a
model of the others is a similar workload that was tuned before. The misleading workload is the
similar one reversed: its best configs are the worst here. In the dull one, knobs have so little
effect that all runs are similar. Writes results/warm_start.json.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np

from lsmtune.analysis.screened import shipped
from lsmtune.knobs.types import Config
from lsmtune.learning.threads import one_thread
from lsmtune.objective import parse_objective
from lsmtune.optimizers.base import Earlier, Observation, Optimizer
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, catalogue_of
from lsmtune.trials import Base
from lsmtune_reproductions.comparison.model import Modelled, modelled
from lsmtune_reproductions.comparison.race import Curve, median_interval, search, trials_to
from lsmtune_reproductions.recipes.jin2022.study import Plan

RESULTS = Path(__file__).parent / "results" / "warm_start.json"
TRIALS, BEFORE, OPTIMIZER = 36, 36, "gp-ucb"
SEARCHES, DULL = 20, 0.1
LIFTED = tuple(
    f"{name} <= none"
    for name in ("live_sst_bytes", "get_p99_us", "get_missing_p99_us", "scan_p99_us")
)


@dataclass(frozen=True)
class Turned(Modelled):
    """A workload in which good values become as bad, or change less."""

    share: float = 1.0

    def run(self, config: Config, rng: np.random.Generator) -> dict[str, float]:
        base = self.metrics(self.space.default())
        found = super().run(config, rng)
        return {name: base[name] * (base[name] / found[name]) ** self.share for name in base}


def models() -> tuple[Modelled, Modelled]:
    """Return the tuned workload and the similar one."""
    spec = Plan().screening("honest")
    catalogue = catalogue_of(spec.engine, spec.workload)
    ground = Ground(catalogue, Base(options="", settings=catalogue.defaults(1)), 20_000)
    space, asked = knob_space(spec, ground), parse_objective("balanced", LIFTED)
    lines = [line for line in shipped() if line.metrics]
    places = {key: place for place, key in enumerate(dict.fromkeys(map(_config, lines)))}
    halves = [[line for line in lines if places[_config(line)] % 2 == half] for half in (0, 1)]
    here, there = (modelled(half, catalogue, space, asked) for half in halves)
    return here, replace(there, space=here.space)


def _config(line: object) -> str:
    return json.dumps(sorted(line.knobs.items()))  # type: ignore[attr-defined]


class Recorded:
    """An optimizer that keeps the history of its last call."""

    def __init__(self, search: Optimizer) -> None:
        self.name, self.summary, self._search = search.name, search.summary, search
        self.history: tuple[Observation, ...] = ()

    def ask(self, space: object, history: Sequence[Observation], seed: int) -> Config:
        self.history = tuple(history)
        return self._search.ask(space, history, seed)  # type: ignore[arg-type]


def before(load: Modelled, seed: int) -> Earlier:
    """Return what a search of the other workload measured."""
    recorded = Recorded(make_optimizer(OPTIMIZER))
    search(load, "before", recorded, seed + 1000, BEFORE + 1)
    return Earlier("before", recorded.history)


def main() -> None:
    searches = int(sys.argv[1]) if len(sys.argv) > 1 else SEARCHES
    here, similar = models()
    given = {name: getattr(similar, name) for name in similar.__dataclass_fields__}
    turned, dull = Turned(**given), Turned(**given, share=DULL)
    curves: dict[str, list[Curve]] = {
        name: [] for name in ("cold", "similar", "misleading", "dull")
    }
    for seed in range(1, searches + 1):
        arms = {"cold": (), "similar": (before(similar, seed),),
                "misleading": (before(turned, seed),), "dull": (before(dull, seed),)}  # fmt: skip
        for name, earlier in arms.items():
            optimizer = make_optimizer(OPTIMIZER, earlier)
            curves[name].append(search(here, name, optimizer, seed, TRIALS))
        print(seed, {name: round(own[-1].costs[-1], 3) for name, own in curves.items()}, flush=True)
    found: dict[str, object] = {"trials": TRIALS, "searches": searches, "optimizer": OPTIMIZER}
    found |= taken(curves, [round(TRIALS * share) for share in (0.5, 0.75, 1.0)], TRIALS)
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


def taken(
    curves: Mapping[str, Sequence[Curve]], marks: Sequence[int], trials: int
) -> dict[str, dict[str, object]]:
    """Return the trials of each arm to reach the median of cold starts at each mark.

    One more than the number of trials means never.
    """
    found: dict[str, dict[str, object]] = {}
    for mark in marks:
        target = median(curve.costs[mark - 1] for curve in curves["cold"])
        told = found[f"to what a cold start has after {mark}"] = {"target": target}
        for arm, own in curves.items():
            counts = [float(trials_to(curve, target) or trials + 1) for curve in own]
            told[arm] = asdict(median_interval(counts))
    return found


if __name__ == "__main__":
    with one_thread():
        main()
