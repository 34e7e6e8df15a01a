"""What is asked for and what must hold: from measurements to values and limits."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import fmean, median
from typing import Literal

from lsmtune.errors import UserError
from lsmtune.metrics.definitions import METRICS, canonical, metric
from lsmtune.stats import geometric_mean
from lsmtune.units import format_bytes, parse_size
from lsmtune.workloads import Kind

JIN2022 = "jin2022"
COMPOSITES: dict[str, tuple[str, ...]] = {
    "balanced": ("write_amp", "live_sst_bytes", "total_s"),
    JIN2022: ("write_amp", "live_sst_bytes", "total_s", "rate_mb_s"),
}
"""Goals made of several metrics."""

Metrics = Mapping[str, float]

_TINY = 1e-9
"""Stands for zero where a ratio is taken: no metric has values as small as this."""
_FITNESS_OF_E = 4000
"""The fitness that four metrics reach by improving by their whole base value."""
_STEEPEST = 50
"""Bounds the exponent of a fitness, whose terms have none where the base is near zero."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric: a number, or a multiple of the base's value."""

    metric: str
    relation: Literal["<=", ">="]
    bound: float
    times_base: bool

    def ratio(self, trial: Metrics, base: Metrics) -> float:
        """How far the trial is from the bound: above 1 the limit is broken, inf if unknown."""
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
"""Writes are not to be won by wrecking reads or by filling the disk."""

_READ_LIMITS = tuple(Limit(name, "<=", 1.1, True) for name in ("live_sst_bytes", "write_amp"))
"""Reads are not to be won by writing everything more often, or by filling the disk."""

_LIMITS: dict[Kind, tuple[Limit, ...]] = {
    "write": DEFAULT_LIMITS,
    "read": _READ_LIMITS,
    "mixed": _READ_LIMITS,
}


def limits_of(kind: Kind, untold: Collection[str] = ()) -> tuple[Limit, ...]:
    """What always holds under a load of that kind besides the user's limits.

    Without limits on metrics that nobody tells.
    """
    return tuple(limit for limit in _LIMITS[kind] if limit.metric not in untold)


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing asked for: a metric, or one of `COMPOSITES`."""

    name: str

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that its value is made of."""
        return COMPOSITES.get(self.name, (self.name,))

    def value(self, trial: Metrics, base: Metrics) -> float:
        """Always positive: 1 for the base, below 1 for a gain.

        A metric and `balanced` give the geometric mean of trial / base, a metric that is better
        when higher entering with its inverse. `jin2022` gives e^(-fitness / 4000).
        """
        if self.name == JIN2022:
            exponent = -jin2022_fitness(trial, base) / _FITNESS_OF_E
            return exp(min(max(exponent, -_STEEPEST), _STEEPEST))
        return geometric_mean([gain_ratio(name, trial[name], base[name]) for name in self.metrics])


@dataclass(frozen=True, slots=True)
class Objective:
    """What tuning minimises, towards one goal or several, and the limits that must hold.

    With several goals there is no single best trial but a front of trials, each better than any
    other in some respect; `value` then is the geometric mean over the goals.
    """

    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...] = ()

    @property
    def name(self) -> str:
        """The goals as the user asked for them."""
        return " + ".join(goal.name for goal in self.goals)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the goals are made of."""
        return tuple(dict.fromkeys(name for goal in self.goals for name in goal.metrics))

    @property
    def pareto(self) -> bool:
        """Whether there are several goals."""
        return len(self.goals) > 1

    def missing(self, run: Metrics) -> list[str]:
        """The metrics asked for or limited that a run does not have."""
        needed = dict.fromkeys([*self.metrics, *(limit.metric for limit in self.limits)])
        return [name for name in needed if name not in run]

    def values(self, trial: Metrics, base: Metrics) -> tuple[float, ...]:
        """The trial's value for each goal: 1 for the base, below 1 for a gain."""
        return tuple(goal.value(trial, base) for goal in self.goals)

    def value(self, trial: Metrics, base: Metrics) -> float:
        """The goals' values as one: their geometric mean."""
        return geometric_mean(self.values(trial, base))

    def fitness(self, value: float) -> float | None:
        """The paper's fitness behind a value (0 for the base, higher is better), if asked for."""
        return -_FITNESS_OF_E * log(value) if self.name == JIN2022 else None

    def violation(self, trial: Metrics, base: Metrics, noise: Metrics | None = None) -> float:
        """By how much the worst limit is exceeded: 0.1 is 10 % over; at most 0 is feasible.

        With `noise`, a factor a metric, a limit counts as exceeded only beyond that factor. A
        limit on a metric that is missing is exceeded without bound.
        """
        slack = noise or {}
        uses = (limit.ratio(trial, base) / slack.get(limit.metric, 1.0) for limit in self.limits)
        return max((use - 1 for use in uses), default=-1.0)


def limit_penalty(violation: float | None) -> float:
    """The factor by which a value counts as worse whose worst limit is exceeded by so much.

    1 within the limits, and where nobody knows.
    """
    return 1 + max(0.0, violation or 0.0)


