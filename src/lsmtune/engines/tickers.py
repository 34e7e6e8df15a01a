"""Metrics of a load: from RocksDB's statistics, and from operations and seconds."""

from collections import Counter
from collections.abc import Iterable, Mapping

from lsmtune.engines.base import TrialFailedError
from lsmtune.metrics.compaction_table import CompactionTable
from lsmtune.metrics.log_jobs import Job, LevelBytes
from lsmtune.metrics.measurement import Level
from lsmtune.metrics.statistics import Statistics
from lsmtune.trials import Status

_MICROS = 1e6
BUILD_METRICS = (
    "write_amp", "wal_inclusive_write_amp", "flush_write_bytes", "compact_write_bytes"
)  # fmt: skip
"""Metrics of building a database, which are the write metrics of a load that only reads."""


def ticker(statistics: Statistics, name: str) -> int:
    """Return the count of a ticker; TrialFailedError if it was not printed."""
    value = statistics.tickers.get(name)
    if value is None:
        reason = f"the statistics of RocksDB do not contain the counter {name}"
        raise TrialFailedError(Status.UNREADABLE, reason)
    return value


def counted_operations(statistics: Statistics) -> int:
    """Return the number of operations that RocksDB counts; TrialFailedError without counters."""
    names = ("number.keys.written", "number.keys.read", "number.db.seek")
    return sum(ticker(statistics, f"rocksdb.{name}") for name in names)


def data_block_lookups(statistics: Statistics) -> int:
    """Return how often reads looked up a data block in the block cache: hits and misses."""
    return sum(ticker(statistics, f"rocksdb.block.cache.data.{n}") for n in ("hit", "miss"))


def write_metrics(statistics: Statistics, jobs: Iterable[Job] = ()) -> dict[str, float]:
    """Return the costs of writing; TrialFailedError if nothing was written.

    `jobs` are all flushes and compactions of the load. With compression_parallel_threads above 1,
    RocksDB's counters miss most of the bytes that a job writes. The sizes in the LOG are complete.
    """
    user = ticker(statistics, "rocksdb.bytes.written")
    if not user:
        raise TrialFailedError(Status.UNREADABLE, "the load wrote no data")
    in_log: Counter[str] = Counter()
    for job in jobs:
        in_log[job.kind] += job.written_bytes or 0
    flushed = max(ticker(statistics, "rocksdb.flush.write.bytes"), in_log["flush"])
    compacted = max(ticker(statistics, "rocksdb.compact.write.bytes"), in_log["compaction"])
    logged = ticker(statistics, "rocksdb.wal.bytes")
    read = ticker(statistics, "rocksdb.compact.read.bytes")
    stall_s = ticker(statistics, "rocksdb.stall.micros") / _MICROS
    metrics = {
        "write_amp": (flushed + compacted) / user,
        "wal_inclusive_write_amp": (flushed + compacted + logged) / user,
        "flush_write_bytes": float(flushed),
        "compact_write_bytes": float(compacted),
        "compact_read_bytes": float(read),
        "stall_s": stall_s,
    }
    compaction_cpu = statistics.histograms.get("rocksdb.compaction.times.cpu_micros")
    if compaction_cpu is not None and compaction_cpu.sum is not None:
        metrics["compaction_cpu_s"] = compaction_cpu.sum / _MICROS
    return metrics


def table_sums(table: CompactionTable) -> dict[str, float]:
    """Return the metrics that only the last line of RocksDB's compaction table contains.

    Old versions have fewer columns.
    """
    if table.sum is None:
        return {}
    sums = {
        "w_amp_table": table.sum.w_amp_table,
        "background_jobs": table.sum.comp_count,
        "background_s": table.sum.comp_s,
    }
    return {name: float(value) for name, value in sums.items() if value is not None}


def table_levels(table: CompactionTable, moved: Mapping[int, LevelBytes]) -> tuple[Level, ...]:
    """Return the levels of a table. `moved` has the bytes that jobs moved, by number of level."""
    return tuple(
        Level(
            level=row.level,
            files=row.files or 0,
            size_bytes=row.size_bytes or 0,
            read_bytes=moved.get(int(row.level[1:]), LevelBytes()).read,
            write_bytes=moved.get(int(row.level[1:]), LevelBytes()).written,
            w_amp_table=row.w_amp_table,
        )
        for row in table.rows
    )


def sorted_runs(levels: Iterable[Level]) -> int:
    """Return the number of sorted runs that a scan merges.

    Each file of level 0 is one, and each other level with files.
    """
    return sum(level.files if level.level == "L0" else min(level.files, 1) for level in levels)


def cache_metrics(statistics: Statistics) -> dict[str, float]:
    """Return the costs of reads: blocks not found in the cache per read, useful filters, hits."""
    reads = sum(ticker(statistics, f"rocksdb.number.{n}") for n in ("keys.read", "db.seek"))
    metrics = {
        "read_amp": ticker(statistics, "rocksdb.block.cache.miss") / max(1, reads),
        "block_reads": ticker(statistics, "rocksdb.block.cache.add") / max(1, reads),
        "bloom_useful": ticker(statistics, "rocksdb.bloom.filter.useful") / max(1, reads),
    }
    for kind in ("data", "index", "filter"):
        hit = ticker(statistics, f"rocksdb.block.cache.{kind}.hit")
        miss = ticker(statistics, f"rocksdb.block.cache.{kind}.miss")
        if hit + miss:
            metrics[f"cache_hit_{kind}"] = hit / (hit + miss)
    return metrics


def read_metrics(statistics: Statistics) -> dict[str, float]:
    """Return the costs of the reads of a load, and the share of gets that memtables answered."""
    hit, miss = (ticker(statistics, f"rocksdb.memtable.{n}") for n in ("hit", "miss"))
    found = {"memtable_hit": hit / (hit + miss)} if hit + miss else {}
    return cache_metrics(statistics) | found


def time_metrics(operations: float, load_s: float, settle_s: float) -> dict[str, float]:
    """Return times, and the rate of the operations of all clients."""
    return {
        "load_s": load_s,
        "settle_s": settle_s,
        "throughput_ops_s": operations / load_s,
    }
