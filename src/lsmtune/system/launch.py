"""How a child process is started: its streams, its session, whether it outlives lsmtune."""

import ctypes
import errno
import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import BinaryIO, NamedTuple

from lsmtune.errors import UserError
from lsmtune.system.cancelling import ProcessTimeout

_PIPE_BYTES = 4096  # the least that the kernel grants (one page; more where pages are larger)
_PR_SET_PDEATHSIG = 1  # from linux/prctl.h

# Loaded here and not between fork and exec, where only the bare call is safe.
_libc = ctypes.CDLL(None)

_WHY_NOT_STARTED = {
    errno.ENOENT: "the program or its interpreter does not exist",
    errno.ENOTDIR: "the program does not exist",
    errno.EACCES: "the file is not executable, or the path is a directory",
    errno.ENOEXEC: "the file is not a program for this machine",
}
_POLL_S = 0.02


class NotStartedError(UserError):
    """A program cannot be started: it does not exist, or it is not a program."""


class Streams(NamedTuple):
    """Standard input, output and error of a program."""

    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO


def from_here(program: str) -> str:
    """The program wherever it is started: a path is one from here, a plain name is on PATH."""
    return str(Path(program).absolute()) if os.sep in program else program


def linked_library(program: str, name: str) -> Path | None:
    """Return the library that the system loads for a program, by the start of its file's name.

    None if it loads no such library, or if the program is no program of this system.
    """
    path = shutil.which(program)
    if path is None or (ldd := shutil.which("ldd")) is None:
        return None
    printed = subprocess.run([ldd, path], capture_output=True, text=True, check=False).stdout
    paths = (Path(word) for word in printed.split() if word.startswith("/"))
    return next((path for path in paths if path.name.startswith(name)), None)


def pipe() -> tuple[BinaryIO, BinaryIO]:
    """Return the reading and the writing end of a pipe, both unbuffered."""
    read_fd, write_fd = os.pipe()
    return os.fdopen(read_fd, "rb", buffering=0), os.fdopen(write_fd, "wb", buffering=0)


def small_pipe() -> tuple[BinaryIO, BinaryIO]:
    """Return the ends of a pipe as above that holds only 4096 bytes."""
    ends = pipe()
    fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return ends


def start(
    argv: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    streams: Streams,
    *,
    outlives: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own that dies with the calling thread, or outlives it.

    Raises UserError when `argv[0]` cannot be executed, OSError for anything else.
    """
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            start_new_session=True,
            # One system call, no locks.
            preexec_fn=None if outlives else _die_with_parent(os.getpid()),  # noqa: PLW1509
        )
    except OSError as error:
        # A failing chdir names `cwd` instead: that is no fault of the program.
        if error.errno in _WHY_NOT_STARTED and error.filename == argv[0]:
            why = f"cannot start {argv[0]}: {_WHY_NOT_STARTED[error.errno]}"
            raise NotStartedError(why) from error
        raise


def end(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """End a program with SIGTERM, or with SIGKILL if it still runs after `patience_s` seconds."""
    process.terminate()
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _die_with_parent(parent_pid: int) -> Callable[[], None]:
    def before_exec() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
        # The parent may have died before the call above took effect.
        if os.getppid() != parent_pid:
            os._exit(1)

    return before_exec


def run_command(argv: Sequence[str], *, output: Path, limit_s: float) -> int:
    """Run the command here and return its exit code, minus the signal's number if one ended it.

    What it prints is appended to `output`. Nothing that it has started is ended, and an
    interruption is raised only once it is over: a restart must not stop half way. Raises UserError
    when it cannot be executed, ProcessTimeout when it takes longer than the limit; then it alone
    is killed.
    """
    interrupted = False
    # Only the main thread is interrupted, at any moment; so another one starts and awaits it.
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(_run, argv, output, limit_s)
        while not ended.done():
            try:
                wait([ended])
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return ended.result()


def _run(argv: Sequence[str], output: Path, limit_s: float) -> int:
    with output.open("ab") as told, Path(os.devnull).open("rb") as nothing:
        streams = Streams(nothing, told, told)
        process = start(argv, Path.cwd(), os.environ, streams, outlives=True)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise ProcessTimeout("wall", limit_s) from None
