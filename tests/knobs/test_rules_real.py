"""The rules are those of the real db_bench: what it changes, what it refuses, what it takes."""

import re
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from knobs.real import CATALOGUE, Bench, read_all
from knobs.rule_cases import ABORTED, LEGAL_BY_THEMSELVES, REFUSED, SILENTLY_CHANGED
from lsmtune.knobs.constraints import Context, normalise, refusals
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
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


@pytest.mark.parametrize("raw", [*REFUSED, *ABORTED], ids="-".join)
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
