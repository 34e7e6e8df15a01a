"""Spaces of studies with a rule of sizes: each config is legal, and exact, at full size."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.full_size import SHARD_BITS
from lsmtune.knobs.memory import memory
from lsmtune.knobs.types import Settings, Value
from lsmtune.spaces import (
    KnobSpaces,
    assumed_cache_bytes,
    catalogue_in,
    full_records,
    knob_space,
    new_rule,
    rescaled,
    with_fitting_scale,
)
from lsmtune.spec import Ground, StudySettings, make_spec
from lsmtune.trials import Base, SizeRule

MIB = 1 << 20
CATALOGUE = load("rocksdb")
SEARCHED = (
    "core", "tree,flushes,filters,codecs,blobs", "mixed", "reads", "write-path", "space", "online",
    "all",
)  # fmt: skip
SCALED = {
    "write_buffer_size", "db_write_buffer_size", "arena_block_size",
    "max_write_buffer_size_to_maintain", "max_total_wal_size", "max_bytes_for_level_base",
    "target_file_size_base", "max_compaction_bytes", "soft_pending_compaction_bytes_limit",
    "hard_pending_compaction_bytes_limit", "fifo_max_table_files_size", "fifo_max_data_files_size",
    "blob_file_size", "cache_size", "row_cache_size",
}  # fmt: skip
UNSCALED = {
    "memtable_huge_page_size", "max_write_batch_group_size_bytes", "prefix_size",
    "compression_max_dict_bytes", "compression_zstd_max_train_bytes",
    "compression_max_dict_buffer_bytes", "bottommost_compression_max_dict_bytes",
    "bottommost_compression_zstd_max_train_bytes", "min_blob_size",
    "blob_compaction_readahead_size", "metadata_block_size", "block_size",
    "compaction_readahead_size", "initial_auto_readahead_size", "max_auto_readahead_size",
    "bytes_per_sync", "wal_bytes_per_sync", "writable_file_max_buffer_size",
}  # fmt: skip


def ground(cores: int = 2, **changes: Value) -> Ground:
    base: Settings = {**CATALOGUE.defaults(1), "cache_size": 32 * MIB, **changes}
    return Ground(
        CATALOGUE,
        Base(options="", settings=base),
        20_000,
        SizeRule(cores=cores),
    )


def spec_of(**given: object) -> StudySettings:
    return make_spec({"workload": {"name": "fillrandom", "num": 200_000}, **given}, "here")


@pytest.mark.parametrize("engine", ["rocksdb", "myrocks"])
def test_catalogue_each_knob_in_bytes_is_in_one_list_of_sizes(engine: str) -> None:
    in_bytes = {
        k.name.rpartition(".")[2]: k.scales for k in load(engine).knobs if k.unit == "bytes"
    }
    assert {name for name, scales in in_bytes.items() if scales} == SCALED
    assert {name for name, scales in in_bytes.items() if not scales} == UNSCALED


@settings(max_examples=30)
@given(
    preset=st.sampled_from(SEARCHED),
    scale=st.sampled_from(["1/64", "1/32", "1/8", "1"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_sample_has_the_same_values_at_full_size(preset: str, scale: str, seed: int) -> None:
    spec, here = spec_of(knobs=preset, scale=scale), ground()
    space = knob_space(spec, here)
    whole = space.full_size
    for config in (space.sample(np.random.default_rng(seed)), *space.starts()):
        assert space.violations(config) == []
        trial, found = space.settings(config), rescaled(KnobSpaces(spec, here), config, Fraction(1))
        sizes = {k.name: k for k in catalogue_in(spec, here).knobs if k.scales}
        for name, value in config.items():
            if name in sizes and value not in sizes[name].special_values:
                grown = Fraction(found[name]) * spec.scale_value
                assert abs(grown - Fraction(value)) <= 1
            elif name != SHARD_BITS:
                assert found[name] == trial[name]
        assert memory(found, whole.memory.records).total <= whole.memory.limit_bytes


@settings(max_examples=20)
@given(preset=st.sampled_from(SEARCHED), seed=st.integers(0, 2**32 - 1))
def test_neighbour_and_point_are_legal_at_full_size(preset: str, seed: int) -> None:
    space, rng = knob_space(spec_of(knobs=preset), ground()), np.random.default_rng(seed)
    found = [space.neighbour(space.default(), rng), space.at(rng.random(len(space.knobs)))]
    assert [space.violations(config) for config in found] == [[], []]


def test_space_below_full_size_leaves_shards_to_rocksdb() -> None:
    spec, here = spec_of(knobs="reads"), ground(cache_numshardbits=8)
    space = knob_space(spec, here)
    assert SHARD_BITS not in {knob.name for knob in space.knobs}
    assert space.settings(space.default())[SHARD_BITS] == -1
    assert rescaled(KnobSpaces(spec, here), space.default(), Fraction(1))[SHARD_BITS] == 8
    assert SHARD_BITS in {knob.name for knob in knob_space(spec, here, Fraction(1)).knobs}


@pytest.mark.parametrize(
    ("option", "value", "scale"),
    [
        ("write_buffer_size", 64 << 10, "1"), ("write_buffer_size", MIB, "1/16"),
        ("write_buffer_size", 4 * MIB, "1/64"), ("cache_size", 64 << 10, "1"),
        ("target_file_size_base", 2 * MIB, "1/32"), ("row_cache_size", MIB, "1/16"),
    ],
)  # fmt: skip
def test_scale_is_the_smallest_that_keeps_the_baseline_exact(
    option: str, value: int, scale: str
) -> None:
    here = ground(**{option: value})
    spec, remark = with_fitting_scale(spec_of(), here)
    assert spec.scale == scale
    assert (remark is None) == (scale == "1/64")
    found = rescaled(KnobSpaces(spec, here), knob_space(spec, here).default(), Fraction(1))
    assert found[option] == value
    given_scale = spec_of(scale="1/64")
    if remark is not None:
        with pytest.raises(UserError, match=rf"^scale: .*{option} = {value}.* {scale}$"):
            with_fitting_scale(given_scale, here)
    else:
        assert with_fitting_scale(given_scale, here) == (given_scale, None)


def test_default_memory_limit_is_the_baseline_s_at_full_size() -> None:
    spec, here = spec_of(knobs="core"), ground()
    limit = knob_space(spec, here).full_size.memory
    records = full_records(spec)
    assert limit.records == records
    assert records is not None
    live = 64 * 200_000 * (1 - np.exp(-1))
    assert records.count == pytest.approx(live, rel=1e-3)
    base = here.base.settings
    assert limit.limit_bytes == memory(base, records).total > (128 + 32) * MIB


def test_given_memory_limit_is_that_of_the_full_size_tree() -> None:
    spec = spec_of(knobs="core", memory="1GiB")
    assert knob_space(spec, ground()).full_size.memory.limit_bytes == 1 << 30
    with pytest.raises(UserError, match=r"^memory: .*limit is 100 MiB"):
        knob_space(spec_of(memory="100MiB"), ground())


def test_threads_are_bounded_by_the_cores_of_the_rule() -> None:
    spec = spec_of(knobs="max_background_jobs,subcompactions,num_bottom_pri_threads")
    most = {k.name: k.bounds()[1] for k in knob_space(spec, ground(cores=3)).knobs}
    assert most == {"max_background_jobs": 6, "subcompactions": 3, "num_bottom_pri_threads": 3}
    assert knob_space(spec, ground(cores=1)).knobs[0].bounds() == (2, 4)


def test_published_presets_and_full_size_engines_have_no_rule() -> None:
    for preset in ("jin2022", "autotikv"):
        assert new_rule(spec_of(knobs=preset), 2) is None
    assert new_rule(make_spec({"engine": "embedded"}, "here"), 2) is None
    assert new_rule(make_spec({"engine": "tikv"}, "here"), 2) is None
    assert new_rule(spec_of(), 2) == SizeRule(cores=2)
    myrocks = make_spec({"engine": "myrocks"}, "here")
    assert new_rule(myrocks, 2) == SizeRule(cores=2)


@pytest.mark.parametrize(
    ("words", "allowed"),
    [({}, {7}), ({"one_way": True}, set(range(2, 9))), ({"new_store": True}, set(range(2, 9)))],
)
def test_search_tries_only_levels_that_an_existing_store_survives(
    words: dict[str, bool], allowed: set[int]
) -> None:
    here = ground(level_compaction_dynamic_level_bytes=True)
    space = knob_space(spec_of(knobs="num_levels", **words), here)
    rng = np.random.default_rng(1)
    tried = {space.sample(rng)["num_levels"] for _ in range(100)}
    assert tried <= allowed
    assert len(tried) == min(len(allowed), len(space.knobs[0].grid))
    assert space.adopted({"num_levels": 3})["num_levels"] in allowed


def test_config_that_a_smaller_tree_cannot_have_is_refused() -> None:
    spec, here = spec_of(knobs="write_buffer_size,max_write_buffer_number", scale="1/64"), ground()
    config = knob_space(spec, here).default()
    found = rescaled(KnobSpaces(spec, here), config, Fraction(1, 256))
    assert found["write_buffer_size"] == MIB // 4
    with pytest.raises(UserError, match=r"^scale: "):
        rescaled(KnobSpaces(spec, here), config, Fraction(1, 2048))


def test_cache_of_a_user_s_file_is_assumed_if_it_is_not_given() -> None:
    assert assumed_cache_bytes(spec_of(base="OPTIONS"), ground()) == 32 * MIB
    assert assumed_cache_bytes(spec_of(base="OPTIONS", cache="1GiB"), ground()) is None
    assert assumed_cache_bytes(spec_of(), ground()) is None
