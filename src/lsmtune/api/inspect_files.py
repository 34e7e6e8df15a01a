"""Write what a store wrote as a page or as tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.progress import Observer
from lsmtune.report.inspect_tables import tables
from lsmtune.system.write import Written, write_beside_older, write_file


def write_page(path: Path, logs: Sequence[Inspection], observer: Observer) -> None:
    """Write the page about the LOGs."""
    from lsmtune.report.inspect_page import render_inspections  # noqa: PLC0415 - slow to import

    with observer.working("writing the page"):
        write_file(path, render_inspections(logs), "page")


def write_tables(folder: Path, logs: Sequence[Inspection]) -> Iterator[Written]:
    """Write the tables of the LOGs one by one as CSV files into an existing folder.

    Older files of these names are kept.
    """
    for name, text in tables(logs):
        yield write_beside_older(folder / name, text, "table")
