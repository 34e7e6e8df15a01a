"""For each finding a text in which it must come up, in the form that RocksDB writes."""

from log_texts import Line, compaction, dump, event, flush, line, log, stalls

MIB = 1 << 20
GIB = 1 << 30
L0, MEMTABLES = "we have 36 level-0 files", "we have 2 immutable memtables (waiting for flush)"
PENDING = "of estimated pending compaction bytes 90000000"
HEAD = (
    "Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp "
    "Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) "
    "Wblob(GB)\n" + "-" * 80 + "\n"
)


def row(level: str, files: int, size: str, w_amp: float = 1.0, written: float = 0.0) -> str:
    """A row of the table by level."""
    return (
        f"{level:>4} {files}/0 {size} 0.8 0.0 0.0 0.0 {written:.1f} 0.1 0.0 {w_amp:.1f} 0.0 173.5 "
        "0.45 0.35 19 0.024 0 0 0.0 0.0\n"
    )


def flushes(count: int, **told: object) -> list[Line]:
    """So many flushes, one a second."""
    return [entry for n in range(count) for entry in flush(1 + n, 10 + n, **told)]  # type: ignore[arg-type]


def compactions(count: int, **told: object) -> list[Line]:
    """So many compactions, one every two seconds."""
    return [e for n in range(count) for e in compaction(1 + 2 * n, 100 + n, **told)]  # type: ignore[arg-type]


def reads(**tickers: int) -> str:
    """A dump after 5,000 gets, with further tickers (`__` for a dot)."""
    told = {name.replace("__", "."): count for name, count in tickers.items()}
    return dump(100, tickers={"number.keys.read": 5000, **told})


def seeks(**tickers: int) -> str:
    """A dump after 2,000 seeks."""
    return dump(100, tickers={"number.db.seek": 2000,
                              **{n.replace("__", "."): c for n, c in tickers.items()}})  # fmt: skip


def warned(text: str) -> str:
    """A LOG with one line of this text, and an event, so that it is complete."""
    return log(event(1, "flush_finished", job=2, lsm_state=[1, 0]), (2, text))


_LIMITED = {"rate_limiter": "0x5639f86d1a30"}
_LONG_TICKER = {"stall.micros": 5_000_000}
_PERIODIC = {"periodic_compaction_seconds": 2592000}
_FORCED = "Write Buffer Manager"
_OPERANDS = (
    "rocksdb.read.num.merge_operands P50 : 200.0 P95 : 500.0 P99 : 900.0 P100 : 1000.0 "
    "COUNT : 5000 SUM : 1000000"
)
_SYNCS = (
    "rocksdb.table.sync.micros P50 : 20000.0 P95 : 500000.0 P99 : 900000.0 P100 : 1000000.0 "
    "COUNT : 50 SUM : 5000000"
)
_TRASH = (
    "[file/delete_scheduler.cc:73] Deleted file db/000056.sst immediately, rate_bytes_per_sec "
    "1048576, total_trash_size 99000000 max_trash_db_ratio 0.250000"
)

