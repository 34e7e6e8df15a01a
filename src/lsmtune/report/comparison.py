"""Winner against baseline in every metric: the data of charts and tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.metric_rows import MetricRow, RowRole
from lsmtune.analysis.study_view import StudyView
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.words import counted
from lsmtune.trials import Role, Status

HEADINGS: dict[RowRole, str] = {
    "objective": "objective",
    "constraint": "limit",
    "speed": "other",
    "main": "other",
}
"""Headings of the rows in a chart, by their role; the metrics without one are in the table only."""
_TEXTS = PageTexts(__package__, "comparison")


@dataclass(frozen=True, slots=True)
class Comparison:
    """All measured metrics; `is_running`: their values are of a running store."""

    title: str
    see: str
    axis: str
    caveat: str
    runs: str
    rows: tuple[MetricRow, ...]
    is_running: bool

    @property
    def drawn(self) -> tuple[MetricRow, ...]:
        """The rows that the chart shows."""
        return tuple(row for row in self.main if row.gain is not None)

    @property
    def key(self) -> tuple[MetricRow, ...]:
        """The rows of the first chart: objective and limits."""
        return tuple(row for row in self.drawn if row.role in ("objective", "constraint"))

    @property
    def main(self) -> tuple[MetricRow, ...]:
        """The rows of the main metrics."""
        return tuple(row for row in self.rows if row.role in HEADINGS)

    @property
    def others(self) -> tuple[MetricRow, ...]:
        """All other rows."""
        return tuple(row for row in self.rows if row.role not in HEADINGS)


def comparison(claim: Claim) -> Comparison | None:
    """Return the comparison by pairs if verified, else by runs of the search; None without both."""
    view = claim.view
    if view.best_trial is None:
        return None
    rows = tuple(
        row for row in claim.all_rows if row.baseline is not None or row.winner is not None
    )
    verified = view.verification is not None
    return Comparison(
        title=_verified_title(rows) if verified else _unverified_title(rows),
        see=_see(verified),
        axis="← better · winner / baseline, logarithmic · worse →",
        caveat=_caveat(rows, verified),
        runs=_runs_text(view),
        rows=rows,
        is_running=view.objective.is_running,
    )


def _verified_title(rows: Sequence[MetricRow]) -> str:
    asked = [row.side for row in rows if row.role == "objective"]
    others = [row.side for row in rows if row.role != "objective"]
    if len(asked) == 1:
        proven = {"better": "is proven better", "worse": "is proven worse"}
        state = proven.get(asked[0], "is not proven better")
        first = f"The objective {state} than the baseline"
    else:
        first = (
            f"{asked.count('better')} of {len(asked)} metrics of the objective are proven better "
            "than the baseline"
        )
    return f"{first}. Other metrics: {others.count('better')} better, {others.count('worse')} worse"


def _unverified_title(rows: Sequence[MetricRow]) -> str:
    asked = [row.gain for row in rows if row.role == "objective" and row.gain]
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
