"""The knob space: whatever is proposed is legal, canonical, and what the engine really runs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.rules.refused import CODEC_KNOBS, CODEC_LABELS
from lsmtune.knobs.rules.silent import met
from lsmtune.knobs.space import KnobSpace, value_at
from lsmtune.knobs.types import Config, Settings, Value

CATALOGUE = load("rocksdb")
TUNABLE = tuple(knob for knob in CATALOGUE.knobs if knob.inert is None)
SUITED = (
    "tree,flushes,filters,codecs,blobs", "tree,flushes,filters,small-records",
    "tree,filters,lookups,codecs,blobs", "tree,scans,codecs,small-records",
)  # fmt: skip
"""Lists of presets that workloads have."""
_PARTS = {name for suited in SUITED for name in suited.split(",")}
PRESETS = [*SUITED, *(p.name for p in CATALOGUE.presets if p.name not in _PARTS)]
ULIMITS = (20, 1024, 20_000, 1 << 20)

TELL_HASH = """
import json, sys
from lsmtune.knobs.types import Config
print(Config(json.loads(sys.argv[1])).hash)
"""


def make_space(
    names: str = "core",
    *,
    scale: float = 1 / 64,
    memory: float = 1,
    open_files: int = 1024,
    codecs: frozenset[str] | None = None,
    changes: Settings | None = None,
) -> KnobSpace:
    """A space on RocksDB's defaults, some changed, with `memory` times what they take."""
    load_parameters = {p.name: p.default for p in CATALOGUE.workload_parameters}
    base = CATALOGUE.defaults(scale) | load_parameters | (changes or {})
    knobs = tuple(knob.scaled(scale).around(base[knob.name]) for knob in CATALOGUE.select(names))
    limit = MemoryLimit(round(memory_bytes(base) * memory))
    return KnobSpace(knobs, base, open_files, limit, codecs=codecs).fitted()


def any_values(space: KnobSpace, seed: int) -> Settings:
    """A value for each knob by itself, the rules between them ignored."""
    rng = np.random.default_rng(seed)
    return {knob.name: value_at(knob, rng.random()) for knob in space.knobs}


BASES: list[Settings] = [
    {},
    {"compaction_style": 1, "periodic_compaction_seconds": 2_592_000, "max_background_jobs": 6,
     "bloom_bits": 10, "use_ribbon_filter": True},
    {"mmap_read": True, "block_size": 100_000, "open_files": 20, "compression_type": "zstd"},
    {"enable_blob_files": True, "index_type": "two_level", "use_direct_reads": True,
     "compaction_readahead_size": 2 << 20, "bottommost_compression": "zlib"},
]  # fmt: skip
"""Defaults of db_bench, and bases of users."""

spaces = st.builds(
    make_space,
    st.one_of(
        st.sampled_from(PRESETS),
        st.lists(st.sampled_from([k.name for k in TUNABLE]), min_size=1, unique=True).map(",".join),
    ),
    scale=st.sampled_from([1, 1 / 8, 1 / 64]),
    memory=st.sampled_from([1, 1.3, 10]),
    open_files=st.sampled_from(ULIMITS),
    codecs=st.sampled_from([None, frozenset({"kSnappyCompression", "kZSTD", "kZlibCompression"})]),
    changes=st.sampled_from(BASES),
)
seeds = st.integers(min_value=0, max_value=2**32)


def check_is_legal(space: KnobSpace, config: Config) -> None:
    assert space.violations(config) == []
    assert space.canonical(config) == config
    assert config.keys() == {knob.name for knob in space.knobs}
    for knob in space.knobs:
        assert knob.allows(config[knob.name]), (knob.name, config[knob.name])
    settings = space.settings(config)
    assert settings.keys() == space.base.keys()
    assert memory_bytes(settings) <= space.memory.limit_bytes


def check_is_normal(space: KnobSpace, settings: dict[str, Any]) -> None:
    """What RocksDB would silently change is not in the settings."""
    merged = settings["min_write_buffer_number_to_merge"]
    assert 1 <= merged <= max(1, settings["max_write_buffer_number"] - 1)
    assert (
        settings["level0_file_num_compaction_trigger"]
        <= settings["level0_slowdown_writes_trigger"]
        <= settings["level0_stop_writes_trigger"]
    )
    assert settings["open_files"] == -1 or 20 <= settings["open_files"] <= space.open_files
    assert settings["min_level_to_compress"] < settings["num_levels"]
    assert settings["min_level_to_compress"] != 0
    for knob in space.knobs:
        if not met(knob, settings):
            assert settings[knob.name] == space.base[knob.name]
    if settings["compression_type"] == "none":
        assert settings["min_level_to_compress"] == -1


