"""Checks of a running load: is there progress, is it busy, can it still win?"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.base import Hopeless, TrialFailedError
from lsmtune.engines.read_back import first_log
from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.best_case import BestCase, SoFar
from lsmtune.metrics.log_events import LogFollower
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import LogContent, read_log
from lsmtune.system.cancelling import Deadline, ProcessTimeout
from lsmtune.system.process import ChildProcess
from lsmtune.system.workdir import directory_bytes
from lsmtune.trials import Status

TICK_S = 0.1
"""Seconds between two checks of a load, so rare that they do not disturb it."""
SETTLE_TICK_S = 0.02
"""Seconds between two checks of a tree that settles."""
END_S = 30.0
"""Seconds that a program may take to end after its last output."""


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Turn an exceeded time limit into TrialFailedError. `what` is the beginning of its message."""
    try:
        yield
    except ProcessTimeout as timeout:
        reason = f"{what}: {timeout}"
        raise TrialFailedError(Status.TIMED_OUT, reason) from timeout


def settled_log(part: Part) -> LogContent:
    """Read the LOG of a part; TrialFailedError without one, or if a job in it has not ended."""
    path = part.database / "LOG" if part.name == "debt" else first_log(part.database)
    if not path.is_file():
        raise TrialFailedError(Status.UNREADABLE, "RocksDB wrote no LOG")
    log = read_log(read_lines(path, []))
    if log.ledger.running:
        reason = "a flush or compaction was still running when the program ended"
        raise TrialFailedError(Status.UNREADABLE, reason)
    return log


@dataclass(frozen=True, slots=True)
class Hope:
    """The check whether a running trial can still win."""

    hopeless: Hopeless
    best: BestCase

    def check(self, so_far: SoFar) -> None:
        """Raise TrialFailedError if the trial cannot win any more."""
        bounds = self.best.bounds(so_far)
        if (reason := self.hopeless(bounds)) is not None:
            raise TrialFailedError(Status.CUT, reason, bounds)


class Look:
    """Observer of a running process: RocksDB's LOG, CPU time, size of the database."""

    def __init__(
        self, process: ChildProcess, database: Path, deadline: Deadline, hope: Hope | None
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
        """Note that the process did something."""
        self._deadline.heard()

    def look(self) -> bool:
        """Return whether the process logged or used CPU time since the last call.

        Raises ProcessTimeout if a limit of the trial is exceeded, and TrialFailedError if the trial
        cannot win any more.
        """
        logged, used_cpu = self._read_log(), self._used_cpu()
        if logged or used_cpu:
            self.heard()
        self._deadline.check()
        self._check_hope()
        return logged or used_cpu

    def loaded(self) -> None:
        """Note that the load has ended."""
        self._load_s = self._running_s()

    def measure_space(self) -> None:
        """Update the largest size of the database, at most once every `TICK_S`."""
        now = time.monotonic()
        if now - self._space_measured < TICK_S:
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
        """Return the seconds since the first call, which follows the opening of the database."""
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
