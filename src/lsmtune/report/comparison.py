"""Winner against baseline in every metric: the data of charts and tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.metric_rows import compared_runs, metric_row
from lsmtune.analysis.study_view import StudyView
from lsmtune.engine_traits import ENGINES
from lsmtune.limits import Limit
from lsmtune.metrics.definitions import METRICS, Metric
from lsmtune.objective import Metrics, gain_ratio
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.metric_words import Ratio, Side
from lsmtune.report.text.words import counted
from lsmtune.trials import Role, Status
from lsmtune.workloads import Kind

Group = Literal["objective", "limit", "main", "reported"]
GROUPS: dict[Group, str] = {
    "objective": "objective",
    "limit": "limit",
    "main": "other",
    "reported": "other, in the table only",
}
"""Headings of the groups of metrics."""

_TEXTS = PageTexts(__package__, "comparison")
_SPEED = ("throughput_ops_s", "sustained_ops_s", "capacity_ops_s", "load_s", "settle_s")
_SPACE = ("write_amp", "live_sst_bytes", "peak_space_bytes", "space_amp", "level0_files")
_WRITES = ("write_p50_us", "write_p99_us", "write_p9999_us", "stall_s")
_READS = (
    "get_p50_us", "get_p99_us", "get_missing_p50_us", "get_missing_p99_us", "scan_p50_us",
    "scan_p99_us",
)  # fmt: skip
_TRANSACTIONS = ("transaction_p99_us", "new_order_p50_us", "new_order_p99_us", "payment_p99_us")
_BLOCKS = ("read_amp", "cache_hit_data", "cache_hit_index", "cache_hit_filter", "bloom_useful")
_COST = ("cpu_s", "cpu_us_per_op", "peak_rss_bytes")
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
"""The main metrics by kind of workload; all others are in the table only."""


_RUNNING = (
    "capacity_ops_s", "cpu_us_per_op", "write_p50_us", "write_p99_us", "write_p999_us", "stall_s",
    *_READS, "get_data_blocks", "get_missing_data_blocks", "scan_sorted_runs", "write_amp",
    "live_sst_bytes", "peak_space_bytes", "peak_rss_bytes",
)  # fmt: skip
"""The main metrics of a running store."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of baseline (`base`) and winner (`best`): medians over the compared runs.

    `ratio` is winner / baseline. `gain` is the same, turned so that below 1 is better; `limit` is
    the limit's bound on that scale. Both ratios are None if the metric was zero in a run or
    has no better direction. `is_running`: the values are of a running store.
    """

    metric: Metric
    group: Group
    base: float | None
    best: float | None
    ratio: Ratio | None
    gain: Ratio | None
    limit: float | None
    is_running: bool = False

    @property
    def meaning(self) -> str:
        """What the metric is in the trials of the study."""
        return (self.is_running and self.metric.window) or self.metric.meaning

    @property
    def side(self) -> Side | None:
        """The proven side of the winner; None without a ratio."""
        return self.gain.side if self.gain else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All metrics: the objective's first, then limits, then the main ones."""

    title: str
    see: str
    axis: str
    caveat: str
    runs: str
    rows: tuple[MetricRow, ...]

    @property
    def drawn(self) -> tuple[MetricRow, ...]:
        """The rows that the chart shows."""
        return tuple(row for row in self.main if row.gain is not None)

    @property
    def key(self) -> tuple[MetricRow, ...]:
        """The rows of the first chart: objective and limits."""
        return tuple(row for row in self.drawn if row.group in ("objective", "limit"))

    @property
    def main(self) -> tuple[MetricRow, ...]:
        """The rows of the main metrics."""
        return tuple(row for row in self.rows if row.group != "reported")

    @property
    def others(self) -> tuple[MetricRow, ...]:
        """All other rows."""
        return tuple(row for row in self.rows if row.group == "reported")


def comparison(view: StudyView) -> Comparison | None:
    """Return the comparison by pairs if verified, else by runs of the search; None without both."""
    best_runs, base_runs = compared_runs(view)
    if not best_runs or not base_runs:
        return None
    found = METRICS.among(name for run in (*best_runs, *base_runs) for name in run)
    rows = tuple(
        _row(view, name, group, best_runs, base_runs)
        for group, names in metric_groups(view, found).items()
        for name in names
    )
    measured = tuple(row for row in rows if row.base is not None or row.best is not None)
    verified = view.verification is not None
    return Comparison(
        title=_verified_title(measured) if verified else _unverified_title(measured),
        see=_see(verified),
        axis="← better · winner / baseline, logarithmic · worse →",
        caveat=_caveat(measured, verified),
        runs=_runs_text(view),
        rows=measured,
    )


