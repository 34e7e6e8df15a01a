"""Flushes of memtables that are not full, and limits of the WAL and of memtables."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS
from lsmtune.analysis.inspect.rules.rule import Rule, percent
from lsmtune.units import GIB, MIB, format_bytes

_FORCED_SHARE = 0.3
_FORCED = {
    "WAL Full": ("wal-limit", "max_total_wal_size"),
    "Write Buffer Manager": ("memory-limit", "db_write_buffer_size"),
    "Write Buffer Manager Initiated": ("memory-limit", "db_write_buffer_size"),
}
_SLOW_FLUSH_MB_S = 8.0
_LEAST_FLUSHES = 3
_LARGE_WAL = 8 * GIB


def _forced_flushes(log: Inspection) -> Iterator[Finding]:
    reasons = [job.reason for job in log.jobs if job.kind == "flush" and job.reason]
    for reason in sorted({reason for reason in reasons if reason in _FORCED}):
        code, option = _FORCED[reason]
        share = reasons.count(reason) / len(reasons)
        if share >= _FORCED_SHARE:
            yield Finding(
                code, f"RocksDB flushes memtables that are not full (reason: {reason})",
                f"{percent(share)} of {len(reasons)} flushes have the reason “{reason}”.",
                (option,), share / 2,
            )  # fmt: skip


def _slow_flushes(log: Inspection) -> Iterator[Finding]:
    """Row 57 of the complaints: a device, or a limit, that writes a few MB/s."""
    flushes = [job for job in log.jobs if job.kind == "flush" and job.table_bytes]
    seconds = sum(job.duration_s or 0.0 for job in flushes)
    written = sum(job.table_bytes or 0 for job in flushes)
    if len(flushes) < _LEAST_FLUSHES or written < 16 * MIB or not seconds:
        return
    rate = written / MIB / seconds
    if rate < _SLOW_FLUSH_MB_S:
        yield Finding(
            "slow-flushes", "Flushes write only a few MiB per second",
            f"{len(flushes)} flushes wrote {format_bytes(written)} in {seconds:.3g} s: {rate:.2g} "
            "MiB/s. Check the device, and a rate limiter if the store has one.",
            ("rate_limiter_bytes_per_sec", "bytes_per_sync", "max_background_jobs"), 0.4,
        )  # fmt: skip


def _large_wal(log: Inspection) -> Iterator[Finding]:
    """Row 19: idle families keep the WAL, and nothing limits its size."""
    if len(log.families) < 2 or log.option("max_total_wal_size") not in ("0", None):  # noqa: PLR2004
        return
    memory = log.memtable_bytes
    if 4 * memory >= _LARGE_WAL:
        yield Finding(
            "wal-unlimited", "The WAL can grow to many times the size of the memtables",
            f"max_total_wal_size is 0, so the limit is {format_bytes(4 * memory)}: 4 times the "
            f"memtables of {len(log.families)} families. An idle family keeps the WAL until its "
            "flush.",
            ("max_total_wal_size",), 0.15,
        )  # fmt: skip


RULES = (
    Rule(_forced_flushes, (EVENTS,)),
    Rule(_slow_flushes, (EVENTS,)),
    Rule(_large_wal, (OPTIONS,)),
)
