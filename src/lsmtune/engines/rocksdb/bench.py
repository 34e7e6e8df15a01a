"""What a program that runs the workload does for a trial, and what it returns."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from typing import Protocol as Contract

from lsmtune.engines.base import EngineFacts, Watch
from lsmtune.knobs.types import Settings
from lsmtune.metrics.compaction_table import CompactionTable
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.statistics import Statistics
from lsmtune.system.process import ExitStatus
from lsmtune.trials import Protocol
from lsmtune.workloads import Workload

PartName = Literal["build", "load", "debt", "probe"]


@dataclass(frozen=True, slots=True)
class Files:
    """Where one process leaves what it prints."""

    stdout: Path
    stderr: Path

    @classmethod
    def of(cls, workdir: Path, part: str) -> "Files":
        """Return the files of a part of a trial."""
        return cls(workdir / f"{part}-stdout.txt", workdir / f"{part}-stderr.txt")

    def stdout_text(self) -> str:
        """Return all that was printed on standard output."""
        return self.stdout.read_text(errors="replace")

    def stderr_text(self) -> str:
        """Return all that was printed on standard error."""
        return self.stderr.read_text(errors="replace")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a trial.

    `build` makes the database that the load finds, `load` is measured, `debt` lets a store settle
    that was loaded without compactions, `probe` reads. `options` is the OPTIONS text, `settings`
    also has the knobs that no OPTIONS text contains. Output goes to `workdir`.
    """

    name: PartName
    workload: Workload
    seed: int
    database: Path
    workdir: Path
    options: str
    settings: Settings

    @property
    def files(self) -> Files:
        """Where its process leaves what it prints."""
        return Files.of(self.workdir, self.name)


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of one kind of operation in microseconds; percentiles by name, as `p99`."""

    mean_us: float
    percentiles: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RunResult:
    """The operations of all clients in a phase.

    `rate_mb_s` is in MiB of user data per second. Of `looked_up` keys, `found` had a record.
    `latencies` are by the prefix of their metrics: `write`, `get` or `scan`.
    """

    seconds: float
    operations: int
    rate_mb_s: float | None
    found: int | None
    looked_up: int | None
    latencies: Mapping[str, Latency]


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A load that ended: when (Unix seconds), the end of its process, its largest directory."""

    load_end_s: float
    exit: ExitStatus
    peak_space_bytes: int


@dataclass(frozen=True, slots=True)
class LoadOutput:
    """What a part left that wrote or settled a database.

    `stalls` counts the stalls of writes by cause. `table` is of the default column family.
    """

    run: HeldRun
    result: RunResult
    statistics: Statistics
    table: CompactionTable
    stalls: Mapping[str, int]
    version: str
    assertions_enabled: bool
    log: LogContent
    database: Path


@dataclass(frozen=True, slots=True)
class ProbeOutput:
    """What the read probe left: the results of gets, gets of missing keys, and scans."""

    exit: ExitStatus
    gets: RunResult
    missing: RunResult
    scans: RunResult
    statistics: Statistics


class Bench(Contract):
    """Runs the parts of trials: db_bench, or the driver with a library of RocksDB.

    Each method leaves no process behind and raises TrialFailedError if RocksDB or the program
    fails.
    """

    @property
    def cannot_set(self) -> frozenset[str]:
        """Knobs that RocksDB has and that the program cannot set."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What a database depends on in addition to options and workload."""

    def describe(self, workdir: Path) -> EngineFacts:
        """Return version, build and default options; UserError if it cannot be used."""

    def notes(self, settings: Settings) -> tuple[str, ...]:
        """Return remarks about a baseline with these settings."""

    def as_run(self, options: str, workdir: Path) -> str:
        """Return an OPTIONS text as RocksDB writes it after it has opened a new database."""

    def load(self, part: Part, limits: Protocol, watch: Watch) -> LoadOutput:
        """Run a part, flush, and wait until the tree has settled."""

    def probe(self, part: Part, limits: Protocol) -> ProbeOutput:
        """Read from a settled tree."""
