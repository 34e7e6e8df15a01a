"""Reads and writes of the device: readahead, and syncs."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPTIONS, TICKERS, VERSION
from lsmtune.analysis.inspect.rule import NO_OBJECT, ON, FirstSteps, Rule, is_old_tikv, version_in
from lsmtune.units import MIB

_LEAST_SYNCS = 100
_MOST = 0.5
_FEW_SYNCS_S = 2.0
"""Even a slow device syncs as often as this in a second, so that writers seldom wait for it."""
_MANY_KEYS = 100
"""Writes with more keys than this are large batches already."""
_SLOW_SYNC_MICROS = 500_000
_FEWEST_TABLES = 20
_PREFETCH_BY_OPTION = "8.6"
_RECYCLES_BY_DEFAULT = "9.1"


def _no_readahead(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for compactions that read without readahead.

    DBOptions::compaction_readahead_size: direct reads need the option, and since 8.6 all reads
    (facebook/rocksdb#11631 and #11762, HISTORY.md of 8.7). TiKV has RocksDB 8.10 since 8.4
    (tikv/tikv#17617 and #19721).
    """
    if log.number("compaction_readahead_size") != 0:
        return
    direct = [
        name
        for name in ("use_direct_reads", "use_direct_io_for_flush_and_compaction")
        if log.option(name) in ON
    ]
    if direct:
        why, weight = f"{direct[0]} is set, and", 0.4
    elif version_in(log, _PREFETCH_BY_OPTION):
        why, weight = f"The {log.kind} is of RocksDB {log.version}, and", 0.15
    elif log.kind == "tikv.toml" and not is_old_tikv(log):
        why, weight = "TiKV 8.4 and newer have a RocksDB that needs this option, and", 0.15
    else:
        return
    yield Finding(
        "no-readahead", "Compactions read one block at a time from the device",
        f"{why} compaction_readahead_size is 0.",
        ("compaction_readahead_size",), weight,
    )  # fmt: skip


def _slow_syncs(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for long syncs of whole tables.

    DBOptions::bytes_per_sync; facebook/rocksdb#5183. Spikes with write stalls come from the
    stalls.
    """
    synced = log.histograms.get("rocksdb.table.sync.micros")
    uneven = log.number("bytes_per_sync") == 0 and log.option("rate_limiter") in NO_OBJECT
    direct = log.option("use_direct_io_for_flush_and_compaction") in ON
    if synced is None or (synced.count or 0) < _FEWEST_TABLES or not uneven or direct:
        return
    if synced.p99 >= _SLOW_SYNC_MICROS and not log.stalls:
        yield Finding(
            "slow-syncs", "The device stores whole files at once, which can delay other requests",
            f"bytes_per_sync is 0, and the sync of a table took up to {synced.p99 / 1e6:.2g} s "
            f"(99th percentile of {synced.count:,} syncs).",
            ("bytes_per_sync", "strict_bytes_per_sync", "rate_limiter_bytes_per_sec"), 0.25,
        )  # fmt: skip


def _syncs(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for writes that wait for a sync each, from tickers or the last dump.

    RocksDB wiki, WAL-Performance; facebook/rocksdb#762.
    """
    syncs, writes = log.facts.count("wal_syncs"), log.facts.count("wal_writes")
    # Before 9.1, RocksDB recycles no WAL files with the default mode of recovery.
    options = ("recycle_log_file_num",) if version_in(log, _RECYCLES_BY_DEFAULT) else ()
    if syncs < _LEAST_SYNCS or not writes or syncs / writes <= _MOST:
        return
    fact, keys = log.facts.fact("wal_syncs"), log.facts.count("keys_written")
    period_s = fact.period_s if fact else None
    is_rare = period_s is not None and syncs / period_s < _FEW_SYNCS_S
    if not is_rare and keys / writes < _MANY_KEYS:
        yield Finding(
            "sync-writes", "Each write waits until the device has stored it",
            f"RocksDB synced the WAL {syncs:,} times for {writes:,} writes.",
            options, 0.3 * min(1.0, syncs / writes),
        )  # fmt: skip


ORDER = 140
RULES = (
    Rule(_no_readahead, (OPTIONS, VERSION)),
    Rule(_slow_syncs, (OPTIONS, TICKERS)),
    Rule(_syncs, (TICKERS, OPTIONS)),
)
FIRST_STEPS: FirstSteps = {
    "sync-writes": (
        Step("raise", "recycle_log_file_num", 4, first="write in larger batches, then"),
        "write in larger batches, or from more threads at the same time",
    ),
    "slow-syncs": Step("set", "bytes_per_sync", MIB),
    "no-readahead": Step("raise", "compaction_readahead_size", 2 * MIB),
}
CHECKS = {
    "sync-writes": "fewer syncs of the WAL per write",
    "slow-syncs": "the 99th percentile of rocksdb.table.sync.micros falls",
    "no-readahead": "compactions move more MiB per second",
}
