"""The reader of status texts: it tries the reader of each program."""

from collections.abc import Callable

from lsmtune.errors import ParseError
from lsmtune.metrics.status_texts.exporters import read_metrics
from lsmtune.metrics.status_texts.kvrocks import read_kvrocks
from lsmtune.metrics.status_texts.myrocks import read_myrocks
from lsmtune.metrics.status_texts.perf_context import read_perf_context
from lsmtune.metrics.status_texts.status import StatusText

_READERS: tuple[Callable[[str], StatusText | None], ...] = (
    read_kvrocks, read_metrics, read_perf_context, read_myrocks,
)  # fmt: skip


def read_status(text: str) -> StatusText | None:
    """Return what a text says in the names of a program; None if it is of no known program.

    ParseError if it has none of the numbers that rules judge.
    """
    found = next((status for read in _READERS if (status := read(text)) is not None), None)
    if found is not None and found.is_empty:
        raise ParseError(
            f"this text is {found.kind}{found.source}, but has too few of RocksDB's counters "
            f"for a diagnosis; {found.wanted}"
        )
    return found
