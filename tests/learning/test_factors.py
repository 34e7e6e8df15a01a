"""Factors as columns and as groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.learning.factors import Design, Factor


def test_a_scale_runs_from_0_to_1_and_special_values_stand_beside_it() -> None:
    factor = Factor("f", (-1, 10, 100, 1000), ordered=True, log=True, special=(-1,))
    expected = [[0, 1], [0, 0], [0.5, 0], [1, 0]]
    assert factor.columns == pytest.approx(np.array(expected))


def test_names_become_columns_and_two_of_them_one() -> None:
    three = Factor("f", ("b", "a", "c"), ordered=False)
    assert three.columns.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert Factor("f", (True, False, True), ordered=False).columns.tolist() == [[1], [0], [1]]


def test_only_special_values_need_no_scale() -> None:
    assert Factor("f", (-1, 0, -1), True, special=(-1, 0)).columns.tolist() == [[0], [1], [0]]


def test_few_values_are_groups_and_many_quartiles_special_ones_apart() -> None:
    few = Factor("f", (3, 2, 2, 4), ordered=True)
    assert [name for name, _ in few.groups] == ["2", "3", "4"]
    many = Factor("f", (-1, *range(100)), ordered=True, special=(-1,))
    assert [name for name, _ in many.groups] == [
        "-1",
        "0 to 24",
        "25 to 49",
        "50 to 74",
        "75 to 99",
    ]
    sizes = Factor("f", (1 << 20, 2 << 20), ordered=True, unit="bytes")
    assert [name for name, _ in sizes.groups] == ["1 MiB", "2 MiB"]


@given(st.lists(st.integers(-1, 40), min_size=2, max_size=80), st.booleans())
def test_every_run_is_in_one_group_and_every_column_within_bounds(
    values: list[int], ordered: bool
) -> None:
    factor = Factor("f", tuple(values), ordered, special=(-1,) if ordered else ())
    counted = sum(runs.astype(int) for _, runs in factor.groups)
    assert np.all(counted == 1)
    columns = factor.columns
    assert columns.shape[0] == len(values)
    assert np.all((columns >= 0) & (columns <= 1))


def test_a_design_knows_whose_columns_are_whose() -> None:
    design = Design((Factor("a", (1, 2, 3), True), Factor("b", ("x", "y", "z"), False)))
    assert design.matrix.shape == (3, 4)
    assert design.spans == (slice(0, 1), slice(1, 4))
