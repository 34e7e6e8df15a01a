"""Searches of several optimizers as curves, the summary of each, and who beats random search.

Only an optimizer that beats random search has learnt something.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil, inf
from statistics import median, median_high
from typing import Annotated

import numpy as np
from pydantic import Field, FiniteFloat
from scipy.special import bdtr

from lsmtune.optimizers.base import Observation, Optimizer
from lsmtune.stats import Interval, of_several, ratio_interval, unpaired_ratio_interval
from lsmtune_reproductions.comparison.model import Modelled

MARKS = (8, 16, 24, 36, 50, 75, 100, 150, 200)
"""Numbers of trials after which the best cost is reported, and the last trial in addition."""

_BASE_RUNS = 3
"""Runs of the baseline, as in a study."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One search: the cost of its best config so far after each trial; the baseline has cost 1."""

    optimizer: str
    seed: int
    costs: Annotated[tuple[FiniteFloat, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Standing:
    """Results of an optimizer over its searches.

    `best_at` is the best cost so far by number of trials. `trials_to_target` is the number of
    trials to reach the target: median and interval, None where it was not reached.
    """

    optimizer: str
    repeats: int
    best_at: Mapping[int, Interval]
    trials_to_target: tuple[int | None, int | None, int | None]
    reached: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results of all optimizers, the best first.

    The target is the final cost of the `reference`, or a value given by the user.
    """

    target: float
    reference: str | None
    trials: int
    standings: tuple[Standing, ...]
    curves: tuple[Curve, ...]


def search(modelled: Modelled, name: str, optimizer: Optimizer, seed: int, trials: int) -> Curve:
    """Run one search on the model. A cost is the noise-free cost of the config that looks best."""
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
    """Return a search on the engine, as measured; the history begins with the baseline."""
    costs, lowest = [], 1.0
    for seen in history[1:]:
        lowest = min(lowest, _looks(seen))
        costs.append(lowest)
    return Curve(name, seed, tuple(costs))


def _looks(seen: Observation) -> float:
    """Return the measured value; a failed, pruned or violating trial is never the best."""
    if seen.value is None or seen.cut or (seen.violation or 0.0) > 0:
        return inf
    return seen.value


def outcome(curves: Sequence[Curve], trials: int, target: float | None, reference: str | None
            ) -> Outcome:  # fmt: skip
    """Return the results of all optimizers.

    The default target is the median final cost of the reference. The default reference is the
    optimizer with the highest final cost.
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


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the median with a confidence interval that assumes no distribution (sign test).

    Its ends are two of the values. With five or fewer values, at 95 %, it spans all of them.
    Values may be infinite.
    """
    ordered, count = sorted(values), len(values)
    sides = (k for k in range(count // 2) if 2 * bdtr(k, count, 0.5) <= 1 - confidence)
    outside = max(sides, default=0)
    return Interval(median(ordered), ordered[outside], ordered[count - 1 - outside])


def at(curve: Curve, trials: int) -> float:
    """Return the best cost after that number of trials; after the last config it stays the same."""
    return curve.costs[min(trials, len(curve.costs)) - 1]


def trials_to(curve: Curve, target: float) -> int | None:
    """Return the number of trials until the cost reached the target, or None."""
    return next((n for n, cost in enumerate(curve.costs, 1) if cost <= target), None)


def outcome_document(found: Outcome) -> dict[str, object]:
    """Return the results as JSON: `compare --json`."""
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


RANDOM = "random"
_MIN_SEARCHES = 2


@dataclass(frozen=True, slots=True)
class AgainstRandom:
    """Final cost of an optimizer divided by that of random search, over all seeds.

    `ratio` is None if an optimizer ran fewer than two searches.
    """

    optimizer: str
    ratio: Interval | None

    @property
    def beats(self) -> bool:
        """True if the whole interval is below 1."""
        return self.ratio is not None and self.ratio.high < 1

    @property
    def loses(self) -> bool:
        """True if the whole interval is above 1."""
        return self.ratio is not None and self.ratio.low > 1


def against_random(found: Outcome) -> tuple[AgainstRandom, ...]:
    """Return one record per optimizer, the best first; empty without random search.

    All intervals together hold at 95 % (Bonferroni).
    """
    names = [standing.optimizer for standing in found.standings]
    if RANDOM not in names:
        return ()
    others = [name for name in names if name != RANDOM]
    ends = {name: _ends(found, name) for name in names}
    confidence = of_several(len(others))
    return tuple(
        AgainstRandom(name, _ratio(ends[name], ends[RANDOM], confidence)) for name in others
    )


def _ends(found: Outcome, name: str) -> dict[int, float]:
    """Return the final cost of each search by its seed."""
    return {curve.seed: curve.costs[-1] for curve in found.curves if curve.optimizer == name}


def _ratio(own: dict[int, float], random: dict[int, float], confidence: float) -> Interval | None:
    seeds = sorted(own.keys() & random.keys())
    if min(len(own), len(random)) < _MIN_SEARCHES or min(*own.values(), *random.values()) <= 0:
        return None
    if len(seeds) >= _MIN_SEARCHES:
        pairs = [own[seed] for seed in seeds], [random[seed] for seed in seeds]
        return ratio_interval(*pairs, confidence)
    return unpaired_ratio_interval([*own.values()], [*random.values()], confidence)
