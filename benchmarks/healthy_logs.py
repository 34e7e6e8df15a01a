"""Make the LOGs of stores without a fault, on which no rule of `inspect` may fire.

    .venv/bin/python benchmarks/healthy_logs.py tests/data/healthy

Takes about four minutes if nothing else runs on the machine. Each case is one or more runs of
db_bench on one folder, with the flags of COMMON and those of the case; the LOG of the last run
counts.
"""

import argparse
import gzip
import os
import subprocess
import tempfile
from pathlib import Path

MIB = 1 << 20
Flags = dict[str, object]
COMMON: Flags = {
    "benchmarks": "fillrandom,readrandom",
    "num": 60_000,
    "reads": 60_000,
    "key_size": 16,
    "value_size": 1000,
    "compression_ratio": 0.5,
    "benchmark_write_rate_limit": 8 * MIB,
    "write_buffer_size": 8 * MIB,
    "max_write_buffer_number": 4,
    "target_file_size_base": 8 * MIB,
    "max_bytes_for_level_base": 32 * MIB,
    "max_background_jobs": 4,
    "bloom_bits": 10,
    "cache_size": 128 * MIB,
    "statistics": 1,
    "stats_dump_period_sec": 3,
    "seed": 1,
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


def healthy(case: str, program: str) -> bytes:
    """Run a case in its own folder and return its LOG."""
    with tempfile.TemporaryDirectory() as folder:
        for run in CASES[case]:
            flags = {**COMMON, **run, "db": f"{folder}/db"}
            told = [f"--{name}={value}" for name, value in flags.items()]
            subprocess.run([program, *told], check=True, cwd=folder, capture_output=True)
        return Path(folder, "db", "LOG").read_bytes()


def main() -> None:
    """Make the requested LOGs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--db-bench", default=os.environ.get("LSMTUNE_DB_BENCH", "db_bench"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for case in arguments.cases:
        log = healthy(case, arguments.db_bench)
        (arguments.folder / f"{case}.LOG.gz").write_bytes(gzip.compress(log, mtime=0))


if __name__ == "__main__":
    main()
