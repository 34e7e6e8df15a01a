"""What `lsmtune show` says in addition to the claim: titles, and rows of tables."""

from collections.abc import Sequence

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.analysis.study_view import StudyView
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.metrics.families import listed
from lsmtune.report.text.changed_options import OptionRow, option_row
from lsmtune.report.text.claim_text import metric_cells
from lsmtune.report.text.facts import rate_text
from lsmtune.report.text.metric_words import status_text
from lsmtune.report.text.words import counted

_MOST_FAMILIES = 6


def family_text(families: Sequence[str]) -> str | None:
    """Return which column family was tuned, and which others the user's file has.

    None if the file has no other one.
    """
    if tuple(families) in ((), (DEFAULT_FAMILY,)):
        return None
    text = f"tuned column family: {families[0]}"
    if not (others := listed(families[1:], _MOST_FAMILIES)):
        return text
    return f"{text}; the options of the others are unchanged: {others}"


def count_text(view: StudyView) -> str:
    """Return the number of trials, by how they ended."""
    counts = view.counts
    parts = [
        f"{counts[key]} {word}"
        for key, word in (("complete", "complete"), ("failed", "failed"), ("cut", "pruned"))
        if counts[key]
    ]
    trials = counted(counts["total"], "trial")
    numbered = any(trial.number > counts["total"] for trial in view.searched)
    note = " Trial numbers also count baseline, repeat and verification runs." if numbered else ""
    return (f"{trials}: {', '.join(parts)}." if parts else f"{trials}.") + note


def metrics_title(claim: Claim) -> str:
    """Return the title of the table of metrics."""
    note = " with its 95 % interval" if claim.pairs else ", not verified"
    if claim.view.shown_pace is not None:
        note += f"; mean over the window at {rate_text(claim.view.shown_pace)}"
    return f"Change: {claim.compared} / baseline{note}"


def metric_line(row: MetricRow) -> list[str]:
    """Return the cells of a metric: name, baseline, winner, change, limit."""
    baseline, winner, change, interval, limit = metric_cells(row)
    ratio, times, side = change.partition(" \N{MULTIPLICATION SIGN}")
    if row.interval is not None:
        change = f"{ratio}{times} ({interval}){side}"
    return [row.metric.name, baseline, winner, change, "" if limit == "none" else limit]


def changed_title(claim: Claim) -> str:
    """Return the title of the table of changed options."""
    if claim.view.scale == "1":
        return f"Changed options of trial {claim.trial}:"
    return (
        f"Changed options of trial {claim.trial}. The file to deploy has the values of a full-size "
        f"tree. The trials ran at scale {claim.view.scale}:"
    )


def deployed_rows(claim: Claim) -> list[OptionRow]:
    """Return the options that the exported file changes."""
    return [option_row(change) for change in claim.changes if change.is_deployed]


def front_title(view: StudyView) -> str:
    """Return the title of the table of the Pareto front."""
    names = " and ".join(goal.name for goal in view.objective.goals)
    if not view.front:
        return f"The front of {names} is empty: no trial beats the baseline and keeps all limits."
    return f"The front of {names}. Each number is a ratio to the baseline; below 1 is better:"


def ended_rows(view: StudyView) -> list[tuple[str, str, str]]:
    """Return the failed and pruned trials: number, status, reason."""
    return [
        (
            str(trial.number),
            status_text(trial.status),
            trial.status.meaning.removeprefix(f"{status_text(trial.status)}: ")
            + (f": {trial.reason}" if trial.reason else ""),
        )
        for trial in (*view.failed, *view.cut)
    ]
