"""Intervals on plain numbers: what a claim of lsmtune rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from scipy.special import bdtr, stdtrit


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the interval that holds the truth with the stated confidence."""

    median: float
    low: float
    high: float

    @property
    def relative_half_width(self) -> float:
        """Half the interval's width as a share of the estimate: 0.05 reads ± 5 %."""
        return (self.high - self.low) / 2 / abs(self.median)


def ratio_interval(
    trial: Sequence[float], base: Sequence[float], confidence: float = 0.95
) -> Interval:
    """The ratio trial / base over pairs: t-interval on the log ratios, mapped back.

    Both sequences are positive and of one length, at least 2; the i-th values were measured
    together. The estimate is the geometric mean, the median of a log-normal ratio.
    """
    if len(trial) != len(base) or len(base) < 2:  # noqa: PLR2004 - an interval needs two pairs
        raise ValueError(f"need at least 2 pairs of values, got {len(trial)} and {len(base)}")
    logs = np.log(np.asarray(trial, dtype=float) / np.asarray(base, dtype=float))
    centre = float(logs.mean())
    error = float(logs.std(ddof=1)) / len(logs) ** 0.5
    half = float(stdtrit(len(logs) - 1, (1 + confidence) / 2)) * error
    return Interval(*(float(np.exp(x)) for x in (centre, centre - half, centre + half)))


def of_several(comparisons: int, confidence: float = 0.95) -> float:
    """The confidence of each of several intervals that all hold together with the stated one.

    Bonferroni's: right however the comparisons hang together, and cautious where they do.
    """
    return 1 - (1 - confidence) / max(1, comparisons)


def unpaired_ratio_interval(
    trial: Sequence[float], base: Sequence[float], confidence: float = 0.95
) -> Interval:
    """The ratio trial / base of values that were not measured in pairs: Welch's, on the logs.

    Both sequences are positive and have at least 2 values; without any noise it is a point.
    """
    later, earlier = (np.log(np.asarray(values, dtype=float)) for values in (trial, base))
    parts = [float(values.var(ddof=1)) / len(values) for values in (later, earlier)]
    centre, variance = float(later.mean() - earlier.mean()), sum(parts)
    if variance == 0:
        return Interval(*[float(np.exp(centre))] * 3)
    freedom = variance**2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (later, earlier), strict=True)
    )
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * variance**0.5
    return Interval(*(float(np.exp(x)) for x in (centre, centre - half, centre + half)))


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive values."""
    return float(np.exp(np.mean(np.log(np.asarray(values, dtype=float)))))


def median_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median of values, with the interval that holds the true one whatever their distribution.

    It runs between two of the values in order (the sign test's); of five or fewer, at 95 %, it is
    all of them. Values may be infinite.
    """
    ordered, count = sorted(values), len(values)
    sides = (k for k in range(count // 2) if 2 * bdtr(k, count, 0.5) <= 1 - confidence)
    outside = max(sides, default=0)
    return Interval(median(ordered), ordered[outside], ordered[count - 1 - outside])


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean of at least 2 values with its t-interval."""
    if len(values) < 2:  # noqa: PLR2004 - an interval needs two values
        raise ValueError(f"need at least 2 values, got {len(values)}")
    numbers = np.asarray(values, dtype=float)
    centre, error = float(numbers.mean()), float(numbers.std(ddof=1)) / len(numbers) ** 0.5
    half = float(stdtrit(len(numbers) - 1, (1 + confidence) / 2)) * error
    return Interval(centre, centre - half, centre + half)
