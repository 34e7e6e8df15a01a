"""Child processes that are read on demand, watched, and never left behind."""

import os
import resource
import select
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import psutil

from lsmtune.system.cancelling import Deadline, ProcessTimeout, check_cancelled
from lsmtune.system.launch import Streams, pipe, small_pipe, start

_CHUNK_BYTES = 512
_POLL_S = 0.01
_DRAIN_SLICE_S = 0.2
_KIB = 1024
_GROUP_END_S = 5.0


class NoLine(Enum):
    """Why `ChildProcess.read_line` has no line: nothing came in time, or nothing will come."""

    SILENCE = auto()
    END = auto()


@dataclass(frozen=True)
class ExitStatus:
    """How a child ended and what it used.

    `returncode` is its exit code, or minus the signal's number; `signal_name` ("SIGABRT") is
    None unless a signal ended it. `cpu_s` is user plus system time of all its threads and of
    the children it waited for. `peak_rss_bytes` is its largest resident
    memory; where that is below lsmtune's own size, the largest seen when it was last polled.
    """

    returncode: int
    signal_name: str | None
    cpu_s: float
    peak_rss_bytes: int


class ChildProcess:
    """A program in a session of its own whose standard output is read only when asked for.

    The constructor starts `argv` (never through a shell; `argv[0]` is an absolute path or a
    name on PATH) in `cwd`, with `env` added to lsmtune's environment. Standard input is the file
    `stdin_path`, or the lines of `write_line` with `has_input`, or nothing. `stdout_path` receives
    what has been read, `stderr_path` the standard error; both are appended to. Leaving the `with`
    block kills the program and everything it has started in its process group, and reaps it.

    The gate: standard output is a pipe of 4096 bytes on purpose. A program that has filled it
    blocks in the thread that prints, while its other threads go on, until the pipe has been
    read empty. So who does not read holds db_bench between two benchmarks.

    The kernel kills the program when the *thread* that started it ends, so that it does not
    outlive a lsmtune killed with SIGKILL: start it from a thread that outlives it. What the
    program itself has started is not covered by that, nor what leaves the process group.

    Raises UserError when `argv[0]` cannot be executed, OSError for anything else.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        stdout_path: Path,
        stderr_path: Path,
        env: Mapping[str, str],
        stdin_path: Path | None = None,
        has_input: bool = False,
    ) -> None:
        self._status: ExitStatus | None = None
        self._waited: list[tuple[int, int, resource.struct_rusage]] = []
        self._buffer = b""
        self._at_end = False
        self._peak_seen_bytes = 0
        self._rss_at_fork_bytes = psutil.Process().memory_info().rss
        with ExitStack() as stack:
            self._transcript = stack.enter_context(stdout_path.open("ab"))
            self._stdout, stdout_write = small_pipe()
            stack.enter_context(self._stdout)
            stdin, self._stdin = _input(stdin_path, has_input=has_input)
            if self._stdin is not None:
                stack.enter_context(self._stdin)
            with stdin, stdout_write, stderr_path.open("ab") as stderr:
                streams = Streams(stdin, stdout_write, stderr)
                self._popen = start(argv, cwd, {**os.environ, **env}, streams)
            stack.callback(self._reap)
            self._resources = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._resources.close()

    @property
    def pid(self) -> int:
        """The process id, which is also the id of the process group."""
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether the program has not ended yet; looking does not reap it."""
        if self._waited:
            return False
        ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return ended is None

    def cpu_s(self) -> float:
        """Return the CPU seconds used so far, user plus system, all threads, in steps of 10 ms."""
        if self._status is not None:
            return self._status.cpu_s
        self._note_peak()
        times = psutil.Process(self.pid).cpu_times()
        return times.user + times.system

    def disk_write_bytes(self) -> int:
        """Return the bytes that the running program has handed to the disk, as the kernel counts.

        A page of a file that is changed again before it reaches the disk counts once.
        """
        return int(psutil.Process(self.pid).io_counters().write_bytes)

    def read_line(self, timeout_s: float) -> str | NoLine:
        """Return the next line of standard output without its newline, waiting up to `timeout_s`.

        Takes from the pipe what the line needs, in pieces of 512 bytes at most. A last line
        without a newline counts as a line. Bytes that are not UTF-8 are replaced.
        """
        check_cancelled()
        limit = time.monotonic() + timeout_s
        while (line := self._take_line()) is None:
            if self._at_end:
                return NoLine.END
            if not self._read_chunk(max(0.0, limit - time.monotonic())):
                return NoLine.SILENCE
        return line

    def write_line(self, line: str) -> None:
        """Write a line to standard input; waits while the program does not read.

        A program that has ended gets no line: `read_line` then returns NoLine.END.
        """
        if self._stdin is None:
            raise ValueError("the program was started without has_input")
        left = memoryview(f"{line}\n".encode())
        with suppress(BrokenPipeError):
            while left:
                left = left[self._stdin.write(left) :]

    def drain(self, deadline: Deadline) -> list[str]:
        """Return all lines up to the end of standard output; every line is a sign of life.

        Raises ProcessTimeout when the deadline passes first.
        """
        lines: list[str] = []
        while (line := self.read_line(_DRAIN_SLICE_S)) is not NoLine.END:
            if isinstance(line, str):
                deadline.heard()
                lines.append(line)
            deadline.check()
        return lines

    def wait(self, timeout_s: float) -> ExitStatus:
        """Return how the program ended, waiting up to `timeout_s` seconds; asking again is free.

        Reads nothing, so a program that is held at the gate does not end: drain it first. What
        is left of its process group is killed. Raises ProcessTimeout (wall) when it still runs.
        """
        limit = time.monotonic() + timeout_s
        while self.running:
            if time.monotonic() >= limit:
                raise ProcessTimeout("wall", timeout_s)
            check_cancelled()
            self._note_peak()
            time.sleep(_POLL_S)
        return self._reap()

    def kill(self) -> None:
        """Send SIGKILL to the whole process group; `wait` then tells how the program ended."""
        if not self._waited:
            self._note_peak()
            os.killpg(self.pid, signal.SIGKILL)

    def _take_line(self) -> str | None:
        line, newline, rest = self._buffer.partition(b"\n")
        if not newline and not (self._at_end and line):
            return None
        self._buffer = rest
        return line.decode(errors="replace")

    def _read_chunk(self, timeout_s: float) -> bool:
        poll = select.poll()
        poll.register(self._stdout, select.POLLIN)
        if not poll.poll(timeout_s * 1000):
            return False
        self._note_peak()
        chunk = self._stdout.read(_CHUNK_BYTES)
        self._at_end = not chunk
        self._buffer += chunk
        self._transcript.write(chunk)
        self._transcript.flush()  # the evidence must survive a crash of lsmtune
        return True

    def _reap(self) -> ExitStatus:
        if self._status is None:
            # Before the leader is reaped: until then its id, the group's, cannot be another's.
            self.kill()
            if not self._waited:
                # In one call, because Python handles signals between calls: an interruption after
                # the wait would lose what it returned, and a second wait has no child to wait for.
                self._waited.extend(map(os.wait4, [self.pid], [0]))
            _, wait_status, usage = self._waited[0]
            code = os.waitstatus_to_exitcode(wait_status)
            self._popen.returncode = code  # or subprocess would try to reap it once more
            await_group_end(self.pid)
            cpu_s = usage.ru_utime + usage.ru_stime
            self._status = ExitStatus(code, _signal_name(code), cpu_s, self._peak_bytes(usage))
        return self._status

    def _note_peak(self) -> None:
        with suppress(OSError):
            status = Path(f"/proc/{self.pid}/status").read_text()
            _, found, rest = status.partition("VmHWM:")
            if found:  # a process that has ended has no such line
                self._peak_seen_bytes = int(rest.split(maxsplit=1)[0]) * _KIB

    def _peak_bytes(self, usage: resource.struct_rusage) -> int:
        # The kernel counts the forked copy of lsmtune, before exec, as memory of the child. So
        # its exact figure holds only if it is well above lsmtune's own size; below that the
        # high-water mark of the program alone, as last seen while it ran, is nearer the truth.
        reported = usage.ru_maxrss * _KIB
        trusted = reported > 1.25 * self._rss_at_fork_bytes
        return reported if trusted or not self._peak_seen_bytes else self._peak_seen_bytes


def _input(path: Path | None, *, has_input: bool) -> tuple[BinaryIO, BinaryIO | None]:
    """Return the standard input of a program, and the end of it to write to, if it has one."""
    if has_input:
        return pipe()
    return (path or Path(os.devnull)).open("rb"), None


def _signal_name(returncode: int) -> str | None:
    if returncode >= 0:
        return None
    try:
        return signal.Signals(-returncode).name
    except ValueError:  # most real-time signals have no name
        return f"signal {-returncode}"


def await_group_end(group: int) -> None:
    """Wait until a process group that was sent SIGKILL has ended, 5 s at most.

    The signal takes a moment to act, and who deletes the work directory next must not meet a
    writer in it. A member that is stuck in the kernel is not waited for beyond the limit.
    """
    limit = time.monotonic() + _GROUP_END_S
    while _has_living_member(group) and time.monotonic() < limit:
        time.sleep(_POLL_S)


def _has_living_member(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    # Ended members stay in the group until their new parent reaps them, which may be never.
    return any(_is_living_member(process, group) for process in psutil.process_iter())


def _is_living_member(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
