"""Base against best in every metric: the record behind the picture and the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from lsmtune.analysis.study_view import StudyView
from lsmtune.metrics.definitions import METRICS, Metric
from lsmtune.objective import Limit, Metrics, gain_ratio
from lsmtune.report.words import Ratio, Side, counted
from lsmtune.trials import Role, Status
from lsmtune.workloads import Kind

Group = Literal["objective", "limit", "main", "reported"]
GROUPS: dict[Group, str] = {
    "objective": "asked for",
    "limit": "limited",
    "main": "reported only",
    "reported": "reported only, in the table",
}

_SPEED = ("throughput_ops_s", "sustained_ops_s", "load_s", "settle_s")
_SPACE = ("write_amp", "live_sst_bytes", "peak_space_bytes", "space_amp")
_WRITES = ("write_p50_us", "write_p99_us", "write_p9999_us", "stall_s")
_READS = (
    "get_p50_us", "get_p99_us", "get_missing_p50_us", "get_missing_p99_us", "scan_p50_us",
    "scan_p99_us",
)  # fmt: skip
_TRANSACTIONS = ("transaction_p99_us", "new_order_p50_us", "new_order_p99_us", "payment_p99_us")
_BLOCKS = ("read_amp", "cache_hit_data", "cache_hit_index", "cache_hit_filter", "bloom_useful")
_COST = ("cpu_s", "peak_rss_bytes")
_MAIN: dict[Kind, tuple[str, ...]] = {
    "write": (*_SPEED, *_WRITES, *_SPACE, *_READS, *_COST),
    "read": ("throughput_ops_s", *_READS, *_BLOCKS, *_SPACE, "build_s", *_COST),
    "mixed": (
        "tpmc",
        *_SPEED,
        *_TRANSACTIONS,
        *_WRITES,
        *_READS,
        *_BLOCKS,
        *_SPACE,
        "build_s",
        *_COST,
    ),
}  # fmt: skip
"""The metrics that say most about a load, by its kind; the others stand in the table only."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of base and best, medians over the runs that are compared.

    `ratio` is best / base; `gain` is the same turned so that below 1 is better, and `limit`
    where on that scale the metric breaks its limit. Both ratios are None for a metric that was
    zero in a run or has no better side.
    """

    metric: Metric
    group: Group
    base: float | None
    best: float | None
    ratio: Ratio | None
    gain: Ratio | None
    limit: float | None

    @property
    def side(self) -> Side | None:
        """Whether best is shown to be better or worse; None without a ratio."""
        return self.gain.side if self.gain else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All metrics: the objective's first, those under a limit, then what says most."""

    title: str
    see: str
    axis: str
    caveat: str
    runs: str
    rows: tuple[MetricRow, ...]

    @property
    def drawn(self) -> tuple[MetricRow, ...]:
        """The rows that have a place in the picture."""
        return tuple(row for row in self.main if row.gain is not None)

    @property
    def main(self) -> tuple[MetricRow, ...]:
        """The rows that say most about the load."""
        return tuple(row for row in self.rows if row.group != "reported")

    @property
    def others(self) -> tuple[MetricRow, ...]:
        """All other rows."""
        return tuple(row for row in self.rows if row.group == "reported")


def comparison(view: StudyView) -> Comparison | None:
    """The comparison by the verification's pairs, else by single runs; None without a best."""
    best_runs, base_runs = _runs(view)
    if not best_runs or not base_runs:
        return None
    rows = tuple(
        _row(view, name, group, best_runs, base_runs)
        for group, names in metric_groups(view).items()
        for name in names
    )
    measured = tuple(row for row in rows if row.base is not None or row.best is not None)
    verified = view.verification is not None
    return Comparison(
        title=_verified_title(measured) if verified else _unverified_title(measured),
        see=_see(verified),
        axis="← better · best / base, logarithmic · worse →",
        caveat=_caveat(measured, verified),
        runs=_runs_text(view),
        rows=measured,
    )


def _runs(view: StudyView) -> tuple[Sequence[Metrics], Sequence[Metrics]]:
    if view.verification is not None:
        pairs = view.verification.pairs
        return [best for best, _ in pairs], [base for _, base in pairs]
    base = list(view.base_runs) or ([view.base.metrics] if view.base else [])
    return [view.best_metrics] if view.best_metrics else [], base


