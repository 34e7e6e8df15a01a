"""Objectives and limits, computed from measurements."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, inf, isinf, log, sqrt
from statistics import fmean, median

from scipy.special import ndtr

from lsmtune.errors import UserError, unknown_word
from lsmtune.limits import LATENCIES_OF_COUNTS, OVERLOAD, TINY, Limit, Measure, parse_limit
from lsmtune.metrics.definitions import METRICS, canonical, metric
from lsmtune.stats import geometric_mean

JIN2022 = "jin2022"
COMPOSITES: dict[str, tuple[str, ...]] = {
    "balanced": ("write_amp", "live_sst_bytes", "total_s"),
    JIN2022: ("write_amp", "live_sst_bytes", "total_s", "rate_mb_s"),
}
"""Objectives that combine several metrics of a filled store."""
RUNNING_TERMS = ("write_amp", "live_sst_bytes", "cpu_us_per_op")
"""Terms of `balanced` in a study of a running store."""
READ_TERM = "read_cost"
"""One more term if the workload reads."""
_ONLY_FILLED = frozenset(
    ("throughput_ops_s", "load_s", "settle_s", "total_s", "sustained_ops_s", "rate_mb_s")
)
"""Metrics of a store that is filled as fast as possible. A running store keeps a rate."""
_LATEST_WAKEUP = 0.1
"""A p99 has no default limit if the wake-up delay of its clients is a larger share of it."""

Metrics = Mapping[str, float]

_FITNESS_OF_E = 4000
"""Fitness if all four metrics improve by their whole baseline value."""
_STEEPEST = 50
"""Bound of the exponent: terms of the fitness are unbounded if the baseline is near zero."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One objective: a metric, or one of `COMPOSITES`.

    `terms` are the metrics of a composite; empty: those in `COMPOSITES`.
    """

    name: str
    terms: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that its value is computed from."""
        return self.terms or COMPOSITES.get(self.name, (self.name,))

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
    """One or several objectives to minimise, and the limits.

    With several objectives there is no single best trial but a Pareto front of trials. `value` is
    then the geometric mean over the objectives. Verification ends after at most `most_pairs` pairs
    of runs. `is_running`: the metrics are those of a running store, and no bound grows.
    """

    goals: tuple[Goal, ...]
    limits: tuple[Limit, ...] = ()
    most_pairs: int = 0
    is_running: bool = False

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

    @property
    def needed(self) -> tuple[str, ...]:
        """Metrics of the objectives and of the limits."""
        return tuple(dict.fromkeys([*self.metrics, *(limit.metric for limit in self.limits)]))

    def missing(self, run: Metrics) -> list[str]:
        """Return the needed metrics that a run does not have."""
        return [name for name in self.needed if name not in run]

    def grown(self, noise: Metrics, base: Metrics) -> "Objective":
        """Return it with the bounds that runs of the baseline can keep, see `Limit.grown`."""
        if self.is_running:
            return self
        limits = (
            limit.grown(noise.get(limit.metric), self.most_pairs, base.get(limit.metric))
            for limit in self.limits
        )
        return replace(self, limits=tuple(limits))

    def blurred(self, base: Metrics) -> tuple[str, ...]:
        """Return the p99 metrics whose default limits would judge the wake-ups of the machine."""
        delay = base.get("wakeup_p99_us", 0.0)
        return tuple(
            limit.metric
            for limit in self.limits
            if limit.default
            and limit.metric.endswith("_p99_us")
            and delay > _LATEST_WAKEUP * base.get(limit.metric, inf)
        )

    def without(self, metrics: Collection[str]) -> "Objective":
        """Return it without the limits on these metrics."""
        return replace(self, limits=tuple(x for x in self.limits if x.metric not in metrics))

    def values(self, trial: Metrics, base: Metrics) -> tuple[float, ...]:
        """Return the trial's value per objective: 1 for the baseline, below 1 for a gain."""
        return tuple(goal.value(trial, base) for goal in self.goals)

    def value(self, trial: Metrics, base: Metrics) -> float:
        """Return the geometric mean of the objectives' values."""
        return geometric_mean(self.values(trial, base))

    def fitness(self, value: float) -> float | None:
        """Return the fitness of jin2022 for a value (0 for the baseline, higher is better)."""
        return -_FITNESS_OF_E * log(value) if self.name == JIN2022 else None

    def kept_probability(
        self, trial: Metrics, base: Metrics, noise: Metrics, runs: tuple[int, int]
    ) -> float:
        """Return the probability that a config keeps all limits.

        `trial` and `base` are medians of as many runs as `runs` says, in this order. `noise` has
        the standard deviation of the log of each metric. The limits are taken as independent.
        """
        found = 1.0
        for limit in self.limits:
            ratio, deviation = limit.ratio(trial, base), noise.get(limit.metric, 0.0)
            share = limit.base_share(base.get(limit.metric))
            error = deviation * sqrt(1 / runs[0] + share**2 / runs[1])
            if isinf(ratio) or not error:
                found *= float(ratio <= 1)
            else:
                found *= float(ndtr(-log(ratio) / error))
        return found

    def violation(self, trial: Metrics, base: Metrics, noise: Metrics | None = None) -> float:
        """Return the violation of the worst limit: 0.1 is 10 % over; at most 0 is feasible.

        With `noise`, one factor per metric, only a violation beyond that factor is one. A
        limit on a missing metric gives inf.
        """
        slack = noise or {}
        uses = (limit.ratio(trial, base) / slack.get(limit.metric, 1.0) for limit in self.limits)
        return max((use - 1 for use in uses), default=-1.0)