@given(spaces, seeds)
def test_samples_are_legal_and_normal(space: KnobSpace, seed: int) -> None:
    config = space.sample(np.random.default_rng(seed))
    check_is_legal(space, config)
    check_is_normal(space, space.settings(config))


@given(spaces, seeds)
def test_any_values_can_be_made_legal_and_normal(space: KnobSpace, seed: int) -> None:
    config = space.legalise(any_values(space, seed))
    check_is_legal(space, config)
    check_is_normal(space, space.settings(config))


@given(spaces, seeds)
def test_neighbours_are_legal_and_others(space: KnobSpace, seed: int) -> None:
    rng = np.random.default_rng(seed)
    config = space.sample(rng)
    neighbour = space.neighbour(config, rng)
    check_is_legal(space, neighbour)


@given(spaces, seeds)
def test_the_canonical_form_of_any_values_is_normal_and_its_own(
    space: KnobSpace, seed: int
) -> None:
    config = space.canonical(any_values(space, seed))
    assert space.canonical(config) == config
    check_is_normal(space, space.settings(config))


@given(spaces, seeds)
def test_a_legal_config_is_left_alone(space: KnobSpace, seed: int) -> None:
    config = space.sample(np.random.default_rng(seed))
    assert space.legalise(config) == config


@given(spaces)
def test_the_default_is_the_base(space: KnobSpace) -> None:
    default = space.default()
    check_is_legal(space, default)
    assert space.settings(default) == space.base
    assert default.differing(space.base) == {}


@given(spaces, seeds)
def test_knobs_that_are_not_tuned_stay_at_the_base_unless_a_rule_moves_them(
    space: KnobSpace, seed: int
) -> None:
    config = space.sample(np.random.default_rng(seed))
    moved = {n for n, v in space.settings(config).items() if n not in config and v != space.base[n]}
    assert moved <= {
        "min_write_buffer_number_to_merge", "level0_slowdown_writes_trigger",
        "level0_stop_writes_trigger", "compression_type", "min_level_to_compress",
        "max_background_compactions", "max_background_flushes", "use_ribbon_filter",
        "compression_zstd_max_train_bytes", "soft_pending_compaction_bytes_limit",
        "level_compaction_dynamic_level_bytes", "periodic_compaction_seconds", "bytes_per_sync",
        "compaction_readahead_size", "initial_auto_readahead_size", "partition_filters",
    }  # fmt: skip


@given(spaces, seeds)
def test_a_search_draws_nothing_that_counts_only_when_named(space: KnobSpace, seed: int) -> None:
    config = space.sample(np.random.default_rng(seed))
    named_only = {knob.name: knob.named_only for knob in space.knobs}
    for name, value in config.items():
        assert value not in named_only[name] or value == space.base[name]
        if name in CODEC_KNOBS and value != space.base[name] and space.codecs is not None:
            assert CODEC_LABELS.get(value, "kSnappyCompression") in space.codecs


def test_every_codec_that_is_linked_is_offered() -> None:
    (knob,) = make_space("compression_type", codecs=frozenset({"kZSTD", "kZlibCompression"})).knobs
    assert knob.choices == ("none", "snappy", "zlib", "zstd")  # snappy is the base's
    assert len(knob.labels) == 4


def test_sampling_and_judging_cost_at_most_in_proportion_to_the_knobs() -> None:
    few, many = make_space("core", scale=1), make_space("all", scale=1)
    most = len(many.knobs) / len(few.knobs)
    for few_s, many_s in zip(_costs_s(few), _costs_s(many), strict=True):
        assert many_s < most * few_s


def _costs_s(space: KnobSpace) -> tuple[float, float]:
    """CPU time of sampling 50 configs, and of judging them."""
    rng = np.random.default_rng(1)
    space.canonical(space.sample(rng))  # what is kept after the first config costs no time later
    begin = time.process_time()
    configs = [space.sample(rng) for _ in range(50)]
    sampled = time.process_time()
    for config in configs:
        assert space.canonical(config) == config
        assert space.violations(config) == []
    return sampled - begin, time.process_time() - sampled


