"""Make the LOGs for the tests of `inspect`: each has one planted problem, one is healthy.

    .venv/bin/python benchmarks/planted_logs.py tests/data/planted

Takes about three minutes if nothing else runs on the machine. Each run is db_bench with the flags
of HEALTHY and the changes of its case.
"""

import argparse
import gzip
import os
import subprocess
import tempfile
from pathlib import Path

MIB = 1 << 20
HEALTHY: dict[str, object] = {
    "benchmarks": "fillrandom,readrandom",
    "num": 150_000,
    "reads": 100_000,
    "key_size": 16,
    "value_size": 1000,
    "compression_ratio": 0.5,
    "benchmark_write_rate_limit": 10 * MIB,
    "write_buffer_size": 8 * MIB,
    "max_write_buffer_number": 4,
    "target_file_size_base": 8 * MIB,
    "max_bytes_for_level_base": 32 * MIB,
    "max_background_jobs": 4,
    "bloom_bits": 10,
    "cache_size": 128 * MIB,
    "statistics": 1,
    "stats_dump_period_sec": 1,
    "seed": 1,
}
HURRIED: dict[str, object] = {"benchmark_write_rate_limit": 0, "num": 300_000}
"""Writes as fast as they go: the problem is to hold them."""

CASES: dict[str, dict[str, object]] = {
    "healthy": {},
    "memtable": {**HURRIED, "write_buffer_size": MIB // 16, "num": 60_000},
    "jobs": {**HURRIED, "max_background_jobs": 1, "num": 300_000, "write_buffer_size": 2 * MIB,
             "target_file_size_base": 2 * MIB, "max_bytes_for_level_base": 8 * MIB},
    "l0_trigger": {**HURRIED, "level0_file_num_compaction_trigger": 2,
                   "level0_slowdown_writes_trigger": 2, "level0_stop_writes_trigger": 3},
    "filter": {"benchmarks": "fillrandom,readmissing", "bloom_bits": -1},
    "pending": {**HURRIED, "soft_pending_compaction_bytes_limit": 2 * MIB,
                "hard_pending_compaction_bytes_limit": 4 * MIB},
    "cache": {"cache_size": MIB // 2},
    "tombstones": {"benchmarks": "fillrandom,deleterandom,seekrandom", "deletes": 140_000,
                   "reads": 5_000, "seek_nexts": 20},
}  # fmt: skip


def planted(case: str, program: str) -> bytes:
    """Run a case in its own folder and return its LOG."""
    with tempfile.TemporaryDirectory() as folder:
        flags = {**HEALTHY, **CASES[case], "db": f"{folder}/db"}
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
        log = planted(case, arguments.db_bench)
        (arguments.folder / f"{case}.LOG.gz").write_bytes(gzip.compress(log, mtime=0))


if __name__ == "__main__":
    main()
