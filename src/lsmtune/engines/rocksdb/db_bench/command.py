"""The command lines of db_bench: one for each part of a trial."""

from dataclasses import dataclass
from pathlib import Path

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings, Value
from lsmtune.trials import Protocol
from lsmtune.workloads import Records, Workload

_HOLDS = 6
"""Number of times that db_bench prints its statistics after the load.

The text is much larger than the pipe, so db_bench is blocked until lsmtune reads the text. See "The
gate" in `ChildProcess`.
"""

_ALWAYS = {"cache_size", "cache_type"}


@dataclass(frozen=True, slots=True)
class Phase:
    """One benchmark: its name, its flags, its threads, and whether the database exists before."""

    benchmark: str
    flags: tuple[str, ...]
    existing: bool
    threads: int


def build_phase(load: Workload) -> Phase:
    """Return the benchmark that writes the records of a store before a prepared load.

    It writes each key once, or random keys. With range tombstones, db_bench chooses from more keys
    than the workload has, so it writes not quite all of them.
    """
    definition = load.definition_of(Records)
    deleting = definition.tombstone_flags(load.build_writes) if load.kind == "read" else ()
    if load.has_all_keys:
        return Phase("filluniquerandom", deleting, existing=False, threads=1)
    writes = f"--writes={load.build_writes}"
    return Phase("fillrandom", (writes, *deleting), existing=False, threads=1)


def load_phase(load: Workload) -> Phase:
    """Return the benchmark that is measured."""
    definition = load.definition_of(Records)
    benchmark = definition.benchmark or definition.name
    return Phase(benchmark, definition.flags(), definition.prepared, load.threads)


def one_read() -> Phase:
    """Return a benchmark of one read, for a store that is opened only to settle."""
    return Phase("readrandom", ("--reads=1",), existing=True, threads=1)


class Command:
    """Command lines of one trial on one database.

    Options are given in a file, because db_bench has no flags for many of them. With a file,
    db_bench uses only the flags for objects that a file cannot contain, such as the block cache.
    """

    def __init__(self, program: str, load: Workload, seed: int, database: Path) -> None:
        self._program = program
        self._load = load
        self._seed = seed
        self._database = database

    def held(self, phase: Phase, options: Path, flags: list[str]) -> list[str]:
        """Return the command that runs the phase, flushes, and prints statistics several times."""
        benchmarks = [phase.benchmark, "flush", *["stats"] * _HOLDS]
        return [
            *self._start(benchmarks, phase.existing, phase.threads),
            *phase.flags,
            *self._common(options, flags),
        ]

    def probe(self, protocol: Protocol, options: Path, flags: list[str]) -> list[str]:
        """Return the command that gets keys of the load, gets other keys, and scans.

        The seed of the first thread is the same in both runs (ThreadState in
        tools/db_bench_tool.cc). With `perf_level` 2, db_bench counts what each benchmark does, but
        measures no times in RocksDB, which would be slow (rocksdb/perf_level.h).
        """
        reads = self._load.probe_reads(protocol.probe_reads)
        return [
            *self._start(["readrandom", "readmissing", "seekrandom"], existing=True, threads=1),
            f"--reads={reads}",
            f"--seek_nexts={protocol.scan_length}",
            "--perf_level=2",
            *self._common(options, flags),
        ]

    def _start(self, benchmarks: list[str], existing: bool, threads: int) -> list[str]:
        return [
            self._program,
            f"--benchmarks={','.join(benchmarks)}",
            f"--use_existing_db={int(existing)}",
            f"--threads={threads}",
        ]

    def _common(self, options: Path, flags: list[str]) -> list[str]:
        load = self._load
        return [
            f"--db={self._database}",
            f"--num={load.num}",
            f"--key_size={load.key_size}",
            f"--value_size={load.value_size}",
            f"--compression_ratio={load.compression_ratio}",
            f"--seed={self._seed}",
            "--statistics=1",
            "--histogram=1",
            f"--options_file={options}",
            *flags,
        ]


def banner_argv(program: str, database: Path, options: Path | None) -> list[str]:
    """Return the shortest command that makes db_bench print its version and write its options."""
    file = [] if options is None else [f"--options_file={options}"]
    return [program, "--benchmarks=fillseq", "--num=1", f"--db={database}", *file]


def flags_of(catalogue: Catalogue, settings: Settings) -> list[str]:
    """Return the flags for knobs that an OPTIONS file cannot contain, if they are not defaults.

    The flags for size and type of the block cache are always there, because their defaults differ
    between versions.
    """
    return [
        f"--{knob.name}={flag_text(settings[knob.name])}"
        for knob in catalogue.knobs
        if knob.option is None
        and knob.name in settings
        and (knob.name in _ALWAYS or settings[knob.name] != knob.default)
    ]


def flag_text(value: Value) -> str:
    """Return a value as text for the command line of db_bench."""
    return str(int(value)) if isinstance(value, bool) else str(value)
