"""What a history says: which config is best so far, and what failed and cut trials count for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lsmtune.knobs.types import Config
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
    """The best config so far; with several goals a random one of those that none dominates.

    Only measured configs within the limits count. Where there are none, all measured ones do,
    their values made worse by as much as the worst limit is exceeded; None without any.
    """
    measured = [o for o in history if o.is_measured]
    eligible = [o for o in measured if _excess(o) == 0] or measured
    if not eligible:
        return None
    values = np.array([o.values for o in eligible]).T * [1 + _excess(o) for o in eligible]
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


def _excess(observation: Observation) -> float:
    """By how much the worst limit is exceeded; 0 within the limits, and where nobody knows."""
    return max(0.0, observation.violation or 0.0)


def _dominated(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows have another row that is nowhere worse and somewhere better."""
    others, rows = values[None, :, :], values[:, None, :]
    better = np.all(others <= rows, axis=2) & np.any(others < rows, axis=2)
    dominated: NDArray[np.bool_] = np.any(better, axis=1)
    return dominated
