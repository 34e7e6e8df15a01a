"""Cells of constraints: the bound, the bound before noise widened it, and why."""

from dataclasses import replace
from math import log

import pytest

from lsmtune.limits import Limit, parse_limit
from lsmtune.objective import Goal, Objective
from lsmtune.report.text.constraint_text import constraint_cell, limit_text, measured_text
from lsmtune.verdict import Pair, judge

LIMIT = Limit("get_data_blocks", "<=", 1.1, True, default=True, probe=True, plus=0.25)


def pairs(base: list[float], ratio: float) -> list[Pair]:
    return [({"write_amp": 1.0, LIMIT.metric: ratio * value},
             {"write_amp": 1.0, LIMIT.metric: value}) for value in base]  # fmt: skip


def judged(base: list[float], ratio: float, limit: Limit = LIMIT) -> tuple[str, str]:
    """The cell of the constraint, and its measured value in words."""
    objective = Objective((Goal("write_amp"),), (limit,), most_pairs=12)
    [check] = judge(pairs(base, ratio), objective).limits
    return constraint_cell(check), measured_text(check)


CALM = [2.0, 2.01, 2.0, 1.99, 2.0, 2.01]
NOISY = [value * factor for value, factor in zip(CALM, [1.3, 0.8, 1, 1.2, 0.7, 1], strict=True)]


def test_cell_of_a_usual_bound_has_factor_and_number() -> None:
    cell, measured = judged(CALM, 1.0)
    assert "1.1 " in cell
    assert "0.25" in cell
    assert cell.endswith("kept")
    assert "instead" not in cell
    assert measured.startswith("0.816 ")  # 2 / (1.1 * 2 + 0.25)


def test_cell_of_a_widened_bound_names_the_usual_bound_and_the_noise() -> None:
    cell, _ = judged(NOISY, 1.0)
    bound, _, rest = cell.partition(" instead of ")
    assert "1.1 " in rest
    assert "+ 0.25" in rest
    assert "1.1 " not in bound
    deviation = 0.24
    assert float(rest.rpartition("varies by ")[2].removesuffix(" %")) == pytest.approx(
        100 * deviation, abs=4
    )


def test_cell_of_a_broken_bound_has_a_multiple_of_the_bound() -> None:
    cell, measured = judged(CALM, 2.0)
    assert "broken" in cell
    assert "1.63 " in cell  # 4 / (1.1 * 2 + 0.25)
    assert "1.63 " in measured


def test_bound_of_the_user_never_widens() -> None:
    cell, _ = judged(NOISY, 1.0, replace(LIMIT, default=False))
    assert "instead" not in cell


def test_deviation_of_a_check_is_that_of_the_baseline() -> None:
    objective = Objective((Goal("write_amp"),), (LIMIT,), most_pairs=12)
    [calm] = judge(pairs(CALM, 1.0), objective).limits
    [noisy] = judge(pairs([1.0, 2.0] * 3, 1.0), objective).limits
    assert (calm.asked, calm.deviation) == (None, None)
    assert noisy.asked == LIMIT
    assert noisy.deviation == pytest.approx(log(2) / 2 * (6 / 5) ** 0.5)


def test_limit_in_words_has_the_unit_of_its_number() -> None:
    assert limit_text(LIMIT).endswith("+ 0.25 blocks")
    size = limit_text(parse_limit("live_sst_bytes <= 1.1 * base + 10MiB"))
    assert size.endswith("+ 10 MiB")
