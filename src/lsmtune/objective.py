"""Objectives and constraints, computed from measurements."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import fmean, median
from typing import Literal

from lsmtune.errors import UserError, unknown_word
from lsmtune.metrics.definitions import METRICS, Metric, canonical, metric
from lsmtune.stats import geometric_mean
from lsmtune.units import format_bytes, parse_size
from lsmtune.workloads import Kind

JIN2022 = "jin2022"
COMPOSITES: dict[str, tuple[str, ...]] = {
    "balanced": ("write_amp", "live_sst_bytes", "total_s"),
    JIN2022: ("write_amp", "live_sst_bytes", "total_s", "rate_mb_s"),
}
"""Objectives that combine several metrics."""

Metrics = Mapping[str, float]

_TINY = 1e-9
"""Replaces zero in ratios; no metric has values as small as this."""
_FITNESS_OF_E = 4000
"""Fitness if all four metrics improve by their whole baseline value."""
_STEEPEST = 50
"""Bound of the exponent: terms of the fitness are unbounded if the baseline is near zero."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A constraint: a bound on a metric, as a number or a multiple of the baseline's value."""

    metric: str
    relation: Literal["<=", ">="]
    bound: float
    times_base: bool

    def ratio(self, trial: Metrics, base: Metrics) -> float:
        """Return value / bound; above 1 the constraint is violated, inf if unknown."""
        if self.metric not in trial or (self.times_base and self.metric not in base):
            return inf
        bound = self.bound * (base[self.metric] if self.times_base else 1)
        pair = max(trial[self.metric], _TINY), max(bound, _TINY)
        return pair[0] / pair[1] if self.relation == "<=" else pair[1] / pair[0]

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


DEFAULT_LIMITS = tuple(
    Limit(name, "<=", 1.1, True)
    for name in ("live_sst_bytes", "get_p99_us", "get_missing_p99_us", "scan_p99_us")
)
"""Better writes must not cost slow reads or much disk space."""

_READ_LIMITS = tuple(Limit(name, "<=", 1.1, True) for name in ("live_sst_bytes", "write_amp"))
"""Better reads must not cost many more written bytes or much disk space."""

_LIMITS: dict[Kind, tuple[Limit, ...]] = {
    "write": DEFAULT_LIMITS,
    "read": _READ_LIMITS,
    "mixed": _READ_LIMITS,
}


def limits_of(kind: Kind, unavailable: Collection[str] = ()) -> tuple[Limit, ...]:
    """Return the default constraints of a kind of workload, without unavailable metrics."""
    return tuple(limit for limit in _LIMITS[kind] if limit.metric not in unavailable)


