"""Tables and paragraphs for people: they fit the terminal, and are plain text in a pipe.

The width is COLUMNS where it is set, else that of the terminal. A pipe without COLUMNS has no
limit, so that one row stays one line for grep.
"""

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

_UNLIMITED = 100_000
_MIN_WIDTH = 20
_GAP = 2
_MIN_TEXT = 16
_LONGEST_CELL = 2000
"""A longer cell comes from a damaged file. Rich takes minutes for cells of a megabyte."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=[%\N{MULTIPLICATION SIGN}]|(?:[mµ]?s|[KMGT]?i?B)\b)")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    `right` aligns numbers and never breaks them. Text breaks between words; `at_least` is the
    width below which it would be hard to read. Where a table does not fit, columns with the
    highest `drop` are left out first; 0 stays.
    """

    head: str
    right: bool = False
    at_least: int = _MIN_TEXT
    drop: int = 0


def output_width() -> int:
    """Return the number of characters that fit in a line of standard output."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return max(shutil.get_terminal_size().columns, _MIN_WIDTH)
    return _UNLIMITED


def table_lines(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], indent: int = 0
) -> list[str]:
    """Return the lines of a table that fits the width of the output.

    Text cells break between words. If that does not suffice, columns are left out, and a last
    line names them. If even that does not suffice, each row becomes a list of its cells. A cell of
    more than 2,000 characters is cut and ends with three dots.
    """
    cells = [[_shortened(cell) for cell in row] for row in rows]
    kept, needed = list(range(len(columns))), [_least(columns, cells, at) for at in _all(columns)]
    available = output_width() - indent
    while _total([needed[at] for at in kept]) > available:
        droppable = [at for at in kept if columns[at].drop]
        if not droppable:
            return list(_stacked(columns, cells, indent))
        kept.remove(max(droppable, key=lambda at: columns[at].drop))
    shown = [columns[at] for at in kept]
    body = [[row[at] for at in kept] for row in cells]
    widths = _widths(shown, body, [needed[at] for at in kept], available)
    lines = _drawn(shown, body, widths, indent)
    left_out = [column.head for at, column in enumerate(columns) if at not in kept]
    if left_out:
        note = f"(columns left out to fit {output_width()} characters: {', '.join(left_out)})"
        lines += paragraph(note, indent)
    return lines


def _shortened(cell: str) -> str:
    return cell if len(cell) <= _LONGEST_CELL else f"{cell[:_LONGEST_CELL]}..."


def paragraph(text: str, indent: int = 0, hanging: int = 0) -> list[str]:
    """Return the text as lines that fit the output; words, such as paths, are never broken."""
    if not text.strip():
        return [text]
    return _lines(text, " " * indent, " " * (indent + hanging), break_long_words=False)


def facts_lines(facts: Iterable[tuple[str, str]], indent: int = 0) -> list[str]:
    """Return a list of labels and texts, the texts below each other."""
    pairs = list(facts)
    label_width = max((len(label) for label, _ in pairs), default=0)
    column = indent + label_width + _GAP
    if column + _MIN_TEXT > output_width():  # each text below its label
        blocks = (
            (*paragraph(label, indent), *_wrapped(text, indent + _GAP)) for label, text in pairs
        )
        return [line for block in blocks for line in block]
    lines: list[str] = []
    for label, text in pairs:
        start = " " * indent + f"{label:{label_width}}" + " " * _GAP
        first, *rest = _wrapped(text, column) or [""]
        lines += [(start + first.lstrip()).rstrip(), *rest]
    return lines


def _wrapped(text: str, indent: int) -> list[str]:
    space = " " * indent
    return _lines(text, space, space, break_long_words=True)


def _lines(text: str, first: str, other: str, *, break_long_words: bool) -> list[str]:
    """Break the text into lines, but not between a number and its unit."""
    lines = textwrap.wrap(
        _BEFORE_UNIT.sub(_NO_BREAK, text), output_width(), initial_indent=first,
        subsequent_indent=other, break_long_words=break_long_words, break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace(_NO_BREAK, " ") for line in lines]


def plain(text: str) -> str:
    """Return the text without the codes that colour it."""
    return _ANSI.sub("", text)


def _all(columns: Sequence[Column]) -> range:
    return range(len(columns))


def _least(columns: Sequence[Column], rows: Sequence[Sequence[str]], at: int) -> int:
    """The narrowest width at which the column can be read."""
    column = columns[at]
    texts = [column.head, *(row[at] for row in rows)]
    longest = max(map(len, texts))
    if column.right:
        return longest
    word = max((len(word) for text in texts for word in text.split()), default=1)
    return min(longest, max(column.at_least, word))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _widths(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], least: Sequence[int], available: int
) -> list[int]:
    """The widths: each column gets what it wants, the smallest wishes first."""
    wanted = [max(len(c.head), *(len(row[at]) for row in rows), 0) for at, c in enumerate(columns)]
    widths, spare = list(least), available - _total(least)
    open_wishes = sorted(range(len(columns)), key=lambda at: wanted[at] - least[at])
    for place, at in enumerate(open_wishes):
        share = spare // (len(open_wishes) - place)
        gained = min(max(wanted[at] - widths[at], 0), share)
        widths[at] += gained
        spare -= gained
    return widths


def _drawn(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], widths: Sequence[int], indent: int
) -> list[str]:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    on_terminal = sys.stdout.isatty()
    table = Table(
        box=None, padding=(0, _GAP, 0, 0), pad_edge=False, show_edge=False, header_style="bold"
    )
    for column, width in zip(columns, widths, strict=True):
        table.add_column(
            Text(column.head), width=width, justify="right" if column.right else "left",
            overflow="fold", no_wrap=column.right, vertical="top",
        )  # fmt: skip
    for row in rows:
        table.add_row(*map(Text, row))
    text = StringIO()
    console = Console(
        file=text, width=_total(widths) + _GAP, force_terminal=on_terminal, highlight=False,
        color_system="auto" if on_terminal else None, legacy_windows=False,
    )  # fmt: skip
    console.print(table)
    return [(" " * indent + line).rstrip() for line in text.getvalue().splitlines()]


def _stacked(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], indent: int
) -> Iterator[str]:
    """Each row as a list: its first cell, then a line per other cell that has a text."""
    for row in rows:
        if row[0]:  # an empty cell: the row belongs to the one above
            yield from paragraph(row[0], indent)
        rest = zip(columns[1:], row[1:], strict=True)
        yield from facts_lines([(c.head, text) for c, text in rest if text], indent + _GAP)
