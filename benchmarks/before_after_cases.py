"""The ten pairs of before_after.py: what runs on each side, and the metric that decides.

Other programs used the machine while these pairs ran. For report_block_size, inspect first got
three runs per side, 0.58 times the speed before (0.13 to 2.5), and said "undecided"; then it got
five fresh ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

MIB = 1 << 20
Flags = Mapping[str, object]

_SMALL: Flags = {"num": 300_000, "reads": 300_000, "key_size": 16, "value_size": 200,
                 "compression_type": "lz4", "cache_size": 8 * MIB}  # fmt: skip
_FEWER: Flags = {"num": 150_000, "reads": 100_000, "write_buffer_size": 4 * MIB}
_LIMITED: Flags = {
    "benchmarks": "fillrandom", "num": 200_000, "key_size": 16, "value_size": 400,
    "compression_type": "lz4", "benchmark_write_rate_limit": 20_000_000, "statistics": 1,
    "stats_dump_period_sec": 1, "write_buffer_size": MIB, "target_file_size_base": MIB,
    "max_bytes_for_level_base": 4 * MIB,
}  # fmt: skip
_SCRIPT: Flags = {
    "NUM_KEYS": 300_000, "VALUE_SIZE": 200, "NUM_THREADS": 1, "COMPRESSION_TYPE": "lz4",
    "CACHE_SIZE": 4 * MIB, "STATS_INTERVAL_SECONDS": 1, "REPORT_INTERVAL_SECONDS": 1,
    "MAX_BACKGROUND_JOBS": 2, "DURATION": 4, "DB_BENCH_NO_SYNC": 1,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """A pair: `common` flags, and those of each side.

    `kind` says what is compared: the output of db_bench (`result`), report.tsv (`report`), the
    LOG (`log`) or the statistics (`dump`). Of a report the flags are variables of benchmark.sh,
    and `jobs` its tests. `shown` is the number of runs per side that inspect gets. `benchmark`
    and `metric` decide which side is better; without a benchmark, a metric of the store.
    """

    kind: str
    common: Flags
    before: Flags
    after: Flags
    metric: str
    benchmark: str = ""
    jobs: str = ""
    shown: int = 1
    higher_is_better: bool = True

    def flags(self, side: str) -> dict[str, object]:
        """Return all flags of a side."""
        return {**self.common, **(self.before if side == "before" else self.after)}


@dataclass(frozen=True, slots=True)
class OptionsCase:
    """A pair of options. Each side is a set of flags, or sections of an OPTIONS file.

    With sections, inspect gets an options string of them. `changed` are the names that the
    sides change; RocksDB may derive further options.
    """

    changed: frozenset[str]
    flags: Mapping[str, Flags] = field(default_factory=dict)
    sections: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)


CASES: dict[str, Case] = {
    "bloom_filter": Case(
        "result", {**_SMALL, "benchmarks": "fillrandom,readmissing"},
        {"bloom_bits": 0}, {"bloom_bits": 10}, "ops_per_s", "readmissing", shown=4,
    ),
    "other_seed": Case(
        "result", {**_SMALL, "num": 200_000, "benchmarks": "fillrandom,readrandom"}, {}, {},
        "ops_per_s", "readrandom", shown=4,
    ),
    "write_buffer": Case(
        "result", {**_SMALL, "num": 200_000, "benchmarks": "overwrite", "histogram": 1},
        {"write_buffer_size": MIB // 2}, {"write_buffer_size": 64 * MIB},
        "ops_per_s", "overwrite",
    ),
    "report_block_size": Case(
        "report", _SCRIPT, {"BLOCK_SIZE": 4096}, {"BLOCK_SIZE": 32768}, "ops_per_s",
        "readrandom.t1", jobs="fillseq_disable_wal,readrandom", shown=5,
    ),
    "report_write_buffer": Case(
        "report", {**_SCRIPT, "TARGET_FILE_SIZE_BASE_MB": 4, "MAX_BYTES_FOR_LEVEL_BASE_MB": 16},
        {"WRITE_BUFFER_SIZE_MB": 64}, {"WRITE_BUFFER_SIZE_MB": 1}, "ops_per_s",
        "overwrite.t1.s0", jobs="fillseq_disable_wal,overwrite",
    ),
    "log_other_seed": Case(
        "log", _LIMITED, {}, {}, "write_amp", shown=3, higher_is_better=False,
    ),
    "log_triggers": Case(
        "log", _LIMITED, {},
        {"level0_file_num_compaction_trigger": 2, "level0_slowdown_writes_trigger": 4,
         "level0_stop_writes_trigger": 6}, "write_amp", higher_is_better=False,
    ),
    "dump_cache": Case(
        "dump", {**_SMALL, **_FEWER, "benchmarks": "fillrandom,readrandom,stats", "statistics": 1},
        {"cache_size": MIB}, {"cache_size": 64 * MIB}, "cache_hit_percent",
    ),
}  # fmt: skip

_FLAGS_OF_OPTIONS: Flags = {"benchmarks": "fillseq", "num": 1000, "bloom_bits": 10,
                            "compaction_style": 1}  # fmt: skip

OPTIONS_CASES: dict[str, OptionsCase] = {
    "options_files": OptionsCase(
        changed=frozenset({
            "max_background_jobs", "write_buffer_size", "compression", "filter_policy",
            "block_size", "level0_file_num_compaction_trigger",
            "compaction_options_universal.size_ratio",
            "compaction_options_universal.max_size_amplification_percent",
        }),
        flags={
            "before": {**_FLAGS_OF_OPTIONS, "compression_type": "lz4"},
            "after": {
                **_FLAGS_OF_OPTIONS, "compression_type": "zstd", "max_background_jobs": 6,
                "write_buffer_size": 8 * MIB, "bloom_bits": 16, "block_size": 16384,
                "level0_file_num_compaction_trigger": 8, "universal_size_ratio": 10,
                "universal_max_size_amplification_percent": 120,
            },
        },
    ),
    "options_strings": OptionsCase(
        changed=frozenset({
            "max_background_jobs", "compression", "compaction_readahead_size",
            "compaction_options_universal.max_size_amplification_percent",
        }),
        sections={
            "before": {
                "DBOptions": {"max_background_jobs": "4", "bytes_per_sync": "1MB"},
                "CFOptions": {
                    "write_buffer_size": "64MB", "compression": "kLZ4Compression",
                    "compaction_style": "kCompactionStyleUniversal",
                    "compaction_options_universal":
                        "{size_ratio=5;max_size_amplification_percent=150;min_merge_width=3}",
                },
                "TableOptions": {
                    "filter_policy": "bloomfilter:10", "block_size": "16K",
                    "cache_index_and_filter_blocks": "true",
                },
            },
            "after": {
                "TableOptions": {
                    "cache_index_and_filter_blocks": "1", "block_size": "16384",
                    "filter_policy": "{id=rocksdb.BloomFilter:10;}",
                },
                "CFOptions": {
                    "compaction_options_universal":
                        "{min_merge_width=3;max_size_amplification_percent=200;size_ratio=5;}",
                    "compaction_style": "kCompactionStyleUniversal", "compression": "kZSTD",
                    "write_buffer_size": "67108864",
                },
                "DBOptions": {
                    "max_background_jobs": "8", "bytes_per_sync": "1048576",
                    "compaction_readahead_size": "2MB",
                },
            },
        },
    ),
}  # fmt: skip
