"""The rules are those of the real db_bench: what it changes, what it refuses, what it takes."""

import re
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from knobs.real import CATALOGUE, Bench, read_all
from lsmtune.knobs.constraints import Context, MemoryLimit, memory_bytes, normalise, refusals
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Settings, Value

pytestmark = pytest.mark.db_bench

OPEN_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
FLAG_ONLY = {knob.name: knob.default for knob in CATALOGUE.knobs if knob.option is None}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def flags(settings: Settings) -> list[str]:
    told = {name: settings[name] for name in FLAG_ONLY}
    return [f"--{n}={int(v) if isinstance(v, bool) else v}" for n, v in told.items()]


def test_the_base_of_db_bench_is_the_catalogue_s_defaults(bench: Bench) -> None:
    told = read_all(bench.base)
    assert len(told) > 90
    assert told == {name: CATALOGUE.knob(name).default for name in told}


def test_flags_are_those_that_db_bench_has() -> None:
    told = subprocess.run(
        ["db_bench", "--help"], capture_output=True, text=True, check=False
    ).stdout
    known = set(re.findall(r"^\s+-(\w+) \(", told, re.MULTILINE))
    assert {knob.name for knob in CATALOGUE.knobs if knob.flag} - known == set()
    assert {knob.name for knob in CATALOGUE.knobs if not knob.flag} & known == set()


SILENTLY_CHANGED: list[Settings] = [
    {
        "write_buffer_size": 1000,
        "max_write_buffer_number": 1,
        "min_write_buffer_number_to_merge": 7,
        "memtable_bloom_size_ratio": 0.5,
        "memtable_whole_key_filtering": True,
        "memtablerep": "prefix_hash",
        "allow_concurrent_memtable_write": False,
        "level0_file_num_compaction_trigger": 30,
        "num_levels": 1,
        "soft_pending_compaction_bytes_limit": 0,
        "max_compaction_bytes": 0,
        "arena_block_size": 0,
        "open_files": 5,
        "use_direct_reads": True,
        "delayed_write_rate": 0,
        "block_size_deviation": 200,
        "block_restart_interval": 0,
        "index_block_restart_interval": 0,
        "bloom_bits": 10,
        "partition_filters": True,
        "ttl_seconds": 2**64 - 2,
        "periodic_compaction_seconds": 2**64 - 2,
    },
    {
        "write_buffer_size": 1 << 40,
        "level0_file_num_compaction_trigger": 0,
        "level0_slowdown_writes_trigger": 50,
        "level0_stop_writes_trigger": 10,
        "soft_pending_compaction_bytes_limit": 1 << 40,
        "target_file_size_base": 1 << 20,
        "max_compaction_bytes": 25 << 20,
        "max_write_buffer_size_to_maintain": -1,
        "open_files": 10_000_000,
        "max_bytes_for_level_multiplier": 0.0,
        "atomic_flush": True,
        "enable_pipelined_write": False,
        "max_write_buffer_number": 4,
        "min_write_buffer_number_to_merge": 2,
        "prefix_size": 4,
        "index_type": "hash",
        "index_block_restart_interval": 8,
    },
    {
        "compaction_style": 1,
        "level_compaction_dynamic_level_bytes": True,
        "periodic_compaction_seconds": 0,
        "num_levels": 1,
        "rate_limiter_bytes_per_sec": 1 << 25,
        "bytes_per_sync": 0,
        "delayed_write_rate": 0,
    },
    {"compaction_style": 1, "ttl_seconds": 86400, "periodic_compaction_seconds": 100_000},
    {"compaction_style": 1, "ttl_seconds": 86400, "periodic_compaction_seconds": 2**64 - 2},
    {"compaction_style": 2},
]


@pytest.mark.parametrize("raw", SILENTLY_CHANGED, ids=range(len(SILENTLY_CHANGED)))
def test_rocksdb_makes_of_raw_settings_what_normalise_makes_of_them(
    bench: Bench, raw: Settings
) -> None:
    base = FLAG_ONLY | read_all(bench.base)
    given = base | raw
    opened = bench.open(given, *flags(given))
    assert opened.code == 0, opened.output
    expected = normalise(given, Context(base, OPEN_FILES))
    written = read_all(opened.sections)
    assert written == {name: expected[name] for name in written}
    assert written != read_all(bench.base) | raw


