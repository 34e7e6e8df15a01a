"""Text of a study, made from its claim."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsmtune.analysis.claim import Claim, claim_of
from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.analysis.study_view import StudyView
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.metrics.families import listed
from lsmtune.report.figures import OptionRow, option_row, status_text
from lsmtune.report.study_document import trial_counts
from lsmtune.report.text.claim_text import ClaimText, claim_text, metric_cells
from lsmtune.report.text.simplification_text import NEEDED_TITLE, needed_lines, needed_sentence
from lsmtune.report.text.step_text import StepText
from lsmtune.report.text.trade_text import TRADES_TITLE
from lsmtune.report.text.words import counted

_MOST_FAMILIES = 6


def summary_lines(view: StudyView, claim: Claim | None = None) -> list[str]:
    """Return the study in words; `claim` is that of the view, if it is known.

    The first screen has the claim, its gain, cost and trust, what to do next, and the way back.
    Tables follow, and then notes, the most serious first.
    """
    claim = claim or claim_of(view)
    text = claim_text(claim)
    lines = paragraph(f"study {view.name}: {text.headline}", hanging=2)
    lines += facts_lines(text.answers)
    lines += [] if text.answers else paragraph(text.summary, hanging=2)
    lines += _block("Next:", list(_numbered(text.steps)))
    lines += _block("Back:", list(_step_lines(text.undo)) if text.undo else [])
    lines += _block(
        f"{TRADES_TITLE}:", [line for step in text.trades for line in _step_lines(step)]
    )
    lines += _block(_metrics_title(claim), _metric_lines(claim))
    lines += _block(_changed_title(claim), _changed_lines(claim))
    lines += _block(f"{NEEDED_TITLE}:", _needed_lines(claim))
    lines += _block(_front_title(view), _front_lines(view))
    return lines + _block("Notes:", list(_notes(view, text)))


def _notes(view: StudyView, text: ClaimText) -> Iterator[str]:
    """Yield the sentences about a result, the most serious first."""
    summary = (text.summary,) if text.answers else ()
    for sentence in (*text.reasons, *text.warnings, *text.details, *summary):
        yield from paragraph(sentence, 2, 2)
    if view.tried:
        yield from paragraph(_count(view), 2, 2)
    if view.families not in ((), (DEFAULT_FAMILY,)):
        yield from paragraph(_family_text(view.families), 2, 2)
    if view.ended is not None:
        yield f"  search ended: {view.ended}"


def _family_text(families: tuple[str, ...]) -> str:
    """Return which column family was tuned, and which others the user's file has."""
    text = f"tuned column family: {families[0]}"
    if not (others := listed(families[1:], _MOST_FAMILIES)):
        return text
    return f"{text}; the options of the others are unchanged: {others}"


def _numbered(steps: Sequence[StepText]) -> Iterator[str]:
    """Yield the next steps with their numbers, if there are several."""
    for number, step in enumerate(steps, start=1):
        shown = step if len(steps) == 1 else replace(step, text=f"{number}. {step.text}")
        yield from _step_lines(shown)


