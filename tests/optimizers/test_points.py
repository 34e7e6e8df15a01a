"""Configs as numbers: each knob in its own scale, names and special values apart."""

import numpy as np
import pytest

from lsmtune.knobs.types import Config
from lsmtune.optimizers.points import Points
from lsmtune.testing.landscapes import make_space

KNOBS = "block_size,compaction_pri,bloom_bits,num_levels,cache_index_and_filter_blocks"


def test_places_are_where_the_space_finds_the_configs() -> None:
    space = make_space("core", memory=8)
    rng = np.random.default_rng(1)
    configs = [space.sample(rng) for _ in range(50)]
    places = Points(space.knobs).places(configs)
    assert places.min() >= 0
    assert places.max() < 1
    assert [space.at(place) for place in places] == configs


def test_a_knob_has_its_scale_and_a_number_for_what_has_no_place_in_it() -> None:
    space = make_space(KNOBS)
    points = Points(space.knobs)
    kinds: dict[str, list[bool]] = {}
    for name, categorical in zip(points.names, points.categorical.tolist(), strict=True):
        kinds.setdefault(name, []).append(categorical)
    assert kinds == {
        "block_size": [False],
        "compaction_pri": [True],
        "bloom_bits": [False, True],
        "num_levels": [False],
        "cache_index_and_filter_blocks": [True],
    }


def test_ends_middles_names_and_special_values() -> None:
    space = make_space("block_size,compaction_pri,bloom_bits")
    (block, *_), base = space.knobs, space.default()
    low, high = block.bounds()
    rows = [
        {"block_size": round(low), "compaction_pri": 0, "bloom_bits": -1},
        {"block_size": round((low * high) ** 0.5), "compaction_pri": 2, "bloom_bits": 20},
        {"block_size": round(high), "compaction_pri": 3, "bloom_bits": 2},
    ]
    points = Points(space.knobs)
    matrix = points.matrix([Config({**base, **row}) for row in rows])
    found = {
        (name, categorical): column.tolist()
        for name, categorical, column in zip(
            points.names, points.categorical.tolist(), matrix.T, strict=True
        )
    }
    assert found["block_size", False] == pytest.approx([0, 0.5, 1], abs=0.01)
    assert found["compaction_pri", True] == [0, 2, 3]
    assert found["bloom_bits", False] == pytest.approx([0.5, 1, 0], abs=0.03)
    assert found["bloom_bits", True] == [1, 0, 0]


def test_points_of_the_cube_are_the_rows_of_their_configs() -> None:
    space = make_space("write_buffer_size,bloom_bits,compaction_pri", memory=8)
    points = Points(space.knobs)
    places = np.random.default_rng(1).random((50, 3))
    rows = points.matrix([space.at(place) for place in places])
    assert points.at(places) == pytest.approx(rows, abs=0.03)  # bits are whole


def test_a_list_of_quantities_keeps_its_order() -> None:
    space = make_space("block_size,compaction_pri")
    block, pri = space.knobs
    listed = block.model_copy(
        update={"kind": "categorical", "choices": (4096, 8192, 16384, 65536), "default": 4096}
    )
    points = Points([listed, pri])
    assert points.categorical.tolist() == [False, True]
    sizes = [{"block_size": size, "compaction_pri": 1} for size in (4096, 16384, 65536)]
    assert points.matrix(sizes)[:, 0] == pytest.approx([0.125, 0.625, 0.875])
    assert points.at(np.array([[0.6, 0.0], [0.74, 0.0]]))[:, 0] == pytest.approx([0.625, 0.625])
