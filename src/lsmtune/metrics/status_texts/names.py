"""Names that programs give to RocksDB's counters, and RocksDB's own names.

RocksDB's names are those of include/rocksdb/statistics.h (tickers), db/internal_stats.cc (columns
of the level table) and WriteStallStatsMapKeys (stall counts). The names of the programs are from
a run of MyRocks (MariaDB 10.11), and from the sources that each reader lists.
"""

from collections.abc import Mapping

_TICKERS = (
    "block.cache.miss", "block.cache.hit", "block.cache.bytes.read", "block.cache.bytes.write",
    *(f"block.cache.{kind}.{what}" for kind in ("index", "filter", "data")
      for what in ("miss", "hit", "bytes.insert")),
    "bloom.filter.useful", "bloom.filter.full.positive", "bloom.filter.full.true.positive",
    "bloom.filter.prefix.checked", "bloom.filter.prefix.useful",
    "last.level.seek.filtered", "non.last.level.seek.filtered",
    "memtable.hit", "memtable.miss", "l0.hit", "l1.hit", "l2andup.hit",
    "number.keys.written", "number.keys.read", "number.keys.updated",
    "number.multiget.keys.read", "bytes.written", "bytes.read",
    "number.db.seek", "number.db.next", "number.db.prev", "number.iter.skip",
    "stall.micros", "wal.synced", "wal.bytes", "write.self", "write.other", "write.wal",
    "compact.read.bytes", "compact.write.bytes", "flush.write.bytes",
    "no.file.opens", "no.file.errors", "num.iterator.created", "num.iterator.deleted",
    "number.rate_limiter.drains",
)  # fmt: skip
"""The tickers that lsmtune uses, without `rocksdb.`."""

TICKERS: Mapping[str, str] = {
    **{name.replace(".", "_"): name for name in _TICKERS},
    "get_hit_l0": "l0.hit",
    "get_hit_l1": "l1.hit",
    "get_hit_l2_and_up": "l2andup.hit",
    "block_cache_byte_read": "block.cache.bytes.read",
    "block_cache_byte_write": "block.cache.bytes.write",
    "bloom_useful": "bloom.filter.useful",
    "bloom_prefix_checked": "bloom.filter.prefix.checked",
    "bloom_prefix_useful": "bloom.filter.prefix.useful",
    "keys_read": "number.keys.read",
    "keys_updated": "number.keys.updated",
    "keys_written": "number.keys.written",
    "wal_file_bytes": "wal.bytes",
    "write_done_by_other": "write.other",
    "write_done_by_self": "write.self",
    "write_with_wal": "write.wal",
}
"""Tickers by the names of MyRocks, Kvrocks and TiKV: mostly RocksDB's with underscores."""

STALLS: Mapping[str, str] = {
    # Kvrocks and TiKV
    "level0_file_limit_slowdown": "l0-file-count-limit-delays",
    "level0_file_limit_stop": "l0-file-count-limit-stops",
    "level0_file_limit_slowdown_with_ongoing_compaction":
        "cf-l0-file-count-limit-delays-with-ongoing-compaction",
    "level0_file_limit_stop_with_ongoing_compaction":
        "cf-l0-file-count-limit-stops-with-ongoing-compaction",
    "memtable_count_limit_slowdown": "memtable-limit-delays",
    "memtable_count_limit_stop": "memtable-limit-stops",
    "pending_compaction_bytes_slowdown": "pending-compaction-bytes-delays",
    "pending_compaction_bytes_stop": "pending-compaction-bytes-stops",
    # MyRocks
    "stall_l0_file_count_limit_slowdowns": "l0-file-count-limit-delays",
    "stall_l0_file_count_limit_stops": "l0-file-count-limit-stops",
    "stall_locked_l0_file_count_limit_slowdowns":
        "cf-l0-file-count-limit-delays-with-ongoing-compaction",
    "stall_locked_l0_file_count_limit_stops":
        "cf-l0-file-count-limit-stops-with-ongoing-compaction",
    "stall_memtable_limit_slowdowns": "memtable-limit-delays",
    "stall_memtable_limit_stops": "memtable-limit-stops",
    "stall_pending_compaction_limit_slowdowns": "pending-compaction-bytes-delays",
    "stall_pending_compaction_limit_stops": "pending-compaction-bytes-stops",
    "stall_total_slowdowns": "total-delays",
    "stall_total_stops": "total-stops",
    # RocksDB up to 8.0, as mongodb_exporter copies them
    "level0_slowdown": "l0-file-count-limit-delays",
    "level0_numfiles": "l0-file-count-limit-stops",
    "memtable_slowdown": "memtable-limit-delays",
    "memtable_compaction": "memtable-limit-stops",
}  # fmt: skip
"""Counts of stalls by the names of programs, and as RocksDB 8.1 prints them."""

