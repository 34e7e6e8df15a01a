"""Workloads as benchmarks of db_bench with flags."""

from dataclasses import dataclass

from lsmtune.workloads import Records, Workload


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
