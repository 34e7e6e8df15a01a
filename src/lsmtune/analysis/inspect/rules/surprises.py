"""Work that users do not expect: periodic compactions, manual ones, FIFO that drops data."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, TICKERS
from lsmtune.analysis.inspect.rules.rule import Rule, percent, quoted, share_of_reason

_MUCH = 0.2
_MOST = 0.5
_TIMED = {"PeriodicCompaction": "periodic_compaction_seconds", "Ttl": "ttl"}
_LEAST_SYNCS = 100


def _timed_compactions(log: Inspection) -> Iterator[Finding]:
    """Row 42."""
    for reason, option in _TIMED.items():
        share = share_of_reason(log, reason)
        if share >= _MUCH:
            value = log.option(option)
            yield Finding(
                "timed-compactions", "Compactions run because files are old, not because of writes",
                f"{percent(share)} of the compacted bytes have the reason {reason}."
                + (f" {option} is {value}." if value else ""),
                (option,), 0.5 * share,
            )  # fmt: skip


def _manual_compactions(log: Inspection) -> Iterator[Finding]:
    """Row 8."""
    share = share_of_reason(log, "ManualCompaction")
    if share >= _MOST and log.stalls:
        yield Finding(
            "manual-compaction", "A manual compaction ran while writes stalled",
            f"{percent(share)} of the compacted bytes have the reason ManualCompaction. A "
            "program called CompactRange.",
            ("exclusive_manual_compaction",), 0.4 * share,
        )  # fmt: skip


def _fifo_drops(log: Inspection) -> Iterator[Finding]:
    """Row 53."""
    if "FIFO drops" in log.notices:
        yield Finding(
            "fifo-drops", "FIFO compaction deletes the oldest data",
            f"{quoted(log, 'FIFO drops')} RocksDB deletes the oldest files above the limit of the "
            "total size.",
            ("fifo_max_table_files_size", "ttl"), 0.5,
        )  # fmt: skip


def _no_space(log: Inspection) -> Iterator[Finding]:
    """Row 40."""
    if "no space" in log.notices:
        yield Finding(
            "disk-full", "The disk was full: RocksDB may refuse writes until it is opened again",
            quoted(log, "no space"), (), 0.99,
        )  # fmt: skip


def _syncs(log: Inspection) -> Iterator[Finding]:
    """Row 60."""
    syncs, writes = log.ticker("wal.synced"), log.ticker("write.wal")
    if syncs >= _LEAST_SYNCS and writes and syncs / writes > _MOST:
        yield Finding(
            "sync-writes", "Each write waits until the device has stored it",
            f"RocksDB synced the WAL {syncs:,} times for {writes:,} writes.",
            ("wal_bytes_per_sync", "recycle_log_file_num"), 0.3 * min(1.0, syncs / writes),
        )  # fmt: skip


RULES = (
    Rule(_timed_compactions, (EVENTS,)),
    Rule(_manual_compactions, (EVENTS,)),
    Rule(_fifo_drops, (EVENTS,)),
    Rule(_no_space, (EVENTS,)),
    Rule(_syncs, (TICKERS, OPTIONS)),
)
