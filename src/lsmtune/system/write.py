"""Writing and removal of the files that lsmtune makes: whole or not at all, never a device."""

import os
import pwd
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from lsmtune.errors import UserError


def write_file(
    path: Path, text: str, what: str, home: Path | None = None, like: Path | None = None
) -> None:
    """Write a file whole or not at all; UserError names it when that fails.

    `what` is the kind of the file, such as "page". `home` and `like`: see `write_whole`.
    """
    try:
        write_whole(path, text, home, like)
    except OSError as error:
        raise UserError(
            f"{path}: lsmtune cannot write the {what} file: {error.strerror}"
        ) from error


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written; `kept` is the new name of an older file with its name, if any."""

    path: Path
    kept: Path | None = None


def write_beside_older(path: Path, text: str, what: str, like: Path | None = None) -> Written:
    """Write a file that the user names, and keep an older file of this name.

    The older file is renamed to FILE.old, FILE.old-2 …, unless it has the same text. `what` and
    `like`: see `write_file`.
    """
    kept = None
    if _is_other(path, text):
        target = path.resolve()  # a link that the user names stays
        kept = _free_name(target)
        try:
            target.rename(kept)
        except OSError as error:
            raise UserError(f"{path}: lsmtune cannot rename the file: {error.strerror}") from error
    write_file(path, text, what, like=like)
    return Written(path, kept)


def _is_other(path: Path, text: str) -> bool:
    """Return True if the file exists and does not already contain the text."""
    try:
        return path.is_file() and path.read_bytes() != text.encode()
    except OSError:
        return True  # the file exists, but cannot be read


def _free_name(path: Path) -> Path:
    """Return the first of FILE.old, FILE.old-2, FILE.old-3 … that does not exist."""
    names = (f"{path.name}.old{'' if at == 1 else f'-{at}'}" for at in count(1))
    return next(other for name in names if not (other := path.with_name(name)).exists())


def write_whole(path: Path, text: str, home: Path | None = None, like: Path | None = None) -> None:
    """Write a text file in UTF-8, whole or not at all, even if the machine stops.

    The rules of `place_to_write` apply. The file gets the permissions of the file `like`, but
    none for another group than that of `like`. Without `like`, it gets the permissions of the file
    that it replaces. Raises OSError if writing fails.
    """
    target = place_to_write(path, home)
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(_mode(target) if like is None else _mode_like(like, draft))
        draft.replace(target)
    except BaseException:
        remove_file(draft)
        raise


def place_to_write(path: Path, home: Path | None = None) -> Path:
    """Return the path of the file that is written if the user or lsmtune names `path`.

    In the folder `home` no link is followed, because somebody else may have made the folder, and
    missing folders are made. Elsewhere a link is followed, because the user named it, and the
    folder must exist. Raises UserError for a target that is not a regular file.
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
    return target


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


def _mode_like(like: Path, draft: Path) -> int:
    """Return the permissions of a file, for a copy that may belong to another group."""
    facts = like.stat()
    same_group = facts.st_gid == draft.stat().st_gid
    return stat.S_IMODE(facts.st_mode) & ~(0 if same_group else stat.S_IRWXG)


def remove_file(path: Path) -> None:
    """Remove the file, if it exists."""
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove the folder with all its files, if it exists; UserError if it is a link."""
    refuse_link(path)
    if path.exists():
        shutil.rmtree(path)


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
