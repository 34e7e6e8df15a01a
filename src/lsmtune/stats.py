"""Statistics on plain numbers: ratios and means with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval."""

    median: float
    low: float
    high: float

    @property
    def relative_half_width(self) -> float:
        """Half the width of the interval as a share of the estimate: 0.05 means ± 5 %."""
        return (self.high - self.low) / 2 / abs(self.median)


def half_width(deviation: float, count: int, confidence: float = 0.95) -> float:
    """Return half the width of the t-interval of a mean of at least 2 values."""
    return float(stdtrit(count - 1, (1 + confidence) / 2)) * (deviation / sqrt(count))


def ratio_interval(
    trial: Sequence[float], base: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Return the ratio trial / base of pairs, with a t-interval computed on the log ratios.

    Both sequences are positive and have the same length, at least 2. The i-th values were measured
    as a pair. The estimate is the geometric mean, which is the median of a log-normal ratio.
    """
    if len(trial) != len(base) or len(base) < 2:  # noqa: PLR2004 - an interval needs two pairs
        raise ValueError(f"need at least 2 pairs of values, got {len(trial)} and {len(base)}")
    ratios = np.asarray(trial, dtype=float) / np.asarray(base, dtype=float)
    return geometric_mean_interval([float(ratio) for ratio in ratios], confidence)


def geometric_mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the geometric mean of at least 2 positive values, with a t-interval on the logs."""
    logs = np.log(np.asarray(values, dtype=float))
    centre, half = float(logs.mean()), half_width(float(logs.std(ddof=1)), len(logs), confidence)
    return Interval(*(float(np.exp(x)) for x in (centre, centre - half, centre + half)))


def of_several(comparisons: int, confidence: float = 0.95) -> float:
    """Return the confidence per interval, so that all intervals together have `confidence`.

    Bonferroni's correction. It is correct for dependent comparisons too, but then conservative.
    """
    return 1 - (1 - confidence) / max(1, comparisons)


def unpaired_ratio_interval(
    trial: Sequence[float], base: Sequence[float], confidence: float = 0.95
) -> Interval:
    """Return the ratio trial / base of unpaired values, with Welch's interval on the logs.

    Both sequences are positive and have at least 2 values. Without noise it is a point.
    """
    later, earlier = (Mean.of(np.log(np.asarray(values, dtype=float))) for values in (trial, base))
    return exponential(difference_interval(later, earlier, confidence))


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, the variance of the mean, and the degrees of freedom of that variance."""

    value: float
    variance: float
    freedom: int

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[np.float64]) -> "Mean":
        """Return the mean of at least 2 values."""
        numbers = np.asarray(values, dtype=float)
        count = len(numbers)
        return cls(float(numbers.mean()), float(numbers.var(ddof=1)) / count, count - 1)


def difference_interval(later: Mean, earlier: Mean, confidence: float = 0.95) -> Interval:
    """Return later - earlier of two means, with Welch's interval. Without noise it is a point."""
    parts = [later.variance, earlier.variance]
    centre, variance = later.value - earlier.value, sum(parts)
    if variance == 0:
        return Interval(centre, centre, centre)
    freedom = variance**2 / sum(
        part**2 / mean.freedom for part, mean in zip(parts, (later, earlier), strict=True)
    )
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * variance**0.5
    return Interval(centre, centre - half, centre + half)


def exponential(logs: Interval) -> Interval:
    """Return the interval of a ratio from the interval of its logarithm."""
    return Interval(*(float(np.exp(x)) for x in (logs.median, logs.low, logs.high)))


def ratio_of_means(
    above: Sequence[float], below: Sequence[float], confidence: float = 0.95
) -> Interval | None:
    """Return mean(above) / mean(below) of at least 2 pairs, with Fieller's interval.

    None if the mean below is not proven different from 0, because then the interval has no end.
    Fieller (1954): Some problems in interval estimation.
    """
    x, y = (np.asarray(values, dtype=float) for values in (above, below))
    means, covariance = (float(x.mean()), float(y.mean())), np.cov(x, y, ddof=1) / len(x)
    quantile = float(stdtrit(len(x) - 1, (1 + confidence) / 2)) ** 2
    # The ratios r with (x - r y)^2 <= t^2 var(x - r y): a quadratic in r.
    a = means[1] ** 2 - quantile * float(covariance[1, 1])
    b = means[0] * means[1] - quantile * float(covariance[0, 1])
    c = means[0] ** 2 - quantile * float(covariance[0, 0])
    if a <= 0:
        return None
    root = sqrt(max(b**2 - a * c, 0.0))
    return Interval(means[0] / means[1], (b - root) / a, (b + root) / a)


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive values."""
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=float)))))


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Return the mean of at least 2 values with its t-interval."""
    if len(values) < 2:  # noqa: PLR2004 - an interval needs two values
        raise ValueError(f"need at least 2 values, got {len(values)}")
    numbers = np.asarray(values, dtype=float)
    centre = float(numbers.mean())
    half = half_width(float(numbers.std(ddof=1)), len(numbers), confidence)
    return Interval(centre, centre - half, centre + half)
