"""Limits: bounds on metrics, given by the user or by default."""

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, exp, floor, inf, isclose, isfinite, log, sqrt
from typing import TYPE_CHECKING, Literal

from lsmtune.errors import UserError
from lsmtune.metrics.definitions import METRICS, Metric, canonical, metric
from lsmtune.stats import half_width
from lsmtune.units import format_bytes, parse_size
from lsmtune.workloads import PROBED, READS, Workload

if TYPE_CHECKING:
    from lsmtune.engine_traits import EngineTraits

_SMALLEST_FACTOR = 0.01
"""A grown bound is not 0, because a factor 0 is not allowed."""
TINY = 1e-9
"""Replaces zero in ratios; no metric has values as small as this."""
_LARGEST_SIZE = 2.0**50
"""Larger sizes are written in bytes: their text with a unit has an exponent."""
_UNIMPORTANT = 0.01
"""Values below this share of the number of a limit are equal, for example 0 and 0.001 blocks.

A ratio of such values would look like noise.
"""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit: a bound on a metric, as a number or a multiple of the baseline's value.

    `plus` is a number, in the unit of the metric, that is added to a multiple of the baseline's
    value. The user did not give a `default` bound; that of a filled store grows if the noise of the
    runs is too large for it. `probe`: the metric is measured by the read probe, and the workload
    does not contain these reads.
    """

    metric: str
    relation: Literal["<=", ">="]
    bound: float
    times_base: bool
    default: bool = False
    probe: bool = False
    plus: float = 0.0

    def ratio(self, trial: Mapping[str, float], base: Mapping[str, float]) -> float:
        """Return value / bound; above 1 the limit is violated, inf if unknown."""
        if self.metric not in trial or (self.times_base and self.metric not in base):
            return inf
        bound = self.full_bound(base[self.metric] if self.times_base else 1.0)
        least = max(TINY, _UNIMPORTANT * self.plus)
        pair = max(trial[self.metric], least), max(bound, TINY)
        return pair[0] / pair[1] if self.relation == "<=" else pair[1] / pair[0]

    def full_bound(self, base: float) -> float:
        """Return the bound in the unit of the metric, for the baseline's value."""
        return self.bound * base + self.plus if self.times_base else self.bound

    def base_share(self, base: float | None) -> float:
        """Return the share of the bound that the baseline's noise changes; 1 if it is unknown.

        The number that is added to the multiple of the baseline's value has no noise.
        """
        if not self.plus or base is None:
            return 1.0
        return self.bound * base / self.full_bound(base)

    def measured(self, ratio: float) -> float:
        """Return the measured value of a `ratio`: the value that the bound bounds.

        With `plus`, it is the measured value / the whole bound. A value of 0 counts as a tiny one
        in a ratio, and is 0 again here.
        """
        bound = 1.0 if self.plus else max(self.bound, TINY)
        value = bound * ratio if self.relation == "<=" else bound / ratio
        return 0.0 if isclose(value, TINY) else value

    def grown(self, deviation: float | None, pairs: int, base: float | None = None) -> "Limit":
        """Return the limit with the tightest bound that runs of the baseline can keep.

        `deviation` is the standard deviation of the log of the metric between runs of one config,
        `base` the baseline's value. The whole bound of a default limit grows until a config
        equal to the baseline is below it by twice the half width of the 95 % interval after `pairs`
        pairs of runs. Such a config then keeps it in 97 % of all cases. Factor and number of the
        grown bound have two decimals.
        """
        if not self.default or not deviation or pairs < 2:  # noqa: PLR2004 - no interval
            return self
        # A pair has the noise of two runs: that of the trial, and that of the bound.
        half = half_width(sqrt(1 + self.base_share(base) ** 2) * deviation, pairs)
        whole = self.bound if not self.plus or not base else self.full_bound(base) / base
        if 2 * half <= abs(log(whole)):
            return self
        if self.relation == "<=":
            return self._multiplied(exp(2 * half) / whole, ceil)
        return self._multiplied(exp(-2 * half) / whole, floor)

    def _multiplied(self, factor: float, rounded: Callable[[float], int]) -> "Limit":
        bound, plus = (rounded(round(100 * factor * part, 6)) / 100
                       for part in (self.bound, self.plus))  # fmt: skip
        return replace(self, bound=max(bound, min(self.bound, _SMALLEST_FACTOR)), plus=plus)

    def __str__(self) -> str:
        return f"{self.metric} {self.relation} {self._bound_text}"

    @property
    def _bound_text(self) -> str:
        if not self.times_base:
            return self._number_text(self.bound)
        plus = f" + {self._number_text(self.plus)}" if self.plus else ""
        return f"{_exact(self.bound)} * base{plus}"

    def _number_text(self, number: float) -> str:
        size = format_bytes(number)
        exact = METRICS[self.metric].unit == "bytes" and 1 <= number < _LARGEST_SIZE
        return size if exact and parse_size(size, "limit") == number else _exact(number)


