"""The contract of programs that run a workload on RocksDB, and their results."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from typing import Protocol as Contract

from lsmtune.engines.base import EngineFacts, Watch
from lsmtune.engines.libraries.steps import Event
from lsmtune.engines.read_back import first_log
from lsmtune.knobs.types import Settings
from lsmtune.metrics.compaction_table import CompactionTable
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.statistics import Statistics
from lsmtune.system.process import ExitStatus
from lsmtune.trials import Protocol
from lsmtune.workloads import Workload

PartName = Literal["build", "load", "debt", "probe", "template", "running"]


@dataclass(frozen=True, slots=True)
class Files:
    """The files with the output of one process."""

    stdout: Path
    stderr: Path

    @classmethod
    def of(cls, workdir: Path, part: str) -> "Files":
        """Return the files of a part of a trial."""
        return cls(workdir / f"{part}-stdout.txt", workdir / f"{part}-stderr.txt")

    def stdout_text(self) -> str:
        """Return the standard output."""
        return self.stdout.read_text(errors="replace")

    def stderr_text(self) -> str:
        """Return the standard error."""
        return self.stderr.read_text(errors="replace")


def evidence_of(workdir: Path, parts: Iterable[str], database: Path) -> dict[str, Path]:
    """Return the files of a trial that exist, by the name under which they are kept."""
    printed = [Files.of(workdir, part) for part in parts]
    named = {path.name: path for files in printed for path in (files.stdout, files.stderr)}
    named["LOG"] = first_log(database)
    # The first one is of the load. Each later open wrote another one.
    for path in sorted(database.glob("OPTIONS-*"))[:1]:
        named["OPTIONS"] = path
    return {name: path for name, path in named.items() if path.is_file()}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a trial.

    The part `build` writes the database of a prepared load, `load` is measured, `debt` runs the
    compactions that a load without compactions postponed, `probe` reads. A trial of a running store
    has the part `running`, on a copy of a store that the part `template` built. `options` is the
    OPTIONS text. `settings` also contains the knobs that an OPTIONS text cannot contain. The output
    is written to `workdir`.
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
        """The files with the output of its process."""
        return Files.of(self.workdir, self.name)


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of one kind of operation in microseconds. Percentiles are by name, such as `p99`."""

    mean_us: float
    percentiles: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RunResult:
    """The operations of all clients in a phase.

    `rate_mb_s` is in MiB of user data per second. `looked_up` is the number of keys that were
    read, and `found` the number of those with a record. `latencies` are by the prefix of their
    metrics: `write`, `get` or `scan`. `data_blocks` is the number of lookups of data blocks in the
    block cache, hits and misses; None if the program did not count them for this phase.
    """

    seconds: float
    operations: int
    rate_mb_s: float | None
    found: int | None
    looked_up: int | None
    latencies: Mapping[str, Latency]
    data_blocks: float | None = None


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A load that ended.

    `load_end_s` is the time of its end in Unix seconds, `exit` the end of its process, and
    `peak_space_bytes` the largest size of the database's folder.
    """

    load_end_s: float
    exit: ExitStatus
    peak_space_bytes: int


@dataclass(frozen=True, slots=True)
class LoadOutput:
    """Results of a part that loads or settles a database.

    `stalls` is the number of write stalls by cause. `table` is that of the default column family.
    `table_readers_bytes` is the memory of open tables outside the block cache, None if unknown.
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
    table_readers_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ProbeOutput:
    """Results of the read probe: gets, gets of missing keys, and scans."""

    exit: ExitStatus
    gets: RunResult
    missing: RunResult
    scans: RunResult
    statistics: Statistics


class StoreOpener(Contract):
    """Opens stores with OPTIONS files; see `Opener` in `engines/rocksdb/opener.py`."""

    @property
    def reads_files(self) -> bool:
        """Whether RocksDB reads the files itself; otherwise, lsmtune does."""

    def remarks(self, replaced: Collection[str]) -> tuple[str, ...]:
        """Return what an opening does not show."""

    def open(
        self, name: str, store: Path, options: str, steps: Sequence[Mapping[str, Any]], **more: bool
    ) -> list[Event]:
        """Open a store, carry out steps, close; StepFailedError if a step fails."""


class Bench(Contract):
    """A program that runs the parts of trials: db_bench, or the driver with a library of RocksDB.

    When a method returns or raises, no process of it runs. Methods raise TrialFailedError if
    RocksDB or the program fails.
    """

    @property
    def cannot_set(self) -> frozenset[str]:
        """Knobs of RocksDB that the program cannot set."""

    def opener(self, folder: Path, limit_s: float, load: Workload) -> StoreOpener:
        """Return what opens stores with OPTIONS files in rehearsals.

        `folder` gets the files of the openings, `limit_s` is the time limit of each, and `load`
        says what the records of a store look like.
        """

    @property
    def library(self) -> Path:
        """The library of RocksDB; UserError if the program has it linked into itself."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Facts that a database depends on, in addition to options and workload."""

    def describe(self, workdir: Path) -> EngineFacts:
        """Return version, build and default options; UserError if the program cannot be used."""

    def notes(self, settings: Settings) -> tuple[str, ...]:
        """Return remarks about a baseline with these settings."""

    def as_run(self, options: str, workdir: Path) -> str:
        """Return an OPTIONS text as RocksDB writes it after it has opened a new database."""

    def load(self, part: Part, limits: Protocol, watch: Watch) -> LoadOutput:
        """Run a part, flush, and wait until the tree has settled."""

    def probe(self, part: Part, limits: Protocol) -> ProbeOutput:
        """Read from a settled tree."""
