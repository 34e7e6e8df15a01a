"""Tables as CSV."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO


def csv_text(heads: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *rows])
    return text.getvalue()
