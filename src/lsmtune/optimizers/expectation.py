"""What is expected of configs: a process of what was measured, on top of what was known before."""

from dataclasses import dataclass
from math import log

import numpy as np

from lsmtune.learning.factors import Floats
from lsmtune.learning.gaussian_process import GaussianProcess, fit_process
from lsmtune.optimizers.earlier import Trend
from lsmtune.optimizers.points import Points

_TRUSTED = 5
"""Before so many runs a trend cannot be judged, and stays."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """Mean and standard deviation of the logarithm of the value, anywhere in the unit cube.

    `trend` is None where there was none, or where it misled.
    """

    trend: Trend | None
    _points: Points
    _process: GaussianProcess
    _share: float

    def predict(self, places: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation at each of the places (n, knobs)."""
        mean, deviation = self._process.predict(self._points.at(places))
        if self.trend is not None:
            mean = mean + self._share * self.trend.at(places)
        return mean, deviation


def expectation(
    points: Points, places: Floats, values: Floats, trend: Trend | None = None
) -> Expectation:
    """What the values at the places lead to expect.

    A trend counts for as much as it explains of them; it is dropped when they are more probable
    without it.
    """
    rows = points.at(places)
    if trend is None:
        return _alone(points, rows, values)
    expected = trend.at(places)
    share = _share(expected, values, trend.spread)
    along = fit_process(rows, values - share * expected, points.categorical)
    if len(values) >= _TRUSTED:
        alone = fit_process(rows, values, points.categorical)
        if along.log_evidence - log(len(values)) / 2 <= alone.log_evidence:
            return _alone(points, rows, values)
    return Expectation(trend, points, along, share)


def _alone(points: Points, rows: Floats, values: Floats) -> Expectation:
    """Without a trend, what is far from everything is thought as bad as the worst so far.

    Most configs are worse than the base and what is advised, near which a search begins; with the
    mean of those for a prior it would spend its first dozen trials in the corners of the space.
    """
    process = fit_process(rows, values, points.categorical, float(values.max()))
    return Expectation(None, points, process, 0.0)


def _share(expected: Floats, values: Floats, spread: float) -> float:
    """By how much the logarithm rises with one standard deviation of the trend; at least 0.

    Before anything is measured it is thought to rise as in the earlier study, give or take as
    much again.
    """
    x, y = expected - expected.mean(), values - values.mean()
    rest = max(float(np.var(y - spread * x)), 1e-6)
    return max(0.0, float((x @ y / rest + 1 / spread) / (x @ x / rest + 1 / spread**2)))
