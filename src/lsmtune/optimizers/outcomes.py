"""The history as numbers, for models of it."""

from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.judgement import judged

_OVER = 2.0
"""A limit exceeded by a tenth costs as much as a value higher by twice that."""
_AUGMENTED = 0.05
_FARTHEST = 3.0
"""What is worse than the median by more than so many times what the best is better counts less."""


def outcomes(history: Sequence[Observation]) -> tuple[list[Config], Floats]:
    """Configs with the logarithm of each of their values (n, goals), lower is better.

    Empty if none has values. A config that ran several times stands there as often. What exceeds
    limits is made worse by how much. How bad the bad ones are is of no use, and bends a model
    where it matters: they are drawn in.
    """
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
    drawn = [_drawn_in(column + _OVER * np.log1p(over)) for column in logs.T]
    return [config for config, _, _ in rows], np.column_stack(drawn)


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


def _drawn_in(values: Floats) -> Floats:
    """The values, those far above the median pulled towards it."""
    middle = float(np.median(values))
    reach = _FARTHEST * (middle - float(values.min())) or 1.0
    beyond = np.maximum(values - middle - reach, 0.0)
    return np.minimum(values, middle + reach) + reach * np.log1p(beyond / reach)
