"""The result of a study as text, made from its claim."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lsmtune.cli.output import note, print_json, say, say_all
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines
from lsmtune.report.text.changed_options import OptionRow
from lsmtune.report.text.claim_text import ClaimText, claim_text
from lsmtune.report.text.constraint_text import TRADES_TITLE
from lsmtune.report.text.hosts_text import host_columns, host_rows, host_sentences
from lsmtune.report.text.simplification_text import NEEDED_TITLE, needed_lines, needed_sentence
from lsmtune.report.text.step_text import StepText
from lsmtune.report.text.summary_text import (
    changed_title,
    count_text,
    deployed_rows,
    ended_rows,
    family_text,
    front_title,
    metric_line,
    metrics_title,
)

if TYPE_CHECKING:
    from lsmtune.api.results import Finished, ResultFiles
    from lsmtune.api.study_result import Claim, Result, StudyView


def say_result(result: "Result", files: "ResultFiles", *, as_json: bool) -> None:
    """Print a result and the paths of its files; on standard error if a document follows."""
    tell = note if as_json else say
    for line in summary_lines(result.view, result.claim):
        tell(line)
    _say_files(files, as_json=as_json)


def _say_files(files: "ResultFiles", *, as_json: bool) -> None:
    """Print the paths of the files of a result."""
    tell = note if as_json else say
    tell(f"page:            {files.page}")
    if files.deploy is not None:
        tell(f"file to deploy:  {files.deploy}{f' ({files.remark})' if files.remark else ''}")
        tell(f"file to undo:    {files.undo}")


def print_verified(found: "Finished", *, as_json: bool) -> None:
    """Print a result, or its JSON document, and the paths of its files."""
    if as_json:
        print_json(found.result.document())
    else:
        say_all(summary_lines(found.result.view, found.result.claim))
    _say_files(found.files, as_json=as_json)


def summary_lines(view: "StudyView", claim: "Claim") -> list[str]:
    """Return the study in words.

    The first screen has the claim, its gain, cost and trust, what to do next, and the way back.
    Tables follow, and then notes, the most serious first.
    """
    text = claim_text(claim)
    lines = paragraph(f"study {view.name}: {text.headline}", hanging=2)
    lines += facts_lines(text.answers)
    lines += [] if text.answers else paragraph(text.summary, hanging=2)
    lines += _block("Next:", list(_numbered(text.steps)))
    lines += _block("Back:", list(_step_lines(text.undo)) if text.undo else [])
    lines += _block(
        f"{TRADES_TITLE}:", [line for step in text.trades for line in _step_lines(step)]
    )
    lines += _block(metrics_title(claim), _metric_lines(claim))
    lines += _block(changed_title(claim), _changed_lines(claim))
    lines += _block(f"{NEEDED_TITLE}:", _needed_lines(claim))
    lines += _block(front_title(view), _front_lines(view))
    lines += _block("Hosts:", _host_lines(view))
    return lines + _block("Notes:", list(_notes(view, text)))


def _notes(view: "StudyView", text: ClaimText) -> Iterator[str]:
    """Yield the sentences about a result, the most serious first."""
    summary = (text.summary,) if text.answers else ()
    for sentence in (*text.reasons, *text.warnings, *text.details, *summary):
        yield from paragraph(sentence, 2, 2)
    if view.tried:
        yield from paragraph(count_text(view), 2, 2)
    if (family := family_text(view.families)) is not None:
        yield from paragraph(family, 2, 2)
    if view.ended is not None:
        yield f"  search ended: {view.ended}"


def _numbered(steps: Sequence[StepText]) -> Iterator[str]:
    """Yield the next steps with their numbers, if there are several."""
    for number, step in enumerate(steps, start=1):
        shown = step if len(steps) == 1 else replace(step, text=f"{number}. {step.text}")
        yield from _step_lines(shown)


def _block(title: str, lines: list[str]) -> list[str]:
    if not lines:
        return []
    return ["", *(paragraph(title) if title else []), *lines]


def _metric_lines(claim: "Claim") -> list[str]:
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
    return table_lines(columns, map(metric_line, claim.rows))


def _changed_lines(claim: "Claim") -> list[str]:
    """Return the table of the options that the exported file changes."""
    rows = deployed_rows(claim)
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
        row.can_change,
    ]


def _needed_lines(claim: "Claim") -> list[str]:
    """Return what each change that is left brings, as far as it was tried."""
    found = claim.view.simplification
    if found is None or not found.needed:
        return []
    lines = [line for text in needed_lines(found) for line in paragraph(text, 2, 2)]
    return [*lines, *paragraph(needed_sentence(found), 2)]


def _front_lines(view: "StudyView") -> list[str]:
    if not view.front:
        return [""] if view.objective.pareto and view.searched else []
    columns = [
        Column("trial", right=True),
        *(Column(goal.name, right=True) for goal in view.objective.goals),
    ]
    rows = ((str(t.number), *(f"{value:.3f}" for value in t.values)) for t in view.front)
    return table_lines(columns, rows, indent=2)


def _host_lines(view: "StudyView") -> list[str]:
    """Return what each host did as a table, and why attempts were lost."""
    cells = [each for each in host_columns(view.hosts) if not each.is_sentence]
    columns = [Column(each.head, each.is_number, at_least=9, drop=each.drop) for each in cells]
    rows = host_rows(view.hosts, cells)
    lines = table_lines([Column("host"), *columns], rows, indent=2) if rows else []
    return lines + [line for text in host_sentences(view.hosts) for line in paragraph(text, 2, 2)]


def ended_lines(view: "StudyView") -> list[str]:
    """Return the failed and pruned trials as a table."""
    if not (rows := ended_rows(view)):
        return []
    columns = [Column("trial", right=True), Column("status", at_least=9), Column("reason")]
    return _block("Failed and pruned trials:", table_lines(columns, rows, indent=2))


def _step_lines(step: StepText) -> Iterator[str]:
    yield from paragraph(step.text, 2, 2)
    if step.command is not None:
        yield f"    {step.command}"
    if step.flags is not None:
        yield f"    {step.flags}"
