"""Read what a store wrote."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path, inspect_rolled
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.progress import Observer

__all__ = ["Inspection"]


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


def check_read(*logs: Inspection) -> None:
    """Raise LsmtuneError for a LOG of which too many lines cannot be read."""
    for log in logs:
        if log.is_refused:
            raise LsmtuneError(f"{log.name}: {log.unread}")


def document(logs: Sequence[Inspection]) -> dict[str, Any]:
    """Return the LOGs as JSON; a single one has no list."""
    documents = [inspection_document(log) for log in logs]
    return documents[0] if len(documents) == 1 else {"logs": documents}
