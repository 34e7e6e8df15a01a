"""Winner and baseline in each metric: the rows that text, page, charts and JSON show."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from lsmtune.analysis.study_view import StudyView, TrialView
from lsmtune.engine_traits import ENGINES
from lsmtune.metrics.definitions import METRICS, Metric, shown_metrics
from lsmtune.objective import Metrics, gain_ratio
from lsmtune.stats import Interval
from lsmtune.verdict import LimitCheck, Side, side_of

RowRole = Literal["objective", "constraint", "speed", "main", "other"]
"""Why a metric is shown: the study asks for it, or it is the speed, or a main metric."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of baseline and winner: medians over the compared runs.

    `ratio` is winner / baseline. It is None if the metric was zero or missing in a run, or has no
    better direction. `interval` is its 95 % interval, or None without verification; then `side` is
    "undecided". `limits` are those on the metric, checked.
    """

    metric: Metric
    role: RowRole
    baseline: float | None
    winner: float | None
    ratio: float | None
    interval: Interval | None
    side: Side
    limits: tuple[LimitCheck, ...]

    @property
    def gain(self) -> float | None:
        """The ratio, turned so that below 1 is better."""
        if self.ratio is None:
            return None
        return 1 / self.ratio if self.metric.better == "higher" else self.ratio

    @property
    def bound(self) -> float | None:
        """The strictest limit as a share of the baseline, turned like `gain`."""
        name, base = self.metric.name, self.baseline
        if self.ratio is None or not base:
            return None
        bounds = (gain_ratio(name, check.limit.full_bound(base), base) for check in self.limits)
        return min(bounds, default=None)


def compare(view: StudyView, trial: TrialView | None = None) -> tuple[MetricRow, ...]:
    """Return the winner in each metric, or without one the trial that came nearest.

    A `trial` of the front, which has medians, replaces both. Those metrics come first that the
    study asks for, then its limits, then the main metrics. Empty if there is nothing to compare.
    """
    verification = view.verification if trial is None else None
    shown = trial or view.best_trial or view.nearest
    if shown is None:
        return ()
    best: list[Metrics] = [shown.metrics]
    base: list[Metrics] = [*view.base_runs]
    if verification is not None:
        best, base = ([pair[side] for pair in verification.pairs] for side in (0, 1))
    ratios = verification.verdict.ratios if verification else None
    limits = view.limits if trial is None else ()
    roles = _roles(view, (name for run in (*best, *base) for name in run))
    rows = (
        _row(name, role, (best, base), ratios, tuple(c for c in limits if c.limit.metric == name))
        for name, role in roles.items()
    )
    return tuple(
        row
        for row in rows
        if row.role == "objective"
        or row.limits
        or row.baseline is not None
        or row.winner is not None
    )


def _roles(view: StudyView, measured: Iterable[str]) -> dict[str, RowRole]:
    """Return the metrics in the order in which they are shown, and why they are."""
    speed = "sustained_ops_s" if view.workload.kind == "write" else "throughput_ops_s"
    if view.objective.is_running:
        speed = "capacity_ops_s"
    limits = (*(check.limit for check in view.limits), *view.objective.limits)
    roles: dict[str, RowRole] = dict.fromkeys(view.objective.metrics, "objective")
    for limit in limits:
        roles.setdefault(limit.metric, "constraint")
    for name in _main(view):
        roles.setdefault(name, "speed" if name == speed else "main")
    for name in METRICS.among(measured):
        roles.setdefault(name, "other")
    return roles


def _main(view: StudyView) -> Iterable[str]:
    """Return the main metrics: the usual ones, and all that an entry names itself."""
    if view.objective.is_running:
        return shown_metrics("page", "running")
    named = ENGINES[view.engine].measured if view.engine in ENGINES else None
    return (*shown_metrics("page", view.workload.kind), *(named or ()))


def _row(
    name: str,
    role: RowRole,
    runs: tuple[Sequence[Metrics], Sequence[Metrics]],
    ratios: Mapping[str, Interval] | None,
    limits: tuple[LimitCheck, ...],
) -> MetricRow:
    """Return a metric of the runs of winner and baseline; pairs of runs have `ratios`."""
    metric = METRICS[name]
    winner, baseline = (_median(name, side) for side in runs)
    interval = ratios.get(name) if ratios is not None and metric.better else None
    ratio = interval.median if interval else None
    if ratios is None and metric.better and baseline and winner and min(baseline, winner) > 0:
        ratio = winner / baseline
    side = side_of(name, interval) if interval else "undecided"
    return MetricRow(metric, role, baseline, winner, ratio, interval, side, limits)


def _median(name: str, runs: Sequence[Metrics]) -> float | None:
    values = [run[name] for run in runs if name in run]
    return median(values) if values else None
