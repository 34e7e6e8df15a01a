"""A search draws values that a person would write into a file."""

from dataclasses import replace
from fractions import Fraction
from math import isclose, log2, log10
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.design import DesignName, design_configs
from lsmtune.knobs.space import KnobSpace, place_of, value_at
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.spaces import KnobSpaces, knob_space, rescaled
from lsmtune.spec import Ground, StudySettings
from lsmtune.trials import Base, SizeRule

ROCKSDB = load("rocksdb")
DEFAULTS = ROCKSDB.defaults(1)
PRESETS = [preset.name for preset in ROCKSDB.presets if not preset.published]
PUBLISHED = [preset.name for preset in ROCKSDB.presets if preset.published]
SCALES = ["1", "1/7", "1/64", "1/100"]
ODD: Settings = {
    "block_size": 3494, "write_buffer_size": (64 << 20) + 7, "max_write_buffer_number": 3,
    "bloom_bits": 9.7, "cache_size": 33_333_333, "max_bytes_for_level_multiplier": 9.123,
}  # fmt: skip


def ground(**changes: Value) -> Ground:
    return Ground(ROCKSDB, Base(options="", settings={**DEFAULTS, **changes}), 1024)


def is_round(knob: Knob, value: float, scale: float) -> bool:
    """Whether a value is a power of two, or at most 20 times 1, 2 or 5 times a power of ten."""
    whole = value / scale if knob.scales else value
    if whole <= 0:
        return whole == 0
    if isclose(whole, 2.0 ** round(log2(whole)), abs_tol=0.5 / scale):
        return True
    unit = 86_400 if knob.unit == "s" and whole >= 86_400 else 1
    power = round(log10(whole / unit))
    steps = [digit * 10.0**p for digit in (1, 2, 5) for p in range(power - 2, power + 1)]
    return any(
        isclose(whole / unit, n * step, rel_tol=1e-6) for step in steps for n in range(1, 21)
    )


def not_round(space: KnobSpace, scale: float, config: dict[str, Value]) -> dict[str, Value]:
    """The values that are neither round, nor special, nor the baseline's."""
    tuned = {knob.name: knob for knob in space.knobs if knob.is_range}
    return {
        name: value
        for name, value in config.items()
        if name in tuned
        and not isinstance(value, (bool, str))
        and value != space.base[name]
        and value not in tuned[name].special_values
        and not is_round(tuned[name], value, scale)
    }


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_search_draws_round_values(preset: str, scale: str) -> None:
    space = knob_space(StudySettings(knobs=preset, scale=scale), ground())
    rng = np.random.default_rng(0)
    for _ in range(20):
        config = space.sample(rng)
        for drawn in (config, space.neighbour(config, rng)):
            assert not not_round(space, float(Fraction(scale)), dict(drawn))


@pytest.mark.parametrize("design", get_args(DesignName))
def test_a_design_has_round_values(design: str) -> None:
    space = knob_space(StudySettings(knobs="mixed"), ground())
    for config in design_configs(space, design, 50, seed=1):
        assert not not_round(space, 1 / 64, dict(config))


@pytest.mark.parametrize("scale", SCALES)
def test_the_baselines_own_value_is_drawn_too(scale: str) -> None:
    spec = StudySettings(knobs="mixed", base="OPTIONS", scale=scale, memory="4GiB")
    space = knob_space(spec, ground(**ODD))
    rng = np.random.default_rng(0)
    drawn = [space.sample(rng) for _ in range(200)]
    for name in ("block_size", "write_buffer_size", "cache_size"):
        values = {config[name] for config in drawn}
        assert space.base[name] in values
        assert len(values) >= 3
    assert not any(not_round(space, float(Fraction(scale)), dict(config)) for config in drawn)


@pytest.mark.parametrize("preset", PUBLISHED)
def test_published_presets_keep_their_values(preset: str) -> None:
    space = knob_space(StudySettings(knobs=preset), ground())
    rng = np.random.default_rng(0)
    ranges = [knob for knob in space.knobs if knob.is_range and knob.log]
    drawn = [space.sample(rng) for _ in range(40)]
    assert all(not knob.grid for knob in space.knobs)
    for knob in ranges:
        assert len({config[knob.name] for config in drawn}) > 4


def test_a_value_of_another_study_becomes_a_round_one() -> None:
    space = knob_space(StudySettings(knobs="block_size,cache_size"), ground())
    adopted = space.adopted({"block_size": 3494, "cache_size": 5_000_000})
    assert dict(adopted) == {"block_size": 4096, "cache_size": 4 << 20}


def test_what_does_not_fit_shrinks_to_a_round_value_below() -> None:
    space = knob_space(StudySettings(knobs="cache_size,max_write_buffer_number"), ground())
    legal = space.legalise({"cache_size": 8 << 20, "max_write_buffer_number": 4})
    assert legal["cache_size"] == 4 << 20


def test_values_that_never_fit_into_the_memory_limit_are_not_drawn() -> None:
    space = knob_space(StudySettings(knobs="cache_size,write_buffer_size"), ground())
    for knob in space.knobs:
        others = {other.name: other.bounds()[0] for other in space.knobs if other != knob}
        assert not space.memory.violation({**space.base, **others, knob.name: knob.bounds()[1]})


def test_a_config_is_round_at_full_size() -> None:
    spec = StudySettings(knobs="write_buffer_size,max_bytes_for_level_base", scale="1/100")
    spaces = KnobSpaces(spec, replace(ground(), rule=SizeRule(cores=2)))
    whole = rescaled(spaces, spaces.at().sample(np.random.default_rng(3)), Fraction(1))
    for name in ("write_buffer_size", "max_bytes_for_level_base"):
        assert float(whole[name]) == 2 ** round(log2(float(whole[name])))


@given(st.data())
def test_each_value_has_an_equal_share_and_a_place(data: st.DataObject) -> None:
    space = knob_space(
        StudySettings(knobs="all", scale=data.draw(st.sampled_from(SCALES))), ground()
    )
    knob = data.draw(st.sampled_from([knob for knob in space.knobs if knob.grid]))
    value = data.draw(st.sampled_from(knob.grid))
    assert value_at(knob, place_of(knob, value)) == value
    assert knob.clip(float(value)) == knob.floor(float(value)) == value
    assert list(knob.grid) == sorted(set(knob.grid))