def _block(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return ["", *(paragraph(title) if title else []), *lines]


def _count(view: StudyView) -> str:
    counts = trial_counts(view)
    parts = [
        f"{counts[key]} {word}"
        for key, word in (("complete", "complete"), ("failed", "failed"), ("cut", "pruned"))
        if counts[key]
    ]
    trials = counted(counts["total"], "trial")
    numbered = any(trial.number > counts["total"] for trial in view.searched)
    note = " Trial numbers also count baseline, repeat and verification runs." if numbered else ""
    return (f"{trials}: {', '.join(parts)}." if parts else f"{trials}.") + note


def _metrics_title(claim: Claim) -> str:
    note = " with its 95 % interval" if claim.pairs else ", not verified"
    return f"Change: {claim.compared} / baseline{note}"


def _metric_lines(claim: Claim) -> list[str]:
    """Return the table of metrics."""
    if not claim.rows:
        return []
    columns = [
        Column("metric"),
        Column("baseline", at_least=7),
        Column(claim.compared, at_least=7),
        Column("change", at_least=11),
        Column("limit", at_least=8),
    ]
    return table_lines(columns, map(_metric_cells, claim.rows))


def _metric_cells(row: MetricRow) -> list[str]:
    baseline, winner, change, interval, limit = metric_cells(row)
    ratio, times, side = change.partition(" \N{MULTIPLICATION SIGN}")
    if row.interval is not None:
        change = f"{ratio}{times} ({interval}){side}"
    return [row.metric.name, baseline, winner, change, "" if limit == "none" else limit]


def _changed_title(claim: Claim) -> str:
    if claim.search_scale == "1":
        return f"Changed options of trial {claim.trial}:"
    return (
        f"Changed options of trial {claim.trial}. The file to deploy has the values of a full-size "
        f"tree. The trials ran at scale {claim.search_scale}:"
    )


def _changed_lines(claim: Claim) -> list[str]:
    """Return the table of the options that the exported file changes."""
    rows = [option_row(change) for change in claim.changes if change.is_deployed]
    if not rows:
        return []
    with_file = any(row.deployed not in ("", row.best) for row in rows)
    values = ("in the file", "baseline, full size") if with_file else ("baseline", claim.compared)
    columns = [
        Column("option"),
        *(Column(head, at_least=8) for head in values),
        *([Column(f"{claim.compared} as measured", at_least=8, drop=2)] if with_file else []),
        Column("can change", at_least=8, drop=1),
    ]
    return table_lines(columns, (_changed_cells(row, with_file=with_file) for row in rows), 2)


def _changed_cells(row: OptionRow, *, with_file: bool) -> list[str]:
    return [
        row.name,
        *((row.deployed, row.deployed_base) if with_file else (row.base,)),
        row.best,
        "at run time" if row.apply == "online" else "at restart",
    ]


def _needed_lines(claim: Claim) -> list[str]:
    """Return what each change that is left brings, as far as it was tried."""
    found = claim.simplification
    if found is None or not found.needed:
        return []
    lines = [line for text in needed_lines(found) for line in paragraph(text, 2, 2)]
    return [*lines, *paragraph(needed_sentence(found), 2)]


def _front_title(view: StudyView) -> str:
    names = " and ".join(goal.name for goal in view.objective.goals)
    if not view.front:
        return f"The front of {names} is empty: no trial beats the baseline and keeps all limits."
    return f"The front of {names}. Each number is a ratio to the baseline; below 1 is better:"


def _front_lines(view: StudyView) -> list[str]:
    if not view.front:
        return [""] if view.objective.pareto and view.searched else []
    columns = [
        Column("trial", right=True),
        *(Column(goal.name, right=True) for goal in view.objective.goals),
    ]
    rows = ((str(t.number), *(f"{value:.3f}" for value in t.values)) for t in view.front)
    return table_lines(columns, rows, indent=2)


def ended_lines(view: StudyView) -> list[str]:
    """Return the failed and pruned trials as a table."""
    ended = (*view.failed, *view.cut)
    if not ended:
        return []
    columns = [Column("trial", right=True), Column("status", at_least=9), Column("reason")]
    rows = (
        (
            str(trial.number),
            status_text(trial.status),
            trial.status.meaning.removeprefix(f"{status_text(trial.status)}: ")
            + (f": {trial.reason}" if trial.reason else ""),
        )
        for trial in ended
    )
    return _block("Failed and pruned trials:", table_lines(columns, rows, indent=2))


def _step_lines(step: StepText) -> Iterator[str]:
    yield from paragraph(step.text, 2, 2)
    if step.command is not None:
        yield f"    {step.command}"
    if step.flags is not None:
        yield f"    {step.flags}"
