"""Judgement of one metric before and after a change, from one or several runs per side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import exp, log
from typing import Literal

from lsmtune.stats import Interval, Mean, difference_interval, exponential
from lsmtune.units import GIB, KIB, MIB

Judgement = Literal[
    "better", "worse", "unchanged", "undecided", "one_run_each", "too_few_runs",
    "depends_on_load", "depends_on_program", "not_comparable",
]  # fmt: skip
"""`undecided`: the 95 % interval contains no change, and changes of more than 5 %.
`one_run_each`, `too_few_runs`: without at least two runs per side, chance cannot be excluded.
`depends_on_load`: the load differs, so the difference may come from the load.
`depends_on_program`: the program may have written less or more, so the store is not judged.
"""

Direction = Literal["better", "worse"]

HIGHER_IS_BETTER = frozenset({"writes_s", "cache_hit_percent", "ops_per_s", "mb_per_s"})
SHARES = frozenset({"stall_percent", "cache_hit_percent"})
"""Shares in percent: their change is a difference, because a share may be 0."""

_FEWEST = 2
"""Runs per side that an interval needs."""
_SMALL_RATIO = 1.05
_SMALL_POINTS = 1.0
_MOST_DECIMALS = 12
_EXACT = 1e-9
_NOTABLE_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Pair:
    """A value before and after; None where it is unknown. Of several runs it is the mean."""

    before: float | None
    after: float | None

    @property
    def ratio(self) -> float | None:
        """After / before."""
        if self.before is None or self.after is None or self.before == 0:
            return None
        return self.after / self.before


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A metric before and after, and whether it got better.

    `interval` is the 95 % interval of after / before, or of after - before in percentage points
    if `is_difference`. `runs` are the numbers of runs before and after.
    """

    values: Pair
    verdict: Judgement
    interval: Interval | None = None
    is_difference: bool = False
    runs: tuple[int, int] = (1, 1)

    def direction(self, name: str) -> Direction | None:
        """Return the verdict; of one run each, the direction of a change of more than 10 %.

        None without such a change.
        """
        if self.verdict == "better" or self.verdict == "worse":  # noqa: PLR1714 - for mypy
            return self.verdict
        before, after = self.values.before, self.values.after
        if self.verdict != "one_run_each" or before is None or after is None:
            return None
        least = _NOTABLE_SHARE * max(abs(before), abs(after))
        if abs(after - before) <= (max(least, _SMALL_POINTS) if name in SHARES else least):
            return None
        return "better" if (after > before) == (name in HIGHER_IS_BETTER) else "worse"


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of one side.

    The value of several runs is their mean: `repeats` is the number of runs, and
    `deviation` the standard deviation of the runs as a share of the mean.
    """

    values: tuple[float, ...]
    repeats: int = 1
    deviation: float | None = None

    @property
    def runs(self) -> int:
        """The number of runs whose spread is known."""
        return self.repeats if self._is_mean else len(self.values)

    @property
    def _is_mean(self) -> bool:
        return len(self.values) == 1 and self.repeats > 1 and self.deviation is not None

    def centre(self, *, of_logs: bool) -> float | None:
        """Return the mean; None without values."""
        if len(self.values) <= 1:
            return self.values[0] if self.values else None
        if of_logs:
            return exp(sum(map(log, self.values)) / len(self.values))
        return sum(self.values) / len(self.values)

    def mean(self, *, of_logs: bool, is_size: bool = False) -> Mean:
        """Return the mean of the values or of their logarithms, with its variance.

        With `is_size`, the values are bytes. Values near each other are rounded alike, so the
        variance of the rounding is the same for several runs as for one.
        """
        if self._is_mean and self.deviation is not None:
            (value,) = self.values
            scale = 1.0 if of_logs else value
            variance = (scale * self.deviation) ** 2 / self.repeats
            return Mean(log(value) if of_logs else value, variance, self.repeats - 1)
        step = _step(self.values, is_size=is_size)
        rounding = [(step / (value if of_logs else 1.0)) ** 2 / 12 for value in self.values]
        found = Mean.of([log(value) if of_logs else value for value in self.values])
        return replace(found, variance=found.variance + sum(rounding) / len(rounding))


def judge(name: str, before: Sample, after: Sample) -> JudgedPair:
    """Judge a metric by the runs: Welch's interval on the logarithms, of shares on the values."""
    of_logs = name not in SHARES and min((*before.values, *after.values), default=0.0) > 0
    pair = Pair(before.centre(of_logs=of_logs), after.centre(of_logs=of_logs))
    runs = (before.runs, after.runs)
    if pair.before is None or pair.after is None:
        return JudgedPair(pair, "not_comparable", runs=runs)
    if min(runs) < _FEWEST:
        is_single = runs == (1, 1) and before.repeats == after.repeats == 1
        return JudgedPair(pair, "one_run_each" if is_single else "too_few_runs", runs=runs)
    if len({*before.values, *after.values}) == 1 and before.deviation is after.deviation is None:
        return JudgedPair(pair, "unchanged", runs=runs)
    is_size = name.endswith("_bytes")
    later, earlier = (side.mean(of_logs=of_logs, is_size=is_size) for side in (after, before))
    change = difference_interval(later, earlier)
    small = log(_SMALL_RATIO) if of_logs else _SMALL_POINTS if name in SHARES else 0.0
    interval = exponential(change) if of_logs else change
    return JudgedPair(pair, _verdict(name, change, small), interval, not of_logs, runs)


def _verdict(name: str, change: Interval, small: float) -> Judgement:
    """Return the verdict on a change with its interval; without any change it is 0."""
    if change.low > 0 or change.high < 0:
        return "better" if (change.low > 0) == (name in HIGHER_IS_BETTER) else "worse"
    return "unchanged" if max(-change.low, change.high) <= small else "undecided"


def _step(values: Sequence[float], *, is_size: bool) -> float:
    """Return the last printed digit: values that are rounded alike have no spread of their own.

    Sizes in bytes were printed in larger units, such as 36MB or 0.6 GB.
    """
    for unit in (GIB, GIB / 10, MIB, KIB) if is_size else ():
        if all(abs(value / unit - round(value / unit)) < _EXACT for value in values):
            return unit
    exponents = (Decimal(repr(value)).normalize().as_tuple().exponent for value in values)
    digits = max((-place for place in exponents if isinstance(place, int)), default=0)
    return 10.0 ** -min(max(digits, 0), _MOST_DECIMALS)
