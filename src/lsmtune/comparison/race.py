"""Searches of several optimizers as curves, and what they say: how good, after how many trials."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf
from statistics import median, median_high

import numpy as np

from lsmtune.comparison.model import Modelled
from lsmtune.optimizers.base import Observation, Optimizer
from lsmtune.stats import Interval, median_interval

MARKS = (8, 16, 24, 36, 50, 75, 100, 150, 200)
"""After so many trials the best is told, as far as the budget goes, and at its end."""

_BASE_RUNS = 3
"""As a study measures its base."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One search: what its best config so far comes to after each trial, 1 being the base."""

    optimizer: str
    seed: int
    costs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How an optimizer did over its repeats.

    `best_at` is the best so far after so many trials. `trials_to_target` is how many it took to
    reach the target; an end is None where it was not reached.
    """

    optimizer: str
    repeats: int
    best_at: Mapping[int, Interval]
    trials_to_target: tuple[int | None, int | None, int | None]
    reached: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """All standings, the best first.

    The target is what is to be reached: what the `reference` ends with, or a value of the user's.
    """

    target: float
    reference: str | None
    trials: int
    standings: tuple[Standing, ...]
    curves: tuple[Curve, ...]


def search(modelled: Modelled, name: str, optimizer: Optimizer, seed: int, trials: int) -> Curve:
    """One search on the model. What counts is what the best-looking config really comes to."""
    rng = np.random.default_rng([seed, trials])
    first, base = modelled.first(rng, _BASE_RUNS)
    history, costs, best = [first], [], 1.0
    lowest = 1.0
    for _ in range(trials):
        config = optimizer.ask(modelled.space, history, seed)
        seen = modelled.observe(config, modelled.run(config, rng), base)
        history.append(seen)
        if (looks := _looks(seen)) < lowest:
            lowest, best = looks, modelled.cost(config)
        costs.append(best)
    return Curve(name, seed, tuple(costs))


def curve_of(name: str, seed: int, history: Sequence[Observation]) -> Curve:
    """A search on the engine: as measured, the base first in the history."""
    costs, lowest = [], 1.0
    for seen in history[1:]:
        lowest = min(lowest, _looks(seen))
        costs.append(lowest)
    return Curve(name, seed, tuple(costs))


def _looks(seen: Observation) -> float:
    """The measured value; what failed, was cut or breaks limits is never best."""
    if seen.value is None or seen.cut or (seen.violation or 0.0) > 0:
        return inf
    return seen.value


def outcome(curves: Sequence[Curve], trials: int, target: float | None, reference: str | None
            ) -> Outcome:  # fmt: skip
    """The standings. Without a target it is what the reference ends with in the median.

    Without a reference that is the optimizer which ends last.
    """
    names = list(dict.fromkeys(curve.optimizer for curve in curves))
    own = {name: [c for c in curves if c.optimizer == name] for name in names}
    ends = {name: median(c.costs[-1] for c in own[name]) for name in names}
    of, aim = None, target
    if aim is None:
        of = reference or max(ends, key=lambda name: ends[name])
        aim = median_high(c.costs[-1] for c in own[of])  # more than half of them have reached it
    standings = [_standing(name, own[name], trials, aim) for name in names]
    ranked = sorted(standings, key=lambda s: ends[s.optimizer])
    return Outcome(aim, of, trials, tuple(ranked), tuple(curves))


def _standing(name: str, curves: Sequence[Curve], trials: int, target: float) -> Standing:
    marks = dict.fromkeys([*(mark for mark in MARKS if mark < trials), trials])
    best_at = {mark: median_interval([at(curve, mark) for curve in curves]) for mark in marks}
    taken = [trials_to(curve, target) for curve in curves]
    reached = median_interval([inf if count is None else count for count in taken])
    told = tuple(None if x == inf else ceil(x) for x in (reached.median, reached.low, reached.high))
    return Standing(name, len(curves), best_at, (told[0], told[1], told[2]),
                    sum(count is not None for count in taken))  # fmt: skip


def at(curve: Curve, trials: int) -> float:
    """The best after so many trials; a search that ran out of configs keeps its last."""
    return curve.costs[min(trials, len(curve.costs)) - 1]


def trials_to(curve: Curve, target: float) -> int | None:
    """How many trials it took to come as low as the target; None if it never did."""
    return next((n for n, cost in enumerate(curve.costs, 1) if cost <= target), None)


def outcome_document(found: Outcome) -> dict[str, object]:
    """The outcome as JSON: `compare --json`."""
    return {
        "target_value": found.target,
        "reference": found.reference,
        "trials": found.trials,
        "optimizers": {
            s.optimizer: {
                "repeats": s.repeats,
                "best_at": {str(mark): asdict(best) for mark, best in s.best_at.items()},
                "trials_to_target": dict(
                    zip(("median", "low", "high"), s.trials_to_target, strict=True)
                ),
                "reached": s.reached,
            }
            for s in found.standings
        },
    }


def outcome_lines(found: Outcome) -> Iterable[str]:
    """The outcome for people: a table, the best optimizer first."""
    marks = list(found.standings[0].best_at)
    width = max(len(s.optimizer) for s in found.standings) + 2
    yield f"cost of the best so far after so many trials (1 is the base, below 1 a gain): median " \
          f"of {found.standings[0].repeats} searches (95 %)"  # fmt: skip
    yield " " * width + "".join(f"{mark:>25}" for mark in marks) + f"{'trials to':>14}"
    yield " " * width + " " * 25 * len(marks) + f"{found.target:>14.3f}"
    for s in found.standings:
        cells = (f"{i.median:.3f} ({i.low:.3f} to {i.high:.3f})" for i in s.best_at.values())
        middle = s.trials_to_target[0]
        taken = "not reached" if middle is None else str(middle)
        yield f"{s.optimizer:{width}}" + "".join(f"{c:>25}" for c in cells) + f"{taken:>14}"
