"""Versions of RocksDB: each has its own knobs, choices and rules."""

import pytest

from knobs.real import CATALOGUE
from lsmtune.knobs.constraints import Context, normalise, refusals
from lsmtune.knobs.types import Settings, Value
from lsmtune.spaces import catalogue_in, knob_space
from lsmtune.spec import Ground, make_spec
from lsmtune.trials import Base

DEFAULTS = CATALOGUE.defaults(1)
OPEN_FILES = 1024


@pytest.mark.parametrize(
    ("name", "value", "since", "before"),
    [
        ("compaction_pri", 4, "7.5.3", "7.4.5"),
        ("format_version", 6, "8.6.7", "8.5.4"),
        ("format_version", 7, "10.4.2", "10.2.1"),
        ("checksum_type", 4, "6.27.3", "6.26.1"),
        ("prepopulate_block_cache", 2, "11.1.2", "11.0.4"),
        ("index_block_search_type", "auto", "11.1.2", "11.0.4"),
    ],
)
def test_a_choice_exists_from_a_version_on(
    name: str, value: Value, since: str, before: str
) -> None:
    assert value in CATALOGUE.of_version(since).knob(name).choices
    older = CATALOGUE.of_version(before).knob(name)
    assert value not in (*older.choices, *older.named_only)
    assert len(older.choices) == len(older.labels) or not older.labels


@pytest.mark.parametrize(
    ("name", "since", "before"),
    [("cache_type", "7.7.8", "7.6.0"), ("cache_low_pri_pool_ratio", "7.6.0", "7.5.3")],
)
def test_a_knob_without_a_place_in_options_exists_from_a_version_on(
    name: str, since: str, before: str
) -> None:
    assert CATALOGUE.of_version(since).knob(name).name == name
    assert name in CATALOGUE.of_version(before).absent


def context(version: str, **base: Value) -> Context:
    return Context(DEFAULTS | base, OPEN_FILES, version=version)


@pytest.mark.parametrize(
    ("changes", "legal", "refused"),
    [
        ({"memtablerep": "vector"}, "10.4.2", "10.2.1"),
        ({"use_direct_io_for_flush_and_compaction": True, "writable_file_max_buffer_size": 0},
         "6.29.5", "7.0.4"),
        ({"block_align": True, "compression_type": "none", "bottommost_compression": "lz4"},
         "9.1.1", "9.2.1"),
    ],
)  # fmt: skip
def test_settings_are_refused_by_some_versions(changes: Settings, legal: str, refused: str) -> None:
    assert refusals(DEFAULTS | changes, context(legal)) == []
    assert len(refusals(DEFAULTS | changes, context(refused))) == 1


@pytest.mark.parametrize(
    ("changes", "name", "values"),
    [
        ({"compaction_style": 2}, "num_levels", {"7.7.8": 1, "7.8.3": 7}),
        ({"use_direct_reads": True}, "compaction_readahead_size", {"8.5.4": 2 << 20, "8.6.7": 0}),
        ({"compression_type": "lz4", "compression_level": 9}, "compression_level",
         {"11.4.0": 32767, "11.5.0": 9}),
        ({"compression_parallel_threads": 4}, "compression_parallel_threads",
         {"11.4.0": 4, "11.5.0": 1}),
        ({"compression_type": "lz4", "compression_parallel_threads": 4},
         "compression_parallel_threads", {"11.4.0": 4, "11.5.0": 1}),
        ({"compression_type": "lz4", "compression_level": 9, "compression_parallel_threads": 4},
         "compression_parallel_threads", {"11.5.0": 4}),
    ],
)  # fmt: skip
def test_settings_are_changed_by_some_versions(
    changes: Settings, name: str, values: dict[str, Value]
) -> None:
    for version, value in values.items():
        assert normalise(DEFAULTS | changes, context(version))[name] == value


def test_a_study_gets_the_knobs_and_rules_of_its_version() -> None:
    spec = make_spec({"knobs": "format_version,memtablerep"}, "here")
    options = "[Version]\n  rocksdb_version={}\n[DBOptions]\n"
    grounds = {
        version: Ground(CATALOGUE, Base(options=options.format(version), settings=DEFAULTS), 1024)
        for version in ("8.10.2", "11.8.1")
    }
    found = {version: catalogue_in(spec, ground) for version, ground in grounds.items()}
    assert max(found["8.10.2"].knob("format_version").choices) == 6
    assert max(found["11.8.1"].knob("format_version").choices) == 7
    vector = {"memtablerep": "vector"}
    assert knob_space(spec, grounds["8.10.2"]).violations(vector)
    assert not knob_space(spec, grounds["11.8.1"]).violations(vector)
