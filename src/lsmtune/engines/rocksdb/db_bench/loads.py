"""Workloads as benchmarks of db_bench with flags."""

from dataclasses import dataclass
from pathlib import Path

from lsmtune.workloads import Workload

_FASTEST = 1_000_000
"""Speed of a replayed trace, relative to the recorded speed: as fast as possible."""

_BENCHMARKS = {
    "rangedelete": "overwrite",
    "readhalfmissing": "readrandom",
    "scanshort": "seekrandom",
    "scanlong": "seekrandom",
    "mix": "mixgraph",
    "trace": "replay",
}
"""Names of workloads that have another name in db_bench."""

_ZIPPYDB = (
    "--key_dist_a=0.002312", "--key_dist_b=0.3467",
    "--keyrange_dist_a=14.18", "--keyrange_dist_b=-2.917",
    "--keyrange_dist_c=0.0164", "--keyrange_dist_d=-0.08082", "--keyrange_num=30",
    "--value_k=0.2615", "--value_sigma=25.45", "--iter_k=2.517", "--iter_sigma=14.236",
    "--mix_get_ratio=0.85", "--mix_put_ratio=0.14", "--mix_seek_ratio=0.01",
)  # fmt: skip
"""Cao et al., "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads" (FAST'20),
with the parameters that the RocksDB wiki gives for ZippyDB."""


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
    deleting = _tombstone_flags(load, load.build_writes) if load.kind == "read" else ()
    if load.has_all_keys:
        return Phase("filluniquerandom", deleting, existing=False, threads=1)
    writes = f"--writes={load.build_writes}"
    return Phase("fillrandom", (writes, *deleting), existing=False, threads=1)


def load_phase(load: Workload) -> Phase:
    """Return the benchmark that is measured."""
    benchmark = _BENCHMARKS.get(load.name, load.name)
    return Phase(benchmark, _flags(load), load.preset.prepared, load.threads)


def one_read() -> Phase:
    """Return a benchmark of one read, for a store that is opened only to settle."""
    return Phase("readrandom", ("--reads=1",), existing=True, threads=1)


def _flags(load: Workload) -> tuple[str, ...]:
    if not load.preset.prepared:
        counted = () if load.operations is None else (f"--writes={load.operations}",)
        return (*counted, *_tombstone_flags(load, load.client_operations))
    if load.name == "trace":
        return (
            f"--trace_file={Path(load.trace or '').absolute()}",
            f"--trace_replay_fast_forward={_FASTEST}",
            # With one column family the replay of 7.8 aborts.
            "--num_column_families=2",
        )
    skewed = () if load.skew is None else (f"--read_random_exp_range={load.skew}",)
    return (_count(load), *skewed, *_own_flags(load))


def _count(load: Workload) -> str:
    if load.client_operations is None:
        return f"--duration={load.duration_s}"
    kind = {"overwrite": "writes", "rangedelete": "writes", "deleterandom": "deletes"}
    return f"--{kind.get(load.name, 'reads')}={load.client_operations}"


def _own_flags(load: Workload) -> tuple[str, ...]:
    if load.name == "mixgraph":
        return _ZIPPYDB
    if load.mix is not None:
        return _mix_flags(load)
    flags = {
        "seek_nexts": load.scan_length,
        "readwritepercent": load.get_percent,
        "benchmark_write_rate_limit": load.write_rate_bytes_s,
    }
    given = tuple(f"--{name}={value}" for name, value in flags.items() if value is not None)
    if load.kind == "read":
        return given
    return (*given, *_tombstone_flags(load, load.client_operations))


def _tombstone_flags(load: Workload, writes: int | None) -> tuple[str, ...]:
    """Return the flags for range tombstones during a number of writes.

    The number of tombstones is always given. db_bench adds it to the number of keys.
    """
    if (count := load.range_deletions(writes)) is None:
        return ()
    return (
        f"--writes_per_range_tombstone={load.tombstone_every}",
        f"--range_tombstone_width={load.tombstone_width}",
        f"--max_num_range_tombstones={count}",
    )


def _mix_flags(load: Workload) -> tuple[str, ...]:
    """Return the flags of mixgraph for a mix with fixed lengths.

    mixgraph computes a length as theta + sigma * (u^-k - 1) / k. With sigma = 0 it is theta, and
    k = -1 avoids an infinite term for u = 0. A scan has this length modulo the maximum length.
    """
    length = load.scan_length or 1
    mix = load.mix
    if mix is None:
        return ()
    return (
        f"--mix_get_ratio={mix.get}",
        f"--mix_put_ratio={mix.put}",
        f"--mix_seek_ratio={mix.scan}",
        f"--value_theta={load.value_size}",
        "--value_sigma=0",
        "--value_k=-1",
        f"--mix_max_value_size={load.value_size}",
        f"--iter_theta={length}",
        "--iter_sigma=0",
        "--iter_k=-1",
        f"--mix_max_scan_len={length + 1}",
    )