def _exact(number: float) -> str:
    """Return the shortest text that is read as the same number."""
    short = f"{number:.12g}"
    return short if float(short) == number else repr(number)


Measure = Literal["running", "filled"]
"""What a trial measures: a store that runs, or one that is filled and settles."""

OVERLOAD = "overload"
"""Metric of a running store that cannot keep the rate if it is above 1."""


def default_limits(
    load: Workload, entry: "EngineTraits", measure: Measure = "filled"
) -> tuple[Limit, ...]:
    """Return the default limits of a workload on the engine of this entry.

    What the engine does not measure has no limit.
    """
    limits = _of_running(load) if measure == "running" else _of_filled(load, entry)
    return tuple(limit for limit in limits if _measures(entry, limit.metric))


def _of_running(load: Workload) -> Iterator[Limit]:
    """Yield the limits of a running store; their bounds follow from its noise and never grow.

    Twelve pairs decide 1.1 for a metric that varies by 5 % between runs, and 1.35 for a p99, which
    varies by 15 %. A workload without reads has watch reads: their p99 has no limit, because they
    are few. The user cannot lift the limit on the overload: without the rate, no other metric says
    anything.
    """
    own = tuple(load.definition.read_shares)
    yield Limit(OVERLOAD, "<=", 1.0, times_base=False)
    yield _default("capacity_ops_s", ">=", 0.91)
    yield from map(_default, ("write_amp", "live_sst_bytes", "cpu_us_per_op"))
    for kind in own or PROBED:
        yield _RUNNING_READS[kind]
        yield _default(f"{kind}_p50_us")
    yield from (_default(f"{kind}_p99_us", bound=1.35) for kind in ("write", *own))


def _of_filled(load: Workload, entry: "EngineTraits") -> Iterator[Limit]:
    """Yield limits on throughput, space, the p99 of each kind of operation and the p50 of reads.

    After a workload that only writes, they also bound the reads of the probe: by counts if the
    engine counts them, because latencies also depend on the speed of the machine; else by
    latencies. For a workload that only reads they bound the write amplification of building its
    database.
    """
    own = load.definition.measured_kinds
    yield _default("throughput_ops_s", ">=", 0.95)
    yield from (_default(f"{kind}_{rank}_us") for kind in own for rank in _ranks(kind))
    yield _default("live_sst_bytes")
    if load.kind == "read":
        yield _default("write_amp")
    probed = [kind for kind in PROBED if kind not in own] if load.kind == "write" else []
    if entry.counts_reads:
        yield from (_COUNTED[kind] for kind in probed)
        return
    for kind in probed:
        yield from (replace(_default(f"{kind}_{rank}_us"), probe=True) for rank in _ranks(kind))


def _measures(entry: "EngineTraits", name: str) -> bool:
    """Return whether an engine measures a metric that has a default limit."""
    return name not in entry.not_limited and (entry.measured is None or name in entry.measured)


def no_default_limits(load: Workload, entry: "EngineTraits") -> tuple[str, ...]:
    """Return limits, as text, that remove all default limits of a workload.

    For counted reads of the probe, they name the latencies of the same reads, which remove limits
    on the counts too (see `parse_objective`).
    """
    limited = (limit.metric for limit in default_limits(load, entry))
    names = (name for one in limited for name in LATENCIES_OF_COUNTS.get(one, (one,)))
    return tuple(f"{name} <= none" for name in names)


def _default(name: str, relation: Literal["<=", ">="] = "<=", bound: float = 1.1) -> Limit:
    return Limit(name, relation, bound, times_base=True, default=True)


def _ranks(kind: str) -> tuple[str, ...]:
    return ("p50", "p99") if kind in READS else ("p99",)


def _counted(name: str, plus: float) -> Limit:
    return Limit(name, "<=", 1.1, times_base=True, default=True, probe=True, plus=plus)


