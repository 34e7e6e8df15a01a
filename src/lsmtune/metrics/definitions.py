"""All metrics of lsmtune: unit, direction and meaning.

Metrics of reads are measured during the load if the workload reads, otherwise by the probe after
it. If the workload only reads, metrics of written bytes are those of the build of the database.
"""

import re
from dataclasses import dataclass
from typing import Literal

from lsmtune.errors import UserError, unknown_word


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured quantity. `better` is None for a metric that cannot be an objective."""

    name: str
    unit: str
    better: Literal["lower", "higher"] | None
    meaning: str


def _latencies(prefix: str, what: str, note: str = "") -> list[Metric]:
    ranks = {"p50": "50", "p75": "75", "p99": "99", "p999": "99.9", "p9999": "99.99"}
    return [
        Metric(f"{prefix}_mean_us", "us", "lower", f"mean latency of {what}{note}"),
        *(
            Metric(
                f"{prefix}_{p}_us",
                "us",
                "lower",
                f"latency that {rank} % of all {what} do not exceed{note}",
            )
            for p, rank in ranks.items()
        ),
    ]


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        Metric("write_amp", "ratio", "lower",
               "write amplification: bytes written by flushes and compactions / bytes "
               "written by the "
               "clients; for workloads that only read, measured while the database is built"),
        Metric("wal_inclusive_write_amp", "ratio", "lower",
               "write amplification, including the bytes written to the write-ahead log"),
        Metric("w_amp_table", "ratio", "lower",
               "column W-Amp of RocksDB's compaction table: bytes written by flushes and "
               "compactions / size of the flushed files after compression"),
        Metric("flushes", "flushes", None, "number of flushes of memtables during the load"),
        Metric("flush_write_bytes", "bytes", "lower", "bytes written by flushes"),
        Metric("compact_write_bytes", "bytes", "lower", "bytes written by compactions"),
        Metric("compact_read_bytes", "bytes", "lower", "bytes read by compactions"),
        Metric("background_jobs", "jobs", "lower", "number of flushes and compactions"),
        Metric("background_s", "s", "lower",
               "sum of the durations of all flushes and compactions; the durations of parallel "
               "jobs are added"),
        Metric("live_sst_bytes", "bytes", "lower",
               "size of live table files and blob files, after all compactions have finished"),
        Metric("peak_space_bytes", "bytes", "lower",
               "largest size of the database directory during the trial"),
        Metric("space_amp", "ratio", "lower",
               "space amplification: live_sst_bytes / uncompressed size of the live records"),
        Metric("load_s", "s", "lower", "duration of the load"),
        Metric("settle_s", "s", "lower",
               "time from the end of the load to the last flush or compaction"),
        Metric("total_s", "s", "lower", "load_s + settle_s"),
        Metric("throughput_ops_s", "ops/s", "higher", "operations per second during the load"),
        Metric("sustained_ops_s", "ops/s", "higher",
               "operations of the load / (load_s + settle_s)"),
        Metric("rate_mb_s", "MiB/s", "higher",
               "user data per second during the load; db_bench prints this number as MB/s"),
        Metric("stall_s", "s", "lower", "time during which writes were delayed or stopped"),
        Metric("stall_percent", "%", "lower", "stall_s as a percentage of load_s"),
        *_latencies("write", "writes"),
        *_latencies("get", "gets",
                    "; if the load does not read, measured with gets of existing keys after the "
                    "load"),
        *_latencies("get_missing", "gets of missing keys"),
        *_latencies("scan", "scans"),
        Metric("tpmc", "1/min", "higher",
               "TPC-C new orders per minute; not an official TPC result"),
        *_latencies("new_order", "TPC-C New-Order transactions"),
        *_latencies("payment", "TPC-C Payment transactions"),
        *_latencies("order_status", "TPC-C Order-Status transactions"),
        *_latencies("delivery", "TPC-C Delivery transactions of ten districts each"),
        *_latencies("stock_level", "TPC-C Stock-Level transactions"),
        *_latencies("transaction", "sysbench transactions"),
        Metric("failed_percent", "%", "lower",
               "share of the operations that failed during the load, for example because of write "
               "conflicts between transactions"),
        Metric("retries", "transactions", "lower",
               "number of transactions that were repeated after a deadlock or conflict"),
        Metric("read_amp", "ratio", "lower",
               "block cache misses per get or scan, including reads by compactions"),
        Metric("block_reads", "ratio", "lower",
               "blocks read into the block cache per get or scan; reads by compactions are not "
               "included"),
        Metric("cache_hit_data", "ratio", "higher",
               "share of lookups of data blocks that found the block in the block cache"),
        Metric("cache_hit_index", "ratio", "higher",
               "share of lookups of index blocks that found the block in the block cache"),
        Metric("cache_hit_filter", "ratio", "higher",
               "share of lookups of filter blocks that found the block in the block cache"),
        Metric("bloom_useful", "ratio", "higher",
               "number of block reads that filters avoided, per get or scan"),
        Metric("get_data_blocks", "blocks", "lower",
               "lookups of data blocks in the block cache per get of an existing key, hits and "
               "misses; counted in the reads after a load of writes. The number does not depend "
               "on the size of the block cache"),
        Metric("get_missing_data_blocks", "blocks", "lower",
               "lookups of data blocks in the block cache per get of a missing key, hits and "
               "misses; counted in the reads after a load of writes"),
        Metric("scan_sorted_runs", "sorted runs", "lower",
               "sorted runs that a scan merges: files of level 0, and other levels with files; "
               "counted after a load of writes, when all compactions have finished"),
        Metric("get_found", "ratio", None, "share of the gets during the load that found a record"),
        Metric("memtable_hit", "ratio", "higher",
               "share of the gets during the load that a memtable answered"),
        Metric("compaction_cpu_s", "s", "lower", "CPU time of compactions"),
        Metric("cpu_s", "s", "lower",
               "CPU time of the engine during the load and until all compactions have finished"),
        Metric("others_cpu_percent", "%", None,
               "share of the machine's CPU time that other processes used during the trial"),
        Metric("disk_write_bytes", "bytes", "lower",
               "bytes that the engine wrote to the disk, including logs, from the start of "
               "the load "
               "until all compactions have finished (counted by the kernel)"),
        Metric("disk_write_amp", "ratio", "lower",
               "disk_write_bytes / user bytes"),
        Metric("disk_bytes", "bytes", "lower",
               "size of all files of the store, after all compactions have finished"),
        Metric("build_s", "s", "lower",
               "time to build the database before the load, including all compactions of "
               "the build"),
        Metric("memory_bytes", "bytes", "lower",
               "memory that the full-size tree needs at most: memtables, block cache, row cache, "
               "and index and filter blocks outside the block cache"),
        Metric("peak_rss_bytes", "bytes", "lower", "maximum resident memory of the engine"),
        Metric("table_readers_bytes", "bytes", "lower",
               "memory of open tables outside the block cache, mostly for indexes and filters, "
               "after all compactions have finished"),
    ]
}  # fmt: skip


NEED_FLUSHES = frozenset({
    "write_amp", "wal_inclusive_write_amp", "w_amp_table", "disk_write_amp",
    "compact_write_bytes", "compact_read_bytes",
})  # fmt: skip
"""Metrics that depend on how many compactions ran, which is chance after a few flushes."""

_SPOKEN = re.compile(r"(p\d+|mean)_(\w+)_us")
"""Common spelling of a latency: p99_write_us instead of write_p99_us."""


def canonical(name: str) -> str:
    """Return the name in METRICS for another common spelling; other names are unchanged."""
    return _SPOKEN.sub(r"\2_\1_us", name)


def metric(name: str, where: str) -> Metric:
    """Return the metric if it can be an objective; UserError naming `where` otherwise."""
    found = METRICS.get(canonical(name))
    if found is None or found.better is None:
        names = (m.name for m in METRICS.values() if m.better)
        raise UserError(where, f": {unknown_word('metric', name, names)}")
    return found
