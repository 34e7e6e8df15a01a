"""Every metric of lsmtune: its unit, which way is better, what it means.

What concerns reads is of the load itself where it reads, else of the probe that follows it; what
concerns written bytes is of the building of the database where the load only reads.
"""

import re
from dataclasses import dataclass
from typing import Literal

from lsmtune.errors import UserError


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured quantity. `better` is None for what is reported but never asked for."""

    name: str
    unit: str
    better: Literal["lower", "higher"] | None
    meaning: str


def _latencies(prefix: str, what: str) -> list[Metric]:
    names = {"p50": "median", "p75": "75 %", "p99": "99 %", "p999": "99.9 %", "p9999": "99.99 %"}
    return [
        Metric(f"{prefix}_mean_us", "us", "lower", f"mean time of {what}"),
        *(
            Metric(f"{prefix}_{p}_us", "us", "lower", f"{share} of {what} were no slower")
            for p, share in names.items()
        ),
    ]


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in [
        Metric("write_amp", "ratio", "lower",
               "exact write amplification: flushed and compacted bytes over user bytes; of the "
               "building of the database where the load only reads"),
        Metric("wal_inclusive_write_amp", "ratio", "lower",
               "exact write amplification with the bytes of the write-ahead log"),
        Metric("w_amp_table", "ratio", "lower",
               "W-Amp of RocksDB's table: over flushed, already compressed bytes"),
        Metric("flush_write_bytes", "bytes", "lower", "bytes written by flushes"),
        Metric("compact_write_bytes", "bytes", "lower", "bytes written by compactions"),
        Metric("compact_read_bytes", "bytes", "lower", "bytes read by compactions"),
        Metric("background_jobs", "jobs", "lower", "flushes and compactions that ran"),
        Metric("background_s", "s", "lower",
               "time of all flushes and compactions; those side by side count each"),
        Metric("live_sst_bytes", "bytes", "lower", "size of the live tables once settled"),
        Metric("peak_space_bytes", "bytes", "lower",
               "largest size of the database directory during the trial"),
        Metric("space_amp", "ratio", "lower",
               "live tables over the logical size of the distinct records"),
        Metric("load_s", "s", "lower", "time of the load"),
        Metric("settle_s", "s", "lower", "from the load's end to the last flush or compaction"),
        Metric("total_s", "s", "lower", "load and settle time"),
        Metric("throughput_ops_s", "ops/s", "higher", "operations a second of the load"),
        Metric("sustained_ops_s", "ops/s", "higher",
               "operations of the load over load and settle time"),
        Metric("rate_mb_s", "MB/s", "higher", "user data a second of the load"),
        Metric("stall_s", "s", "lower", "time for which writes were delayed or stopped"),
        Metric("stall_percent", "%", "lower", "stall time as a share of the load time"),
        *_latencies("write", "the writes"),
        *_latencies("get", "the gets (in a probe: of keys that exist)"),
        *_latencies("get_missing", "the gets of keys that do not exist"),
        *_latencies("scan", "the scans"),
        Metric("tpmc", "1/min", "higher", "new orders of TPC-C a minute; no official result"),
        *_latencies("new_order", "TPC-C's new orders"),
        *_latencies("payment", "TPC-C's payments"),
        *_latencies("order_status", "TPC-C's looks at an order"),
        *_latencies("delivery", "TPC-C's deliveries, of ten districts each"),
        *_latencies("stock_level", "TPC-C's looks at the stock"),
        *_latencies("transaction", "sysbench's transactions"),
        Metric("retries", "transactions", "lower",
               "transactions that ran again after a deadlock or a conflict"),
        Metric("read_amp", "ratio", "lower", "blocks read past the block cache a get or scan"),
        Metric("block_reads", "ratio", "lower",
               "blocks read into the block cache a get or scan; what compactions read for "
               "themselves does not count, as it does in read_amp under writes"),
        Metric("cache_hit_data", "ratio", "higher", "data blocks found in the block cache"),
        Metric("cache_hit_index", "ratio", "higher", "index blocks found in the block cache"),
        Metric("cache_hit_filter", "ratio", "higher",
               "filter blocks found in the block cache"),
        Metric("bloom_useful", "ratio", "higher",
               "block reads that filters spared, a get or scan"),
        Metric("get_found", "ratio", None, "gets of the load that found a record, as a share"),
        Metric("memtable_hit", "ratio", "higher",
               "gets of the load that a memtable answered, as a share"),
        Metric("compaction_cpu_s", "s", "lower", "CPU time of the compactions"),
        Metric("cpu_s", "s", "lower", "CPU time of the engine during load and settling"),
        Metric("others_cpu_percent", "%", None,
               "share of the machine's CPU time that others used during the trial"),
        Metric("disk_write_bytes", "bytes", "lower",
               "bytes that the process handed to the disk while it loaded and settled, logs "
               "included, as the kernel counts them"),
        Metric("disk_write_amp", "ratio", "lower",
               "bytes that the process handed to the disk, over user bytes"),
        Metric("disk_bytes", "bytes", "lower", "size of all files of the store once settled"),
        Metric("build_s", "s", "lower",
               "time to build the database before a load that needs one, until it has settled"),
        Metric("peak_rss_bytes", "bytes", "lower", "largest resident memory of the engine"),
    ]
}  # fmt: skip


_SPOKEN = re.compile(r"(p\d+|mean)_(\w+)_us")
"""A latency's name as people say it, p99_write_us: known as write_p99_us."""


def canonical(name: str) -> str:
    """The name of a metric as METRICS has it, from how people write it; others stay as they are."""
    return _SPOKEN.sub(r"\2_\1_us", name)


def metric(name: str, where: str) -> Metric:
    """The metric of that name that can be asked for; UserError naming `where` otherwise."""
    found = METRICS.get(canonical(name))
    if found is None or found.better is None:
        known = ", ".join(m.name for m in METRICS.values() if m.better)
        raise UserError(f"{where}: {name!r} is no metric; known are {known}")
    return found
