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
from collections.abc import Mapping, Sequence
from pathlib import Path

MIB = 1 << 20
Flags = dict[str, object]
HEALTHY: Flags = {
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
HURRIED: Flags = {"benchmark_write_rate_limit": 0, "num": 300_000}
"""Writes as fast as they go: the problem is to hold them."""

CASES: dict[str, Flags] = {
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


def logged(runs: Sequence[Flags], program: str) -> bytes:
    """Run db_bench with each set of flags on one store in a folder of its own; return the LOG."""
    with tempfile.TemporaryDirectory() as folder:
        for flags in runs:
            given = [f"--{name}={value}" for name, value in flags.items()]
            subprocess.run([program, *given, f"--db={folder}/db"], check=True, cwd=folder,
                           capture_output=True)  # fmt: skip
        return Path(folder, "db", "LOG").read_bytes()


def make_logs(description: str | None, cases: Mapping[str, Sequence[Flags]]) -> None:
    """Make the LOGs of the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cases", nargs="+", default=list(cases), choices=cases)
    parser.add_argument("--db-bench", default=os.environ.get("LSMTUNE_DB_BENCH", "db_bench"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for case in arguments.cases:
        log = logged(cases[case], arguments.db_bench)
        (arguments.folder / f"{case}.LOG.gz").write_bytes(gzip.compress(log, mtime=0))


if __name__ == "__main__":
    make_logs(__doc__, {case: [{**HEALTHY, **flags}] for case, flags in CASES.items()})
