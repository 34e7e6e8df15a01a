"""Tables as CSV and as Markdown."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO


def csv_text(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    return text.getvalue()


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
