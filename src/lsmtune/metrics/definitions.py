"""All metrics of lsmtune: unit, direction, meaning, and where they are shown.

Metrics of reads are measured during the load if the workload reads, otherwise by the probe after
it. If the workload only reads, metrics of written bytes are those of the build of the database.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import signature
from typing import Literal

from lsmtune.entries import Known
from lsmtune.errors import UserError, unknown_word

View = Literal["progress", "importance", "sweep", "page", "simulation"]
"""What shows metrics that nobody asked for: lines of progress, the analyses of a screening and of a
sweep, the charts of a study's page, and the page of simulated runs."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured quantity.

    name           the name in objectives, limits and JSON
    unit           such as "bytes", "s", "us", "ops/s" or "ratio"
    better         the better direction; None for a metric that cannot be an objective
    meaning        what it is, for a reference
    window         what it is in the window of a running store; "": the same
    label          the name in a sentence; "": the name with spaces
    group          the heading under which a reference lists it
    shown          for each view, the kinds of workloads (write, read, mixed) for which it shows it;
                   for the page also "running", a running store
    formula        gives it from the other metrics of a run, which it names as its arguments; None:
                   the engine measures it
    needs_flushes  whether it depends on how many compactions ran: after a few flushes, by chance
    """

    name: str
    unit: str
    better: Literal["lower", "higher"] | None
    meaning: str
    label: str = ""
    group: str = "other"
    shown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    needs_flushes: bool = False
    formula: Callable[..., float] | None = field(default=None, compare=False)
    window: str = ""

    @property
    def told(self) -> str:
        """The name for a sentence."""
        return self.label or self.name.replace("_", " ")


_ALL = "write read mixed"
_ALSO_RUNNING = "write read mixed running"
_WRITES, _SPACE, _TIME = "writes and compactions", "space", "time and throughput"
_LATENCY, _TRANSACTIONS = "latency", "transactions"
_READS, _MACHINE = "reads and caches", "CPU, memory and disk"
RUNNING = "running store"
"""Group of the metrics that only a trial of a running store has."""


def _on(**kinds: str) -> Mapping[str, tuple[str, ...]]:
    """Return the kinds of workloads by view, from words such as "write mixed"."""
    return {view: tuple(text.split()) for view, text in kinds.items()}


_FROM_DUE = ("p99", "p999", "p9999")
"""Percentiles of a running store that count from the time at which an operation was due."""


def _latencies(
    prefix: str, what: str, short: str = "", note: str = "", **page: str
) -> list[Metric]:
    """Return the latencies of a kind of operation; `page` has the kinds of workloads by rank."""
    ranks = {"p50": "50", "p75": "75", "p99": "99", "p999": "99.9", "p9999": "99.99"}
    short = short or what
    return [
        Metric(f"{prefix}_mean_us", "us", "lower", f"mean latency of {what}{note}",
               f"mean latency of {short}", _LATENCY,
               window=f"mean time from the start of an operation to its end, of {what}"),
        *(
            Metric(
                f"{prefix}_{p}_us",
                "us",
                "lower",
                f"latency that {rank} % of all {what} do not exceed{note}",
                f"p{rank} latency of {short}",
                _LATENCY,
                window=f"time that {rank} % of all {what} do not exceed, "
                + ("from the due time to the end" if p in _FROM_DUE else "from start to end"),
                shown=_on(page=page.get(p, "")),
            )
            for p, rank in ranks.items()
        ),
    ]  # fmt: skip


_BUILT_IN = (
    Metric("write_amp", "ratio", "lower",
           "write amplification: bytes written by flushes and compactions / bytes "
           "written by the clients; for workloads that only read, measured while the"
           " database is built",
           label="write amplification", group=_WRITES, needs_flushes=True,
           window="bytes written by flushes, compactions and into blob files in the window, and"
           " those that are owed more at its end / bytes written by the clients",
           shown=_on(progress="write mixed", importance="write mixed", sweep="write mixed",
                     page=_ALSO_RUNNING, simulation="write")),
    Metric("wal_inclusive_write_amp", "ratio", "lower",
           "write amplification, including the bytes written to the write-ahead log",
           label="write amplification with WAL", group=_WRITES, needs_flushes=True),
    Metric("w_amp_table", "ratio", "lower",
           "column W-Amp of RocksDB's compaction table: bytes written by flushes and"
           " compactions / size of the flushed files after compression",
           label="table W-Amp", group=_WRITES, needs_flushes=True),
    Metric("flushes", "flushes", None,
           "number of flushes of memtables during the load",
           group=_WRITES),
    Metric("flush_write_bytes", "bytes", "lower",
           "bytes written by flushes",
           label="bytes written by flushes", group=_WRITES),
    Metric("compact_write_bytes", "bytes", "lower",
           "bytes written by compactions",
           label="bytes written by compactions", group=_WRITES, needs_flushes=True),
    Metric("compact_read_bytes", "bytes", "lower",
           "bytes read by compactions",
           label="bytes read by compactions", group=_WRITES, needs_flushes=True),
    Metric("background_jobs", "jobs", "lower",
           "number of flushes and compactions",
           label="flushes and compactions", group=_WRITES),
    Metric("background_s", "s", "lower",
           "sum of the durations of all flushes and compactions; the durations of "
           "parallel jobs are added",
           label="time of flushes and compactions", group=_WRITES),
    Metric("live_sst_bytes", "bytes", "lower",
           "size of live table files and blob files, after all compactions have "
           "finished",
           label="live space", group=_SPACE,
           window="size of live table files and blob files, mean over the window",
           shown=_on(progress=_ALL, importance=_ALL, sweep=_ALL, page=_ALSO_RUNNING,
                     simulation="write")),
    Metric("peak_space_bytes", "bytes", "lower",
           "largest size of the database directory during the trial",
           label="peak space", group=_SPACE,
           window="largest size of the files of the store in the window",
           shown=_on(page=_ALSO_RUNNING, simulation="write")),
    Metric("space_amp", "ratio", "lower",
           "space amplification: live_sst_bytes / uncompressed size of the live "
           "records",
           label="space amplification", group=_SPACE,
           shown=_on(page=_ALL)),
    Metric("load_s", "s", "lower",
           "duration of the load",
           label="load time", group=_TIME,
           shown=_on(page="write mixed", simulation="write", progress="write")),
    Metric("settle_s", "s", "lower",
           "time from the end of the load to the last flush or compaction",
           label="settle time", group=_TIME,
           shown=_on(page="write mixed", simulation="write", progress="write mixed")),
    Metric("total_s", "s", "lower",
           "load_s + settle_s",
           label="load + settle time", group=_TIME,
           formula=lambda load_s, settle_s: load_s + settle_s,
           shown=_on(simulation="write", importance="write", sweep="write")),
    Metric("throughput_ops_s", "ops/s", "higher",
           "operations per second during the load",
           label="throughput", group=_TIME,
           shown=_on(progress="read mixed", importance=_ALL, sweep="read", page=_ALL)),
    Metric("sustained_ops_s", "ops/s", "higher",
           "operations of the load / (load_s + settle_s)",
           label="sustained throughput", group=_TIME,
           formula=lambda throughput_ops_s, load_s, total_s: throughput_ops_s * load_s / total_s,
           shown=_on(page="write mixed", sweep="mixed")),
    Metric("rate_mb_s", "MiB/s", "higher",
           "user data per second during the load; db_bench prints this number as "
           "MB/s",
           label="data rate", group=_TIME,
           shown=_on(sweep="write")),
    Metric("stall_s", "s", "lower",
           "time during which writes were delayed or stopped",
           label="stall time", group=_TIME,
           window="time in the window during which writes were delayed or stopped",
           shown=_on(page="write mixed running", simulation="write", sweep="write")),
    Metric("stall_percent", "%", "lower",
           "stall_s as a percentage of load_s",
           label="share of stall time", group=_TIME,
           shown=_on(progress="write")),
    *_latencies("write", "writes", p50="write mixed running", p99="write mixed running",
                p999="running", p9999="write mixed"),
    *_latencies("get", "gets",
               note="; if the load does not read, measured with gets of existing keys after the "
                    "load", p50=_ALSO_RUNNING, p99=_ALSO_RUNNING),
    *_latencies("get_missing", "gets of missing keys", p50=_ALSO_RUNNING, p99=_ALSO_RUNNING),
    *_latencies("scan", "scans", p50=_ALSO_RUNNING, p99=_ALSO_RUNNING),
    Metric("tpmc", "1/min", "higher",
           "TPC-C new orders per minute; not an official TPC result",
           label="new orders per minute", group=_TRANSACTIONS,
           shown=_on(page="mixed")),
    *_latencies("new_order", "TPC-C New-Order transactions", "new orders", p50="mixed",
                p99="mixed"),
    *_latencies("payment", "TPC-C Payment transactions", "payments", p99="mixed"),
    *_latencies("order_status", "TPC-C Order-Status transactions", "order-status queries"),
    *_latencies("delivery", "TPC-C Delivery transactions of ten districts each", "deliveries"),
    *_latencies("stock_level", "TPC-C Stock-Level transactions", "stock-level queries"),
    *_latencies("transaction", "sysbench transactions", "transactions", p99="mixed"),
    Metric("failed_percent", "%", "lower",
           "share of the operations that failed during the load, for example because"
           " of write conflicts between transactions",
           label="share of failed operations", group=_TRANSACTIONS),
    Metric("retries", "transactions", "lower",
           "number of transactions that were repeated after a deadlock or conflict",
           label="retried transactions", group=_TRANSACTIONS),
    Metric("read_amp", "ratio", "lower",
           "block cache misses per get or scan, including reads by compactions",
           label="read amplification", group=_READS,
           shown=_on(page="read mixed", progress="read", importance="read", sweep="read")),
    Metric("block_reads", "ratio", "lower",
           "blocks read into the block cache per get or scan; reads by compactions "
           "are not included",
           label="blocks read", group=_READS),
    Metric("cache_hit_data", "ratio", "higher",
           "share of lookups of data blocks that found the block in the block cache",
           label="cache hits for data blocks", group=_READS,
           shown=_on(page="read mixed")),
    Metric("cache_hit_index", "ratio", "higher",
           "share of lookups of index blocks that found the block in the block cache",
           label="cache hits for index blocks", group=_READS,
           shown=_on(page="read mixed")),
    Metric("cache_hit_filter", "ratio", "higher",
           "share of lookups of filter blocks that found the block in the block "
           "cache",
           label="cache hits for filter blocks", group=_READS,
           shown=_on(page="read mixed")),
    Metric("bloom_useful", "ratio", "higher",
           "number of block reads that filters avoided, per get or scan",
           label="reads saved by filters", group=_READS,
           shown=_on(page="read mixed")),
    Metric("get_data_blocks", "blocks", "lower",
           "lookups of data blocks in the block cache per get of an existing key, "
           "hits and misses; counted in the reads after a load of writes. The number"
           " does not depend on the size of the block cache",
           label="data blocks per get", group=_READS,
           window="data blocks that a get of an existing key looks up, mean over the window",
           shown=_on(page="running")),
    Metric("get_missing_data_blocks", "blocks", "lower",
           "lookups of data blocks in the block cache per get of a missing key, hits"
           " and misses; counted in the reads after a load of writes",
           label="data blocks per missing key", group=_READS,
           window="data blocks that a get of a missing key looks up, mean over the window",
           shown=_on(page="running")),
    Metric("scan_sorted_runs", "sorted runs", "lower",
           "sorted runs that a scan merges: files of level 0, and other levels with "
           "files; counted after a load of writes, when all compactions have "
           "finished",
           label="sorted runs per scan", group=_READS,
           window="sorted runs that a scan merges, mean over the window",
           shown=_on(page="running")),
    Metric("get_found", "ratio", None,
           "share of the gets during the load that found a record",
           label="gets that found a record", group=_READS),
    Metric("memtable_hit", "ratio", "higher",
           "share of the gets during the load that a memtable answered",
           label="gets answered by a memtable", group=_READS),
    Metric("capacity_ops_s", "ops/s", "higher",
           "operations per second that the store can take: those of all clients without a limit,"
           " less what the store owes in compactions at the end",
           label="capacity", group=RUNNING,
           shown=_on(progress="write mixed", importance="write mixed", sweep="write mixed",
                     page="write mixed running")),
    Metric("cpu_us_per_op", "us", "lower",
           "CPU time of the store per operation: background threads, and the clients inside its"
           " calls; waiting does not count",
           label="CPU per operation", group=RUNNING,
           shown=_on(page=_ALSO_RUNNING, importance="write mixed", sweep="write mixed")),
    Metric("read_cost", "ratio", "lower",
           "work of the reads of the workload: the product of data blocks per get + 0.25, data"
           " blocks per get of a missing key + 0.25 and sorted runs per scan + 1, each to the"
           " power of its share of the reads",
           label="read cost", group=RUNNING),
    Metric("overload", "ratio", "lower",
           "how far the store is from keeping the rate: 1 or less keeps it. It is behind_s / 2 %"
           " of the window, or growth of the owed compactions / a tenth of the written bytes, but"
           " the latter only as far as the rate is above capacity_ops_s; at least 0.5",
           label="overload", group=RUNNING),
    Metric("behind_s", "s", "lower",
           "median time by which operations began late in the last quarter of the window",
           label="lateness", group=RUNNING),
    Metric("level0_files", "files", "lower",
           "files of level 0, mean over the window",
           label="files of level 0", group=RUNNING,
           shown=_on(page=_ALL)),
    Metric("pending_bytes", "bytes", "lower",
           "bytes that compactions still have to write, mean over the window",
           label="owed compactions", group=RUNNING),
    Metric("memtable_bytes", "bytes", "lower",
           "memory of memtables, mean over the window",
           label="memory of memtables", group=RUNNING),
    Metric("old_percent", "%", None,
           "share of the live bytes at the end of the window in files that are older than the"
           " opening of the store with the config",
           label="share of the baseline's files", group=RUNNING),
    Metric("wakeup_p99_us", "us", None,
           "p99 of the time from the due time of an operation to its begin, of operations that"
           " found no queue: the delay of the machine, not of the store",
           label="p99 wake-up delay", group=RUNNING),
    Metric("driver_cpu_percent", "%", None,
           "CPU time of lsmtune's driver outside the store, as a share of the usable cores",
           label="CPU use of the driver", group=RUNNING),
    Metric("compaction_cpu_s", "s", "lower",
           "CPU time of compactions",
           label="CPU time of compactions", group=_MACHINE),
    Metric("cpu_s", "s", "lower",
           "CPU time of the engine during the load and until all compactions have "
           "finished",
           label="CPU time", group=_MACHINE,
           shown=_on(page=_ALL, simulation="write")),
    Metric("others_cpu_percent", "%", None,
           "share of the machine's CPU time that other processes used during the "
           "trial",
           label="CPU use of other processes", group=_MACHINE),
    Metric("disk_write_bytes", "bytes", "lower",
           "bytes that the engine wrote to the disk, including logs, from the start "
           "of the load until all compactions have finished (counted by the kernel)",
           label="bytes written to disk", group=_MACHINE),
    Metric("disk_write_amp", "ratio", "lower",
           "disk_write_bytes / user bytes",
           label="disk write amplification", group=_MACHINE, needs_flushes=True),
    Metric("disk_bytes", "bytes", "lower",
           "size of all files of the store, after all its background work has finished",
           label="disk space", group=_SPACE),
    Metric("build_s", "s", "lower",
           "time to build the database before the load, including all compactions of"
           " the build",
           label="build time", group=_TIME,
           shown=_on(page="read mixed")),
    Metric("memory_bytes", "bytes", "lower",
           "memory that the full-size tree needs at most: memtables, block cache, "
           "row cache, and index and filter blocks outside the block cache",
           label="computed memory at full size", group=_MACHINE),
    Metric("peak_rss_bytes", "bytes", "lower",
           "maximum resident memory of the engine",
           label="peak memory", group=_MACHINE,
           shown=_on(page=_ALSO_RUNNING)),
    Metric("table_readers_bytes", "bytes", "lower",
           "memory of open tables outside the block cache, mostly for indexes and "
           "filters, after all compactions have finished",
           label="memory of open tables", group=_MACHINE),
)  # fmt: skip

METRICS: Known[Metric] = Known(
    {metric.name: metric for metric in _BUILT_IN},
    lambda entry: ((metric.name, metric) for metric in entry.own_metrics),
)
"""The metrics by name: those of lsmtune, and those that other engines bring along."""


def with_formulas(measured: Mapping[str, float], own: Iterable[Metric] = ()) -> dict[str, float]:
    """Return the metrics of a run, and those that follow from them.

    `own` has the metrics that only the engine has. A metric is left out if the run lacks one that
    its formula needs, or for a division by 0.
    """
    found = dict(measured)
    for one in (*METRICS.built_in.values(), *own):
        if one.name in found or one.formula is None:
            continue
        needed = signature(one.formula).parameters
        if found.keys() >= needed.keys():
            with suppress(ZeroDivisionError):
                found[one.name] = one.formula(**{name: found[name] for name in needed})
    return found


def shown_metrics(
    view: View, kind: str, measured: Collection[str] | None = None
) -> tuple[str, ...]:
    """Return the metrics that a view shows for a kind of workload, without being asked for.

    `measured` has the metrics of the engine, if they are known. An engine that measures none of
    the usual ones shows all of its own.
    """
    names = METRICS.built_in if measured is None else METRICS.among(measured)
    usual = tuple(name for name in names if kind in METRICS[name].shown.get(view, ()))
    return usual if usual or measured is None else tuple(sorted(measured))


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