@given(spaces, seeds)
def test_the_same_seed_gives_the_same_sample(space: KnobSpace, seed: int) -> None:
    first, second = (space.sample(np.random.default_rng(seed)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"min_write_buffer_number_to_merge": 2}, {"min_write_buffer_number_to_merge": 1}),
        (
            {"compression_type": "none", "min_level_to_compress": 3},
            {"compression_type": "none", "min_level_to_compress": -1},
        ),
        (
            {"compression_type": "zlib", "min_level_to_compress": 6, "num_levels": 6},
            {"compression_type": "none", "min_level_to_compress": -1, "num_levels": 6},
        ),
        ({"open_files": 100_000}, {"open_files": 1_000_000}),
        (
            {"compaction_style": 1, "max_bytes_for_level_multiplier": 8.0, "compaction_pri": 0},
            {"compaction_style": 1},
        ),
        ({"max_background_flushes": 1, "max_background_jobs": 8}, {"max_background_flushes": 1}),
        ({"compaction_style": 0, "universal_size_ratio": 9}, {"compaction_style": 0}),
        ({"enable_blob_files": False, "min_blob_size": 4096}, {"enable_blob_files": False}),
        ({"bloom_bits": -1, "use_ribbon_filter": True}, {"bloom_bits": -1}),
        ({"index_type": "first_key", "partition_filters": True}, {"index_type": "first_key"}),
        ({"max_compaction_bytes": 25 << 20}, {"max_compaction_bytes": 0}),
        ({"compression_type": "lz4", "compression_level": 3}, {"compression_type": "lz4"}),
        ({"memtable_bloom_size_ratio": 0.1}, {}),
        ({"use_direct_reads": True, "advise_random_on_open": False}, {"use_direct_reads": True}),
        ({"max_bytes_for_level_multiplier": 10}, {"max_bytes_for_level_multiplier": 10.0}),
        ({"max_bytes_for_level_multiplier": 9.12345678}, {"max_bytes_for_level_multiplier": 9.123}),
    ],
)
def test_what_runs_alike_is_one_config(one: Settings, other: Settings) -> None:
    space = make_space("all")
    assert space.canonical(one) == space.canonical(other)
    assert space.canonical(one).hash == space.canonical(other).hash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"min_level_to_compress": 1}, {"min_level_to_compress": -1}),
        ({"compression_type": "lz4"}, {"compression_type": "zlib"}),
        ({"mmap_read": True}, {"mmap_read": False}),
        ({"compaction_style": 0, "compaction_pri": 0}, {"compaction_style": 0}),
        ({"max_bytes_for_level_multiplier": 9.1}, {"max_bytes_for_level_multiplier": 9.2}),
        ({"max_background_jobs": 8}, {}),
        ({"compaction_style": 1, "universal_size_ratio": 9}, {"compaction_style": 1}),
        ({"bloom_bits": 8, "use_ribbon_filter": True}, {"bloom_bits": 8}),
        (
            {"bottommost_compression": "zstd", "compression_level": 3},
            {"bottommost_compression": "zstd"},
        ),
        ({"memtable_bloom_size_ratio": 0.1, "memtable_whole_key_filtering": True}, {}),
        ({"max_compaction_bytes": 26 << 20}, {"max_compaction_bytes": 0}),
    ],
)
def test_what_runs_otherwise_is_another_config(one: Settings, other: Settings) -> None:
    space = make_space("all")
    assert space.canonical(one) != space.canonical(other)


def test_memory_is_given_back_by_the_cache_first() -> None:
    # 2 memtables of 1 MiB and 8 MiB of cache
    space = make_space(memory=1, changes={"cache_size": 8 << 20})
    legal = space.legalise({**space.default(), "max_write_buffer_number": 5})
    assert legal["cache_size"] == 5 << 20
    assert legal["max_write_buffer_number"] == 5
    assert legal["write_buffer_size"] == 1 << 20


def test_memory_is_given_back_by_memtables_when_the_cache_has_no_more() -> None:
    space = make_space("write_buffer_size,max_write_buffer_number", memory=1)
    legal = space.legalise({"write_buffer_size": 700_000, "max_write_buffer_number": 8})
    assert legal == Config({"write_buffer_size": 700_000, "max_write_buffer_number": 2})


