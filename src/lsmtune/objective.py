"""What is asked for and what must hold: from measurements to values and limits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from lsmtune.errors import UserError
from lsmtune.metrics.definitions import METRICS, metric
from lsmtune.stats import geometric_mean

COMPOSITES: dict[str, tuple[str, ...]] = {"balanced": ("write_amp", "live_sst_bytes", "total_s")}
"""Objectives made of several metrics, as the geometric mean of their ratios to the base."""

Metrics = Mapping[str, float]

_TINY = 1e-9
"""Stands for zero where a ratio is taken: no metric has values as small as this."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on a metric: a number, or a multiple of the base's value."""

    metric: str
    relation: Literal["<=", ">="]
    bound: float
    times_base: bool

    def ratio(self, trial: Metrics, base: Metrics) -> float:
        """How far the trial is from the bound: above 1 the limit is broken."""
        bound = self.bound * (base[self.metric] if self.times_base else 1)
        pair = max(trial[self.metric], _TINY), max(bound, _TINY)
        return pair[0] / pair[1] if self.relation == "<=" else pair[1] / pair[0]

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.relation} {self.bound:.12g}{' * base' if self.times_base else ''}"
        )


DEFAULT_LIMITS = tuple(
    Limit(name, "<=", 1.1, True)
    for name in ("live_sst_bytes", "get_p99_us", "get_missing_p99_us", "scan_p99_us")
)
"""Writes are not to be won by wrecking reads or by filling the disk."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What tuning minimises: the geometric mean of trial / base over `metrics`, in logs.

    A metric that is better when higher enters with its inverse, so that below 1 is always
    a gain. `name` is how the user asked for it.
    """

    name: str
    metrics: tuple[str, ...]
    limits: tuple[Limit, ...]

    def missing(self, run: Metrics) -> list[str]:
        """The metrics asked for or limited that a run does not have."""
        return [
            name for name in (*self.metrics, *(x.metric for x in self.limits)) if name not in run
        ]

    def value(self, trial: Metrics, base: Metrics) -> float:
        """The trial's objective: 1 for the base, below 1 for a gain."""
        return geometric_mean([gain_ratio(name, trial[name], base[name]) for name in self.metrics])

    def violation(self, trial: Metrics, base: Metrics, noise: Metrics | None = None) -> float:
        """By how much the worst limit is exceeded: 0.1 is 10 % over; at most 0 is feasible.

        With `noise`, a factor a metric, a limit counts as exceeded only beyond that factor.
        """
        slack = noise or {}
        uses = (limit.ratio(trial, base) / slack.get(limit.metric, 1.0) for limit in self.limits)
        return max((use - 1 for use in uses), default=-1.0)


def run_noise(runs: Sequence[Metrics], of_runs: int) -> dict[str, float]:
    """The factor by which runs of one config differ: the widest pair of the given runs.

    For the median of `of_runs` runs it is smaller by the root of their number, in logs. One run
    tells nothing: no noise is assumed then.
    """
    metrics = {name: [run[name] for run in runs if run.get(name, 0) > 0] for name in runs[0]}
    return {
        name: (max(values) / min(values)) ** (of_runs**-0.5)
        for name, values in metrics.items()
        if values
    }


def gain_ratio(name: str, trial: float, base: float) -> float:
    """Trial over base, turned so that below 1 is better."""
    ratio = max(trial, _TINY) / max(base, _TINY)
    return ratio if METRICS[name].better == "lower" else 1 / ratio


def median_metrics(runs: Sequence[Metrics]) -> dict[str, float]:
    """The median of each metric over the runs that have it."""
    names = {name for run in runs for name in run}
    return {name: median(run[name] for run in runs if name in run) for name in sorted(names)}


def parse_objective(name: str, limits: tuple[str, ...]) -> Objective:
    """The objective that a user named, with limits as text besides the default ones.

    A limit on a metric that has a default one takes its place, and so can lift it.
    """
    metrics = COMPOSITES.get(name)
    if metrics is None:
        if name not in METRICS:
            raise UserError(
                f"objective: {name!r} is neither a metric nor one of {', '.join(COMPOSITES)}; "
                f"metrics are {', '.join(m.name for m in METRICS.values() if m.better)}"
            )
        metrics = (metric(name, "objective").name,)
    asked = tuple(parse_limit(text) for text in limits)
    named = {limit.metric for limit in asked}
    defaults = tuple(limit for limit in DEFAULT_LIMITS if limit.metric not in named)
    return Objective(name, metrics, defaults + asked)


def parse_limit(text: str) -> Limit:
    """A limit from a text such as `live_sst_bytes <= 1.1 * base` or `write_p99_us <= 2000`."""
    match = re.fullmatch(
        r"\s*(\w+)\s*(<=|>=)\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(\*\s*base)?\s*", text
    )
    if match is None:
        raise UserError(
            f"limit: {text!r} is no limit; write METRIC <= NUMBER or METRIC <= NUMBER * base"
        )
    relation: Literal["<=", ">="] = "<=" if match[2] == "<=" else ">="
    limit = Limit(metric(match[1], "limit").name, relation, float(match[3]), match[4] is not None)
    if limit.times_base and limit.bound == 0:
        raise UserError(f"limit: {text!r}: 0 * base is no bound; write {limit.metric} <= NUMBER")
    return limit
