"""Metrics that an engine measures, where the suite may have to run without it."""

_SPEED = ("load_s", "settle_s", "total_s", "throughput_ops_s", "sustained_ops_s")
_COST = ("cpu_s", "others_cpu_percent", "peak_rss_bytes", "live_sst_bytes", "peak_space_bytes",
         "disk_write_bytes", "disk_bytes")  # fmt: skip
_LATENCIES = tuple(
    f"{kind}_{rank}_us"
    for kind in ("write", "get", "get_missing", "scan")
    for rank in ("p50", "p75", "p99", "p999", "p9999")
)

MYROCKS = frozenset({
    *_SPEED, *_COST, *_LATENCIES, "write_amp", "wal_inclusive_write_amp", "flushes",
    "flush_write_bytes", "compact_write_bytes", "compact_read_bytes", "stall_s", "stall_percent",
    "background_jobs", "background_s", "read_amp", "bloom_useful", "rate_mb_s",
})  # fmt: skip
"""Metrics of MyRocks after writes of records. It also measures means and what few loads have."""

EMBEDDED = frozenset({*_SPEED, *_COST, *_LATENCIES, "rate_mb_s", "disk_write_amp", "space_amp"})
"""Metrics of every embedded store after random writes. LSM stores also have `write_amp`."""
