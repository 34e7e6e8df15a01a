"""The work behind `lsmtune inspect`, apart from its flags so that `--help` stays quick."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.analysis.inspect.study import study_files
from lsmtune.cli.common import write_file
from lsmtune.errors import UserError
from lsmtune.report.inspect_words import (
    LEVEL_HEADS,
    changed_text,
    facts,
    heading,
    level_rows,
    stall_rows,
)

_WIDEST = 38


def read(paths: Sequence[Path]) -> list[Inspection]:
    """What each file says; UserError for the first that cannot be read."""
    return [inspect_path(path) for path in paths]


def write_page(path: Path, logs: Sequence[Inspection]) -> None:
    """Write the page about the LOGs."""
    from lsmtune.report.inspect_page import render_inspections  # what draws is slow to load

    write_file(path, render_inspections(logs), "page")


def write_study(path: Path, logs: Sequence[Inspection]) -> None:
    """Write a study file with a load like that of the one LOG, and its options beside it."""
    if len(logs) != 1:
        raise UserError("--to-study makes a study of one LOG; name just one")
    options = path.with_suffix(".OPTIONS")
    study, base = study_files(logs[0], str(options.resolve()))
    write_file(options, base, "options")
    write_file(path, study, "study")


def lines(logs: Sequence[Inspection]) -> Iterator[str]:
    """The LOGs as text: one in full, several side by side and then the findings of each."""
    if len(logs) == 1:
        yield f"{logs[0].name}: {heading(logs[0])}"
        yield from _findings(logs[0])
        yield from _whole(logs[0])
        return
    yield from _side_by_side(logs)
    for log in logs:
        yield ""
        yield f"{log.name}: {heading(log)}"
        yield from _findings(log)


def _findings(log: Inspection) -> Iterator[str]:
    if not log.findings:
        yield "no findings: nothing in it is alarming"
    for place, finding in enumerate(log.findings, start=1):
        yield f"{place}. {finding.title}"
        yield f"   {finding.evidence}"
        if finding.look_at:
            yield f"   look at: {', '.join(finding.look_at)}"


def _whole(log: Inspection) -> Iterator[str]:
    yield ""
    for label, text in facts(log):
        yield f"{label:32} {text}"
    if rows := level_rows(log):
        yield ""
        yield _cells(LEVEL_HEADS)
        yield from (_cells(row) for row in rows)
    if stalled := stall_rows(log):
        yield ""
        yield "writes were held at most"
        yield from (f"  {cause:46} {time:>14} {share:>8}" for cause, time, share in stalled)
    if log.options_changed:
        yield ""
        yield f"options that differ from the defaults of {log.version}"
        for name, change in log.options_changed.items():
            yield f"  {name:46} {change.value} (default {change.default})"
    if log.incomplete:
        yield ""
        yield "what it does not tell"
        yield from (f"  {fault}" for fault in log.incomplete)


def _cells(cells: Sequence[str]) -> str:
    return f"  {cells[0]:14}" + "".join(f"{cell:>14}" for cell in cells[1:])


def _side_by_side(logs: Sequence[Inspection]) -> Iterator[str]:
    columns = [dict(facts(log)) for log in logs]
    width = min(_WIDEST, max(len(text) for column in columns for text in column.values()))
    names = [log.name[-width:] for log in logs]
    yield f"{'':32}" + "".join(f"  {name:>{width}}" for name in names)
    for label in columns[0]:
        texts = (column[label][:width] for column in columns)
        yield f"{label:32}" + "".join(f"  {text:>{width}}" for text in texts)
    changed = {name for log in logs for name in log.options_changed}
    for name in sorted(changed):
        values = [changed_text(log, name) for log in logs]
        if len(set(values)) > 1:
            yield f"{name[-32:]:32}" + "".join(f"  {value[:width]:>{width}}" for value in values)