def test_memory_is_given_back_by_the_size_of_memtables_last() -> None:
    space = make_space("write_buffer_size", memory=1)
    assert space.legalise({"write_buffer_size": 2_000_000}) == space.default()


def test_a_base_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UserError, match=r"^memory: .*10 MiB.*9 MiB"):
        make_space(memory=0.9, changes={"cache_size": 8 << 20})


def test_memory_is_given_back_by_the_row_cache_too() -> None:
    names = "cache_size,row_cache_size,max_write_buffer_number"
    space = make_space(names, scale=1, memory=1, changes={"write_buffer_size": 1 << 20})
    wanted = {"cache_size": 2 << 20, "row_cache_size": 8 << 20, "max_write_buffer_number": 4}
    legal = space.legalise(wanted)
    assert legal == Config(wanted | {"cache_size": 1 << 20, "row_cache_size": 5 << 20})
    assert space.legalise(wanted | {"max_write_buffer_number": 8})["row_cache_size"] == 1 << 20


def test_a_budget_for_all_memtables_bounds_their_memory() -> None:
    space = make_space("db_write_buffer_size,max_write_buffer_number")
    values = {"db_write_buffer_size": 2 << 20, "max_write_buffer_number": 8}
    assert space.legalise(values) == Config(values)


def test_where_nothing_is_legal_every_reason_is_told() -> None:
    space = make_space("num_levels")
    uncached = replace(space, base=space.base | {"cache_size": 0, "mmap_read": True})
    broken = replace(
        uncached,
        base=uncached.base | {"cache_index_and_filter_blocks": True, "use_direct_reads": True},
    )
    assert uncached.legalise({"num_levels": 6}) == Config({"num_levels": 6})
    with pytest.raises(UserError) as caught:
        broken.legalise({"num_levels": 6})
    assert "cache_index_and_filter_blocks = true, cache_size = 0" in str(caught.value)
    assert "use_direct_reads = true, mmap_read = true" in str(caught.value)


@pytest.mark.parametrize(
    ("names", "values", "legal"),
    [
        (
            "mmap_read,use_direct_reads",
            {"mmap_read": True, "use_direct_reads": True},
            {"mmap_read": True, "use_direct_reads": False},
        ),
        ("use_direct_reads", {"use_direct_reads": True}, {"use_direct_reads": True}),
        (
            "block_align,compression_type,block_size",
            {"block_align": True, "compression_type": "none", "block_size": 5000},
            {"block_align": True, "compression_type": "none", "block_size": 4096},
        ),
        (
            "block_align,compression_type",
            {"block_align": True, "compression_type": "lz4"},
            {"block_align": False, "compression_type": "lz4"},
        ),
        ("memtablerep", {"memtablerep": "vector"}, {"memtablerep": "skip_list"}),
        (
            "allow_concurrent_memtable_write,memtablerep",
            {"allow_concurrent_memtable_write": False, "memtablerep": "vector"},
            {"allow_concurrent_memtable_write": False, "memtablerep": "vector"},
        ),
        (
            "cache_high_pri_pool_ratio,cache_low_pri_pool_ratio",
            {"cache_high_pri_pool_ratio": 0.7, "cache_low_pri_pool_ratio": 0.6},
            {"cache_high_pri_pool_ratio": 0.7, "cache_low_pri_pool_ratio": 0.3},
        ),
        (
            "compaction_style,universal_max_read_amp,level0_file_num_compaction_trigger",
            {"compaction_style": 1, "universal_max_read_amp": 5,
             "level0_file_num_compaction_trigger": 8},
            {"compaction_style": 1, "universal_max_read_amp": 8,
             "level0_file_num_compaction_trigger": 8},
        ),
    ],
)  # fmt: skip
def test_what_excludes_something_gives_way(names: str, values: Settings, legal: Settings) -> None:
    assert make_space(names).legalise(values) == Config(legal)


@pytest.mark.parametrize(
    ("open_files", "choices"),
    [
        (1024, (-1, 1024)),
        (20_000, (-1, 10_000, 20_000)),
        (1 << 20, (-1, 10_000, 100_000, 1_000_000)),
    ],
)
def test_choices_that_the_host_makes_equal_are_offered_once(
    open_files: int, choices: tuple[Value, ...]
) -> None:
    assert make_space("open_files", open_files=open_files).knobs[0].choices == choices


