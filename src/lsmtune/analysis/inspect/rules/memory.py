"""Memory outside the block cache, and caches that are too small for a single block."""

import re
from collections.abc import Iterator
from math import log2

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, SHAPES, TICKERS
from lsmtune.analysis.inspect.rule import FIFO, OFF, ON, FirstSteps, Rule, files_at_opening, noticed
from lsmtune.metrics.log_notices import Notices
from lsmtune.units import GIB, MIB, format_bytes, format_duration

_MANY_FILES = 10_000
_MANY_FAMILIES = 20
_MUCH_HISTORY = 256 * MIB
_MANY_ITERATORS = 1000
_TWO_LEVELS = ("2", "kTwoLevelIndexSearch")
_MOST_SHARD_BITS = 20
_SEVERAL = 4
_CHARGE = re.compile(r"estimated_entry_charge=(\d{1,18})")


def _open_files(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for index and filter blocks of all open files outside the cache.

    RocksDB wiki, Memory-usage-in-RocksDB; facebook/rocksdb#4112.
    """
    files = files_at_opening(log) or 0
    outside = log.option("cache_index_and_filter_blocks") in OFF
    if files >= _MANY_FILES and log.number("max_open_files") == -1 and outside:
        yield Finding(
            "open-files-memory", "Index and filter blocks of all files stay in memory",
            f"The store has {files:,} files, max_open_files is -1, and "
            "cache_index_and_filter_blocks is 0. This memory is not part of the block cache.",
            ("cache_index_and_filter_blocks", "block_size", "target_file_size_base",
             "max_open_files"), 0.35,
        )  # fmt: skip


def _memory_of_families(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for the memtables of many families.

    facebook/rocksdb#8009 and #12886.
    """
    limit = log.number("db_write_buffer_size")
    if len(log.families) >= _MANY_FAMILIES and not limit:
        yield Finding(
            "many-families", "The memtables of all column families can take much memory",
            f"{len(log.families)} column families can have memtables of "
            f"{format_bytes(log.memtable_bytes)} in all, and db_write_buffer_size does not limit "
            "them.",
            ("db_write_buffer_size", "write_buffer_size", "max_write_buffer_number"), 0.2,
        )  # fmt: skip


def _memtable_history(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for flushed memtables that a database of transactions keeps.

    max_write_buffer_size_to_maintain, set in utilities/transactions; facebook/rocksdb#4333.
    """
    kept = sum(
        max(0.0, log.family_number(family, "max_write_buffer_size_to_maintain"))
        for family in log.families
    )
    if kept >= _MUCH_HISTORY:
        yield Finding(
            "memtable-history", "Memtables stay in memory after their flush",
            f"max_write_buffer_size_to_maintain keeps up to {format_bytes(kept)} of flushed "
            f"memtables in all (column families: {len(log.families)}). Only transactions use them.",
            ("max_write_buffer_size_to_maintain",), 0.12,
        )  # fmt: skip


def _readahead_memory(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for readahead buffers of thousands of input files.

    facebook/rocksdb#11809: each input file of a compaction has its own buffer.
    """
    readahead = log.number("compaction_readahead_size") or 0
    for family in log.families:
        files = log.level_0_files(family) or 0
        fifo = log.family_option(family, "compaction_style") in FIFO
        if files * readahead >= GIB and not fifo:
            yield Finding(
                "readahead-memory", "A compaction of all files of level 0 may need much memory",
                f"Level 0 has {files:,} files, and compaction_readahead_size is "
                f"{format_bytes(readahead)}: up to {format_bytes(files * readahead)} of buffers.",
                ("compaction_readahead_size", "level0_file_num_compaction_trigger"), 0.5,
                family=family,
            )  # fmt: skip


def _large_metadata(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a filter or index block that is larger than a shard of the cache.

    RocksDB wiki, Partitioned-Index-Filters; facebook/rocksdb#9816.
    """
    capacity, bits = log.number("block_cache_capacity"), log.number("num_shard_bits")
    if not capacity or bits is None or not 0 <= bits <= _MOST_SHARD_BITS:
        return
    cached = log.option("cache_index_and_filter_blocks") in ON
    split = log.option("index_type") in _TWO_LEVELS or log.option("partition_filters") in ON
    shard, largest = capacity / 2**bits, log.extremes.metadata_bytes
    if cached and not split and largest > shard:
        options = ("num_shard_bits", "block_cache")
        if capacity < _SEVERAL * largest:
            options = options[::-1]  # even the whole cache is too small
        yield Finding(
            "large-metadata", "A filter or index block is larger than a shard of the block cache",
            f"The largest filter or index block has {format_bytes(largest)}. The block cache of "
            f"{format_bytes(capacity)} has {2**bits:.0f} shards of {format_bytes(shard)}.",
            (*options, "index_type", "partition_filters"), 0.45,
        )  # fmt: skip


def _large_block_read(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for reads of large filter or index blocks, of a PerfContext.

    PerfContext has one sum of bytes, so that all blocks must be of these kinds. A filter of a whole
    file is one block; facebook/rocksdb#10149.
    """
    filters, index, blocks = (
        log.ticker(f"block.cache.{kind}miss") for kind in ("filter.", "index.", "")
    )
    read = log.ticker("perf.block.read.bytes")
    if not blocks or filters + index != blocks or read < MIB * blocks:
        return
    took_s = log.ticker("perf.filter.read.nanos") / 1e9
    took = f" The filters took {format_duration(took_s)}." if took_s else ""
    kind, first = ("filter", "partition_filters") if filters else ("index", "index_type")
    yield Finding(
        "large-filter-block", f"Reads wait for a large {kind} block from the device",
        f"Blocks read from files: {filters:,} of filters, {index:,} of indexes, none of data. A "
        f"block has {format_bytes(read / blocks)} on average.{took}",
        (first, "block_cache", "cache_index_and_filter_blocks"), 0.4,
    )  # fmt: skip


def _open_iterators(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for iterators that the program does not delete.

    facebook/rocksdb#12483 and #10536: each one keeps files and memtables.
    """
    created, deleted = (log.facts.count(f"iterators_{what}") for what in ("created", "deleted"))
    if created - deleted >= _MANY_ITERATORS:
        yield Finding(
            "open-iterators", "Many iterators are open: they keep old files and memtables",
            f"The program created {created:,} iterators and deleted {deleted:,}: "
            f"{created - deleted:,} were open at the last dump. If this number grows from dump to "
            "dump, the program may forget to delete them.",
            ("auto_refresh_iterator_with_snapshot",), 0.35,
        )  # fmt: skip


def _fewer_shards(log: Inspection, _family: str) -> float | None:
    """Return the bits with which a shard of the cache holds several of the largest blocks."""
    shards = (log.number("block_cache_capacity") or 0) / (_SEVERAL * log.extremes.metadata_bytes)
    return float(int(log2(shards))) if shards >= 1 else None


def _recommended(log: Inspection, _family: str) -> float | None:
    """Return the estimate that RocksDB recommends in its own line."""
    told = _CHARGE.search(log.notices["cache entry size"].first)
    return float(told[1]) if told else None


NOTICES: Notices = {
    "cache entry size": "Recommend estimated_entry_charge=",
    "cache full": "Insert failed due to LRU cache being full",
}
ORDER = 100
RULES = (
    Rule(_open_files, (OPTIONS,)),
    Rule(_memory_of_families, (OPTIONS,)),
    Rule(_memtable_history, (OPTIONS,)),
    Rule(_readahead_memory, (OPTIONS, SHAPES)),
    # LRUCacheShard::InsertItem in cache/lru_cache.cc; facebook/rocksdb#5322
    noticed("cache full", EVENTS, Finding(
        "cache-full", "The block cache refuses blocks, so reads or flushes fail",
        "With strict_capacity_limit, each of the 2^num_shard_bits shards of the cache refuses "
        "blocks that do not fit.",
        ("strict_capacity_limit", "block_cache", "num_shard_bits"), 0.9)),
    Rule(_large_metadata, (EVENTS, OPTIONS)),
    Rule(_large_block_read, (TICKERS,)),
    Rule(_open_iterators, (TICKERS,)),
    # FixedHyperClockCache::ReportProblems in cache/clock_cache.cc; facebook/rocksdb#10963
    noticed("cache entry size", EVENTS, Finding(
        "cache-entry-size", "The block cache has a wrong estimate of the size of its entries",
        "", ("estimated_entry_charge",), 0.2)),
)  # fmt: skip
FIRST_STEPS: FirstSteps = {
    "many-families": Step(
        "set", "db_write_buffer_size", rest="to the memory that all memtables may take"
    ),
    "open-files-memory": Step(
        "set", "cache_index_and_filter_blocks", True, rest="and enlarge the block cache"
    ),
    "memtable-history": Step(
        "lower", "max_write_buffer_size_to_maintain", rest="while no transaction fails its check"
    ),
    "readahead-memory": Step(
        "lower", "compaction_readahead_size",
        lambda log, _: (log.number("compaction_readahead_size") or 0) // _SEVERAL or None,
    ),
    "cache-full": Step("set", "strict_capacity_limit", False),
    "large-metadata": (
        Step("lower", "num_shard_bits", _fewer_shards,
             reason="each shard must hold several of the largest blocks"),
        Step("raise", "block_cache", lambda log, _: _SEVERAL * log.extremes.metadata_bytes,
             also=Step("set", "num_shard_bits", 0),
             reason="the cache must hold several of the largest blocks"),
    ),
    "large-filter-block": (
        Step("set", "partition_filters", True,
             also=Step("set", "index_type", "kTwoLevelIndexSearch")),
        Step("set", "index_type", "kTwoLevelIndexSearch"),
    ),
    "open-iterators": Step(
        "set", "auto_refresh_iterator_with_snapshot", True,
        first="find and close iterators; from RocksDB 10.0,",
    ),
    "cache-entry-size": Step(
        "set", "estimated_entry_charge", _recommended, reason="RocksDB recommends this value"
    ),
}  # fmt: skip
CHECKS = {
    "open-files-memory": "the process takes less memory",
    "many-families": "the process takes less memory",
    "memtable-history": "the process takes less memory",
    "readahead-memory": "compactions take less memory",
    "large-filter-block": "each block that is read has fewer bytes",
    "cache-full": "no line “Insert failed due to LRU cache being full”",
    "open-iterators": "fewer iterators are open at the last dump",
}
