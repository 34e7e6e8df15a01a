"""The findings of `lsmtune inspect` as text."""

from collections.abc import Iterator, Sequence

from lsmtune.api.inspect import Inspection
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines
from lsmtune.report.text.inspect_families import (
    FAMILY_HEADS,
    families_title,
    family_rows,
    has_several,
    named_families,
    option_groups,
    other_families,
    shown_levels,
)
from lsmtune.report.text.inspect_words import (
    LEVEL_HEADS,
    UNKNOWN,
    changed_rows,
    changed_text,
    compared_facts,
    contexts,
    defaults_text,
    facts,
    finding_rows,
    given_rows,
    heading,
    level_periods,
    level_rows,
    needed_lines,
    needed_text,
    next_commands,
    period_of_all,
    stall_rows,
    title_text,
    unread_text,
    verdict_text,
)

_LONG_NAME = 24
_FAMILY_COLUMNS = (
    Column(FAMILY_HEADS[0], at_least=12),
    *(Column(head, right=True) for head in FAMILY_HEADS[1:-1]),
    Column(FAMILY_HEADS[-1], at_least=24),
)
_OPTION_COLUMNS = (
    Column("option", at_least=24),
    Column("value", at_least=8),
    Column("default", at_least=8),
)


def inspect_lines(logs: Sequence[Inspection], *, verbose: bool = False) -> Iterator[str]:
    """Give the LOGs as text: one in full; several in columns, then the findings of each.

    `verbose` lists all data that rules lack, also those that such a text never contains.
    """
    if len(logs) == 1:
        yield from paragraph(f"{logs[0].name}: {heading(logs[0])}")
        yield from _findings(logs[0], verbose=verbose)
        if not logs[0].is_refused:
            yield from _whole(logs[0])
        return
    yield from _in_columns(logs)
    for log in logs:
        yield ""
        yield from paragraph(f"{log.name}: {heading(log)}")
        yield from _findings(log, verbose=verbose)


def _findings(log: Inspection, *, verbose: bool) -> Iterator[str]:
    if log.unread is not None:
        yield from paragraph(unread_text(log))
    if log.is_refused:
        return
    for context in contexts(log):
        yield from paragraph(context)
    yield from paragraph(verdict_text(log))
    for place, finding in enumerate(log.findings, start=1):
        title = f"{place}. {title_text(finding)} [{finding.code}]"
        yield from paragraph(title, hanging=3)
        for label, text in finding_rows(finding, log):
            yield from paragraph(f"{label}: {text}", 3, hanging=2)
    if log.findings:
        yield "docs/findings.md explains each name in [brackets]."
    if not verbose:
        for line in needed_lines(log):
            yield from paragraph(line, hanging=2)
    elif log.needed:
        yield needed_text(log)
        for need in log.needed:
            yield from paragraph(need, indent=2, hanging=2)


def _whole(log: Inspection) -> Iterator[str]:
    if known := [fact for fact in facts(log) if fact[1] != UNKNOWN]:
        yield ""
        yield from facts_lines(known)
    if has_several(log):
        yield ""
        yield from paragraph(f"{families_title(log)}:")
        yield from table_lines(_FAMILY_COLUMNS, family_rows(log), indent=2)
        if rest := other_families(log):
            yield from paragraph(rest, indent=2, hanging=2)
    elif (names := named_families(log)) is not None:
        yield ""
        yield from paragraph(names)
    if rows := level_rows(log, shown_levels(log)):
        yield ""
        if periods := level_periods(log):
            yield from paragraph(f"{periods}:")
        heads = [Column(LEVEL_HEADS[0], at_least=8)]
        heads += [Column(head, right=True) for head in LEVEL_HEADS[1:]]
        yield from table_lines(heads, rows, indent=2)
    if stalled := stall_rows(log):
        yield ""
        yield f"write stalls{period_of_all(log)} took at most, by cause:"
        columns = [
            Column("cause", at_least=24), Column("time", right=True), Column("share", right=True),
        ]  # fmt: skip
        yield from table_lines(columns, stalled, indent=2)
    yield from _options(log)
    if log.incomplete:
        yield ""
        yield "notes:"
        for fault in log.incomplete:
            yield from paragraph(fault, indent=2, hanging=2)
    if following := next_commands(log):
        yield ""
        yield "Next: try other options on a copy of this workload:"
        yield from (f"  {command}" for command in following)


def _options(log: Inspection) -> Iterator[str]:
    if log.options_changed:
        yield ""
        yield f"options that differ from {defaults_text(log)}:"
        for heading_of_group, changes in option_groups(log):
            if heading_of_group is not None:
                yield from paragraph(f"{heading_of_group}:", indent=2, hanging=2)
            yield from table_lines(_OPTION_COLUMNS, changed_rows(changes), indent=2)
    if log.options_given:
        yield ""
        yield "options that the file sets:"
        yield from table_lines(_OPTION_COLUMNS[:2], given_rows(log), indent=2)


def _in_columns(logs: Sequence[Inspection]) -> Iterator[str]:
    rows = compared_facts(logs)
    names = {name for log in logs for name in (*log.options_changed, *log.options_given)}
    for name in sorted(names):
        values = [changed_text(log, name) for log in logs]
        if len(set(values)) > 1:
            rows.append([name, *values])
    names_of_logs = [log.name for log in logs]
    if max(map(len, names_of_logs)) > _LONG_NAME:
        names_of_logs = [f"LOG {number}" for number in range(1, len(logs) + 1)]
        for name, log in zip(names_of_logs, logs, strict=True):
            yield from paragraph(f"{name}: {log.name}", hanging=2)
        yield ""
    columns = [Column("", at_least=20), *(Column(name, at_least=14) for name in names_of_logs)]
    yield from table_lines(columns, rows)
