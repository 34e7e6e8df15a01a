"""Work directories: made with a marker, and only what carries a valid marker is ever deleted."""

import errno
import os
import platform
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.system.host import boot_id

MARKER_NAME = ".lsmtune-workdir"

_DRAFT = ".lsmtune-new"
_SCRATCH = "lsmtune-"
_SEPARATOR = "~"  # not allowed in a boot id, a number or a host name
_DRAFT_FIELDS = 7
_STATE, _START_TICKS = 0, 19  # fields of /proc/PID/stat, counted after the command's ")"


class _Marker(BaseModel):
    """Which process made the directory, where and when.

    A process is known by its id and its start (in clock ticks since boot), within one PID
    namespace of one boot of one host. `path` is where the directory was made: a copy of it
    elsewhere is not ours to delete.
    """

    model_config = ConfigDict(strict=True, frozen=True)

    path: str
    pid: int
    start_ticks: int
    pid_namespace: str
    boot_id: str
    host: str
    created: str


def create_workdir(parent: Path, name: str) -> Path:
    """Make the directory `name` in `parent` (made too if missing) and mark it as ours.

    The directory appears with its marker in one step. Until then it is a draft, whose own name
    says which process makes it, so that a kill at any moment leaves nothing without an owner.
    Raises UserError when `name` is not a plain name, exists already, or cannot be made.
    """
    if Path(name).name != name:
        raise UserError(f"work directory: invalid name {name!r}; use a plain file name")
    path = parent / name
    try:
        if os.path.lexists(path):  # a rename would replace an empty directory
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        draft = _draft(path)
        draft.mkdir(parents=True)
        _write_marker(draft, path)
        draft.rename(path)
    except OSError as error:
        raise UserError(f"cannot create the work directory {path}: {error.strerror}") from error
    return path


def remove_workdir(path: Path) -> None:
    """Delete a directory that `create_workdir` made; one that is gone already is fine.

    Raises UserError, and deletes nothing, for anything without a valid marker of its own: a
    foreign directory, a copied or moved one, a symbolic link, a file. Raises LsmtuneError when
    the system refuses to delete.
    """
    if not os.path.lexists(path):
        return
    _read_marker(path)
    try:
        _delete_to_the_end(path)
    except OSError as error:
        raise LsmtuneError(f"cannot remove {error.filename}: {error.strerror}") from error


def check_workdir(path: Path) -> None:
    """Raise LsmtuneError if somebody has removed a directory that `create_workdir` made."""
    if not (path / MARKER_NAME).exists():
        raise LsmtuneError(
            f"{path}: another program removed this folder while lsmtune used it; run the same "
            "command again to continue"
        )


def keep_workdir(path: Path) -> None:
    """Take the marker off a directory that `create_workdir` made: nothing will delete it now."""
    (path / MARKER_NAME).unlink()


@contextmanager
def workdir(parent: Path, name: str) -> Iterator[Path]:
    """Make a work directory for the block and remove it after, whatever ends the block.

    Raises what `create_workdir`, `check_workdir` and `remove_workdir` raise.
    """
    path = create_workdir(parent, name)
    try:
        yield path
    except OSError:
        check_workdir(path)
        raise
    finally:
        remove_workdir(path)


@contextmanager
def scratch() -> Iterator[Path]:
    """Make a work directory with a short path for the block, outside of any home.

    It is in the folder for temporary files; what dead processes left there is removed first. Raises
    what `create_workdir` and `remove_workdir` raise.
    """
    parent = Path(tempfile.gettempdir())
    sweep_workdirs(parent, f"{_SCRATCH}*")
    with workdir(parent, f"{_SCRATCH}{secrets.token_hex(4)}") as path:
        yield path


def sweep_workdirs(parent: Path, pattern: str = "*") -> list[Path]:
    """Remove what dead processes have left in `parent` and return the removed directories.

    `pattern` limits their names, because a folder for temporary files can be large. Only this
    user's marked directories are looked at. One is left alone unless its owner is known to be
    dead; of an owner on another host or in another container nothing is known.
    """
    if not parent.is_dir():
        return []
    sweep_drafts(parent)
    return [path for path in sorted(parent.glob(pattern)) if _sweep(path)]


def sweep_drafts(parent: Path) -> None:
    """Remove the drafts in `parent` of directories that dead processes were making or removing.

    A draft contains at most a marker; one with anything else in it is left alone.
    """
    for path in parent.glob(f"{_DRAFT}{_SEPARATOR}*"):
        owner = _draft_owner(path)
        # Another user's processes may be hidden from us and look dead.
        if owner is None or path.lstat().st_uid != os.geteuid() or _may_live(owner):
            continue
        with suppress(OSError):  # it is not empty, or another sweep is faster
            (path / MARKER_NAME).unlink(missing_ok=True)
            path.rmdir()


