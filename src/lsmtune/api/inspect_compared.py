"""Compare what a store wrote before and after a change."""

from collections.abc import Sequence
from pathlib import Path

from lsmtune.analysis.inspect.before_after import (
    Compared,
    compare_sides,
    compared_document,
    two_sides,
)
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.api.inspect import check_read
from lsmtune.errors import Argument, UserError
from lsmtune.progress import Observer
from lsmtune.system.write import write_file

__all__ = ["Compared", "compared_document"]

Sides = tuple[Sequence[Inspection], Sequence[Inspection]]


def sides(logs: Sequence[Inspection], after: Sequence[Inspection]) -> Sides:
    """Return the files before and after the change.

    UserError unless there are two files, files after the change, or one file with the results of
    both sides; LsmtuneError if too many lines of one cannot be read.
    """
    check_read(*logs, *after)
    if after:
        return logs, after
    if len(logs) == 2:  # noqa: PLR2004 - before and after
        return logs[:1], logs[1:]
    if len(logs) == 1 and (split := two_sides(logs[0])) is not None:
        return [split[0]], [split[1]]
    if len(logs) == 1:
        raise UserError(
            Argument("compare", True),
            f": {logs[0].name}: name a second file, from after the change; a single file "
            "needs results of exactly two versions of RocksDB, or the headings before and after",
        )
    raise UserError(
        Argument("compare", True),
        ": name two files, before and after the change; for several runs per side, name "
        "each file from after the change with ",
        Argument("after", "FILE"),
    )


def compared(logs: Sequence[Inspection], after: Sequence[Inspection] = ()) -> Compared:
    """Compare the files of both sides."""
    return compare_sides(*sides(logs, after))


def write_compared_page(
    path: Path, found: Compared, logs: Sequence[Inspection], observer: Observer
) -> None:
    """Write the page about the comparison, with the files of both sides."""
    from lsmtune.report.compared_page import render_compared  # noqa: PLC0415 - slow to import

    with observer.working("writing the page"):
        write_file(path, render_compared(found, logs), "page")
