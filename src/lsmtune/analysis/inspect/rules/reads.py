"""Gets and scans: filters, the block cache, open files, merges."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPTIONS, TICKERS
from lsmtune.analysis.inspect.rule import (
    NO_OBJECT,
    ON,
    FirstSteps,
    Rule,
    percent,
    read_share,
    reads,
)
from lsmtune.analysis.inspect.step_values import BLOOM_FILTER
from lsmtune.units import KIB, MIB, format_bytes

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
_COSTLY_METADATA = 4 * KIB
"""Filter or index blocks read for each get, in bytes: as much as a data block."""
_FEWEST_MISSES = 100


def _no_filter(log: Inspection) -> Iterator[Finding]:
    """Yield a finding if gets look at data blocks of files without their key.

    Either the options say that there is no filter, or no filter was ever asked
    (BLOOM_FILTER_USEFUL and BLOOM_FILTER_FULL_POSITIVE, include/rocksdb/statistics.h).
    """
    gets, blocks = log.facts.count("gets"), log.facts.value("get_data_blocks")
    if blocks is None or gets < max(_READS_WORTH_A_WORD, log.facts.count("seeks")):
        return  # the blocks of scans are not counted apart
    policy, checks = log.option("filter_policy"), log.facts.value("filter_checks")
    if policy in ("nullptr", ""):
        why = "The files have no filter, because filter_policy is nullptr."
    elif policy is None and checks == 0:
        why = "RocksDB used no filter: all counters of filters are 0."
    else:
        return
    found = log.facts.value("gets_found_percent")
    found_share = 1.0 if found is None else min(1.0, found / 100)
    if blocks > _BLOCKS_A_GET or (policy is not None and found_share < 1 / _BLOCKS_A_GET):
        found_none = (
            "" if found is None else f", and {percent(1 - found_share)} of the gets found no key"
        )
        yield Finding(
            "no-filter", "Gets read files that do not contain the requested key",
            f"{why} Each of {gets:,.0f} gets read {blocks:.2g} data blocks on "
            f"average{found_none}.",
            ("filter_policy", "memtable_prefix_bloom_size_ratio", "optimize_filters_for_hits"),
            (0.5 + read_share(log) / 2) * min(1.0, blocks * (1.5 - found_share)),
        )  # fmt: skip


def _small_cache(log: Inspection) -> Iterator[Finding]:
    """Yield a finding if blocks are inserted again and again, and few are found.

    Without the size of the block cache, the size of the live data takes its place: only blocks that
    were evicted are inserted more often than once.
    """
    capacity, inserted = log.number("block_cache_capacity"), log.facts.value("cache_insert_bytes")
    data = log.facts.value("data_cache_hit_percent")
    rate = log.facts.value("cache_hit_percent") if data is None else data
    size = capacity or _live_bytes(log)
    if not size or inserted is None or rate is None or reads(log) < _READS_WORTH_A_WORD:
        return
    if inserted >= _THRASHED * size and rate < 100 * _HITS_ENOUGH:
        where = f" of {format_bytes(capacity)}" if capacity else ""
        live = "" if capacity else f", and the live files have {format_bytes(size)}"
        yield Finding(
            "small-cache", "The block cache is too small for the data that is read",
            f"{rate:.0f} % of the {'' if data is None else 'data '}blocks that RocksDB read were "
            f"in the block cache{where}. RocksDB inserted {format_bytes(inserted)} into the block "
            f"cache{live}.",
            ("block_cache", "cache_index_and_filter_blocks", "block_size"),
            (0.5 + read_share(log) / 2) * (1 - rate / 100) * 0.9,
        )  # fmt: skip


def _metadata_misses(log: Inspection) -> Iterator[Finding]:
    """Yield a finding if filter or index blocks are evicted from the block cache and read again.

    A filter of a whole file has megabytes, so few misses can cost more than all data blocks
    (github.com/facebook/rocksdb/issues/3961).
    """
    count = reads(log)
    if count < _READS_WORTH_A_WORD:
        return
    costs = {
        kind: (
            log.facts.count(f"{kind}_block_misses") / count,
            log.facts.count(f"get_{kind}_bytes"),
        )
        for kind in ("filter", "index")
    }
    kind = max(costs, key=lambda name: costs[name])
    share, size = costs[kind]
    is_costly = size >= _COSTLY_METADATA and share * count >= _FEWEST_MISSES
    if share < _MISSES_A_READ and not is_costly:
        return
    capacity = log.number("block_cache_capacity")
    has = f" The block cache has {format_bytes(capacity)}." if capacity else ""
    each = f", {format_bytes(size)} for each get" if is_costly else ""
    yield Finding(
        "metadata-misses", "Filter and index blocks do not stay in the block cache",
        f"{share * count:,.0f} times, RocksDB read the {kind} block of a file again: "
        f"{100 * share:.2g} % of {count:,.0f} reads{each}.{has}",
        ("block_cache", "cache_index_and_filter_blocks",
         "pin_l0_filter_and_index_blocks_in_cache", "index_type", "partition_filters"),
        0.4 + min(0.5, max(share / 2, size / (8 * _COSTLY_METADATA) if is_costly else 0.0)),
    )  # fmt: skip


def _table_cache(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for fewer open files than the store has.

    TableCache::FindTable in db/table_cache.cc; paradigmxyz/reth#26801.
    """
    opens, files = log.facts.count("table_opens"), log.number("max_open_files")
    count = reads(log)
    made = sum(1 for job in log.jobs if job.table_bytes)
    if files is None or files < 0 or count < _READS_WORTH_A_WORD:
        return
    if opens > max(_OPENS_A_READ * count, 2 * made + files):
        yield Finding(
            "table-cache", "RocksDB opens the same files again and again",
            f"RocksDB opened files {opens:,.0f} times for {count:,.0f} reads. max_open_files is "
            f"{files:.0f}.",
            ("max_open_files", "target_file_size_base"), 0.6,
        )  # fmt: skip


