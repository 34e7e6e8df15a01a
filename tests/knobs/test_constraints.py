"""The rules between options, apart from what the real db_bench says of them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.each import each
from knobs.real import CAPTURED, CATALOGUE, captured, read_all
from lsmtune.knobs.constraints import ROCKSDB_RULES, Context, normalise, refusals
from lsmtune.knobs.families import PLAIN
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.rules.base import Normalisation, Refusal
from lsmtune.knobs.space import value_at
from lsmtune.knobs.types import Settings, Value

DEFAULTS = CATALOGUE.defaults(1)
RUNS = sorted(path.name for path in CAPTURED.glob("rocksdb-*") if Path(path).is_dir())


def normal(settings: Settings, **changes: Value) -> Settings:
    return normalise(settings | changes, Context(DEFAULTS, 1024))


@each((*ROCKSDB_RULES.normalisations, *ROCKSDB_RULES.refusals), lambda rule: ", ".join(rule.needs))
def test_rules_are_about_knobs_and_name_their_source(rule: Normalisation | Refusal) -> None:
    assert rule.source
    assert rule.needs
    assert set(rule.needs) <= {PLAIN.option(knob.name) for knob in CATALOGUE.knobs}


@pytest.mark.parametrize("run", RUNS)
def test_what_rocksdb_has_written_is_normal_and_legal(run: str) -> None:
    told = read_all(captured(run))
    assert normalise(told, Context(told, 1024)) == told
    assert refusals(told) == []


@given(seed=st.integers(0, 2**32))
def test_rules_about_options_that_a_version_lacks_are_skipped(seed: int) -> None:
    rng = np.random.default_rng(seed)
    settings = {
        k.name: value_at(k, rng.random()) for k in CATALOGUE.knobs if rng.random() < rng.random()
    }
    base = {name: DEFAULTS[name] for name in settings}
    context = Context(base, 1024, frozenset({"kZSTD"}), CATALOGUE.knobs)
    found = normalise(settings, context)
    assert found.keys() == settings.keys()
    assert normalise(found, context) == found
    for told in refusals(found, context):
        assert any(told.startswith(f"{name} = ") for name in found)
    assert memory_bytes(found) >= 0


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"use_direct_io_for_compaction_reads": True, "mmap_read": True}, ["mmap_read = true"]),
        (
            {"compaction_style": 1, "universal_max_read_amp": 3},
            ["universal_max_read_amp = 3", "level0_file_num_compaction_trigger = 4"],
        ),
        (
            {"block_align": True, "compression_type": "none", "bottommost_compression": "zstd"},
            ["block_align = true"],
        ),
        ({"cache_index_and_filter_blocks": True, "cache_size": 0}, ["cache_size = 0"]),
    ],
)
def test_refusals_of_newer_versions_and_of_flags(changes: Settings, names: list[str]) -> None:
    (told,) = refusals(DEFAULTS | changes, Context(DEFAULTS, 1024, version="11.8.1"))
    assert all(name in told for name in names)


def test_every_reason_is_told_at_once() -> None:
    settings = DEFAULTS | {"index_type": "hash", "block_align": True, "mmap_read": True}
    assert len(refusals(settings | {"use_direct_reads": True})) == 3


@pytest.mark.parametrize(
    "name", ["compression_type", "bottommost_compression", "blob_compression_type"]
)
def test_a_codec_that_is_not_linked_is_refused(name: str) -> None:
    context = Context(DEFAULTS, 1024, frozenset({"kSnappyCompression"}))
    assert refusals(DEFAULTS | {"compression_type": "none"}, context) == []
    assert refusals(DEFAULTS, context) == []
    (told,) = refusals(DEFAULTS | {name: "lz4"}, context)
    assert f"{name} = lz4: " in told
    assert refusals(DEFAULTS | {name: "lz4"}) == []


def test_without_zstd_the_log_is_plain_and_nothing_is_trained() -> None:
    context = Context(DEFAULTS, 1024, frozenset({"kSnappyCompression"}))
    assert normalise(DEFAULTS | {"wal_compression": "zstd"}, context)["wal_compression"] == "none"
    trained = {"compression_zstd_max_train_bytes": 65536, "compression_max_dict_bytes": 4096}
    assert refusals(DEFAULTS | trained) == []
    assert len(refusals(DEFAULTS | trained, context)) == 1


@pytest.mark.parametrize(
    ("compactions", "flushes", "seen"),
    [(-1, -1, (5, -1, -1)), (4, -1, (2, 4, 1)), (-1, 3, (2, 1, 3)), (4, 2, (2, 4, 2))],
)
def test_background_threads(compactions: int, flushes: int, seen: tuple[int, ...]) -> None:
    found = normal(
        DEFAULTS,
        max_background_jobs=5,
        max_background_compactions=compactions,
        max_background_flushes=flushes,
    )
    names = ("max_background_jobs", "max_background_compactions", "max_background_flushes")
    assert tuple(found[name] for name in names) == seen


def test_codec_options_count_where_a_codec_looks_at_them() -> None:
    level = {"compression_level": 3}
    for codecs, counts in [
        ({"compression_type": "zstd"}, True),
        ({"compression_type": "lz4"}, False),
        ({"bottommost_compression": "zstd"}, True),
        ({"bottommost_compression": "zstd", "bottommost_compression_opts_enabled": True}, False),
    ]:
        assert (normal(DEFAULTS | codecs, **level)["compression_level"] == 3) is counts
    own = {"bottommost_compression_opts_enabled": True, "bottommost_compression_level": 9}
    assert normal(DEFAULTS, **own)["bottommost_compression_level"] == 32767
    zstd = DEFAULTS | {"compression_type": "zstd"}
    assert normal(zstd, **own)["bottommost_compression_level"] == 9


@pytest.mark.parametrize(
    ("settings", "used"),
    [
        ({"write_buffer_size": 10, "max_write_buffer_number": 3}, 30),
        ({"write_buffer_size": 10, "max_write_buffer_number": 3, "db_write_buffer_size": 0}, 30),
        ({"write_buffer_size": 10, "max_write_buffer_number": 3, "db_write_buffer_size": 20}, 20),
        ({"write_buffer_size": 10, "max_write_buffer_number": 3, "db_write_buffer_size": 40}, 30),
        ({"cache_size": 7, "row_cache_size": 5}, 12),
        ({}, 0),
    ],
)
def test_memory(settings: Settings, used: int) -> None:
    assert memory_bytes(settings) == used
    assert MemoryLimit(used).violation(settings) is None
    over = MemoryLimit(used - 1).violation(settings)
    assert used == 0 or (over is not None and f"{used} B" in over and f"{used - 1} B" in over)