CONCURRENT, PIPELINED = "allow_concurrent_memtable_write", "enable_pipelined_write"
LEGAL_BY_THEMSELVES = {CONCURRENT, PIPELINED, "compression_type"}
"""What is set only so that nothing else is wrong."""

REFUSED: list[Settings] = [
    {"inplace_update_support": True},
    {"memtablerep": "vector"},
    {"compression_zstd_max_train_bytes": 65536},
    {"compaction_style": 2, "open_files": 1000},
    {"use_direct_reads": True, "mmap_read": True},
    {"use_direct_io_for_flush_and_compaction": True, "mmap_write": True},
    {"use_direct_io_for_flush_and_compaction": True, "mmap_read": True},
    {"unordered_write": True, PIPELINED: False, CONCURRENT: False},
    {"unordered_write": True},
    {"unordered_write": True, PIPELINED: False, "max_successive_merges": 3},
    {"atomic_flush": True},
    {"use_direct_io_for_flush_and_compaction": True, "writable_file_max_buffer_size": 0},
    {"no_block_cache": True, "cache_index_and_filter_blocks": True},
    {"no_block_cache": True, "pin_l0_filter_and_index_blocks_in_cache": True},
    {"block_align": True},
    {"block_align": True, "compression_type": "none", "block_size": 5000},
    {"index_type": "hash"},
]


@pytest.mark.parametrize("raw", REFUSED, ids="-".join)
def test_what_rocksdb_refuses_is_refused_before(bench: Bench, raw: Settings) -> None:
    base = FLAG_ONLY | read_all(bench.base)
    assert bench.open(raw).code != 0
    (told,) = refusals(base | raw)
    assert all(name in told for name in raw.keys() - LEGAL_BY_THEMSELVES)
    assert refusals(base) == []


@pytest.mark.parametrize(
    ("flags_given", "raw", "code", "words"),
    [
        (["--min_level_to_compress=9"], {"min_level_to_compress": 9}, -6, "Assertion"),
        (
            ["--cache_high_pri_pool_ratio=0.7", "--cache_low_pri_pool_ratio=0.6"],
            {"cache_high_pri_pool_ratio": 0.7, "cache_low_pri_pool_ratio": 0.6},
            0,
            "cannot exceed 1.0",
        ),
    ],
)
def test_what_db_bench_does_not_take_as_flags_is_refused_before(
    bench: Bench, flags_given: list[str], raw: dict[str, Value], code: int, words: str
) -> None:
    opened = bench.flags(*flags_given)
    assert opened.code == code
    assert words in opened.output
    (told,) = refusals(FLAG_ONLY | read_all(bench.base) | raw)
    assert all(name in told for name in raw)


def test_any_legal_config_runs_as_it_is(bench: Bench, tmp_path: Path) -> None:
    base = FLAG_ONLY | read_all(bench.base)
    catalogue = CATALOGUE.restricted(base)
    memory = MemoryLimit(2 * memory_bytes(base))
    space = KnobSpace(catalogue.select("all"), base, OPEN_FILES, memory).fitted()
    assert len(space.knobs) > 110
    rng = np.random.default_rng(5)
    for _ in range(12):
        settings = space.settings(space.sample(rng))
        opened = bench.open(settings, *flags(settings))
        assert opened.code == 0, opened.output
        written = read_all(opened.sections)
        assert written == {name: settings[name] for name in written}


def test_mapped_files_that_are_not_allocated_end_the_first_flush(bench: Bench) -> None:
    raw: Settings = {"mmap_write": True, "allow_fallocate": False}
    assert bench.open(raw, "--benchmarks=fillseq,flush").code == -signal.SIGBUS
    (told,) = refusals(FLAG_ONLY | read_all(bench.base) | raw)
    assert "mmap_write = true, allow_fallocate = false" in told


def test_only_skip_lists_can_be_purged_in_memory(bench: Bench) -> None:
    raw: Settings = {
        "experimental_mempurge_threshold": 1.0, "memtablerep": "vector",
        "allow_concurrent_memtable_write": False, "write_buffer_size": 1 << 20,
    }  # fmt: skip
    load = ("--benchmarks=fillrandom", "--num=20000", "--value_size=1024")
    assert bench.open(raw, *load).code == -signal.SIGABRT
    assert bench.open({**raw, "memtablerep": "skip_list"}, *load).code == 0
    (told,) = refusals(FLAG_ONLY | read_all(bench.base) | raw)
    assert "needs memtablerep = skip_list" in told
