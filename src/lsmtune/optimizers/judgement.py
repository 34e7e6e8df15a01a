"""What a history says: which config is best so far, and what failed and cut trials count for."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lsmtune.knobs.types import Config
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
