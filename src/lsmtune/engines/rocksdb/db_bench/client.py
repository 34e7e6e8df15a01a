"""Processes of db_bench: start, pause until the tree has settled, failures as those of a trial."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.base import TrialFailedError, Watch, disk_full, is_disk_full, last_words
from lsmtune.engines.rocksdb.bench import Files, HeldRun
from lsmtune.engines.rocksdb.best_case import BestCase
from lsmtune.engines.rocksdb.watching import END_S, SETTLE_TICK_S, TICK_S, Hope, Look, timed
from lsmtune.errors import LsmtuneError
from lsmtune.metrics.db_bench import is_result_line
from lsmtune.system.cancelling import Deadline
from lsmtune.system.launch import run_command
from lsmtune.system.process import ChildProcess, ExitStatus, NoLine
from lsmtune.system.workdir import scratch
from lsmtune.trials import Protocol, Status

_SHORT_S = 30.0
"""Limit of a db_bench that writes one record."""
_WORDS_OF_FAILURE = re.compile(
    r"error|assertion|invalid|not supported|no space|corrupt|cannot|unknown|illegal", re.IGNORECASE
)
_BANNER = re.compile(
    r"(RocksDB|Date|CPU|CPUCache|Keys|Values|Entries|Prefix|Keys per prefix|RawSize|FileSize|"
    r"Write rate|Read rate|Compression|Compression sampling rate|Memtablerep|Perf Level|WARNING|"
    r"DB path|Set seed to .*|Initializing RocksDB Options .*|Integrated BlobDB|-+$):?"
)

_LIMIT_S = 5.0
_VERSION = re.compile(r"db_bench version (\S+)")


@dataclass(frozen=True, slots=True)
class Client:
    """A db_bench process: its command line, its database, its output files."""

    argv: Sequence[str]
    database: Path
    files: Files

    def run_held(self, benchmark: str, limits: Protocol, watch: Watch, best: BestCase) -> HeldRun:
        """Run the benchmark, pause db_bench until the tree has settled, let it finish.

        One process lives from load to settled tree, so its statistics are exact. The read probe is
        another process, so that its statistics are those of reads alone.

        TrialFailedError if db_bench refuses the options, crashes, hangs or prints no result, or if
        the watch finds that the trial cannot win any more.
        """
        deadline = Deadline(wall_s=limits.wall_limit_s, silence_s=limits.silence_limit_s)
        with self._start() as process:
            look = Look(process, self.database, deadline, Hope(watch.hopeless, best))
            with timed("lsmtune stopped db_bench during the load"):
                loaded = _await_result(process, look, benchmark)
            load_end_s = time.time()
            with timed("lsmtune stopped db_bench after the load"):
                if loaded:
                    watch.phase("settle")
                    _await_quiet(process, look, limits.quiet_s)
                    process.drain(deadline)
                status = process.wait(END_S)
        self._check_exit(status)
        if not loaded:
            reason = f"db_bench ended and printed no result of the benchmark {benchmark}"
            raise TrialFailedError(Status.UNREADABLE, reason)
        return HeldRun(load_end_s, status, look.peak_space_bytes)

    def run_to_end(self, what: str, wall_s: float, silence_s: float) -> ExitStatus:
        """Run db_bench to its end; TrialFailedError if it fails.

        `what` is the beginning of the message if a time limit is exceeded.
        """
        deadline = Deadline(wall_s=wall_s, silence_s=silence_s)
        with timed(what), self._start() as process:
            look = Look(process, self.database, deadline, None)
            while (line := process.read_line(TICK_S)) is not NoLine.END:
                if isinstance(line, str):
                    look.heard()
                look.look()
            status = process.wait(END_S)
        self._check_exit(status)
        return status

    def run_banner(self) -> None:
        """Run a db_bench that writes one record."""
        self.run_to_end("lsmtune stopped db_bench during its first write", _SHORT_S, _SHORT_S)

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
            raise disk_full(words)
        how = status.signal_name or f"exit code {status.returncode}"
        # RocksDB writes an OPTIONS file after it has accepted the options.
        opened = any(self.database.glob("OPTIONS-*"))
        kind = Status.CRASHED if opened else Status.REFUSED
        raise TrialFailedError(kind, f"db_bench ended with {how}: {words}")


def _await_result(process: ChildProcess, look: Look, benchmark: str) -> bool:
    """Wait for the result line of the load. Return False if the output ends without it."""
    while True:
        line = process.read_line(TICK_S)
        look.measure_space()
        if line is NoLine.END:
            return False
        if isinstance(line, str):
            look.heard()
            if is_result_line(line, benchmark):
                look.loaded()
                return True
        look.look()


def _await_quiet(process: ChildProcess, look: Look, quiet_s: float) -> None:
    """Wait until no job runs, and for `quiet_s` db_bench logs nothing and uses no CPU time.

    Return at once if db_bench ends.

    The benchmark `waitforcompaction` of db_bench sleeps 5 to 15 s. In RocksDB 7.8, it may never
    return under universal compaction. During the wait of lsmtune, the main thread of db_bench is
    blocked in the output and uses no CPU time.
    """
    quiet_since = time.monotonic()
    while process.running and time.monotonic() - quiet_since < quiet_s:
        time.sleep(SETTLE_TICK_S)
        look.measure_space()
        if look.look() or look.busy:
            quiet_since = time.monotonic()


def _last_words(files: Files) -> str:
    """Return the line that names the error, else the last line that is not of the banner."""
    text = re.sub(r"\.\.\. finished \d+ ops\s*", "\n", files.stderr_text())
    lines = [line.strip() for line in (files.stdout_text() + "\n" + text).splitlines()]
    spoken = [line for line in lines if line and not _BANNER.match(line)]
    telling = [line for line in spoken if _WORDS_OF_FAILURE.search(line)]
    return last_words(spoken, telling)


def db_bench_version(path: str) -> str | None:
    """Return the version that a db_bench prints, None if it prints none."""
    found = _VERSION.search(_printed_version(path))
    return found[1] if found else None


def _printed_version(path: str) -> str:
    """What the program prints with --version; "" where it does not run."""
    try:
        with scratch() as folder:
            output = folder / "version"
            run_command([path, "--version"], output=output, limit_s=_LIMIT_S)
            return output.read_text(encoding="utf-8", errors="replace")
    except (LsmtuneError, OSError):
        return ""
