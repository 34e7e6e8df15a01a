"""Read what a store wrote, and compare two sides of a change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.analysis.inspect.before_after import (
    Compared,
    compare_sides,
    compared_document,
    two_sides,
)
from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path, inspect_rolled
from lsmtune.analysis.inspect.study import study_files, tuned_family
from lsmtune.analysis.inspect.study_load import study_rate
from lsmtune.errors import Argument, LsmtuneError, Message, UserError
from lsmtune.metrics.families import check_not_empty
from lsmtune.report.inspect_tables import tables
from lsmtune.study.observer import Observer
from lsmtune.system.write import Written, write_beside_older, write_file

__all__ = ["Compared", "Inspection", "compared_document"]

Sides = tuple[Sequence[Inspection], Sequence[Inspection]]


@dataclass(frozen=True, slots=True)
class StudyOfLog:
    """A study file made from a LOG, and the file of its options with the path that it names.

    `remarks` say what to check.
    """

    study: str
    options: str
    options_path: Path
    remarks: tuple[str, ...]

    def write(self, path: Path) -> Iterator[Written]:
        """Write the study file and its options one by one; older files of these names are kept."""
        yield write_beside_older(path, self.study, "study")
        yield write_beside_older(self.options_path, self.options, "options")


def read_sides(
    before: Sequence[Path],
    after: Sequence[Path],
    *,
    rolled: bool,
    family: str | None = None,
    force: bool = False,
    observer: Observer | None = None,
) -> tuple[list[Inspection], list[Inspection]]:
    """Read the files of both sides; UserError if a side names a file twice, as if it were two runs.

    Without `after`, all files are in the first list.
    """
    for paths in (before, after):
        resolved = [path.resolve() for path in paths]
        copies = [path for at, path in enumerate(paths) if resolved[at] in resolved[:at]]
        if after and copies:
            raise UserError(f"{copies[0]}: named twice on one side; name each run once")
    first = read(before, rolled=rolled, family=family, force=force, observer=observer)
    if not after:
        return first, []
    then = read(after, rolled=rolled, family=family, force=force, observer=observer)
    return first, then


def read(
    paths: Sequence[Path],
    *,
    rolled: bool = False,
    family: str | None = None,
    force: bool = False,
    observer: Observer | None = None,
) -> list[Inspection]:
    """Read each LOG, or all as parts of one; UserError for the first that cannot be read.

    With `family`, they are read as LOGs of this column family alone. With `force`, there are
    findings even if many lines cannot be read.
    """
    with (observer or Observer()).working("reading the LOG") as show:
        if rolled:
            return [inspect_rolled(paths, family, force=force)]
        found = []
        for path in paths:
            show(f"reading {path}")
            found.append(inspect_path(path, family, force=force))
        return found


def sides(logs: Sequence[Inspection], after: Sequence[Inspection]) -> Sides:
    """Return the files before and after the change.

    UserError unless there are two files, files after the change, or one file with the results of
    both sides; LsmtuneError if too many lines of one cannot be read.
    """
    _check_read(*logs, *after)
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


def _check_read(*logs: Inspection) -> None:
    """Raise LsmtuneError for a LOG of which too many lines cannot be read."""
    for log in logs:
        if log.is_refused:
            raise LsmtuneError(f"{log.name}: {log.unread}")


def compared(logs: Sequence[Inspection], after: Sequence[Inspection] = ()) -> Compared:
    """Compare the files of both sides."""
    return compare_sides(*sides(logs, after))


def study_of(path: Path, logs: Sequence[Inspection]) -> StudyOfLog:
    """Return a study file with a workload similar to the LOG's, for `path`, and its options.

    UserError for several LOGs, or for a LOG whose column family has no data.
    """
    if len(logs) != 1:
        raise UserError(Argument("to_study"), ": allowed for one LOG only; name a single LOG")
    _check_read(*logs)
    check_not_empty(
        logs[0].family_sums,
        logs[0].main_family,
        logs[0].name,
        Message("choose one with ", Argument("family", "NAME")),
    )
    options = path.with_suffix(".OPTIONS")
    files = study_files(logs[0], str(options.resolve()))
    remarks = []
    if (family := tuned_family(logs[0])) is not None:
        remarks.append(f"{path}: {family}")
    for why in dict.fromkeys(files.assumed.values()):
        keys = ", ".join(key for key, reason in files.assumed.items() if reason == why)
        remarks.append(f"{path}: check the workload: lsmtune assumed {keys}, because {why}")
    if (remark := study_rate(logs[0]).remark) is not None:
        remarks.append(f"{path}: {remark}")
    return StudyOfLog(files.study, files.options, options, tuple(remarks))


def document(logs: Sequence[Inspection]) -> dict[str, Any]:
    """Return the LOGs as JSON; a single one has no list."""
    documents = [inspection_document(log) for log in logs]
    return documents[0] if len(documents) == 1 else {"logs": documents}


def write_page(path: Path, logs: Sequence[Inspection], observer: Observer) -> None:
    """Write the page about the LOGs."""
    from lsmtune.report.inspect_page import render_inspections  # noqa: PLC0415 - slow to import

    with observer.working("writing the page"):
        write_file(path, render_inspections(logs), "page")


def write_compared_page(
    path: Path, found: Compared, logs: Sequence[Inspection], observer: Observer
) -> None:
    """Write the page about the comparison, with the files of both sides."""
    from lsmtune.report.compared_page import render_compared  # noqa: PLC0415 - slow to import

    with observer.working("writing the page"):
        write_file(path, render_compared(found, logs), "page")


def write_tables(folder: Path, logs: Sequence[Inspection]) -> Iterator[Written]:
    """Write the tables of the LOGs one by one as CSV files into an existing folder.

    Older files of these names are kept.
    """
    for name, text in tables(logs):
        yield write_beside_older(folder / name, text, "table")
