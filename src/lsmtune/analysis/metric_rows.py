"""The metrics that a claim compares: winner, or nearest trial, with the baseline."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from lsmtune.analysis.study_view import StudyView
from lsmtune.metrics.definitions import METRICS, Metric
from lsmtune.objective import Metrics, median_metrics
from lsmtune.stats import Interval
from lsmtune.study.ranking import check_medians
from lsmtune.verdict import LimitCheck, Side, side_of

RowRole = Literal["objective", "constraint", "speed", "other"]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of baseline and winner: medians over the compared runs.

    `ratio` is winner / baseline, or None if the metric was zero or missing in a run. `interval`
    is its 95 % interval, or None without verification; then `side` is "undecided".
    """

    metric: Metric
    role: RowRole
    baseline: float | None
    winner: float | None
    ratio: float | None
    interval: Interval | None
    side: Side
    limits: tuple[LimitCheck, ...]


def metric_rows(view: StudyView) -> Iterator[MetricRow]:
    """Yield the metrics of the objective, then those with a limit, then the speed."""
    if view.best_trial is None and view.nearest is None:
        return
    best, base = compared_runs(view)
    if view.nearest is not None:
        best = [view.nearest.trial.metrics]
    limits = _limits(view, best, base)
    speed = "sustained_ops_s" if view.workload.kind == "write" else "throughput_ops_s"
    if view.objective.is_running:
        speed = "capacity_ops_s"
    roles: dict[str, RowRole] = dict.fromkeys(view.objective.metrics, "objective")
    for check in limits:
        roles.setdefault(check.limit.metric, "constraint")
    roles.setdefault(speed, "speed")
    for name, role in roles.items():
        found = tuple(check for check in limits if check.limit.metric == name)
        row = metric_row(view, name, best, base)
        if role == "objective" or found or not (row.baseline is None and row.winner is None):
            yield replace(row, role=role, limits=found)


def metric_row(
    view: StudyView, name: str, best: Sequence[Metrics], base: Sequence[Metrics]
) -> MetricRow:
    """Return a metric of the compared runs, without role and limits."""
    baseline, winner = (_median(name, runs) for runs in (base, best))
    interval = view.verification.verdict.ratios.get(name) if view.verification else None
    ratio = interval.median if interval else None
    if view.verification is None and baseline and winner and baseline > 0 and winner > 0:
        ratio = winner / baseline
    side = side_of(name, interval) if interval else "undecided"
    return MetricRow(METRICS[name], "other", baseline, winner, ratio, interval, side, ())


def compared_runs(view: StudyView) -> tuple[list[Metrics], list[Metrics]]:
    """Return the runs of winner and baseline: the pairs if verified, else those of the search."""
    if view.verification is not None:
        pairs = view.verification.pairs
        return [best for best, _ in pairs], [base for _, base in pairs]
    base = list(view.base_runs) or ([view.base.metrics] if view.base else [])
    return [view.best_metrics] if view.best_metrics else [], list(base)


def _median(name: str, runs: Sequence[Metrics]) -> float | None:
    values = [run[name] for run in runs if name in run]
    return median(values) if values else None


def _limits(
    view: StudyView, best: Sequence[Metrics], base: Sequence[Metrics]
) -> tuple[LimitCheck, ...]:
    if view.verification is not None:
        return view.verification.verdict.limits
    checks = view.nearest.checks if view.nearest is not None else view.undecided
    if checks:
        return checks
    return check_medians(view.objective.limits, *map(median_metrics, (best, base)))
