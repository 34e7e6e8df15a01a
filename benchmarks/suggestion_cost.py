"""Measure the time that an optimizer needs for the next config.

    .venv/bin/python benchmarks/suggestion_cost.py [OPTIMIZER ...]

Each named optimizer, or all, makes ten suggestions after 50, 100 and 200 trials of 26 and of 80
knobs. A fifth of the trials failed and a fifth violated a constraint. Prints the median and the
longest time as a table and writes them to benchmarks/results/suggestion_cost.json; rows of other
optimizers stay. Nothing else may run on the machine.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import numpy as np

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, Optimizer
from lsmtune.optimizers.registry import OPTIMIZERS, make_optimizer

RESULTS = Path(__file__).parent / "results" / "suggestion_cost.json"
SCALE = 1 / 64
OPEN_FILES = 1024
SPACES = {"core": 26, "all": 80}
"""Which preset, and how many knobs of it."""
TRIALS = (50, 100, 200)
ASKED = 10
Row = dict[str, str | int | float]


def make_space(preset: str, count: int) -> KnobSpace:
    """Return the first knobs of the preset with RocksDB's defaults, without suggested starts."""
    catalogue = load("rocksdb")
    base = catalogue.defaults(SCALE)
    knobs = tuple(knob.scaled(SCALE) for knob in catalogue.select(preset)[:count])
    return KnobSpace(knobs, base, OPEN_FILES, MemoryLimit(memory_bytes(base))).fitted()


def judge(config: Config, rng: np.random.Generator) -> Observation:
    """Return any value: the values do not change the time of learning."""
    fate = rng.integers(5)
    if fate == 0:
        return Observation(config, None, None)
    return Observation(config, (float(rng.lognormal()),), 0.2 if fate == 1 else -0.1)


def seconds(optimizer: Optimizer, space: KnobSpace, trials: int) -> list[float]:
    """Return the time of each suggestion, after a first one that does not count."""
    rng = np.random.default_rng(1)
    history = [Observation(space.default(), (1.0,), -0.1)]
    history += [judge(space.sample(rng), rng) for _ in range(trials)]
    times = []
    for seed in range(ASKED + 1):
        start = time.perf_counter()
        optimizer.ask(space, history, seed)
        times.append(time.perf_counter() - start)
    return times[1:]


def measure(names: Sequence[str]) -> list[Row]:
    """Return a row per optimizer, space and number of trials."""
    rows: list[Row] = []
    for preset, count in SPACES.items():
        space = make_space(preset, count)
        for name in names:
            for trials in TRIALS:
                times = seconds(make_optimizer(name), space, trials)
                rows.append(
                    {"optimizer": name, "knobs": len(space.knobs), "trials": trials,
                     "median_s": round(median(times), 4), "longest_s": round(max(times), 4)}
                )  # fmt: skip
    return rows


def table(rows: list[Row]) -> str:
    """Return the rows in Markdown, in milliseconds."""
    lines = ["| optimizer | knobs | trials | median | longest |", "|---|---|---|---|---|"]
    lines += [
        f"| {r['optimizer']} | {r['knobs']} | {r['trials']} "
        f"| {1000 * float(r['median_s']):.0f} ms | {1000 * float(r['longest_s']):.0f} ms |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    asked = sys.argv[1:] or list(OPTIMIZERS)
    measured = measure(asked)
    kept = [row for row in json.loads(RESULTS.read_text()) if row["optimizer"] not in asked]
    RESULTS.write_text(json.dumps(kept + measured, indent=1) + "\n")
    sys.stdout.write(table(measured))