def jin2022_fitness(trial: Metrics, base: Metrics, write_amp: str = "write_amp") -> float:
    """The fitness by which Jin, Choi, Choi, Sung and Park (2022) tuned RocksDB.

    1000 x the sum of what is gained on the base, as a share of it, in write amplification, live
    space, load + settle time and data rate: 0 for the base, higher is better. The paper's write
    amplification is `w_amp_table`.
    """
    lower = (write_amp, "live_sst_bytes", "total_s")
    gained = sum((base[name] - trial[name]) / max(base[name], _TINY) for name in lower)
    faster = (trial["rate_mb_s"] - base["rate_mb_s"]) / max(base["rate_mb_s"], _TINY)
    return 1000 * (gained + faster)


def front(points: Sequence[tuple[float, ...]]) -> list[int]:
    """The places of the points that no other point beats: as low everywhere and lower once."""

    def beaten(point: tuple[float, ...]) -> bool:
        return any(
            other != point and all(x <= y for x, y in zip(other, point, strict=True))
            for other in points
        )

    return [place for place, point in enumerate(points) if not beaten(point)]


def run_noise(groups: Sequence[Sequence[Metrics]], of_runs: int) -> dict[str, float]:
    """The factor a metric by which the median of `of_runs` runs may be off by chance.

    Each group holds runs of one config. Two standard deviations of the logs, pooled over all
    groups: the base alone says little about the configs that win, whose space and latencies vary
    more (under universal compaction they depend on how far the last big merge got), and the
    spread of three runs alone is itself a matter of luck. Where no config ran twice under a
    metric there is nothing to pool: no noise is assumed, and the metric is left out.
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
    """Trial over base, turned so that below 1 is better."""
    ratio = max(trial, _TINY) / max(base, _TINY)
    return ratio if METRICS[name].better == "lower" else 1 / ratio


def median_metrics(runs: Sequence[Metrics]) -> dict[str, float]:
    """The median of each metric over the runs that have it."""
    if len(runs) == 1:
        return dict(runs[0])
    names = {name for run in runs for name in run}
    return {name: median(run[name] for run in runs if name in run) for name in sorted(names)}


def parse_objective(
    names: Sequence[str] | str,
    limits: Sequence[str],
    default_limits: Sequence[Limit] = DEFAULT_LIMITS,
) -> Objective:
    """The objective that a user named by one goal or several, with limits as text.

    Limits of the user stand besides the default ones; one on a metric that has a default limit
    takes its place, and `METRIC <= none` lifts it. Of several goals none has a default limit.
    UserError where a name or a limit is wrong.
    """
    goals = tuple(map(_goal, [names] if isinstance(names, str) else names))
    _check_goals([goal.name for goal in goals])
    asked = tuple(parse_limit(text) for text in limits)
    # Who asks for several goals wants to see what each costs the others.
    traded = {goal.name for goal in goals} if len(goals) > 1 else set()
    named = {limit.metric for limit in asked} | traded
    defaults = tuple(limit for limit in default_limits if limit.metric not in named)
    return Objective(goals, defaults + tuple(limit for limit in asked if limit.bound != inf))


def _goal(name: str) -> Goal:
    if name in COMPOSITES:
        return Goal(name)
    if canonical(name) not in METRICS:
        raise UserError(
            f"objective: {name!r} is neither a metric nor one of {', '.join(COMPOSITES)}; "
            f"metrics are {', '.join(m.name for m in METRICS.values() if m.better)}"
        )
    return Goal(metric(name, "objective").name)


def _check_goals(names: Sequence[str]) -> None:
    if not names:
        raise UserError(f"objective: none named; name metrics, or one of {', '.join(COMPOSITES)}")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UserError(f"objective: {twice!r} is named twice; name each metric once")
    composite = next((name for name in names if name in COMPOSITES), None)
    if composite and len(names) > 1:
        others = ", ".join(name for name in names if name != composite)
        raise UserError(
            f"objective: {composite!r} is made of several metrics and stands alone; give it "
            f"without {others}, or name metrics only"
        )


_LIMIT = re.compile(
    r"\s*(\w+)\s*(<=|>=)\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([a-zA-Z]*)\s*(\*\s*base)?\s*"
)
_LIFTED = re.compile(r"\s*(\w+)\s*<=\s*none\s*")


def parse_limit(text: str) -> Limit:
    """A limit from a text such as `live_sst_bytes <= 1.1 * base` or `write_p99_us <= 2000`.

    Where the metric is a size, the bound may have a unit: `live_sst_bytes <= 300MiB`. With
    `METRIC <= none` there is no bound.
    """
    if lifted := _LIFTED.fullmatch(text):
        return Limit(metric(lifted[1], "limit").name, "<=", inf, False)
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UserError(
            f"limit: {text!r} is no limit; write METRIC <= NUMBER or METRIC <= NUMBER * base "
            "(or >=), or METRIC <= none to lift a default one"
        )
    limited = metric(match[1], "limit")
    number, unit, times_base = match[3], match[4], match[5] is not None
    if unit and (limited.unit != "bytes" or times_base):
        of = "a multiple of the base" if times_base else f"in the unit {limited.unit}"
        raise UserError(f"limit: {text!r}: the bound is {of}; write {limited.name} "
                        f"{match[2]} {number}{' * base' if times_base else ''}")  # fmt: skip
    bound = parse_size(number + unit, f"limit {text!r}") if unit else float(number)
    if times_base and bound == 0:
        raise UserError(f"limit: {text!r}: 0 * base is no bound; write {limited.name} <= NUMBER")
    relation: Literal["<=", ">="] = "<=" if match[2] == "<=" else ">="
    return Limit(limited.name, relation, float(bound), times_base)
