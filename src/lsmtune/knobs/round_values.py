"""Round values of a range: numbers that a person would write into a file.

A search draws only these. Nobody deploys `block_size = 3494`, and 3494 is no better than 4096.
"""

from math import ceil, floor, log2, log10

_STEPS = 16
"""A linear range is divided into about this many steps."""
_LEAST_STEPS = 10
"""The lowest value of a linear range is at most so many steps."""
_SIZES = ("bytes", "bytes/s")
_PERIODS = (86_400, 3_600, 60)
"""A day, an hour and a minute in seconds."""
_ALMOST = 1e-9


def round_values(
    low: float, high: float, *, log: bool, unit: str, whole: bool
) -> tuple[float, ...]:
    """Return the round values of a range in ascending order; empty if it has none.

    Sizes on a logarithmic scale are powers of two: from the one nearest to `low` to the one nearest
    to `high`. Other values on a logarithmic scale are 1, 2 or 5 times a power of ten. Long periods
    are counted in days, hours or minutes. Values on a linear scale are multiples of one step, and
    the step is 1, 2 or 5 times a power of ten, at least a tenth of `low`: 35 and 40 are round, 34
    is not. If the values are `whole`, the step is at least 1.
    """
    if not log:
        return _multiples(low, high, least_step=max(low / _LEAST_STEPS, 1 if whole else 0))
    if unit in _SIZES:
        return tuple(2.0**power for power in range(round(log2(low)), round(log2(high)) + 1))
    period = next((p for p in _PERIODS if unit == "s" and low >= p), 1)
    return tuple(value * period for value in _one_two_five(low / period, high / period))


def _one_two_five(low: float, high: float) -> list[float]:
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [value for value in values if low * (1 - _ALMOST) <= value <= high * (1 + _ALMOST)]


def _multiples(low: float, high: float, least_step: float) -> tuple[float, ...]:
    wanted = max((high - low) / _STEPS, least_step)
    step = next(s for s in _one_two_five(wanted, wanted * 10) if s >= wanted)
    first, last = ceil(low / step - _ALMOST), floor(high / step + _ALMOST)
    return tuple(count * step for count in range(first, last + 1))
