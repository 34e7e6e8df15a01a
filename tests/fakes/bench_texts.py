"""Texts of db_bench and reports of benchmark.sh with own numbers, for tests of comparisons."""

from collections.abc import Sequence

NEW_HEADER = (
    "ops_sec", "mb_sec", "lsm_sz", "blob_sz", "c_wgb", "w_amp", "c_mbps", "c_wsecs", "c_csecs",
    "b_rgb", "b_wgb", "usec_op", "p50", "p99", "p99.9", "p99.99", "pmax", "uptime", "stall%",
    "Nstall", "u_cpu", "s_cpu", "rss", "test", "date", "version", "job_id", "githash",
)  # fmt: skip
MIDDLE_HEADER = (
    "ops_sec", "mb_sec", "total_size_gb", "level0_size_gb", "sum_gb", "write_amplification",
    "write_mbps", "usec_op", "percentile_50", "percentile_75", "percentile_99", "percentile_99.9",
    "percentile_99.99", "uptime", "stall_time", "stall_percent", "test_name", "test_date",
    "rocksdb_version", "job_id",
)  # fmt: skip
OLD_HEADER = (
    "ops/sec", "mb/sec", "Size-GB", "L0_GB", "Sum_GB", "W-Amp", "W-MB/s", "usec/op", "p50", "p75",
    "p99", "p99.9", "p99.99", "Uptime", "Stall-time", "Stall%", "Test",
)  # fmt: skip


def report(*rows: Sequence[str], header: Sequence[str] = NEW_HEADER) -> str:
    """Return a report with the comments above it that the script writes."""
    lines = ["# ops_sec - operations per second", "# test - Name of test"]
    return "\n".join([*lines, "\t".join(header), *("\t".join(row) for row in rows), ""])


def row(
    ops: float, test: str = "overwrite.t8.s0", version: str = "9.4.0", **cells: str
) -> tuple[str, ...]:
    """Return a row of the new report; names of cells that are no identifiers end with `_`."""
    values = dict.fromkeys(NEW_HEADER, "") | {
        "ops_sec": f"{ops:.0f}", "mb_sec": f"{ops * 420 / 2**20:.1f}", "lsm_sz": "21GB",
        "blob_sz": "0GB", "c_wgb": "310.5", "w_amp": "6.4", "c_mbps": "170.0", "c_wsecs": "800",
        "c_csecs": "950", "b_rgb": "0", "b_wgb": "0", "usec_op": f"{8e6 / ops:.1f}",
        "p50": "41.5", "p99": "410", "p99.9": "1900", "p99.99": "9000", "pmax": "61000",
        "uptime": "1800", "stall%": "12.5", "u_cpu": "4.1", "s_cpu": "0.6", "rss": "NA",
        "test": test, "date": "2024-07-02T01:02:03", "version": version, "githash": "0a1b2c3d4e",
    }  # fmt: skip
    return tuple({**values, **cells}[name] for name in NEW_HEADER)


def banner(
    version: str = "9.4.0",
    records: int = 2_000_000,
    value_bytes: int = 120,
    warning: str = "",
    path: str = "store",
) -> str:
    """Return the banner of db_bench."""
    return f"""RocksDB:    version {version}
Date:       Tue Jul  2 01:02:03 2024
CPU:        4 * Some Processor
CPUCache:   1024 KB
Keys:       20 bytes each (+ 0 bytes user-defined timestamp)
Values:     {value_bytes} bytes each ({value_bytes // 2} bytes after compression)
Entries:    {records}
Prefix:    0 bytes
RawSize:    1.0 MB (estimated)
Write rate: 0 bytes/second
Read rate: 0 ops/second
Compression: Snappy
Memtablerep: SkipListFactory
Perf Level: 1
{warning}------------------------------------------------
DB path: [{path}]
"""


def result(name: str, ops: int, threads: int = 4, operations: int = 2_000_000) -> str:
    """Return a result line in the format since RocksDB 7.3."""
    micros, seconds = threads * 1e6 / ops, operations / ops
    return (
        f"{name:12} : {micros:11.3f} micros/op {ops} ops/sec {seconds:.3f} seconds {operations} "
        f"operations;   {ops * 140 / 2**20:.1f} MB/s\n"
    )


def histogram(p50: float, p99: float, operation: str = "write") -> str:
    """Return the histogram that --histogram prints below a result."""
    return f"""Microseconds per {operation}:
Count: 2000000 Average: {p50:.4f}  StdDev: 3.05
Min: 1  Median: {p50:.4f}  Max: 12345
Percentiles: P50: {p50:.2f} P75: {p50 * 1.5:.2f} P99: {p99:.2f} P99.9: {p99 * 3:.2f} P99.99: {p99 * 9:.2f}
------------------------------------------------------
"""  # noqa: E501 - one line of db_bench


def statistics(ingest_gb: float, written_gb: float, stalled_percent: float) -> str:
    """Return the part of the statistics with write amplification and stalls."""
    return f"""
** DB Stats **
Uptime(secs): 100.0 total, 100.0 interval
Cumulative writes: 2000K writes, 2000K keys, 2000K commit groups, 1.0 writes per commit group, ingest: {ingest_gb:.2f} GB, 30.00 MB/s
Cumulative WAL: 2000K writes, 0 syncs, 2000000.00 writes per sync, written: {ingest_gb:.2f} GB, 30.00 MB/s
Cumulative compaction: {written_gb:.2f} GB write, 90.00 MB/s write, 1.00 GB read, 10.00 MB/s read, 9.0 seconds
Cumulative stall: 00:00:{stalled_percent:06.3f} H:M:S, {stalled_percent:.1f} percent
"""  # noqa: E501 - lines of RocksDB
