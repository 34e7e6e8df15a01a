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


def _latencies(prefix: str, what: str) -> list[Metric]:
    ranks = {"p50": "50", "p75": "75", "p99": "99", "p999": "99.9", "p9999": "99.99"}
    return [
        Metric(f"{prefix}_mean_us", "us", "lower", f"mean latency of {what}"),
        *(
            Metric(f"{prefix}_{p}_us", "us", "lower", f"latency of {what}, {rank} % are no slower")
            for p, rank in ranks.items()
        ),
    ]


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        Metric("write_amp", "ratio", "lower",
               "exact write amplification: (flush + compaction bytes) / user bytes; for workloads "
               "that only read, that of the build of the database"),
        Metric("wal_inclusive_write_amp", "ratio", "lower",
               "exact write amplification, including the write-ahead log"),
        Metric("w_amp_table", "ratio", "lower",
               "W-Amp in RocksDB's compaction table, which divides by flushed, compressed bytes"),
        Metric("flush_write_bytes", "bytes", "lower", "bytes written by flushes"),
        Metric("compact_write_bytes", "bytes", "lower", "bytes written by compactions"),
        Metric("compact_read_bytes", "bytes", "lower", "bytes read by compactions"),
        Metric("background_jobs", "jobs", "lower", "number of flushes and compactions"),
        Metric("background_s", "s", "lower",
               "total time of all flushes and compactions, also of parallel ones"),
        Metric("live_sst_bytes", "bytes", "lower",
               "size of live tables and blob files after settling"),
        Metric("peak_space_bytes", "bytes", "lower",
               "largest size of the database directory during the trial"),
        Metric("space_amp", "ratio", "lower",
               "live_sst_bytes / logical size of the distinct records"),
        Metric("load_s", "s", "lower", "duration of the load"),
        Metric("settle_s", "s", "lower",
               "time from the end of the load to the last flush or compaction"),
        Metric("total_s", "s", "lower", "load_s + settle_s"),
        Metric("throughput_ops_s", "ops/s", "higher", "operations per second during the load"),
        Metric("sustained_ops_s", "ops/s", "higher",
               "operations of the load / (load + settle time)"),
        Metric("rate_mb_s", "MB/s", "higher", "user data per second during the load"),
        Metric("stall_s", "s", "lower", "time during which writes were delayed or stopped"),
        Metric("stall_percent", "%", "lower", "stall_s as a share of load_s"),
        *_latencies("write", "writes"),
        *_latencies("get", "gets (in a probe: of existing keys)"),
        *_latencies("get_missing", "gets of missing keys"),
        *_latencies("scan", "scans"),
        Metric("tpmc", "1/min", "higher",
               "TPC-C new orders per minute; not an official TPC result"),
        *_latencies("new_order", "TPC-C New-Order transactions"),
        *_latencies("payment", "TPC-C Payment transactions"),
        *_latencies("order_status", "TPC-C Order-Status transactions"),
        *_latencies("delivery", "TPC-C Delivery transactions (ten districts each)"),
        *_latencies("stock_level", "TPC-C Stock-Level transactions"),
        *_latencies("transaction", "sysbench transactions"),
        Metric("retries", "transactions", "lower",
               "transactions repeated after a deadlock or conflict"),
        Metric("read_amp", "ratio", "lower",
               "block cache misses per get or scan, including reads by compactions"),
        Metric("block_reads", "ratio", "lower",
               "blocks read into the block cache per get or scan; unlike read_amp, without reads "
               "by compactions"),
        Metric("cache_hit_data", "ratio", "higher",
               "share of data block lookups that hit the block cache"),
        Metric("cache_hit_index", "ratio", "higher",
               "share of index block lookups that hit the block cache"),
        Metric("cache_hit_filter", "ratio", "higher",
               "share of filter block lookups that hit the block cache"),
        Metric("bloom_useful", "ratio", "higher",
               "block reads avoided by filters, per get or scan"),
        Metric("get_found", "ratio", None, "share of the gets during the load that found a record"),
        Metric("memtable_hit", "ratio", "higher",
               "share of the gets during the load that a memtable answered"),
        Metric("compaction_cpu_s", "s", "lower", "CPU time of compactions"),
        Metric("cpu_s", "s", "lower", "CPU time of the engine during load and settle"),
        Metric("others_cpu_percent", "%", None,
               "share of the machine's CPU time that other processes used during the trial"),
        Metric("disk_write_bytes", "bytes", "lower",
               "bytes that the process wrote to the disk during load and settle, including logs, "
               "as counted by the kernel"),
        Metric("disk_write_amp", "ratio", "lower",
               "disk_write_bytes / user bytes"),
        Metric("disk_bytes", "bytes", "lower", "size of all files of the store after settling"),
        Metric("build_s", "s", "lower",
               "time to build the database before the load and to settle it"),
        Metric("peak_rss_bytes", "bytes", "lower", "maximum resident memory of the engine"),
    ]
}  # fmt: skip


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
        raise UserError(f"{where}: {unknown_word('metric', name, names)}")
    return found
