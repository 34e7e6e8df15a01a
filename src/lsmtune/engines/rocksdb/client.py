"""Runs db_bench: starts it, holds it until the tree has settled, and tells how it failed."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.attempt import is_disk_full
from lsmtune.engines.base import Hopeless, TrialFailedError, Watch
from lsmtune.engines.rocksdb.best_case import BestCase, SoFar
from lsmtune.metrics.db_bench import is_result_line
from lsmtune.metrics.log_follower import LogFollower
from lsmtune.system.deadline import Deadline, ProcessTimeout
from lsmtune.system.process import ChildProcess, ExitStatus, NoLine
from lsmtune.system.workdir import directory_bytes
from lsmtune.trials import Protocol, Status

_TICK_S = 0.1
"""How often the load is looked at: seldom enough not to disturb it."""
_SETTLE_TICK_S = 0.02
_END_S = 30.0
_WORDS_OF_FAILURE = re.compile(
    r"error|assertion|invalid|not supported|no space|corrupt|cannot|unknown|illegal", re.IGNORECASE
)
_BANNER = re.compile(
    r"(RocksDB|Date|CPU|CPUCache|Keys|Values|Entries|Prefix|Keys per prefix|RawSize|FileSize|"
    r"Write rate|Read rate|Compression|Compression sampling rate|Memtablerep|Perf Level|WARNING|"
    r"DB path|Set seed to .*|Initializing RocksDB Options .*|Integrated BlobDB|-+$):?"
)
_SILENCE = "the program printed no error message"
_MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class ClientFiles:
    """Where one db_bench process leaves what it prints."""

    stdout: Path
    stderr: Path

    @classmethod
    def of(cls, workdir: Path, part: str) -> "ClientFiles":
        """The files of that part of a trial."""
        return cls(workdir / f"{part}-stdout.txt", workdir / f"{part}-stderr.txt")

    def stdout_text(self) -> str:
        """All that was printed on standard output."""
        return self.stdout.read_text(errors="replace")

    def stderr_text(self) -> str:
        """All that was printed on standard error."""
        return self.stderr.read_text(errors="replace")


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A load that ended: when it did (Unix seconds), what it used, its largest directory."""

    load_end_s: float
    exit: ExitStatus
    peak_space_bytes: int


@dataclass(frozen=True, slots=True)
class Client:
    """One db_bench process to be: its command line, its database, where its output goes."""

    argv: Sequence[str]
    database: Path
    files: ClientFiles

    def run_held(self, benchmark: str, limits: Protocol, watch: Watch, best: BestCase) -> HeldRun:
        """Run the benchmark, hold db_bench until the tree has settled, let it finish.

        TrialFailedError when db_bench refuses, dies, hangs or does not print what it should, and
        when the watch sees no hope any more.
        """
        deadline = Deadline(wall_s=limits.wall_limit_s, silence_s=limits.silence_limit_s)
        with self._start() as process:
            look = _Look(process, self.database, deadline, _Hope(watch.hopeless, best))
            with _timed("lsmtune stopped db_bench during the load"):
                loaded = _await_result(process, look, benchmark)
            load_end_s = time.time()
            with _timed("lsmtune stopped db_bench after the load"):
                if loaded:
                    watch.phase("settle")
                    _await_quiet(process, look, limits.quiet_s)
                    process.drain(deadline)
                status = process.wait(_END_S)
        self._check_exit(status)
        if not loaded:
            reason = f"db_bench ended and printed no result of the benchmark {benchmark}"
            raise TrialFailedError(Status.UNREADABLE, reason)
        return HeldRun(load_end_s, status, look.peak_space_bytes)

    def run_to_end(self, what: str, wall_s: float, silence_s: float) -> ExitStatus:
        """Run it to its end; TrialFailedError as above; `what` begins the message of a time-out."""
        deadline = Deadline(wall_s=wall_s, silence_s=silence_s)
        with _timed(what), self._start() as process:
            look = _Look(process, self.database, deadline, None)
            while (line := process.read_line(_TICK_S)) is not NoLine.END:
                if isinstance(line, str):
                    look.heard()
                look.look()
            status = process.wait(_END_S)
        self._check_exit(status)
        return status

    def run_banner(self) -> None:
        """Run a db_bench that has next to nothing to do."""
        self.run_to_end("lsmtune stopped db_bench during its first write", _END_S, _END_S)

    def _start(self) -> ChildProcess:
        return ChildProcess(
            self.argv,
            cwd=self.database.parent,
            stdout_path=self.files.stdout,
            stderr_path=self.files.stderr,
            env={},
        )

    def _check_exit(self, status: ExitStatus) -> None:
        if status.returncode == 0:
            return
        words = _last_words(self.files)
        if is_disk_full(self.files.stderr_text() + self.files.stdout_text(), self.database):
            raise TrialFailedError(Status.OUT_OF_SPACE, f"the disk is full: {words}")
        how = status.signal_name or f"exit code {status.returncode}"
        # RocksDB writes an OPTIONS file once it has accepted the options.
        opened = any(self.database.glob("OPTIONS-*"))
        kind = Status.CRASHED if opened else Status.REFUSED
        raise TrialFailedError(kind, f"db_bench ended with {how}: {words}")


