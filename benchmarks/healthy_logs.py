"""Make the LOGs of stores without a fault, on which no rule of `inspect` may fire.

    .venv/bin/python benchmarks/healthy_logs.py tests/data/healthy

Takes about four minutes if nothing else runs on the machine. Each case is one or more runs of
db_bench on one folder, with the flags of COMMON and those of the case; the LOG of the last run
counts.
"""

from planted_logs import HEALTHY, MIB, Flags, make_logs

COMMON: Flags = {
    **HEALTHY,
    "num": 60_000,
    "reads": 60_000,
    "benchmark_write_rate_limit": 8 * MIB,
    "stats_dump_period_sec": 3,
}

CASES: dict[str, tuple[Flags, ...]] = {
    "dynamic": ({"level_compaction_dynamic_level_bytes": 1, "compression_type": "lz4",
                 "benchmarks": "fillrandom,overwrite,readrandom"},),
    "universal": ({"compaction_style": 1, "benchmarks": "fillrandom,overwrite,readrandom"},),
    "fifo": ({"compaction_style": 2, "num_levels": 1, "fifo_compaction_allow_compaction": 0,
              "fifo_compaction_max_table_files_size_mb": 1000},),
    "families": ({"num_column_families": 8, "write_buffer_size": 4 * MIB, "num": 100_000},),
    "direct": ({"use_direct_reads": 1, "use_direct_io_for_flush_and_compaction": 1,
                "compaction_readahead_size": 2 * MIB},),
    "blobs": ({"enable_blob_files": 1, "min_blob_size": 512, "blob_file_size": 8 * MIB,
               "enable_blob_garbage_collection": 1, "blob_garbage_collection_age_cutoff": 1.0,
               "blob_garbage_collection_force_threshold": 0.5, "target_file_size_base": MIB // 2,
               "write_buffer_size": 4 * MIB, "max_bytes_for_level_base": 2 * MIB,
               "benchmarks": "fillrandom,overwrite,compact,readrandom"},),
    "read_only": ({"benchmarks": "fillrandom"},
                  {"benchmarks": "readrandom", "use_existing_db": 1, "readonly": 1}),
    "in_order": ({"benchmarks": "fillseq,compact,readrandom"},),
    "mixed": ({"benchmarks": "fillrandom,readrandomwriterandom", "readwritepercent": 80,
               "threads": 1, "subcompactions": 2, "compression_type": "zstd"},),
    "scans": ({"benchmarks": "fillseq,seekrandom", "seek_nexts": 50, "reads": 20_000,
               "cache_index_and_filter_blocks": 1},),
}  # fmt: skip


if __name__ == "__main__":
    make_logs(__doc__, {case: [{**COMMON, **run} for run in runs] for case, runs in CASES.items()})
