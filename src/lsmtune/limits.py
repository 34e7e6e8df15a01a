"""Constraints: bounds on metrics, given by the user or by default."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, exp, floor, inf, isfinite, log, sqrt
from typing import Literal

from lsmtune.errors import UserError
from lsmtune.metrics.definitions import METRICS, Metric, canonical, metric
from lsmtune.stats import half_width
from lsmtune.units import format_bytes, parse_size
from lsmtune.workloads import EngineName, Kind, Workload
from lsmtune.workloads.operations import READS, own_operations, probed_operations

TINY = 1e-9
"""Replaces zero in ratios; no metric has values as small as this."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A constraint: a bound on a metric, as a number or a multiple of the baseline's value.

    A `default` bound grows if the noise of the runs is too large for it. `probe`: the metric is
    measured by the read probe, and the workload does not contain these reads.
    """

    metric: str
    relation: Literal["<=", ">="]
    bound: float
    times_base: bool
    default: bool = False
    probe: bool = False

    def ratio(self, trial: Mapping[str, float], base: Mapping[str, float]) -> float:
        """Return value / bound; above 1 the constraint is violated, inf if unknown."""
        if self.metric not in trial or (self.times_base and self.metric not in base):
            return inf
        bound = self.bound * (base[self.metric] if self.times_base else 1)
        pair = max(trial[self.metric], TINY), max(bound, TINY)
        return pair[0] / pair[1] if self.relation == "<=" else pair[1] / pair[0]

    def measured(self, ratio: float) -> float:
        """Return the measured value of a `ratio`: the value that the bound bounds."""
        bound = max(self.bound, TINY)
        return bound * ratio if self.relation == "<=" else bound / ratio

    def grown(self, deviation: float | None, pairs: int) -> "Limit":
        """Return the constraint with the tightest bound that runs of the baseline can keep.

        `deviation` is the standard deviation of the log of the metric between runs of one config.
        The bound of a default constraint grows to twice the half width of the 95 % interval after
        `pairs` pairs of runs. A config equal to the baseline then keeps it in 97 % of all cases.
        The grown bound has two decimals.
        """
        if not self.default or not deviation or pairs < 2:  # noqa: PLR2004 - no interval
            return self
        half = half_width(sqrt(2) * deviation, pairs)  # a pair has the noise of two runs
        if 2 * half <= abs(log(self.bound)):
            return self
        if self.relation == "<=":
            return replace(self, bound=ceil(100 * exp(2 * half)) / 100)
        return replace(self, bound=floor(100 * exp(-2 * half)) / 100)

    def __str__(self) -> str:
        return f"{self.metric} {self.relation} {self._bound_text}"

    @property
    def _bound_text(self) -> str:
        if self.times_base:
            return f"{self.bound:.12g} * base"
        size = format_bytes(self.bound)
        exact = METRICS[self.metric].unit == "bytes" and self.bound >= 1
        if exact and parse_size(size, "limit") == self.bound:
            return size
        return f"{self.bound:.12g}"


def default_limits(load: Workload, engine: EngineName) -> tuple[Limit, ...]:
    """Return the default constraints of a workload on an engine.

    They bound throughput, space, the p99 of each kind of operation and the p50 of reads. After a
    workload that only writes, they also bound the reads of the probe. For a workload that only
    reads they bound the write amplification of building its database.
    """
    limits = [_default("throughput_ops_s", ">=", 0.95)]
    own = own_operations(load, engine)
    limits += [_default(f"{kind}_{rank}_us") for kind in own for rank in _ranks(kind)]
    limits += [_default("live_sst_bytes")]
    if load.kind == "read" and engine != "tikv":
        limits += [_default("write_amp")]
    probed = [kind for kind in probed_operations(load, engine) if kind not in own]
    limits += [
        replace(_default(f"{kind}_{rank}_us"), probe=True)
        for kind in probed
        for rank in _ranks(kind)
    ]
    return tuple(limits)


def no_default_limits(load: Workload, engine: EngineName) -> tuple[str, ...]:
    """Return constraints, as text, that remove all default constraints of a workload."""
    return tuple(f"{limit.metric} <= none" for limit in default_limits(load, engine))


def _default(name: str, relation: Literal["<=", ">="] = "<=", bound: float = 1.1) -> Limit:
    return Limit(name, relation, bound, times_base=True, default=True)


def _ranks(kind: str) -> tuple[str, ...]:
    return ("p50", "p99") if kind in READS else ("p99",)


_BEFORE: dict[Kind, tuple[str, ...]] = {
    "write": ("live_sst_bytes", "get_p99_us", "get_missing_p99_us", "scan_p99_us"),
    "read": ("live_sst_bytes", "write_amp"),
    "mixed": ("live_sst_bytes", "write_amp"),
}


def earlier_default_limits(load: Workload, engine: EngineName) -> tuple[Limit, ...]:
    """Return the default constraints of studies that lsmtune 0.2 and older have started."""
    unknown = ("get_missing_p99_us", "write_amp") if engine == "tikv" else ()
    return tuple(Limit(n, "<=", 1.1, True) for n in _BEFORE[load.kind] if n not in unknown)


_LIMIT = re.compile(
    r"\s*(\w+)\s*(<=|>=)\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([a-zA-Z]*)\s*(\*\s*base)?\s*"
)
_LIFTED = re.compile(r"\s*(\w+)\s*<=\s*none\s*")


def parse_limit(text: str) -> Limit:
    """Return the constraint of a text such as `live_sst_bytes <= 1.1 * base`.

    The bound of a size may have a unit: `live_sst_bytes <= 300MiB`. `METRIC <= none` is no bound.
    """
    if lifted := _LIFTED.fullmatch(text):
        return Limit(metric(lifted[1], "limits").name, "<=", inf, False)
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UserError(_malformed(text))
    limited = metric(match[1], "limits")
    number, unit, times_base = match[3], match[4], match[5] is not None
    if unit and (limited.unit != "bytes" or times_base):
        left = f"{limited.name} {match[2]}"
        if times_base:
            raise UserError(f"limits: {text!r}: a multiple of the baseline has no unit; "
                            f"use {left} {number} * base")  # fmt: skip
        raise UserError(f"limits: {text!r}: {_unit_text(limited)}; "
                        f"use {left} {_without_unit(float(number), unit, limited)}")  # fmt: skip
    bound = parse_size(number + unit, f"limits: {text!r}") if unit else float(number)
    if not isfinite(bound):
        raise UserError(_malformed(text))
    if times_base and bound == 0:
        raise UserError(
            f"limits: {text!r}: the factor 0 is not allowed; use {limited.name} <= NUMBER"
        )
    relation: Literal["<=", ">="] = "<=" if match[2] == "<=" else ">="
    return Limit(limited.name, relation, float(bound), times_base)


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
    """Return the message for a text that is not a constraint; it names a known metric's unit."""
    first = re.match(r"\s*(\w+)", text)
    limited = METRICS.get(canonical(first[1])) if first else None
    unit = f"; {_unit_text(limited)}" if limited is not None else ""
    return (
        f"limits: invalid constraint {text!r}{unit}. Use METRIC <= NUMBER or METRIC <= NUMBER * "
        "base, also with >= instead of <=. METRIC <= none removes a constraint"
    )
