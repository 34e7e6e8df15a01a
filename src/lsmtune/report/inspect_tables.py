"""Contents of LOGs as CSV tables, for a spreadsheet or a plot of one's own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from lsmtune.analysis.inspect.first_steps import FirstStep
from lsmtune.analysis.inspect.inspection import ChangedOption, Finding, Inspection, LevelLine
from lsmtune.metrics.log_jobs import Job
from lsmtune.metrics.log_stalls import Stall
from lsmtune.report.csv_text import csv_text


def tables(logs: Sequence[Inspection]) -> Iterator[tuple[str, str]]:
    """Give the name and the text of each file; the column `log` names the LOG of a row.

    Times are Unix times in µs. A cell is empty if the LOG does not tell the value.
    """
    for name, (columns, rows) in _TABLES.items():
        cells = ([log.name, *map(_cell, row)] for log in logs for row in rows(log))
        yield f"{name}.csv", csv_text(["log", *columns], cells)


def _cell(value: Any) -> Any:
    if isinstance(value, FirstStep):
        return value.text
    if isinstance(value, (tuple, list)):
        return " ".join(map(str, value))
    return value


def _columns(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _rows(found: Sequence[Any], kind: type) -> Iterator[list[Any]]:
    for each in found:
        yield [getattr(each, name) for name in _columns(kind)]


def _options(log: Inspection) -> Iterator[list[Any]]:
    yield from ([name, c.value, c.default] for name, c in log.options_changed.items())
    yield from ([name, value, None] for name, value in log.options_given.items())


_TABLES: dict[str, tuple[list[str], Callable[[Inspection], Iterator[list[Any]]]]] = {
    "findings": (_columns(Finding), lambda log: _rows(log.findings, Finding)),
    "levels": (_columns(LevelLine), lambda log: _rows(log.levels, LevelLine)),
    "jobs": (_columns(Job), lambda log: _rows(log.jobs, Job)),
    "stalls": (_columns(Stall), lambda log: _rows(log.stalls, Stall)),
    "options": (["option", *_columns(ChangedOption)], _options),
}
