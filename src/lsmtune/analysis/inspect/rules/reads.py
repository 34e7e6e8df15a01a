"""Gets and scans: filters, the block cache, open files, deletions."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, TICKERS
from lsmtune.analysis.inspect.rules.rule import Rule, percent
from lsmtune.units import format_bytes

_READS_WORTH_A_WORD = 1000
_BLOCKS_A_GET = 1.3
_THRASHED = 3.0
_HITS_ENOUGH = 0.9
_MANY_DELETES_PERCENT = 20.0
_SKIPS_A_SEEK = 10.0
_VERY_MANY_SKIPS = 1000.0
_MISSES_A_READ = 0.05
_OPENS_A_READ = 0.01
_HITS = ("rocksdb.memtable.hit", "rocksdb.l0.hit", "rocksdb.l1.hit", "rocksdb.l2andup.hit")


def _no_filter(log: Inspection) -> Iterator[Finding]:
    gets = log.ticker("number.keys.read")
    seeks = log.ticker("number.db.seek")
    if gets < max(_READS_WORTH_A_WORD, seeks):
        return  # what blocks were looked at for is not told apart
    if log.option("filter_policy") not in ("nullptr", ""):
        return
    blocks = _data_blocks(log) / gets
    if blocks > _BLOCKS_A_GET or _found_share(log) < 1 / _BLOCKS_A_GET:
        share = (log.load.read_percent or 0) / 100
        found_none = (
            f", and {percent(1 - _found_share(log))} of the gets found no key"
            if _counts_hits(log)
            else ""
        )
        yield Finding(
            "no-filter", "Gets read files that do not contain the requested key",
            f"The files have no filter, because filter_policy is nullptr. Each of {gets:,} gets "
            f"read {blocks:.2g} data blocks on average{found_none}.",
            ("filter_policy", "memtable_prefix_bloom_size_ratio", "optimize_filters_for_hits"),
            (0.5 + share / 2) * min(1.0, blocks * (1.5 - _found_share(log))),
        )  # fmt: skip


def _small_cache(log: Inspection) -> Iterator[Finding]:
    hits, misses = (log.ticker(f"block.cache.{what}") for what in ("hit", "miss"))
    capacity = log.number("block_cache_capacity")
    inserted = log.ticker("block.cache.bytes.write")
    reads = log.ticker("number.keys.read") + log.ticker("number.db.seek")
    if not capacity or reads < _READS_WORTH_A_WORD or not hits + misses:
        return
    data = _data_blocks(log)
    rate = log.ticker("block.cache.data.hit") / data if data else hits / (hits + misses)
    if inserted >= _THRASHED * capacity and rate < _HITS_ENOUGH:
        share = (log.load.read_percent or 0) / 100
        yield Finding(
            "small-cache", "The block cache is too small for the data that is read",
            f"{percent(rate)} of the {'data ' if data else ''}blocks that RocksDB read were in "
            "the block "
            f"cache of {format_bytes(capacity)}. RocksDB inserted {format_bytes(inserted)} into "
            "the block cache.",
            ("block_cache", "cache_index_and_filter_blocks", "block_size"),
            (0.5 + share / 2) * (1 - rate) * 0.9,
        )  # fmt: skip


def _tombstones(log: Inspection) -> Iterator[Finding]:
    deletes = log.load.delete_percent or 0.0
    ranges = log.load.range_deletes or 0
    seeks = log.ticker("number.db.seek")
    skipped = log.ticker("number.iter.skip")
    many_skips = bool(seeks) and skipped / seeks > _SKIPS_A_SEEK
    if deletes < _MANY_DELETES_PERCENT and not (ranges and many_skips):
        return
    evidence = f"{deletes:.0f} % of the flushed entries are deletions"
    if ranges:
        evidence += f", and RocksDB flushed {ranges:,} range deletions"
    evidence += "."
    if seeks:
        each = f"{skipped / seeks:.3g} deleted or overwritten entries on average"
        evidence += f" Each of {seeks:,} seeks skipped {each}."
    yield Finding(
        "tombstones", "Scans skip many deleted or overwritten entries" if many_skips
        else "Many deletions: a deleted key stays in the tree until compaction drops the "
        "key", evidence,
        ("periodic_compaction_seconds", "ttl", "compaction_pri",
         "max_sequential_skip_in_iterations"),
        min(1.0, 0.3 + deletes / 100 + (0.3 if many_skips else 0)),
    )  # fmt: skip


def _skipped_entries(log: Inspection) -> Iterator[Finding]:
    """Row 27, from the tickers alone."""
    seeks, skipped = log.ticker("number.db.seek"), log.ticker("number.iter.skip")
    if seeks and skipped / seeks >= _VERY_MANY_SKIPS:
        yield Finding(
            "skipped-entries", "Seeks step over thousands of deleted or overwritten entries",
            f"Each of {seeks:,} seeks skipped {skipped / seeks:,.0f} entries on average.",
            ("memtable_op_scan_flush_trigger", "periodic_compaction_seconds", "ttl"), 0.8,
        )  # fmt: skip


def _metadata_misses(log: Inspection) -> Iterator[Finding]:
    """Row 23: filter and index blocks are evicted from the block cache and read again."""
    reads = log.ticker("number.keys.read") + log.ticker("number.db.seek")
    if reads < _READS_WORTH_A_WORD:
        return
    missed = {kind: log.ticker(f"block.cache.{kind}.miss") for kind in ("filter", "index")}
    kind = max(missed, key=lambda name: missed[name])
    share = missed[kind] / reads
    if share >= _MISSES_A_READ:
        capacity = log.number("block_cache_capacity")
        size = f" The block cache has {format_bytes(capacity)}." if capacity else ""
        yield Finding(
            "metadata-misses", "Filter and index blocks do not stay in the block cache",
            f"{missed[kind]:,} times, RocksDB read the {kind} block of a file again: "
            f"{percent(share)} of {reads:,} reads.{size}",
            ("block_cache", "cache_index_and_filter_blocks",
             "pin_l0_filter_and_index_blocks_in_cache", "index_type", "partition_filters"),
            0.4 + min(0.5, share / 2),
        )  # fmt: skip


def _table_cache(log: Inspection) -> Iterator[Finding]:
    """Row 24: fewer files may be open than the store has."""
    opens, files = log.ticker("no.file.opens"), log.number("max_open_files")
    reads = log.ticker("number.keys.read") + log.ticker("number.db.seek")
    made = sum(1 for job in log.jobs if job.table_bytes)
    if files is None or files < 0 or reads < _READS_WORTH_A_WORD:
        return
    if opens > max(_OPENS_A_READ * reads, 2 * made + files):
        yield Finding(
            "table-cache", "RocksDB opens the same files again and again",
            f"RocksDB opened files {opens:,} times for {reads:,} reads. max_open_files is "
            f"{files:.0f}.",
            ("max_open_files", "target_file_size_base"), 0.6,
        )  # fmt: skip


def _data_blocks(log: Inspection) -> int:
    return log.ticker("block.cache.data.hit") + log.ticker("block.cache.data.miss")


def _found_share(log: Inspection) -> float:
    """Return the share of gets that found their key; 1 when the tickers for it are missing."""
    gets = log.ticker("number.keys.read")
    if not gets or not _counts_hits(log):
        return 1.0
    return min(1.0, sum(log.tickers.get(name, 0) for name in _HITS) / gets)


def _counts_hits(log: Inspection) -> bool:
    """Return whether the LOG has a ticker of gets that found their key."""
    return any(name in log.tickers for name in _HITS)


RULES = (
    Rule(_no_filter, (OPTIONS, TICKERS)),
    Rule(_small_cache, (OPTIONS, TICKERS)),
    Rule(_metadata_misses, (TICKERS,)),
    Rule(_table_cache, (OPTIONS, TICKERS)),
    Rule(_tombstones, (EVENTS, TICKERS)),
    Rule(_skipped_entries, (TICKERS,)),
)
