"""What models and samplers learn from a history: the best config, numbers for all trials, a choice.

Failed and cut trials get numbers too; a long history is cut to the trials that teach most.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.objective import limit_penalty
from lsmtune.optimizers.base import Observation

_LEAST_PENALTY = 1.0
"""A failure counts at least like a limit exceeded by its own size."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A tried config with a number for everything, as samplers need it.

    `values` has one number a goal, lower is better; a `violation` above 0 breaks the limits.
    """

    config: Config
    values: tuple[float, ...]
    violation: float


def incumbent(history: Sequence[Observation], rng: np.random.Generator) -> Config | None:
    """The best config so far; None where nothing is measured.

    With one goal it has the lowest value, made worse by as much as the worst limit is exceeded:
    next to a config that just misses a limit there often is a better one that keeps it. With
    several goals it is a random one of those within the limits that none of them dominates; where
    none is within, of all, made worse likewise.
    """
    measured = [o for o in history if o.is_measured]
    within = [o for o in measured if _excess(o) == 0]
    eligible = within if within and len(within[0].values or ()) > 1 else measured
    if not eligible:
        return None
    penalties = [limit_penalty(o.violation) for o in eligible]
    values = np.array([o.values for o in eligible]).T * penalties
    front = np.flatnonzero(~_dominated(values.T))
    return eligible[int(rng.choice(front))].config


def judged(history: Sequence[Observation]) -> list[Judged]:
    """The history with a number for everything, in its order; empty if nothing has values.

    A cut trial counts with its bounds, but as no better than the median of the measured ones: it
    was ended because it was losing, and how far behind it would have come nobody knows. A failed
    one counts as the worst, and as breaking the limits more than any other.
    """
    known = [o.values for o in history if o.values is not None]
    if not known:
        return []
    measured = [o.values for o in history if o.values is not None and o.is_measured] or known
    middle, worst = np.median(measured, axis=0), np.max(known, axis=0)
    penalty = _LEAST_PENALTY + max(_excess(o) for o in history)

    def judge(observation: Observation) -> Judged:
        if observation.values is None:
            return Judged(observation.config, tuple(worst.tolist()), penalty)
        values = observation.values
        if observation.cut:
            values = tuple(np.maximum(values, middle).tolist())
        return Judged(observation.config, values, observation.violation or 0.0)

    return [judge(observation) for observation in history]


def ranking(history: Sequence[Observation]) -> list[int]:
    """Where in the history each config is, the best first; empty if nothing has values.

    Those within the limits come by their values' mean, then those beyond them by how far.
    """
    told = judged(history)
    keys = [(max(0.0, j.violation), math.prod(j.values)) for j in told]
    return sorted(range(len(told)), key=keys.__getitem__)


def _excess(observation: Observation) -> float:
    """By how much the worst limit is exceeded; 0 within the limits, and where nobody knows."""
    return max(0.0, observation.violation or 0.0)


def _dominated(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows have another row that is nowhere worse and somewhere better."""
    dominated = np.zeros(len(values), dtype=np.bool_)
    left = np.lexsort(values.T[::-1])  # no row is dominated by a later one
    while len(left):
        row, others = values[left[0]], values[left]
        worse = np.all(row <= others, axis=1) & np.any(row < others, axis=1)
        dominated[left[worse]] = True
        left = left[1:][~worse[1:]]
    return dominated


_OVER = 15.0
"""A limit exceeded by a tenth costs as much as a value higher by 15 times that.

A config that exceeds a limit cannot win. With a small cost, a search stays with universal
compaction, whose live space depends on when its last large merge ended, and verifies lucky runs.
"""
_AUGMENTED = 0.05
_FARTHEST = 3.0
"""What is worse than the median by more than so many times what the best is better counts less."""


def outcomes(history: Sequence[Observation]) -> tuple[list[Config], Floats]:
    """Configs with the logarithm of each of their values (n, goals), lower is better.

    Empty if none has values. A config that ran several times stands there as often. What exceeds
    limits is made worse by how much. How bad the bad ones are is of no use, and bends a model
    where it matters: they are drawn in.
    """
    configs, values = measured(history)
    return configs, drawn_in(values, values)


def measured(history: Sequence[Observation]) -> tuple[list[Config], Floats]:
    """As `outcomes`, the bad ones as bad as they are."""
    told = judged(history)
    rows = [
        (j.config, values, max(0.0, j.violation))
        for j, observation in zip(told, history[: len(told)], strict=True)
        for values in observation.runs or (j.values,)
    ]
    if not rows:
        return [], np.empty((0, 1))
    logs = np.log(np.array([values for _, values, _ in rows]))
    over = np.array([over for _, _, over in rows])
    return [config for config, _, _ in rows], worsened(logs, over)


def worsened(logs: Floats, over: Floats) -> Floats:
    """Logarithms of values (n, goals), worse by how much limits are exceeded (n,)."""
    return logs + _OVER * np.log1p(np.maximum(over, 0.0))[:, None]


def drawn_in(values: Floats, like: Floats) -> Floats:
    """The values (m, goals), those far above the median of others (n, goals) pulled towards it."""
    if not len(like):
        return values
    middle = np.median(like, axis=0)
    reach = _FARTHEST * (middle - like.min(axis=0))
    reach = np.where(reach > 0, reach, 1.0)
    beyond = np.maximum(values - middle - reach, 0.0)
    return np.asarray(np.minimum(values, middle + reach) + reach * np.log1p(beyond / reach))


def chebyshev(values: Floats, measured: Floats, weights: Floats) -> Floats:
    """One number for the values (m, goals): the augmented Chebyshev distance from the best.

    Each goal is scaled by how far the better half of what was measured (n, goals) reaches.
    Knowles: ParEGO (2006).
    """
    if values.shape[1] == 1:
        return values[:, 0]
    best = measured.min(axis=0)
    reach = np.median(measured, axis=0) - best
    weighed = (values - best) / np.where(reach > 0, reach, 1.0) * weights
    return np.asarray(weighed.max(axis=1) + _AUGMENTED * weighed.sum(axis=1))


_PARTS = 3
"""The best, the newest and random trials each make up so much of the choice."""


def chosen_trials(history: Sequence[Observation], most: int) -> list[Observation]:
    """Return at most so many trials in their order; all of a shorter history.

    The choice has the baseline, the best trials (of several goals, also those of each goal), the
    newest trials, and random ones from all. So a model knows the best region well and still has
    an idea of the rest. The random trials change little from one trial to the next.
    """
    if len(history) <= most:
        return list(history)
    newest = range(len(history) - most // _PARTS, len(history))
    best = islice(best_first(history), most // _PARTS)
    kept = {0, *newest, *best}
    # The first numbers of a longer sequence are the same, so a trial keeps its number.
    order = np.argsort(np.random.default_rng(0).random(len(history)), kind="stable")
    rest = (at for at in order.tolist() if at not in kept)
    return [history[at] for at in sorted([*kept, *islice(rest, most - len(kept))])]


def best_first(history: Sequence[Observation]) -> Iterator[int]:
    """Yield the places of the trials, the best by all goals together and by each goal in turn.

    Those within the limits come first. Nothing comes from a history without values.
    """
    orders = [ranking(history)]
    told = judged(history)
    goals = len(told[0].values) if told else 0
    if goals > 1:
        for goal in range(goals):
            keys = [(max(0.0, j.violation), j.values[goal]) for j in told]
            orders.append(sorted(range(len(told)), key=keys.__getitem__))
    places = chain.from_iterable(zip_longest(*orders))
    return iter(dict.fromkeys(place for place in places if place is not None))