COLUMNS: Mapping[str, str] = {
    "NumFiles": "Files",
    "SizeBytes": "Size",
    "Score": "Score",
    "ReadGB": "Read(GB)",
    "WriteGB": "Write(GB)",
    "MovedGB": "Moved(GB)",
    "WriteAmp": "W-Amp",
    "CompSec": "Comp(sec)",
    "CompMergeCPU": "CompMergeCPU(sec)",
    "CompCount": "Comp(cnt)",
    "KeyIn": "KeyIn",
    "KeyDrop": "KeyDrop",
    "RblobGB": "Rblob(GB)",
    "WblobGB": "Wblob(GB)",
}
"""Columns of RocksDB's level table by their names in a map, as MyRocks shows them."""

PERF_CONTEXT: Mapping[str, str] = {
    "block_cache_hit_count": "block.cache.hit",
    "block_cache_index_hit_count": "block.cache.index.hit",
    "block_cache_filter_hit_count": "block.cache.filter.hit",
    "block_read_count": "block.cache.miss",
    "index_block_read_count": "block.cache.index.miss",
    "filter_block_read_count": "block.cache.filter.miss",
    "get_from_memtable_count": "number.keys.read",
    "get_read_bytes": "bytes.read",
    "iter_read_bytes": "db.iter.bytes.read",
    "seek_on_memtable_count": "number.db.seek",
    "internal_delete_skipped_count": "number.iter.skip",
    "bloom_sst_hit_count": "bloom.filter.full.positive",
    "bloom_sst_miss_count": "bloom.filter.useful",
    "block_read_byte": "perf.block.read.bytes",
    "read_filter_block_nanos": "perf.filter.read.nanos",
}
"""Counts of PerfContext (include/rocksdb/perf_context.h), and the tickers that count the same.

RocksDB has no tickers for the names with `perf`.
A get or seek counts once per memtable that it looks at. Entries that iterators skip for another
reason than a deletion are not in `internal_delete_skipped_count`.
"""

PENDING_BYTES = "estimate-pending-compaction-bytes"
"""RocksDB's property of this name, as a sum over column families among the tickers."""

MONGODB: Mapping[tuple[str, str], str] = {
    ("block_cache_hits", ""): "block.cache.hit",
    ("block_cache_misses", ""): "block.cache.miss",
    ("bloom_filter_useful", ""): "bloom.filter.useful",
    ("keys", "written"): "number.keys.written",
    ("keys", "read"): "number.keys.read",
    ("seeks", ""): "number.db.seek",
    ("iterations", "forward"): "number.db.next",
    ("iterations", "backward"): "number.db.prev",
    ("bytes_written", "total"): "bytes.written",
    ("bytes_written", "flush"): "flush.write.bytes",
    ("bytes_written", "compaction"): "compact.write.bytes",
    ("bytes_read", "point_lookup"): "bytes.read",
    ("bytes_read", "compation"): "compact.read.bytes",  # as the exporter spells it
    ("writes_key", ""): "number.keys.written",
    ("write_bytes", ""): "bytes.written",
    ("flushed_bytes", ""): "flush.write.bytes",
    ("write_ahead_log_bytes", ""): "wal.bytes",
}
"""Tickers by metric and label `type` of mongodb_exporter.

The names are without `mongodb_mongod_rocksdb_` and `_total`, which only some versions write.
"""

MONGODB_COLUMNS: Mapping[tuple[str, str], str] = {
    ("files", ""): "Files",
    ("num_files", ""): "Files",
    ("size_bytes", ""): "Size",
    ("compaction_score", ""): "Score",
    ("compaction_bytes", "read"): "Read(GB)",
    ("compaction_bytes", "write"): "Write(GB)",
    ("compaction_bytes", "moved"): "Moved(GB)",
    ("compaction_write_amplification", ""): "W-Amp",
    ("compaction_seconds", ""): "Comp(sec)",
    ("compactions", "write"): "Comp(cnt)",
    ("compactions", ""): "Comp(cnt)",
    ("compaction_avg_seconds", ""): "Avg(sec)",
}
"""Columns of the level table by metric and label `type` of mongodb_exporter."""