@dataclass(frozen=True, slots=True)
class Goal:
    """One objective: a metric, or one of `COMPOSITES`."""

    name: str

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that its value is computed from."""
        return COMPOSITES.get(self.name, (self.name,))

    def value(self, trial: Metrics, base: Metrics) -> float:
        """Return a positive value: 1 for the baseline, below 1 for a gain.

        A metric and `balanced` give the geometric mean of trial / baseline. A metric that is
        better when higher enters with its inverse. `jin2022` gives e^(-fitness / 4000).
        """
        if self.name == JIN2022:
            exponent = -jin2022_fitness(trial, base) / _FITNESS_OF_E
            return exp(min(max(exponent, -_STEEPEST), _STEEPEST))
        return geometric_mean([gain_ratio(name, trial[name], base[name]) for name in self.metrics])


@dataclass(frozen=True, slots=True)
class Objective:
    """One or several objectives to minimise, and the constraints.

    With several objectives there is no single best trial but a Pareto front of trials. `value` is
    then the geometric mean over the objectives.
    """

    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...] = ()

    @property
    def name(self) -> str:
        """Names of the objectives, joined by +."""
        return " + ".join(goal.name for goal in self.goals)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that the objectives are computed from."""
        return tuple(dict.fromkeys(name for goal in self.goals for name in goal.metrics))

    @property
    def pareto(self) -> bool:
        """Whether there are several objectives."""
        return len(self.goals) > 1

    def missing(self, run: Metrics) -> list[str]:
        """Return the needed metrics that a run does not have."""
        needed = dict.fromkeys([*self.metrics, *(limit.metric for limit in self.limits)])
        return [name for name in needed if name not in run]

    def values(self, trial: Metrics, base: Metrics) -> tuple[float, ...]:
        """Return the trial's value per objective: 1 for the baseline, below 1 for a gain."""
        return tuple(goal.value(trial, base) for goal in self.goals)

    def value(self, trial: Metrics, base: Metrics) -> float:
        """Return the geometric mean of the objectives' values."""
        return geometric_mean(self.values(trial, base))

    def fitness(self, value: float) -> float | None:
        """Return the fitness of jin2022 for a value (0 for the baseline, higher is better)."""
        return -_FITNESS_OF_E * log(value) if self.name == JIN2022 else None

    def violation(self, trial: Metrics, base: Metrics, noise: Metrics | None = None) -> float:
        """Return the violation of the worst constraint: 0.1 is 10 % over; at most 0 is feasible.

        With `noise`, one factor per metric, only a violation beyond that factor is one. A
        constraint on a missing metric gives inf.
        """
        slack = noise or {}
        uses = (limit.ratio(trial, base) / slack.get(limit.metric, 1.0) for limit in self.limits)
        return max((use - 1 for use in uses), default=-1.0)


def limit_penalty(violation: float | None) -> float:
    """Return the factor by which a violation makes a value worse.

    It is 1 if all constraints are kept, or if the violation is unknown.
    """
    return 1 + max(0.0, violation or 0.0)


def jin2022_fitness(trial: Metrics, base: Metrics, write_amp: str = "write_amp") -> float:
    """Return the fitness by which Jin, Choi, Choi, Sung and Park (2022) tuned RocksDB.

    It is 1000 x the sum of the gains over the baseline, as shares, in write amplification, live
    space, load + settle time and data rate. It is 0 for the baseline; higher is better. The paper
    uses `w_amp_table` as write amplification.
    """
    lower = (write_amp, "live_sst_bytes", "total_s")
    gained = sum((base[name] - trial[name]) / max(base[name], _TINY) for name in lower)
    faster = (trial["rate_mb_s"] - base["rate_mb_s"]) / max(base["rate_mb_s"], _TINY)
    return 1000 * (gained + faster)


def front(points: Sequence[tuple[float, ...]]) -> list[int]:
    """Return the indexes of the points on the Pareto front."""

    def beaten(point: tuple[float, ...]) -> bool:
        return any(
            other != point and all(x <= y for x, y in zip(other, point, strict=True))
            for other in points
        )

    return [place for place, point in enumerate(points) if not beaten(point)]


def run_noise(groups: Sequence[Sequence[Metrics]], of_runs: int) -> dict[str, float]:
    """Return, per metric, the factor by which the median of `of_runs` runs may be off by chance.

    Each group contains runs of one config. The factor is two standard deviations of the logs,
    pooled over all groups. The runs of the baseline alone are not enough: winners often vary more,
    for example with the state of the last big merge under universal compaction. A metric that no
    config has twice is not in the result.
    """
    names = {name for runs in groups for run in runs for name in run}
    spreads = {name: _pooled_deviation(name, groups) for name in sorted(names)}
    return {
        name: exp(2 * spread / sqrt(of_runs))
        for name, spread in spreads.items()
        if spread is not None
    }


def _pooled_deviation(name: str, groups: Sequence[Sequence[Metrics]]) -> float | None:
    logs = [[log(run[name]) for run in runs if run.get(name, 0) > 0] for runs in groups]
    freedom = sum(len(values) - 1 for values in logs if values)
    if not freedom:
        return None
    squares = sum((x - fmean(values)) ** 2 for values in logs for x in values)
    return sqrt(squares / freedom)


def gain_ratio(name: str, trial: float, base: float) -> float:
    """Return trial / baseline, inverted if higher is better, so that below 1 is a gain."""
    ratio = max(trial, _TINY) / max(base, _TINY)
    return ratio if METRICS[name].better == "lower" else 1 / ratio