def _hits_only_filter(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for gets of missing keys in a last level without a filter.

    ColumnFamilyOptions::optimize_filters_for_hits in include/rocksdb/advanced_options.h.
    """
    gets, found = log.facts.count("gets"), log.facts.value("gets_found_percent")
    if gets < _READS_WORTH_A_WORD or found is None:
        return
    share = min(1.0, found / 100)
    if log.option("optimize_filters_for_hits") in ON and share < _MOST_FOUND:
        yield Finding(
            "hits-only-filter", "Gets of missing keys read the last level, which has no filter",
            f"optimize_filters_for_hits is set, and {percent(1 - share)} of {gets:,.0f} gets "
            "found no key.",
            ("optimize_filters_for_hits",), 0.6 * (1 - share),
        )  # fmt: skip


def _merge_operands(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for gets that combine hundreds of merge operands.

    facebook/rocksdb#4095 and #5075.
    """
    most, usual = (log.facts.value(f"merge_operands_{what}") for what in ("max", "p99"))
    at_most = "" if most is None else f" (at most {most:,.0f})"
    if usual is not None and usual >= _MANY_OPERANDS:
        yield Finding(
            "merge-operands", "Gets combine hundreds of merge operands",
            f"1 % of the gets of merged keys combined at least {usual:,.0f} operands{at_most}. "
            "Operands stay until a compaction combines them.",
            ("max_successive_merges", "write_buffer_size"), 0.5,
        )  # fmt: skip


def _prefix_unused(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a prefix extractor that no seek uses; gets do not need it.

    RocksDB wiki, Prefix-Seek; facebook/rocksdb#11718.
    """
    seeks, checks = log.facts.count("seeks"), log.facts.value("prefix_checks")
    if seeks < _READS_WORTH_A_WORD or checks is None or checks > 0:
        return
    prefix, filters = log.option("prefix_extractor"), log.option("filter_policy")
    if prefix not in NO_OBJECT and filters not in NO_OBJECT:
        yield Finding(
            "prefix-unused", "The prefix extractor saves no work in seeks",
            f"prefix_extractor is {prefix}, and in {seeks:,.0f} seeks RocksDB asked no filter for "
            "a prefix: the tickers of prefixes are 0. Iterators with total_order_seek, without a "
            "tight iterate_upper_bound, or over old files cannot use the prefix.",
            ("iterate_upper_bound", "prefix_extractor"), 0.15,
        )  # fmt: skip


def _long_scans(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for long scans of small blocks that are not in the cache.

    facebook/rocksdb#5246. Scans that step over deleted entries are another matter
    (`skipped-entries`).
    """
    seeks, steps = log.facts.count("seeks"), log.facts.count("nexts")
    hits = log.facts.value("data_cache_hit_percent")
    size = log.number("block_size") or 0
    if seeks < _READS_WORTH_A_WORD or steps < _LONG_SCAN * seeks or not 0 < size <= _SMALL_BLOCK:
        return
    if hits is not None and log.facts.count("skipped_entries") < steps and hits <= 100 * _COLD:
        yield Finding(
            "long-scans", "Long scans read small blocks that are not in the cache",
            f"Each of {seeks:,.0f} scans read {steps / seeks:,.0f} entries on average, and "
            f"{100 - hits:.0f} % of the data blocks were not in the block cache. A block "
            f"has {format_bytes(size)}.",
            ("readahead_size", "iterate_upper_bound", "block_size"), 0.2,
        )  # fmt: skip


def _live_bytes(log: Inspection) -> float | None:
    families = {row.family for row in log.levels}
    return sum(log.facts.count("live_sst_bytes", family) for family in families) or None


ORDER = 80
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
FIRST_STEPS: FirstSteps = {
    "no-filter": Step(
        "set", "filter_policy", BLOOM_FILTER, reason="a Bloom filter of 10 bits per key"
    ),
    "hits-only-filter": Step("set", "optimize_filters_for_hits", False),
    "prefix-unused": Step(
        "set", "iterate_upper_bound", of="of scans", rest="to the end of their prefix"
    ),
    "merge-operands": Step("set", "max_successive_merges", 10),
    "long-scans": Step("set", "readahead_size", 2 * MIB, of="of long scans"),
    "small-cache": Step("raise", "block_cache"),
    "metadata-misses": Step("raise", "block_cache"),
    "table-cache": Step("set", "max_open_files", -1),
}
CHECKS = {
    "no-filter": "fewer data blocks per get",
    "small-cache": "more blocks are found in the block cache",
    "metadata-misses": "filter and index blocks are read less often",
    "table-cache": "fewer openings of files per read",
    "hits-only-filter": "fewer data blocks per get",
    "merge-operands": "gets combine fewer operands",
    "prefix-unused": "the tickers of prefixes rise",
    "long-scans": "scans take less time",
}