STALLED: dict[str, str] = {
    "compaction-behind": log(stalls(L0), dump(30, stalled_s=20.0)),
    "stall-options-unknown": "\n".join([
        *(line(at, text) for at, text in [*stalls(L0), event(25, "flush_finished", job=2,
                                                               lsm_state=[1, 0])]),
        dump(30, stalled_s=20.0)]),
    "stopped-at-the-end": "\n".join(
        line(at, text) for at, text in [event(25, "flush_finished", job=2, lsm_state=[9, 0]),
                                        (26, f"[WARN] [cf] Stopping writes because {L0}")]),
    "few-memtables": log(
        stalls(MEMTABLES, stop=True), dump(30, stalled_s=20.0),
        family={"max_write_buffer_number": 2, "max_bytes_for_level_base": 64 * MIB}),
    "writes-stopped": line(
        1, f"[WARN] [db/column_family.cc:948] [cf] Stopping writes because {L0}"),
    "writes-slowed": line(
        1, f"[WARN] [db/column_family.cc:948] [cf] Stalling writes because {L0} rate 8388608"),
    "counted-stalls": "** Compaction Stats [default] **\n" + HEAD + row("L0", 3, "12.43 MB")
    + "Stalls(count): 7 level0_slowdown, 0 level0_numfiles, 0 memtable_compaction\n",
    "stalled-time": "STATISTICS:\nrocksdb.stall.micros COUNT : 5000000\n",
    "rate-limiter": log(
        stalls(MEMTABLES, stop=True),
        dump(30, stalled_s=20.0, tickers={"number.rate_limiter.drains": 290}), database=_LIMITED),
    "slow-write-rate": log(stalls(L0, rate=16384)),
    "noisy-family": log(stalls(L0, family="b"), families=("default", "a", "b")),
    "memory-stall": "** DB Stats **\nUptime(secs): 15.0 total, 2.0 interval\n"
    "Write Stall (count): write-buffer-manager-limit-stops: 12\n",
    "debt-jumps": log(stalls(PENDING, stop=True), version="7.4.3",
                      family={"level_compaction_dynamic_level_bytes": 1}),
    "manual-compaction": log(stalls(L0), compactions(5, reason="ManualCompaction")),
    "exclusive-compaction": warned(
        "[db/db_impl/db_impl_compaction_flush.cc:1944] [default] Manual compaction waiting for all "
        "other scheduled background compactions to finish"),
}  # fmt: skip
TREES: dict[str, str] = {
    "write-amp": log(dump(100, tickers={
        "bytes.written": 32 * MIB, "flush.write.bytes": 32 * MIB, "compact.write.bytes": GIB})),
    "compaction-off": log(event(1, "flush_finished", job=2, lsm_state=[200, 0]),
                          family={"disable_auto_compactions": 1}),
    "many-l0-files": log(event(1, "flush_finished", job=2, lsm_state=[200, 0])),
    "tiny-levels": log(family={"max_bytes_for_level_base": 4 * MIB}),
    "intra-l0": log(compactions(12, inputs=(0,), output=0)),
    "one-thread": log(stalls(L0, times=60), compactions(30, took_s=2.0, cpu=0.95)),
    "slow-compactions": log(compactions(20, took_s=1.9, cpu=0.1)),
    "costly-codec": log(compactions(20, took_s=1.9, cpu=0.97),
                        family={"bottommost_compression": "ZSTD"}),
    "pushed-down-again": log(
        compaction(1, 2, reason="ManualCompaction", inputs=(6,), output=6, written=GIB),
        compaction(5, 3, reason="LevelMaxLevelSize", inputs=(1,), output=2, read=GIB, written=GIB),
        compaction(9, 4, reason="LevelMaxLevelSize", inputs=(2,), output=3, read=GIB, written=GIB),
        family={"level_compaction_dynamic_level_bytes": 1}),
    "many-threads": log(compaction(1, 2, parts=4),
                        database={"max_background_jobs": 16, "max_subcompactions": 4}),
    "static-levels": log(dump(
        100, tail=HEAD + row("L1", 9, "900.00 MB") + row("L2", 2, "9.00 MB"))),
    "universal-space": log(compactions(4, reason="UniversalSizeAmplification"),
                           family={"compaction_style": "kCompactionStyleUniversal"}),
    "timed-compactions": log(compactions(4, reason="PeriodicCompaction"), family=_PERIODIC),
    "ingested-to-l0": log(dump(
        100, tail="AddFile(Total Files): cumulative 10, interval 0\nAddFile(L0 Files): cumulative "
        "9, interval 0")),
    "ingestion-flushes": log(flushes(5, reason="External File Ingestion")),
}  # fmt: skip
FLUSHES: dict[str, str] = {
    "wal-limit": log(flushes(5, reason="WAL Full")),
    "memory-limit": log(flushes(5, reason=_FORCED)),
    "requested-flushes": log(flushes(20, reason="Get Live Files", data=20_000)),
    "arena-blocks": log(
        (1, "[db/db_impl/db_impl_write.cc:1695] Flushing triggered to alleviate write buffer "
         "memory usage. Write buffer is using 4194000 bytes out of a total of 4194304."),
        flushes(5, reason=_FORCED), families=("default", "a", "b", "c")),
    "slow-flushes": log(flushes(5, data=16 * MIB, took_s=5.0)),
    "wal-unlimited": log(families=("default", "a"),
                         family={"write_buffer_size": GIB, "max_write_buffer_number": 6}),
    "wal-kept": warned("[WARN] [db/db_impl/db_impl_write.cc:1580] Unable to release oldest log due "
                       "to uncommitted transaction"),
    "sync-writes": "** DB Stats **\nUptime(secs): 15.0 total, 2.0 interval\nCumulative WAL: 300 "
    "writes, 300 syncs, 1.00 writes per sync, written: 0.00 GB, 0.00 MB/s\n",
}  # fmt: skip
READS: dict[str, str] = {
    "metadata-misses": log(reads(block__cache__filter__miss=3000)),
    "table-cache": log(reads(no__file__opens=4000), database={"max_open_files": 20}),
    "hits-only-filter": log(reads(memtable__hit=0, l0__hit=10, l1__hit=0),
                            family={"optimize_filters_for_hits": 1}),
    "merge-operands": log(dump(100, histograms=_OPERANDS)),
    "prefix-unused": log(seeks(bloom__filter__prefix__checked=0),
                         family={"prefix_extractor": "rocksdb.FixedPrefix.8"}),
    "long-scans": log(seeks(number__db__next=9_000_000, block__cache__data__miss=900_000)),
    "skipped-entries": log(seeks(number__iter__skip=9_000_000)),
    "range-deletions": log(flush(1, 2, num_range_deletions=4000)),
    "quiet-deletions": log(flush(1, 2, entries=9000, deletes=8000), (9000, "still here")),
    "snapshot-held": log(compaction(1, 2, snapshot=77), compaction(4000, 3, snapshot=77)),
    "endless-compaction": log(*(
        compaction(2 * n, 100 + n, reason="BottommostFiles", inputs=(6,), output=6, file=99 + n)
        for n in range(8))),
    "snapshot-released": log(compactions(4, reason="BottommostFiles", inputs=(6,), output=6)),
    "periodic-in-place": log(
        compactions(2, reason="PeriodicCompaction", inputs=(3,), output=3, deletes=900),
        family=_PERIODIC),
    "deletions-kept": log(
        compaction(1, 2, reason="ManualCompaction", inputs=(0, 6), output=6, deletes=9000)),
    "filter-without-period": log(
        family={"compaction_filter_factory": "Expiry", "ttl": 0, "periodic_compaction_seconds": 0}),
}  # fmt: skip
MEMORY: dict[str, str] = {
    "open-files-memory": log(summary=["SST files in db dir, Total Num: 20000, files: 1.sst"]),
    "many-families": log(families=tuple(f"f{n}" for n in range(24))),
    "memtable-history": log(family={"max_write_buffer_size_to_maintain": 512 * MIB}),
    "readahead-memory": log(event(1, "flush_finished", job=2, lsm_state=[900, 0]),
                            database={"compaction_readahead_size": 2 * MIB}),
    "cache-full": warned("[WARN] [db/db_impl/db_impl_compaction_flush.cc:3000] Flush failed: "
                         "Operation aborted: Memory limit reached: Insert failed due to LRU cache "
                         "being full."),
    "large-filter-block": "block_cache_hit_count = 0, block_read_count = 2, "
    "block_read_byte = 9000000, block_cache_filter_hit_count = 0, "
    "filter_block_read_count = 2, index_block_read_count = 0, "
    "read_filter_block_nanos = 17000000\n",
    "large-metadata": log(flush(1, 2, filter_size=2 * MIB),
                          tables={"cache_index_and_filter_blocks": 1}),
    "open-iterators": log(
        dump(100, tickers={"num.iterator.created": 90_000, "num.iterator.deleted": 80_000})),
    "cache-entry-size": warned(
        "[WARN] [cache/clock_cache.cc:1619] FixedHyperClockCache@0x55 unable to use estimated "
        "40.0% capacity because of full occupancy in 9/32 cache shards (estimated_entry_charge too "
        "high). Recommend estimated_entry_charge=2048"),
}  # fmt: skip
SPACE: dict[str, str] = {
    "deletions-off": warned("[db/db_impl/db_impl_files.cc:47] File Deletions Disabled"),
    "trash-piles-up": warned(_TRASH),
    "blob-garbage": log(dump(
        100, tail="Blob file count: 25, total size: 0.3 GB, garbage size: 0.2 GB, space amp: 3.0"),
        family={"enable_blob_files": "true"}),
    "blob-always-collected": log(family={
        "enable_blob_files": "true", "enable_blob_garbage_collection": "true",
        "blob_garbage_collection_force_threshold": "0.000000"}),
    "blob-large-tables": log(flushes(5, blobs=32 * MIB), family={"enable_blob_files": "true"}),
    "fifo-tiny-limit": "compaction_style=kCompactionStyleFIFO;compaction_options_fifo="
    "{max_table_files_size=20480};write_buffer_size=64m",
    "fifo-drops": warned("[db/compaction/compaction_picker_fifo.cc:227] [default] FIFO compaction: "
                         "picking file 12 with size 1.04MB for deletion"),
    "fifo-merges-ttl": log(family={"compaction_style": "kCompactionStyleFIFO", "ttl": 3600,
                                   "compaction_options_fifo.allow_compaction": 1}),
    "fifo-period-ignored": warned(
        "[WARN] [db/column_family.cc:446] periodic_compaction_seconds does not support FIFO "
        "compaction. Youmay want to set option TTL instead."),
}  # fmt: skip
OTHERS: dict[str, str] = {
    "errors": warned("[ERROR] [db/db_impl/db_impl.cc:100] Corruption: block checksum mismatch"),
    "disk-full": warned("[WARN] [db/error_handler.cc:422] IO error: No space left on device: While "
                        "appending to file"),
    "background-error": warned("[db/error_handler.cc:283] ErrorHandler: Set regular background "
                               "error"),
    "slow-opening": log(opened_s=90.0, summary=[
        "MANIFEST file:  MANIFEST-000004 size: 12000000 Bytes",
        "SST files in db dir, Total Num: 20000, files: 1.sst"]),
    "many-wals": log([(1, f"[db/db_impl/db_impl_open.cc:1043] Recovering log #{n} mode 2")
                      for n in range(30)]),
    "levels-moved": log(
        (1, "[WARN] [db/db_impl/db_impl_open.cc:664] [default] Trivially move files down the LSM "
         "when open with level_compaction_dynamic_level_bytes=true, lsm_state: [0,0,9] (Files are "
         "moved only if DB Recovery is successful)."), version="8.11.3"),
    "costly-statistics": log((1, "   Options.statistics stats level: 5"), version="9.6.1"),
    "no-readahead": log(version="8.11.3"),
    "slow-syncs": log(dump(100, histograms=_SYNCS)),
    "triggers-adjusted": warned(
        "[WARN] [db/column_family.cc:240] This condition must be satisfied: "
        "level0_stop_writes_trigger(36) >= level0_slowdown_writes_trigger(-1) >= "
        "level0_file_num_compaction_trigger(4)"),
    "triggers-contradict": "level0_file_num_compaction_trigger=30;level0_slowdown_writes_trigger=20"
    ";level0_stop_writes_trigger=10",
    "half-set-jobs": log(database={"max_background_jobs": 16, "max_background_flushes": 4}),
    "dynamic-levels-off": warned(
        "[WARN] [db/column_family.cc:297] multiple cf_paths/db_paths and "
        "level_compaction_dynamic_level_bytes can't be used together"),
    "merge-number-ignored": "max_write_buffer_number=2;min_write_buffer_number_to_merge=4",
    "wal-off": "[mysqld]\nrocksdb_write_disable_wal=1\n",
    "tikv-family-cache": '[storage.block-cache]\ncapacity = "16GB"\n[rocksdb.defaultcf]\n'
    'block-cache-size = "12GB"\n',
    "tikv-sync-log": "[raftstore]\nsync-log = false\n[rocksdb.defaultcf]\n",
    "low-memory-limit": "db_write_buffer_size=32m;write_buffer_size=64m",
    "low-wal-limit": "[mysqld]\nrocksdb_max_total_wal_size=16m\n",
    "filter-without-bits": "write_buffer_size=64m;block_based_table_factory={filter_policy="
    "rocksdb.BuiltinBloomFilter}",
    "tikv-flow-control": "[rocksdb.writecf]\nlevel0-slowdown-writes-trigger = 30\n",
    "soft-above-hard": "soft_pending_compaction_bytes_limit=64G;"
    "hard_pending_compaction_bytes_limit=8G",
    "no-slowdown": "level0_slowdown_writes_trigger=30;level0_stop_writes_trigger=30",
    "wal-limit-unused": log(database={"max_total_wal_size": GIB}),
    "wal-not-recycled": log(database={"recycle_log_file_num": 4, "WAL_ttl_seconds": 3600}),
    "file-size-multiplier": log(
        family={"target_file_size_multiplier": 2, "level_compaction_dynamic_level_bytes": 1}),
}  # fmt: skip
TEXTS = {**STALLED, **TREES, **FLUSHES, **READS, **MEMORY, **SPACE, **OTHERS}
"""A text by the code of the finding that must come up."""