def limit_penalty(violation: float | None) -> float:
    """Return the factor by which a violation makes a value worse.

    It is 1 if all limits are kept, or if the violation is unknown.
    """
    return 1 + max(0.0, violation or 0.0)


def jin2022_fitness(trial: Metrics, base: Metrics, write_amp: str = "write_amp") -> float:
    """Return the fitness by which Jin, Choi, Choi, Sung and Park (2022) tuned RocksDB.

    It is 1000 x the sum of the gains over the baseline, as shares, in write amplification, live
    space, load + settle time and data rate. It is 0 for the baseline; higher is better. The paper
    uses `w_amp_table` as write amplification.
    """
    lower = (write_amp, "live_sst_bytes", "total_s")
    gained = sum((base[name] - trial[name]) / max(base[name], TINY) for name in lower)
    faster = (trial["rate_mb_s"] - base["rate_mb_s"]) / max(base["rate_mb_s"], TINY)
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
    return noise_factors(log_deviations(groups), of_runs)


def noise_factors(deviations: Metrics, of_runs: int) -> dict[str, float]:
    """Return `run_noise` for deviations that are known already."""
    return {name: exp(2 * found / sqrt(of_runs)) for name, found in deviations.items()}


def log_deviations(groups: Sequence[Sequence[Metrics]]) -> dict[str, float]:
    """Return `log_deviation` of each metric that some config has twice."""
    names = {name for runs in groups for run in runs for name in run}
    found = {name: log_deviation(name, groups) for name in sorted(names)}
    return {name: deviation for name, deviation in found.items() if deviation is not None}


def log_deviation(name: str, groups: Sequence[Sequence[Metrics]]) -> float | None:
    """Return the standard deviation of the log of a metric between runs of one config.

    It is pooled over the groups, which have the runs of one config each; None if no config has the
    metric twice.
    """
    logs = [[log(run[name]) for run in runs if run.get(name, 0) > 0] for runs in groups]
    freedom = sum(len(values) - 1 for values in logs if values)
    if not freedom:
        return None
    squares = sum((x - fmean(values)) ** 2 for values in logs for x in values)
    return sqrt(squares / freedom)


def gain_ratio(name: str, trial: float, base: float) -> float:
    """Return trial / baseline, inverted if higher is better, so that below 1 is a gain."""
    ratio = max(trial, TINY) / max(base, TINY)
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
    default_limits: Sequence[Limit] = (),
    *,
    measure: Measure = "filled",
    reads: bool = False,
) -> Objective:
    """Return the objective from names and from limits as text.

    The user's limits are added to the default ones. A limit on a metric with a default
    limit replaces it, and `METRIC <= none` removes it. A default limit on counted reads
    is also removed if the user removes all limits on the latencies of these reads, which were
    the default before. With several objectives, their metrics have no default limits. `reads`:
    the workload of a running store reads, so `balanced` has the read cost. Raises UserError if a
    name or a limit is wrong.
    """
    given = (names,) if isinstance(names, str) else tuple(names)
    terms = (*RUNNING_TERMS, READ_TERM) if reads else RUNNING_TERMS
    running = terms if measure == "running" else None
    return _parsed(given, tuple(limits), tuple(default_limits), running)


@lru_cache(maxsize=64)
def _parsed(
    names: tuple[str, ...],
    limits: tuple[str, ...],
    default_limits: tuple[Limit, ...],
    running: tuple[str, ...] | None,
) -> Objective:
    """Return the objective; a study asks for its own at many places.

    `running` has the terms of `balanced` in a study of a running store.
    """
    goals = tuple(map(_goal, names))
    _check_goals([goal.name for goal in goals])
    asked = tuple(parse_limit(text) for text in limits)
    if running is not None:
        goals = tuple(replace(g, terms=running) if g.name == "balanced" else g for g in goals)
        _check_running(goals, asked)
    # With several objectives, the user wants to see what each costs the others.
    traded = {goal.name for goal in goals} if len(goals) > 1 else set()
    named = {limit.metric for limit in asked} | traded
    lifted = {limit.metric for limit in asked if limit.bound == inf}
    defaults = tuple(
        limit
        for limit in default_limits
        if limit.metric not in named and not _lifts_latencies(lifted, limit)
    )
    found = defaults + tuple(limit for limit in asked if limit.bound != inf)
    return Objective(goals, found, is_running=running is not None)


def _check_running(goals: Sequence[Goal], limits: Sequence[Limit]) -> None:
    """Raise UserError for what a study of a running store does not measure, or never changes."""
    for key, name, metrics in (
        *(("objective", goal.name, goal.metrics) for goal in goals),
        *(("limits", limit.metric, (limit.metric,)) for limit in limits),
    ):
        if not _ONLY_FILLED.isdisjoint(metrics):
            raise UserError(
                f"{key}: {name!r} is not measured in a running store; use capacity_ops_s, or set "
                'measure = "filled"'
            )
    if any(limit.metric == OVERLOAD for limit in limits):
        raise UserError(
            f"limits: the limit {OVERLOAD} <= 1 of a running store cannot be lifted or changed, "
            f"because a store that cannot keep the rate is not comparable; remove {OVERLOAD}"
        )


def _lifts_latencies(lifted: Set[str], limit: Limit) -> bool:
    """Return whether the user lifts all latencies of the reads whose work the limit bounds."""
    latencies = LATENCIES_OF_COUNTS.get(limit.metric) if limit.probe else None
    return latencies is not None and lifted >= set(latencies)


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