@contextmanager
def _timed(what: str) -> Iterator[None]:
    try:
        yield
    except ProcessTimeout as timeout:
        reason = f"{what}: {timeout}"
        raise TrialFailedError(Status.TIMED_OUT, reason) from timeout


def _await_result(process: ChildProcess, look: "_Look", benchmark: str) -> bool:
    """Wait for the load's result line; False when the output ended instead."""
    while True:
        line = process.read_line(_TICK_S)
        look.measure_space()
        if line is NoLine.END:
            return False
        if isinstance(line, str):
            look.heard()
            if is_result_line(line, benchmark):
                look.loaded()
                return True
        look.look()


def _await_quiet(process: ChildProcess, look: "_Look", quiet_s: float) -> None:
    """Wait until no job runs, nothing is logged and no CPU time is used for `quiet_s`.

    A db_bench that ends by itself meanwhile is waited for no longer.

    db_bench's own waiting sleeps 5 to 15 s, and under universal compaction 7.8 may never
    return from it. The main thread meanwhile blocks at the gate and uses no CPU.
    """
    quiet_since = time.monotonic()
    while process.running and time.monotonic() - quiet_since < quiet_s:
        time.sleep(_SETTLE_TICK_S)
        look.measure_space()
        if look.look() or look.busy:
            quiet_since = time.monotonic()


def _last_words(files: ClientFiles) -> str:
    """The line that tells what went wrong; db_bench's banner and count of operations do not."""
    text = re.sub(r"\.\.\. finished \d+ ops\s*", "\n", files.stderr_text())
    lines = [line.strip() for line in (files.stdout_text() + "\n" + text).splitlines()]
    spoken = [line for line in lines if line and not _BANNER.match(line)]
    telling = [line for line in spoken if _WORDS_OF_FAILURE.search(line)]
    return [_SILENCE, *spoken, *telling][-1][:_MOST_CHARACTERS]


@dataclass(frozen=True, slots=True)
class _Hope:
    """Asks whether a trial that has come so far may still win."""

    hopeless: Hopeless
    best: BestCase

    def check(self, so_far: SoFar) -> None:
        """TrialFailedError once there is no hope."""
        bounds = self.best.bounds(so_far)
        if (reason := self.hopeless(bounds)) is not None:
            raise TrialFailedError(Status.CUT, reason, bounds)


class _Look:
    """Looks at a running db_bench from outside: its log, its CPU time, its directory."""

    def __init__(
        self, process: ChildProcess, database: Path, deadline: Deadline, hope: _Hope | None
    ) -> None:
        self._process = process
        self._database = database
        self._deadline = deadline
        self._follower = LogFollower()
        self._log_position = 0
        self._cpu_s = 0.0
        self._space_measured = 0.0
        self._hope = hope
        self._opened_s: float | None = None
        self._load_s: float | None = None
        self.peak_space_bytes = 0

    @property
    def busy(self) -> bool:
        """Whether a flush or compaction has begun and not ended."""
        return bool(self._follower.running_jobs)

    def heard(self) -> None:
        """Note a sign of life."""
        self._deadline.heard()

    def look(self) -> bool:
        """Note what is new; whether the engine did anything since the last look.

        Raises ProcessTimeout when the trial's limits have passed.
        """
        logged, used_cpu = self._read_log(), self._used_cpu()
        if logged or used_cpu:
            self.heard()
        self._deadline.check()
        self._check_hope()
        return logged or used_cpu

    def loaded(self) -> None:
        """Note that the load is over."""
        self._load_s = self._running_s()

    def measure_space(self) -> None:
        """Note the directory's size if it is the largest yet; at most every tenth of a second."""
        now = time.monotonic()
        if now - self._space_measured < _TICK_S:
            return
        self._space_measured = now
        self.peak_space_bytes = max(self.peak_space_bytes, directory_bytes(self._database))

    def _check_hope(self) -> None:
        if self._hope is None or not self._follower.opened:
            return
        self._hope.check(
            SoFar(
                load_s=self._running_s() if self._load_s is None else self._load_s,
                total_s=self._running_s() if self.busy or self._load_s is None else self._load_s,
                table_bytes=self._follower.table_bytes,
                peak_space_bytes=self.peak_space_bytes,
            )
        )

    def _running_s(self) -> float:
        """Time since the database was seen to be open."""
        if self._opened_s is None:
            self._opened_s = time.monotonic()
        return time.monotonic() - self._opened_s

    def _read_log(self) -> bool:
        with suppress(FileNotFoundError), (self._database / "LOG").open("rb") as log:
            log.seek(self._log_position)
            chunk = log.read()
            self._log_position += len(chunk)
            self._follower.feed(chunk)
            return bool(chunk)
        return False

    def _used_cpu(self) -> bool:
        before = self._cpu_s
        if self._process.running:
            self._cpu_s = self._process.cpu_s()
        return self._cpu_s > before
