"""Locks between lsmtune processes; the kernel releases them when the holder dies."""

import errno
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

from filelock import FileLock, Timeout

from lsmtune.errors import UserError
from lsmtune.system.cancelling import check_cancelled

_HOST_LOCK_NAME = "lsmtune-host.lock"
_TURN_LOCK_NAME = "lsmtune-turn.lock"
_WAIT_POLL_S = 0.2  # rare enough not to disturb the trial that is waited for
_PATIENCE_S = 1.0
"""Who waits for a lock looks so often whether the caller cancelled the work, in seconds."""
_PID_BYTES = 20


@contextmanager
def host_lock(on_wait: Callable[[str], None] | None) -> Iterator[None]:
    """Hold the right to run a timed trial on this host, waiting for it without limit.

    One process of any user has it at a time, as long as all of them have the same directory
    for temporary files. Two that want it take turns: who waits holds the turn, so that who has
    just had the lock comes after. If it must wait, `on_wait` gets one sentence, once. Raises
    UserError when the lock file cannot be used.
    """
    folder = Path(tempfile.gettempdir())
    path = folder / _HOST_LOCK_NAME
    # Every user must be able to open the files, whatever the umask of the first one says.
    turn, lock = (
        FileLock(folder / name, mode=0o666, on_acquired=partial(_write_pid, folder / name))
        for name in (_TURN_LOCK_NAME, _HOST_LOCK_NAME)
    )
    tell = _Once(on_wait)
    try:
        _acquire_patiently(turn, tell)
        try:
            _acquire_patiently(lock, tell)
        finally:
            turn.release()
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class _Patience:
    """How long a caller waits for a study, in seconds, and who hears that it waits."""

    seconds: float
    tell: Callable[[str], None]


_PATIENCE: ContextVar[_Patience | None] = ContextVar("lsmtune_patience", default=None)


@contextmanager
def waiting_for_studies(wait: bool | float, tell: Callable[[str], None]) -> Iterator[None]:
    """Let `study_lock` wait in this context: not, for so many seconds, or with True without limit.

    `tell` gets one sentence when it waits.
    """
    seconds = {True: inf, False: 0.0}[wait] if isinstance(wait, bool) else float(wait)
    token = _PATIENCE.set(_Patience(seconds, tell) if seconds else None)
    try:
        yield
    finally:
        _PATIENCE.reset(token)


@contextmanager
def study_lock(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path` for `what` ("study 'x'"), or raise UserError.

    It waits as long as `waiting_for_studies` allows, by default not at all. The error names `what`
    and the process that works on it, or why the file cannot be used.
    """
    lock = FileLock(path, on_acquired=partial(_write_pid, path))
    try:
        _acquire_in_time(lock, path, what)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        yield
    finally:
        lock.release()


def _acquire_in_time(lock: FileLock, path: Path, what: str) -> None:
    """Acquire the lock of a study; UserError if somebody else keeps it too long."""
    patience = _PATIENCE.get()
    end = time.monotonic() + (patience.seconds if patience else 0.0)
    with suppress(Timeout):
        lock.acquire(blocking=False)
    if not lock.is_locked and patience is not None:
        patience.tell(f"waiting: {what} is in use by {_user(path)}")
    while not lock.is_locked and time.monotonic() < end:
        check_cancelled()
        with suppress(Timeout):
            lock.acquire(timeout=_WAIT_POLL_S, poll_interval=_WAIT_POLL_S)
    if lock.is_locked:
        return
    advice = "" if _holder(path) == _named(os.getpid()) else "; wait until that process ends"
    if patience is not None:
        advice = f"; waited {patience.seconds:g} s"
    raise UserError(f"{what}: in use by {_user(path)}{advice}")


def _user(path: Path) -> str:
    """Return who holds a lock file: this program or another process."""
    holder = _holder(path)
    if holder == _named(os.getpid()):
        return f"another call of this program{holder}"
    return f"another lsmtune process{holder}"


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock file `path`."""
    if not path.exists() or not os.access(path, os.W_OK):
        return False
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


class _Once:
    """Tells once who has the lock that this process waits for.

    Who has the turn runs next. The file of the host lock may still name this process then.
    """

    def __init__(self, on_wait: Callable[[str], None] | None) -> None:
        self._on_wait = on_wait

    def __call__(self, path: Path) -> None:
        if self._on_wait is not None:
            self._on_wait(f"waiting: {_user(path)} runs a timed trial first")
            self._on_wait = None


def _acquire_patiently(lock: FileLock, tell: _Once) -> None:
    try:
        lock.acquire(blocking=False)
    except Timeout:
        tell(Path(lock.lock_file))
        while not lock.is_locked:
            check_cancelled()
            with suppress(Timeout):
                lock.acquire(timeout=_PATIENCE_S, poll_interval=_WAIT_POLL_S)


def _write_pid(path: Path, lock_fd: int) -> None:
    """Write the id of this process; OSError for a file that lsmtune did not make."""
    _check_is_ours(path, lock_fd)
    # Beside telling who holds it, writing keeps the file young: cleaners of temporary
    # directories remove old files, and a lock file that is replaced while held locks nothing.
    os.ftruncate(lock_fd, 0)
    os.pwrite(lock_fd, str(os.getpid()).encode(), 0)


def _check_is_ours(path: Path, lock_fd: int) -> None:
    """Raise OSError unless the file has one name and contains at most the id of a process.

    Everybody can make a link in the folder for temporary files, to a file of somebody else.
    """
    facts = os.fstat(lock_fd)
    if facts.st_nlink > 1:
        why = "this is a second name of another file; remove this name"
        raise OSError(errno.EMLINK, why, str(path))
    text = os.pread(lock_fd, _PID_BYTES + 1, 0) if stat.S_ISREG(facts.st_mode) else None
    if text is None or len(text) > _PID_BYTES or (text and not text.isdigit()):
        why = "lsmtune did not make the file; move it to another folder"
        raise OSError(errno.EEXIST, why, str(path))


def _holder(path: Path) -> str:
    """Return " (process 123)" for the holder of a lock file, "" if it does not say."""
    try:
        with path.open("rb") as file:
            text = file.read(_PID_BYTES)
    except OSError:
        return ""
    return _named(int(text)) if text.isdigit() else ""


def _named(process: int) -> str:
    return f" (process {process})"


def _unusable(path: Path, error: OSError) -> UserError:
    return UserError(f"lock file {error.filename or path}: cannot use this file: {error.strerror}")