_COUNTED = {
    "get": _counted("get_data_blocks", 0.25),
    "get_missing": _counted("get_missing_data_blocks", 0.25),
    "scan": _counted("scan_sorted_runs", 1.0),
}
"""Default limits on counted reads of the probe, by kind of operation.

The number allows a quarter of a block and one sorted run more than 1.1 times the baseline, because
the end of a load is chance: in 16 of 20 runs of a baseline, the tree had 3 sorted runs, else 4 or
5.
"""
_RUNNING_READS = {
    "get": _default("get_data_blocks"),
    "get_missing": replace(_default("get_missing_data_blocks"), plus=0.1),
    "scan": _default("scan_sorted_runs", bound=1.15),
}
"""Default limits on the counted reads of a running store, by kind of operation.

With filters, a get of a missing key looks up about 0.03 data blocks: twice as many cost nobody
anything, and a tenth of a block more is still far below a store without filters.
"""
LATENCIES_OF_COUNTS: dict[str, tuple[str, ...]] = {
    limit.metric: tuple(f"{kind}_{rank}_us" for rank in _ranks(kind))
    for kind, limit in _COUNTED.items()
}
"""Latencies of the reads whose work has a default limit, by the metric of the count."""


def known_limits(limits: Sequence[Limit], known: Container[str]) -> tuple[Limit, ...]:
    """Return the limits on known metrics.

    Default limits on the latencies of the same reads replace those on unknown counts: the
    simulator, and runs of db_bench without counts, have only latencies.
    """
    found = [limit for limit in limits if limit.metric in known]
    counts = [limit for limit in limits if limit.probe and limit.metric not in known]
    names = [name for limit in counts for name in LATENCIES_OF_COUNTS.get(limit.metric, ())]
    return (*found, *(replace(_default(name), probe=True) for name in names if name in known))


_NUMBER = r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([a-zA-Z]*)"
_LIMIT = re.compile(rf"\s*(\w+)\s*(<=|>=)\s*{_NUMBER}\s*(?:(\*\s*base)\s*(?:\+\s*{_NUMBER}\s*)?)?")
_LIFTED = re.compile(r"\s*(\w+)\s*<=\s*none\s*")


def parse_limit(text: str) -> Limit:
    """Return the limit of a text such as `get_data_blocks <= 1.1 * base + 0.25`.

    A size may have a unit: `live_sst_bytes <= 300MiB`. `METRIC <= none` is no bound.
    """
    if lifted := _LIFTED.fullmatch(text):
        return Limit(metric(lifted[1], "limits").name, "<=", inf, False)
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UserError(_malformed(text))
    limited = metric(match[1], "limits")
    number, unit, times_base, plus, plus_unit = match.groups()[2:]
    left = f"{limited.name} {match[2]}"
    if times_base and unit:
        raise UserError(f"limits: {text!r}: a multiple of the baseline has no unit; "
                        f"use {left} {number} * base")  # fmt: skip
    before = f"{left} {number} * base +" if times_base else left
    bound = _number(number, unit, limited, before, text)
    added = _number(plus, plus_unit, limited, before, text) if plus else 0.0
    if not isfinite(bound + added):
        raise UserError(_malformed(text))
    if times_base and bound == 0:
        raise UserError(
            f"limits: {text!r}: the factor 0 is not allowed; use {limited.name} <= NUMBER"
        )
    relation: Literal["<=", ">="] = "<=" if match[2] == "<=" else ">="
    return Limit(limited.name, relation, bound, times_base is not None, plus=added)


def _number(number: str, unit: str, limited: Metric, before: str, text: str) -> float:
    """Return a number of a limit; UserError if the metric does not have the unit.

    `before` is the beginning of the text that the message advises.
    """
    if not unit:
        return float(number)
    if limited.unit != "bytes":
        raise UserError(f"limits: {text!r}: {_unit_text(limited)}; "
                        f"use {before} {_without_unit(float(number), unit, limited)}")  # fmt: skip
    return float(parse_size(number + unit, f"limits: {text!r}"))


_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def _without_unit(number: float, unit: str, limited: Metric) -> str:
    """Return the number in the unit of the metric, or the word NUMBER if the units differ."""
    given, own = _SECONDS.get(unit), _SECONDS.get(limited.unit)
    return f"{number * given / own:.12g}" if given and own else "NUMBER"


def _unit_text(limited: Metric) -> str:
    if limited.unit == "ratio":
        return f"{limited.name} is a ratio without a unit"
    return f"{limited.name} is measured in {limited.unit}"


def _malformed(text: str) -> str:
    """Return the message for a text that is not a limit; it names a known metric's unit."""
    first = re.match(r"\s*(\w+)", text)
    limited = METRICS.get(canonical(first[1])) if first else None
    unit = f"; {_unit_text(limited)}" if limited is not None else ""
    return (
        f"limits: invalid limit {text!r}{unit}. Use METRIC <= NUMBER, METRIC <= FACTOR * base "
        "or METRIC <= FACTOR * base + NUMBER, also with >= instead of <=. METRIC <= none removes a "
        "limit"
    )