def metric_groups(view: StudyView, found: Sequence[str] = ()) -> dict[Group, list[str]]:
    """Return the metrics by the group in which they are shown; `found` has those of the runs."""
    asked = list(view.objective.metrics)
    limited = list(dict.fromkeys(limit.metric for limit in view.objective.limits))
    chosen: dict[Group, list[str]] = {
        "objective": asked,
        "limit": [name for name in limited if name not in asked],
        "main": [n for n in _main(view) if n not in (*asked, *limited)],
    }
    placed = {name for names in chosen.values() for name in names}
    return {**chosen, "reported": [name for name in found if name not in placed]}


def _main(view: StudyView) -> Iterable[str]:
    """Return the main metrics: the usual ones, and all that an entry names itself."""
    if view.objective.is_running:
        return _RUNNING
    named = ENGINES[view.engine].measured if view.engine in ENGINES else None
    return dict.fromkeys([*_MAIN[view.workload.kind], *(named or ())])


def _row(
    view: StudyView, name: str, group: Group, best: Sequence[Metrics], base: Sequence[Metrics]
) -> MetricRow:
    row, ratio = metric_row(view, name, best, base), None
    if row.metric.better and row.ratio is not None:
        ratio = Ratio.of(row.interval) if row.interval else Ratio(row.ratio)
    return MetricRow(
        metric=row.metric,
        group=group,
        base=row.baseline,
        best=row.winner,
        ratio=ratio,
        gain=ratio.gain(name) if ratio else None,
        limit=_limit(_checked_limits(view), name, row.baseline) if ratio else None,
        is_running=view.objective.is_running,
    )


def _checked_limits(view: StudyView) -> Sequence[Limit]:
    """Return the limits as verification has checked them: noise can widen a bound."""
    if view.verification is None:
        return view.objective.limits
    return [check.limit for check in view.verification.verdict.limits]


def _limit(limits: Sequence[Limit], name: str, base: float | None) -> float | None:
    """Return the strictest bound on the metric / baseline, turned like `gain`."""
    if not base:
        return None
    bounds = [limit.full_bound(base) for limit in limits if limit.metric == name]
    return min((gain_ratio(name, bound, base) for bound in bounds), default=None)


def _verified_title(rows: Sequence[MetricRow]) -> str:
    asked = [row.side for row in rows if row.group == "objective"]
    others = [row.side for row in rows if row.group != "objective"]
    if len(asked) == 1:
        proven = {"better": "is proven better", "worse": "is proven worse"}
        state = proven.get(asked[0] or "", "is not proven better")
        first = f"The objective {state} than the baseline"
    else:
        first = (
            f"{asked.count('better')} of {len(asked)} metrics of the objective are proven better "
            "than the baseline"
        )
    return f"{first}. Other metrics: {others.count('better')} better, {others.count('worse')} worse"


def _unverified_title(rows: Sequence[MetricRow]) -> str:
    asked = [row.gain.value for row in rows if row.group == "objective" and row.gain]
    lower = sum(gain < 1 for gain in asked)
    return (
        f"Not verified: {lower} of {counted(len(asked), 'metric')} of the objective looked better"
    )


def _see(verified: bool) -> str:
    shown = {"sides": True, "intervals": verified, "no_intervals": not verified, "turned": True}
    return " ".join(_TEXTS.shown(shown))


def _caveat(rows: Sequence[MetricRow], verified: bool) -> str:
    if not verified:
        return _TEXTS.text("not_verified")
    count = sum(row.ratio is not None for row in rows)
    return _TEXTS.text("by_chance", few=max(round(count * 0.05), 1), count=count)


def _runs_text(view: StudyView) -> str:
    if view.verification is not None:
        pairs = f"medians over {counted(len(view.verification.pairs), 'pair')} of runs"
        pace = view.verification.pace
        return pairs if pace is None else f"{pairs}, each a mean over the window of a running store"
    best = view.best_trial
    runs = sum(
        trial.role in (Role.TRIAL, Role.REPEAT)
        and trial.status is Status.COMPLETE
        and best is not None
        and trial.config == best.config
        for trial in view.trials
    )
    return (
        f"medians over {counted(len(view.base_runs) or 1, 'baseline run')} and "
        f"{counted(max(runs, 1), 'winner run')}"
    )
