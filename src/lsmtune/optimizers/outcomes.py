"""The history as numbers, for models of it."""

from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.judgement import judged

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