def test_special_values_are_drawn_with_a_fixed_share() -> None:
    knob, rng = CATALOGUE.knob("bloom_bits"), np.random.default_rng(1)
    drawn = [value_at(knob, rng.random()) for _ in range(2000)]
    assert 0.17 < drawn.count(-1) / len(drawn) < 0.23
    assert set(drawn) == {-1, *range(2, 21)}


def test_a_logarithmic_knob_is_drawn_evenly_in_its_logarithm() -> None:
    knob, rng = CATALOGUE.knob("cache_size"), np.random.default_rng(1)
    low, high = knob.bounds()
    drawn = np.log2([float(value_at(knob, rng.random())) / low for _ in range(2000)])
    counts, _ = np.histogram(drawn, bins=5, range=(0, float(np.log2(high / low))))
    assert counts.sum() == 2000
    assert all(330 < count < 470 for count in counts)


def test_every_whole_number_of_a_range_is_drawn_alike() -> None:
    knob, rng = CATALOGUE.knob("num_levels"), np.random.default_rng(1)
    drawn = [value_at(knob, rng.random()) for _ in range(2000)]
    assert all(430 < drawn.count(levels) < 570 for levels in (5, 6, 7, 8))


def test_a_scaled_knob_has_its_range_and_default_divided() -> None:
    knob = CATALOGUE.knob("target_file_size_base")
    small = knob.scaled(1 / 64)
    assert small.bounds() == (524_288, 2_097_152)
    assert small.default == 1_048_576
    assert small.allows(small.default)
    assert knob.scaled(1) == knob


@pytest.mark.parametrize(
    "name", ["delayed_write_rate", "bytes_per_sync", "num_levels", "block_size"]
)
def test_other_knobs_do_not_scale(name: str) -> None:
    knob = CATALOGUE.knob(name)
    assert knob.scaled(1 / 64) == knob


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("scale", [1, 1 / 64])
@pytest.mark.parametrize("sized", [False, True])
def test_the_advised_starts_are_legal_and_not_the_base(
    preset: str, scale: float, sized: bool
) -> None:
    starts = CATALOGUE.advised(preset, sized=sized)
    advice = tuple(CATALOGUE.scaled(start.settings, scale) for start in starts)
    space = replace(make_space(preset, scale=scale), advice=advice)
    starts = space.starts()
    assert len(starts) == len(advice)
    for start in starts:
        check_is_legal(space, start)
        assert start != space.default()


def test_of_the_advice_only_the_tuned_knobs_are_taken() -> None:
    advice = ({"num_levels": 6, "bloom_bits": 10}, {"bloom_bits": 10})
    space = replace(make_space("num_levels"), advice=advice)
    assert space.starts() == (Config({"num_levels": 6}),)


@given(
    st.dictionaries(
        st.text(min_size=1), st.one_of(st.booleans(), st.integers(), st.text()), min_size=2
    )
)
def test_the_order_of_insertion_does_not_matter(values: dict[str, Value]) -> None:
    turned = dict(reversed(values.items()))
    assert Config(values) == Config(turned)
    assert Config(values).hash == Config(turned).hash
    assert hash(Config(values)) == hash(Config(turned))


def test_the_hash_is_the_same_in_every_process() -> None:
    values = dict(make_space().sample(np.random.default_rng(5)))
    told = [
        subprocess.run(
            [sys.executable, "-c", TELL_HASH, json.dumps(values)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert told == [Config(values).hash] * 2


@pytest.mark.parametrize("change", [{"a": True}, {"a": 1.0}, {"a": "1"}, {"b": 1}, {}])
def test_other_values_are_another_config(change: Settings) -> None:
    assert Config({"a": 1}) != Config(change)
    assert Config({"a": 1}).hash != Config(change).hash


@pytest.mark.parametrize(
    "edit",
    [
        lambda config: config.__setitem__("a", 2),
        lambda config: config.update(a=2),
        lambda config: config.pop("a"),
    ],
)
def test_a_config_cannot_be_changed(edit: Callable[[Any], None]) -> None:
    with pytest.raises((TypeError, AttributeError)):
        edit(Config({"a": 1}))


def test_a_config_does_not_follow_what_it_was_made_of() -> None:
    values: Settings = {"a": 1}
    config = Config(values)
    values["a"] = 2
    assert config["a"] == 1
