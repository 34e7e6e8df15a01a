"""Measure what lsmtune itself costs after thousands of trials.

    .venv/bin/python benchmarks/many_trials.py FOLDER

Three figures, without an engine: the time that each optimizer needs for a suggestion after 1,000
and after 5,000 trials of 26 and of 80 knobs; the time that `tune` adds to a trial, without the
suggestion and the run, after 100, 1,000 and 5,000 trials; and the time of `importance` with 100 and
with 1,000 simulated configs. Writes benchmarks/results/many_trials.json after each figure and skips
what it contains. FOLDER is a new folder for the study of the second figure. Times are seconds of
wall clock and of CPU: on a busy machine, only the latter tell.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
from opened import open_study
from suggestion_cost import OPEN_FILES, SPACES, make_space

from lsmtune.analysis.importance import find_importance, runs_of, usual_repeats
from lsmtune.batch import BatchLine, as_flags
from lsmtune.knobs.design import design_configs
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.metrics.definitions import METRICS, shown_metrics
from lsmtune.optimizers.base import Observation, Optimizer
from lsmtune.optimizers.registry import OPTIMIZERS, make_optimizer
from lsmtune.simulator import Run, predict
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, catalogue_of, make_spec, without_load
from lsmtune.store.home import Home
from lsmtune.study.foretelling import foretelling
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, TrialResult, TrialSpec
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parent / "results" / "many_trials.json"
TRIALS = (1000, 5000)
ASKED = 3
MARKS, WINDOW = (100, 1000, 5000), 50
CONFIGS, NUM = (100, 1000), 200_000
Row = dict[str, str | int | float]


class Clock:
    """Seconds of wall clock and of CPU since its start."""

    def __init__(self) -> None:
        self._begun = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return both."""
        return time.perf_counter() - self._begun[0], time.process_time() - self._begun[1]


def judge(config: Config, rng: np.random.Generator) -> Observation:
    """Return any value with as many metrics as a real run; a fifth of the trials failed."""
    fate = rng.integers(5)
    if fate == 0:
        return Observation(config, None, None)
    metrics = dict(zip(METRICS, rng.lognormal(size=len(METRICS)).tolist(), strict=True))
    value, violation = float(rng.lognormal()), 0.2 if fate == 1 else -0.1
    return Observation(config, (value,), violation, metrics=metrics)


def long_history(space: KnobSpace) -> list[Observation]:
    """Return the baseline and random configs, as many trials as are measured at most."""
    rng = np.random.default_rng(1)
    first = Observation(space.default(), (1.0,), -0.1, metrics=dict.fromkeys(METRICS, 1.0))
    return [first, *(judge(space.sample(rng), rng) for _ in range(max(TRIALS)))]


def optimizer_of(name: str, space: KnobSpace) -> Optimizer:
    """Return the optimizer; `guided` with the simulator."""
    spec = make_spec({"study": "many", "workload": {"num": NUM}}, "many_trials")
    return make_optimizer(name, foretelling=lambda: foretelling(spec, space))


def suggestion(optimizer: Optimizer, space: KnobSpace, history: Sequence[Observation]) -> Row:
    """Return the times of the last suggestions, after one that does not count."""
    times = []
    for count in range(len(history) - ASKED, len(history) + 1):
        before, clock = history[:count], Clock()
        optimizer.ask(space, before, 1)
        times.append(clock.read())
    walls, cpus = zip(*times[1:], strict=True)
    return {"median_s": median(walls), "longest_s": max(walls), "cpu_s": median(cpus)}


def suggestions(keep: Callable[[str, Row], None], known: Sequence[str]) -> None:
    """Measure each optimizer on both spaces."""
    for preset, count in SPACES.items():
        keys = {
            f"suggestion {name} {count} knobs {trials} trials": (name, trials)
            for name in OPTIMIZERS
            for trials in TRIALS
        }
        left = {key: asked for key, asked in keys.items() if key not in known}
        if not left:
            continue
        space = make_space(preset, count)
        history = long_history(space)
        for key, (name, trials) in left.items():
            row = suggestion(optimizer_of(name, space), space, history[: trials + 1])
            keep(key, {"optimizer": name, "knobs": count, "trials": trials, **row})


class Timed:
    """Random search that notes how long its suggestions take."""

    name = summary = "timed"

    def __init__(self) -> None:
        self.spent: list[tuple[float, float]] = []
        self._search = make_optimizer("random")

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """Return a random config."""
        clock = Clock()
        config = self._search.ask(space, history, seed)
        self.spent.append(clock.read())
        return config


def own_cost(keep: Callable[[str, Row], None], folder: Path) -> None:
    """Measure the time from the end of one trial to the end of the next one."""
    rng, optimizer, clock = np.random.default_rng(1), Timed(), Clock()
    ends: list[tuple[float, float]] = []

    def script(_: TrialSpec) -> TrialResult:
        ends.append(clock.read())
        return measured(write_amp=float(rng.lognormal()), total_s=float(rng.lognormal()))

    given = {"study": "many", "optimizer": "random", "trials": MARKS[-1], "repeats": 0}
    spec = make_spec(given, "many_trials")
    with (
        patch("lsmtune.study.search.make_optimizer", return_value=optimizer),
        Home(folder, create=True) as home,
        open_study(home, spec, ScriptedEngine(script)) as study,
    ):
        run_search(study)
    between = [
        (now[0] - then[0], now[1] - then[1]) for then, now in pairwise(ends[spec.base_runs :])
    ]
    own = [
        (wall - asked[0], cpu - asked[1])
        for (wall, cpu), asked in zip(between, optimizer.spent[1:], strict=True)
    ]
    for mark in MARKS:
        walls, cpus = zip(*own[mark - WINDOW : mark], strict=True)
        row: Row = {"median_s": median(walls), "longest_s": max(walls), "cpu_s": median(cpus)}
        keep(f"own cost {mark} trials", {"trials": mark, **row})


def importance(configs: int) -> Row:
    """Return the time of `importance` with its default metrics and repeats."""
    spec = make_spec({"study": "many", "engine": "simulated"}, "many_trials")
    catalogue = catalogue_of(spec.engine, spec.workload)
    base = Base(options="", settings=catalogue.defaults(1))
    space, load = knob_space(spec, Ground(catalogue, base, OPEN_FILES)), Workload(num=NUM)
    each = [without_load(space.settings(c)) for c in design_configs(space, "sobol", configs, 1)]
    told = predict([Run(load, settings) for settings in each])
    lines = [
        BatchLine(str(at), load, as_flags(settings, catalogue), found.metrics, found.error)
        for at, (settings, found) in enumerate(zip(each, told, strict=True))
    ]
    runs = runs_of(lines, catalogue)
    repeats, clock = usual_repeats(runs), Clock()
    find_importance(runs, shown_metrics("importance", "write"), repeats)
    wall, cpu = clock.read()
    return {"configs": len(runs.first), "knobs": len(runs.design.factors), "repeats": repeats,
            "wall_s": wall, "cpu_s": cpu}  # fmt: skip


def main() -> None:
    """Measure what is not known yet."""
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}

    def keep(key: str, row: Row) -> None:
        rounded = {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
        found[key] = rounded
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
        print(key, rounded, flush=True)

    suggestions(keep, list(found))
    if any(f"own cost {mark} trials" not in found for mark in MARKS):
        own_cost(keep, Path(sys.argv[1]))
    for configs in CONFIGS:
        if (key := f"importance {configs} configs") not in found:
            keep(key, importance(configs))


if __name__ == "__main__":
    main()