def directory_bytes(path: Path) -> int:
    """Return the sum of the sizes of all regular files below `path`, 0 if there is none.

    The sizes are the files' lengths, not the blocks they hold. Files and folders may vanish
    meanwhile, as they do under a running store; symbolic links are not followed.
    """
    try:
        with os.scandir(path) as entries:
            return sum(_entry_bytes(entry) for entry in entries)
    except FileNotFoundError:
        return 0


def _entry_bytes(entry: os.DirEntry[str]) -> int:
    if entry.is_dir(follow_symlinks=False):
        return directory_bytes(Path(entry.path))
    try:
        facts = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return 0
    return facts.st_size if stat.S_ISREG(facts.st_mode) else 0


def _write_marker(draft: Path, path: Path) -> None:
    try:
        (draft / MARKER_NAME).write_text(_own_marker(path).model_dump_json())
    except OSError:  # a full disk, mostly; what we have just made contains nothing yet
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _draft(path: Path) -> Path:
    """Return the name that a directory has while this process makes or removes it."""
    own = _own_marker(path)
    namespace = "".join(filter(str.isdigit, own.pid_namespace))
    parts = (_DRAFT, own.boot_id, namespace, str(own.pid), str(own.start_ticks), own.host)
    return path.with_name(_SEPARATOR.join((*parts, path.name)))


def _draft_owner(draft: Path) -> _Marker | None:
    parts = draft.name.split(_SEPARATOR, _DRAFT_FIELDS - 1)
    if len(parts) != _DRAFT_FIELDS or draft.is_symlink() or not draft.is_dir():
        return None
    _, boot, namespace, pid, start_ticks, host, name = parts
    if not (pid.isdigit() and start_ticks.isdigit()):
        return None
    return _Marker(
        path=_place(draft.with_name(name)),
        pid=int(pid),
        start_ticks=int(start_ticks),
        pid_namespace=f"pid:[{namespace}]",
        boot_id=boot,
        host=host,
        created="",
    )


def _own_marker(path: Path) -> _Marker:
    return _Marker(
        path=_place(path),
        pid=os.getpid(),
        start_ticks=int(_process_stat("self")[_START_TICKS]),
        pid_namespace=_pid_namespace(),
        boot_id=boot_id(),
        host=platform.node(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _read_marker(path: Path) -> _Marker:
    """Return the marker of a directory; raises UserError for all that may not be deleted."""
    if path.is_symlink() or not path.is_dir():
        raise UserError(f"lsmtune did not remove {path}, because the path is not a directory")
    marker_path = path / MARKER_NAME
    try:
        marker = _Marker.model_validate_json(marker_path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(
            f"lsmtune did not remove {path}, because the directory has no valid {MARKER_NAME}"
        ) from error
    if marker.path != _place(path):
        raise UserError(
            f"lsmtune did not remove {path}, because the directory was moved or copied from "
            f"{marker.path}"
        )
    return marker


def _place(path: Path) -> str:
    return str(path.parent.resolve() / path.name)


def _delete_to_the_end(path: Path) -> None:
    """Delete the directory also if Ctrl-C comes meanwhile; a second Ctrl-C ends it."""
    try:
        _delete(path)
    except KeyboardInterrupt:
        if path.exists():
            _delete(path)
        raise


def _delete(path: Path) -> None:
    # The marker goes last, and the directory becomes a draft before it goes: an interrupted
    # removal always leaves something that a sweep recognises.
    for entry in path.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != MARKER_NAME:
            entry.unlink()
    draft = path.rename(_draft(path))
    (draft / MARKER_NAME).unlink()
    draft.rmdir()


def _sweep(path: Path) -> bool:
    try:
        # Another user's processes may be hidden from us and look dead.
        if path.lstat().st_uid != os.geteuid() or _may_live(_read_marker(path)):
            return False
        remove_workdir(path)
    except (LsmtuneError, OSError):  # not ours, or another sweep is faster
        return False
    return True


def _may_live(owner: _Marker) -> bool:
    if owner.host != platform.node():
        return True
    if owner.boot_id != boot_id():
        return False
    if owner.pid_namespace != _pid_namespace():
        return True
    try:
        fields = _process_stat(str(owner.pid))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return fields[_STATE] not in "ZX" and int(fields[_START_TICKS]) == owner.start_ticks


def _pid_namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())


def _process_stat(pid: str) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
