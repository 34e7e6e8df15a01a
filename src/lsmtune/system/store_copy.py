"""A program of its own that copies a closed store of RocksDB, without opening it.

    python -I store_copy.py < plan.json

The plan is a JSON object:

source       the folder of the store
target       the folder to make
logs         a folder with write-ahead logs, if it is not the folder of the store

Tables and blob files become hard links, because RocksDB never changes them, and without an
SstFileManager truncates none. All other files are copied, except LOG files and LOCK. The output is
one line of JSON: `copied` with the numbers of files and bytes, or `failed` with the `kind` of the
problem, the `path`, and a `message`.

Locks of files belong to a process. A process that opens and closes the file LOCK loses its own
lock, and Python code that calls lsmtune may have the store open. So this program is not lsmtune
itself.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

LINKED = {".sst", ".blob"}
LEFT = ("LOG", "LOCK")
BLOBS = "blob_dir"
"""The folder of the blob files of an older BlobDB."""
_LOCK_FORM = "hhqqi"
"""`struct flock` on 64-bit Linux: type, whence, start, length, process."""
_NO_LINKS = {errno.EPERM, errno.EXDEV, errno.EMLINK, errno.EOPNOTSUPP}

State = tuple[Any, ...]


class _FailedError(Exception):
    """A store that cannot be copied: the kind of the problem, and its path."""

    def __init__(self, kind: str, path: Path, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.path = path


def _check_unlocked(store: Path) -> None:
    """Fail if another process has the store open. The file is opened for reading only."""
    path = store / "LOCK"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:  # a copy of a store may be without it
        return
    try:
        asked = struct.pack(_LOCK_FORM, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, asked)
    finally:
        os.close(descriptor)
    kind, *_, process = struct.unpack(_LOCK_FORM, answer)
    if kind != fcntl.F_UNLCK:
        raise _FailedError("in use", path, f"process {process}" if process > 0 else "a process")


def _state(store: Path) -> State:
    """Return content, size and time of CURRENT and of the MANIFEST that it names."""
    current = store / "CURRENT"
    content = current.read_bytes()
    manifest = store / content.decode(errors="surrogateescape").strip()
    if manifest.parent != store:
        raise _FailedError("damaged", current, "it does not name a file of the store")
    if not manifest.is_file():
        raise _FailedError("damaged", current, f"the file {manifest.name} is missing")
    facts = [path.stat() for path in (current, manifest)]
    with manifest.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return content, digest, *((one.st_ino, one.st_size, one.st_mtime_ns) for one in facts)


def _copy(source: Path, target: Path, found: dict[str, int]) -> None:
    target.mkdir()
    for entry in sorted(os.scandir(source), key=lambda one: one.name):
        path = Path(entry.path)
        if entry.is_symlink():
            raise _FailedError("link", path, "it is a link")
        if entry.is_dir():
            if entry.name == BLOBS:
                _copy(path, target / entry.name, found)
        elif path.suffix in LINKED:
            _link(path, target / entry.name)
            found["linked_files"] += 1
            found["linked_bytes"] += entry.stat().st_size
        elif entry.is_file() and not entry.name.startswith(LEFT):
            _copy_file(path, target / entry.name, found)


def _copy_file(path: Path, target: Path, found: dict[str, int]) -> None:
    shutil.copyfile(path, target)
    found["copied_files"] += 1
    found["copied_bytes"] += target.stat().st_size


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        raise _FailedError("no links", path, error.strerror or "?") from error


def _carry_out(plan: dict[str, Any]) -> dict[str, int]:
    source, target = Path(plan["source"]), Path(plan["target"])
    _check_unlocked(source)
    before = _state(source)
    found = dict.fromkeys(("linked_files", "linked_bytes", "copied_files", "copied_bytes"), 0)
    _copy(source, target, found)
    if plan["logs"] is not None:
        for path in sorted(Path(plan["logs"]).glob("*.log")):
            _copy_file(path, target / path.name, found)
    if _state(source) != before:
        raise _FailedError("in use", source / "CURRENT", "a process")
    _check_unlocked(source)
    return found


def main() -> None:
    """Carry out the plan on standard input and end."""
    try:
        line: dict[str, Any] = {"event": "copied", **_carry_out(json.load(sys.stdin))}
    except _FailedError as error:
        line = {"kind": error.kind, "path": str(error.path), "message": str(error)}
    except FileNotFoundError as error:  # somebody deletes files of the store
        line = {"kind": "in use", "path": str(error.filename), "message": "a process"}
    except OSError as error:
        line = {"kind": "system", "path": str(error.filename), "message": error.strerror or "?"}
    sys.stdout.write(json.dumps({"event": "failed", **line}) + "\n")


if __name__ == "__main__":
    main()