def metric_groups(view: StudyView) -> dict[Group, list[str]]:
    """Every metric in the group in which it is shown."""
    asked = list(view.objective.metrics)
    limited = list(dict.fromkeys(limit.metric for limit in view.objective.limits))
    chosen: dict[Group, list[str]] = {
        "objective": asked,
        "limit": [name for name in limited if name not in asked],
        "main": [n for n in _MAIN[view.workload.kind] if n not in (*asked, *limited)],
    }
    placed = {name for names in chosen.values() for name in names}
    return {**chosen, "reported": [name for name in METRICS if name not in placed]}


def _row(
    view: StudyView, name: str, group: Group, best: Sequence[Metrics], base: Sequence[Metrics]
) -> MetricRow:
    metric = METRICS[name]
    base_median, best_median = (_median(name, runs) for runs in (base, best))
    ratio = _ratio(view, name, best_median, base_median) if metric.better else None
    return MetricRow(
        metric=metric,
        group=group,
        base=base_median,
        best=best_median,
        ratio=ratio,
        gain=ratio.gain(name) if ratio else None,
        limit=_limit(view.objective.limits, name, base_median) if ratio else None,
    )


def _median(name: str, runs: Sequence[Metrics]) -> float | None:
    values = [run[name] for run in runs if name in run]
    return median(values) if values else None


def _ratio(view: StudyView, name: str, best: float | None, base: float | None) -> Ratio | None:
    if view.verification is not None:
        interval = view.verification.verdict.ratios.get(name)
        return Ratio.of(interval) if interval else None
    return Ratio(best / base) if best and base and best > 0 and base > 0 else None


def _limit(limits: Sequence[Limit], name: str, base: float | None) -> float | None:
    """The strictest bound on the metric, as a ratio to the base that is turned like `gain`."""
    if not base:
        return None
    bounds = [
        limit.bound * (base if limit.times_base else 1) for limit in limits if limit.metric == name
    ]
    return min((gain_ratio(name, bound, base) for bound in bounds), default=None)


def _verified_title(rows: Sequence[MetricRow]) -> str:
    asked = [row.side for row in rows if row.group == "objective"]
    others = [row.side for row in rows if row.group != "objective"]
    return (
        f"{asked.count('better')} of {counted(len(asked), 'metric')} asked for "
        f"{'is' if asked.count('better') == 1 else 'are'} better; "
        f"of the others {others.count('better')} better, {others.count('worse')} worse"
    )


def _unverified_title(rows: Sequence[MetricRow]) -> str:
    asked = [row.gain.value for row in rows if row.group == "objective" and row.gain]
    lower = sum(gain < 1 for gain in asked)
    return f"{lower} of {counted(len(asked), 'metric')} asked for looked better, not verified"


def _see(verified: bool) -> str:
    whiskers = "whiskers are intervals of 95 %" if verified else "unverified runs have no interval"
    return (
        f"Left of 1 best is better, right of 1 it is worse; {whiskers}. Metrics that are better "
        "when higher are drawn as their inverse (1 / …), so that every row reads the same way."
    )


def _caveat(rows: Sequence[MetricRow], verified: bool) -> str:
    if not verified:
        return (
            "Not verified: the best trial was chosen for its luck as well as for its options, "
            "so expect less than the picture shows."
        )
    count = sum(row.ratio is not None for row in rows)
    return (
        f"Claims are made for the metrics asked for only: of {count} intervals of 95 %, "
        f"about {max(round(count * 0.05), 1)} would exclude 1 by chance."
    )


def _runs_text(view: StudyView) -> str:
    if view.verification is not None:
        return f"medians of {counted(len(view.verification.pairs), 'pair')} of runs"
    best = view.best_trial
    runs = sum(
        trial.role in (Role.TRIAL, Role.REPEAT)
        and trial.status is Status.COMPLETE
        and best is not None
        and trial.config == best.config
        for trial in view.trials
    )
    return (
        f"base: median of {counted(len(view.base_runs) or 1, 'run')}; "
        f"best: median of {counted(max(runs, 1), 'run')}"
    )
