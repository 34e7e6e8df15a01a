"""Designs: legal everywhere, spread as promised, the same for the same seed."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.design import DesignName, design_configs
from lsmtune.knobs.memory import MemoryLimit
from lsmtune.knobs.space import KnobSpace, place_of, value_at

CATALOGUE = load("rocksdb")
KNOBS = [knob for knob in CATALOGUE.knobs if knob.inert is None]
WIDE = MemoryLimit(1 << 40)


def make_space(names: str) -> KnobSpace:
    base = CATALOGUE.defaults(1 / 64)
    knobs = tuple(knob.scaled(1 / 64) for knob in CATALOGUE.select(names))
    return KnobSpace(knobs, base, 1024, WIDE).fitted()


@pytest.mark.parametrize("name", get_args(DesignName))
def test_points_are_legal_and_repeatable(name: DesignName) -> None:
    space = make_space("core")
    configs = design_configs(space, name, 50, 3)
    assert len(configs) == 50
    assert not any(space.violations(config) for config in configs)
    assert configs == design_configs(space, name, 50, 3)
    assert configs != design_configs(space, name, 50, 4)


def test_more_sobol_points_extend_fewer() -> None:
    space = make_space("core")
    assert design_configs(space, "sobol", 70, 1)[:20] == design_configs(space, "sobol", 20, 1)


def test_a_latin_hypercube_meets_every_slice_once() -> None:
    space = make_space("block_size,cache_size")
    count = 20
    for knob in space.knobs:
        low, high = knob.bounds()
        values = [float(c[knob.name]) for c in design_configs(space, "latin", count, 1)]
        slices = np.log(np.array(values) / low) / np.log(high / low) * count
        assert (
            len(set(np.clip(slices, 0, count - 1).astype(int))) >= count - 1
        )  # one may be rounded


@pytest.mark.parametrize("name", ["latin", "sobol"])
def test_spread_designs_meet_every_choice_alike(name: DesignName) -> None:
    space = make_space("compression_type,block_size")
    chosen = [config["compression_type"] for config in design_configs(space, name, 64, 1)]
    counts = {codec: chosen.count(codec) for codec in set(chosen)}
    assert max(counts.values()) - min(counts.values()) <= 2


@given(st.sampled_from(KNOBS), st.floats(0, 1, exclude_max=True))
def test_a_value_stands_where_it_was_found(knob, place) -> None:  # type: ignore[no-untyped-def]
    value = value_at(knob, place)
    assert knob.allows(value)
    again = value_at(knob, place_of(knob, value))
    if knob.is_range and knob.log and value not in knob.special_values:
        assert again == pytest.approx(value, rel=1e-6, abs=1)
    elif knob.kind == "float" and value not in knob.special_values:
        assert again == pytest.approx(value, abs=2e-3)
    else:
        assert again == value
