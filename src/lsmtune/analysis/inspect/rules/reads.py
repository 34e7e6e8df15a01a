"""Gets and scans: filters, the block cache, open files, merges."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPTIONS, TICKERS
from lsmtune.analysis.inspect.rules.rule import NO_OBJECT, ON, Rule, percent
from lsmtune.units import KIB, format_bytes

_READS_WORTH_A_WORD = 1000
_BLOCKS_A_GET = 1.3
_THRASHED = 3.0
_HITS_ENOUGH = 0.9
_MISSES_A_READ = 0.05
_OPENS_A_READ = 0.01
_MANY_OPERANDS = 100
_LONG_SCAN = 1000
_SMALL_BLOCK = 8 * KIB
_COLD = 0.5
_MOST_FOUND = 0.5
_PREFIX_TICKERS = ("bloom.filter.prefix.checked", "bloom.filter.prefix.useful",
                   "last.level.seek.filtered", "non.last.level.seek.filtered")  # fmt: skip
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


def _hits_only_filter(log: Inspection) -> Iterator[Finding]:
    """Row 22: the last level, with most of the keys, has no filter."""
    gets = log.ticker("number.keys.read")
    if gets < _READS_WORTH_A_WORD or not _counts_hits(log):
        return
    found = _found_share(log)
    if log.option("optimize_filters_for_hits") in ON and found < _MOST_FOUND:
        yield Finding(
            "hits-only-filter", "Gets of missing keys read the last level, which has no filter",
            f"optimize_filters_for_hits is set, and {percent(1 - found)} of {gets:,} gets found no "
            "key.",
            ("optimize_filters_for_hits",), 0.6 * (1 - found),
        )  # fmt: skip


def _merge_operands(log: Inspection) -> Iterator[Finding]:
    """Row 25."""
    operands = log.histograms.get("rocksdb.read.num.merge_operands")
    if operands is not None and operands.p99 >= _MANY_OPERANDS:
        most = "" if operands.p100 is None else f" (at most {operands.p100:,.0f})"
        yield Finding(
            "merge-operands", "Gets combine hundreds of merge operands",
            f"1 % of the gets of merged keys combined at least {operands.p99:,.0f} operands{most}. "
            "Operands stay until a compaction combines them.",
            ("max_successive_merges", "write_buffer_size"), 0.5,
        )  # fmt: skip


def _prefix_unused(log: Inspection) -> Iterator[Finding]:
    """Row 31; gets do not need the prefix."""
    seeks = log.ticker("number.db.seek")
    told = [name for name in _PREFIX_TICKERS if f"rocksdb.{name}" in log.tickers]
    if seeks < _READS_WORTH_A_WORD or not told or any(log.ticker(name) for name in told):
        return
    prefix, filters = log.option("prefix_extractor"), log.option("filter_policy")
    if prefix not in NO_OBJECT and filters not in NO_OBJECT:
        yield Finding(
            "prefix-unused", "The prefix extractor saves no work in seeks",
            f"prefix_extractor is {prefix}, and in {seeks:,} seeks RocksDB asked no filter for a "
            "prefix (" + ", ".join(told) + " are 0). Iterators with total_order_seek, without a "
            "tight iterate_upper_bound, or over old files cannot use the prefix.",
            ("iterate_upper_bound", "prefix_extractor"), 0.15,
        )  # fmt: skip


def _long_scans(log: Inspection) -> Iterator[Finding]:
    """Row 32; scans that step over deleted entries are another matter (row 27)."""
    seeks, steps = log.ticker("number.db.seek"), log.ticker("number.db.next")
    missed, blocks = log.ticker("block.cache.data.miss"), _data_blocks(log)
    size = log.number("block_size") or 0
    if seeks < _READS_WORTH_A_WORD or steps < _LONG_SCAN * seeks or not 0 < size <= _SMALL_BLOCK:
        return
    if log.ticker("number.iter.skip") < steps and missed >= _COLD * blocks > 0:
        yield Finding(
            "long-scans", "Long scans read small blocks that are not in the cache",
            f"Each of {seeks:,} scans read {steps / seeks:,.0f} entries on average, and "
            f"{percent(missed / blocks)} of the data blocks were not in the block cache. A block "
            f"has {format_bytes(size)}.",
            ("readahead_size", "iterate_upper_bound", "block_size"), 0.2,
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
    Rule(_hits_only_filter, (OPTIONS, TICKERS)),
    Rule(_merge_operands, (TICKERS,)),
    Rule(_prefix_unused, (OPTIONS, TICKERS)),
    Rule(_long_scans, (OPTIONS, TICKERS)),
)
