"""Files that somebody else may have made: links, and owners."""

import os
import pwd
from contextlib import suppress
from pathlib import Path

from lsmtune.errors import UserError


def refuse_links(folder: Path) -> None:
    """Raise UserError if an entry of the folder, or of a folder directly in it, is a link.

    Whoever works in the folder would otherwise read, replace or delete files elsewhere.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            refuse_link(Path(entry.path))
            # Another process may remove its folder meanwhile.
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(entry.path) as inner:
                for below in inner:
                    refuse_link(Path(below.path))


def refuse_link(path: Path) -> None:
    """Raise UserError if a path inside a home folder is a link."""
    if path.is_symlink():
        raise UserError(f"{path}: a link inside the home folder; remove the link")


def other_owner(path: Path) -> str | None:
    """Return the user that the file belongs to; None if that is the caller or root.

    Root is nobody else: who is root can start programs as any user.
    """
    owner = path.stat().st_uid
    if owner in (0, os.geteuid()):
        return None
    try:
        return f"user {pwd.getpwuid(owner).pw_name}"
    except KeyError:
        return f"user {owner}"
