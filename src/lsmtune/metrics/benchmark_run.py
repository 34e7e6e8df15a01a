"""One run of one benchmark: the record that db_bench's output and benchmark.sh's report share."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lsmtune.units import MIB

Fact = str | float
"""A fact about how a benchmark ran."""

_MOST_OFF = 0.06
"""From one thread on, the product of rounded numbers is off by less than this share."""
_LEAST_RATE_MB_S = 2.0
"""The rate is printed with one decimal."""


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """The values that one run of a benchmark measured, and how it ran.

    The names of `values` end with their unit. `setup` has the load (`records`, `key_bytes`,
    `value_bytes`, `threads`, …), the program (`version`, `githash`) and the machine, as far as
    the text contains them. With `repeats` above 1, the values are means of this number of runs,
    and `deviation` is the standard deviation of their operations per second as a share of the
    mean; None if the text does not contain it.
    """

    benchmark: str
    values: Mapping[str, float]
    setup: Mapping[str, Fact] = field(default_factory=dict)
    repeats: int = 1
    deviation: float | None = None


PART = "part"
"""The fact that a run stands below a heading: `before` or `after`."""
_HEADING = re.compile(r"\W*(before|after)\b[^=\t]{0,60}", re.IGNORECASE)


def heading(line: str) -> str | None:
    """Return `before` or `after` if the line is such a heading of a text with both."""
    match = _HEADING.fullmatch(line) if "micros/op" not in line else None
    return match[1].lower() if match else None


def threads_of(ops_per_s: float, micros_per_op: float) -> int | None:
    """Return the number of threads: operations per second of all, time per operation of one.

    None if the product is not near a whole number, because threads ended at different times.
    """
    threads = ops_per_s * micros_per_op / 1e6
    whole = round(threads)
    return whole if whole >= 1 and abs(threads - whole) <= _MOST_OFF * whole else None


def bytes_per_operation(ops_per_s: float, rate_mb_s: float | None) -> float | None:
    """Return the size of keys and values per operation; None if the rate has too few digits."""
    if rate_mb_s is None or rate_mb_s < _LEAST_RATE_MB_S:
        return None
    return rate_mb_s * MIB / ops_per_s


def percentile_name(rank: str) -> str:
    """Return the name of a percentile's value: `p999_us` for `99.9`."""
    return f"p{rank.replace('.', '')}_us"