def median_metrics(runs: Sequence[Metrics]) -> dict[str, float]:
    """Return the median of each metric over the runs that have it."""
    if len(runs) == 1:
        return dict(runs[0])
    names = {name for run in runs for name in run}
    return {name: median(run[name] for run in runs if name in run) for name in sorted(names)}


def parse_objective(
    names: Sequence[str] | str,
    limits: Sequence[str],
    default_limits: Sequence[Limit] = DEFAULT_LIMITS,
) -> Objective:
    """Return the objective from names and from constraints as text.

    The user's constraints are added to the default ones. A constraint on a metric with a default
    constraint replaces it, and `METRIC <= none` removes it. With several objectives, their metrics
    have no default constraints. Raises UserError if a name or a constraint is wrong.
    """
    goals = tuple(map(_goal, [names] if isinstance(names, str) else names))
    _check_goals([goal.name for goal in goals])
    asked = tuple(parse_limit(text) for text in limits)
    # With several objectives, the user wants to see what each costs the others.
    traded = {goal.name for goal in goals} if len(goals) > 1 else set()
    named = {limit.metric for limit in asked} | traded
    defaults = tuple(limit for limit in default_limits if limit.metric not in named)
    return Objective(goals, defaults + tuple(limit for limit in asked if limit.bound != inf))


def _goal(name: str) -> Goal:
    if name in COMPOSITES:
        return Goal(name)
    if canonical(name) not in METRICS:
        names = [*COMPOSITES, *(m.name for m in METRICS.values() if m.better)]
        raise UserError(f"objective: {unknown_word('metric', name, names)}")
    return Goal(metric(name, "objective").name)


def _check_goals(names: Sequence[str]) -> None:
    if not names:
        raise UserError(
            "objective: the list is empty; name metrics, or one of these combinations: "
            f"{', '.join(COMPOSITES)}"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UserError(f"objective: {twice!r} is listed twice; list each metric once")
    composite = next((name for name in names if name in COMPOSITES), None)
    if composite and len(names) > 1:
        others = ", ".join(name for name in names if name != composite)
        raise UserError(
            f"objective: {composite!r} combines several metrics and must be the only objective; "
            f"remove {others}, or remove {composite}"
        )


_LIMIT = re.compile(
    r"\s*(\w+)\s*(<=|>=)\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([a-zA-Z]*)\s*(\*\s*base)?\s*"
)
_LIFTED = re.compile(r"\s*(\w+)\s*<=\s*none\s*")


def parse_limit(text: str) -> Limit:
    """Return the constraint of a text such as `live_sst_bytes <= 1.1 * base`.

    The bound of a size may have a unit: `live_sst_bytes <= 300MiB`. `METRIC <= none` is no bound.
    """
    if lifted := _LIFTED.fullmatch(text):
        return Limit(metric(lifted[1], "limit").name, "<=", inf, False)
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UserError(_malformed(text))
    limited = metric(match[1], "limit")
    number, unit, times_base = match[3], match[4], match[5] is not None
    if unit and (limited.unit != "bytes" or times_base):
        left = f"{limited.name} {match[2]}"
        if times_base:
            raise UserError(f"limit: {text!r}: a multiple of the baseline has no unit; "
                            f"use {left} {number} * base")  # fmt: skip
        raise UserError(f"limit: {text!r}: {_unit_text(limited)}; "
                        f"use {left} {_without_unit(float(number), unit, limited)}")  # fmt: skip
    bound = parse_size(number + unit, f"limit {text!r}") if unit else float(number)
    if times_base and bound == 0:
        raise UserError(
            f"limit: {text!r}: the factor 0 is not allowed; use {limited.name} <= NUMBER"
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
        f"limit: invalid constraint {text!r}{unit}. Use METRIC <= NUMBER or METRIC <= NUMBER * "
        "base, also with >= instead of <=. METRIC <= none removes a constraint"
    )
