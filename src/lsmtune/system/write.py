"""Writing of the files that lsmtune makes: whole or not at all, and never to a device."""

import os
import stat
import tempfile
from pathlib import Path

from lsmtune.errors import UserError
from lsmtune.system.links import refuse_link
from lsmtune.system.remove import remove_file


def write_whole(path: Path, text: str, home: Path | None = None) -> None:
    """Write a text file in UTF-8, whole or not at all.

    In the folder `home` no link is followed, because somebody else may have made the folder, and
    missing folders are made. Elsewhere a link is followed, because the user named it, and the
    folder must exist. Raises UserError for a target that is not a regular file, and OSError if
    writing fails.
    """
    if home is not None and path.absolute().is_relative_to(home.absolute()):
        _refuse_links(path.absolute(), home.absolute())
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path
    else:
        target = path.resolve()
        if not target.parent.is_dir():
            raise UserError(f"{path}: the folder {target.parent} does not exist; make it first")
    _refuse_others(path, target)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        draft.chmod(_mode(target))
        draft.replace(target)
    except BaseException:
        remove_file(draft)
        raise


def _refuse_links(path: Path, home: Path) -> None:
    """Raise UserError if the path or a folder between it and the home is a link."""
    for place in (path, *path.parents):
        if place == home:
            return
        refuse_link(place)


def _refuse_others(named: Path, target: Path) -> None:
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
        raise UserError(f"{named}: {kind}; name a regular file")


def _mode(target: Path) -> int:
    """Return the permissions of the file that is replaced, or those of a new file."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0o077)
        os.umask(mask)
        return 0o666 & ~mask
