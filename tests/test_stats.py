"""Intervals: the same as by another route, and as rarely wrong as they say."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind, ttest_rel

from lsmtune.stats import (
    Interval,
    geometric_mean,
    of_several,
    ratio_interval,
    ratio_of_means,
    unpaired_ratio_interval,
)

POSITIVE = st.floats(min_value=1e-3, max_value=1e6)
PAIRS = st.lists(st.tuples(POSITIVE, POSITIVE), min_size=2, max_size=20)


def parts(interval: Interval) -> tuple[float, float, float]:
    return interval.low, interval.median, interval.high


def excludes_one(interval: Interval) -> bool:
    return interval.high < 1 or interval.low > 1


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("pairs", [2, 6, 40])
def test_it_is_the_paired_t_interval_of_the_logs(pairs: int, confidence: float) -> None:
    rng = np.random.default_rng(pairs)
    trial, base = rng.lognormal(0.3, 0.2, pairs), rng.lognormal(0, 0.2, pairs)
    expected = np.exp(ttest_rel(np.log(trial), np.log(base)).confidence_interval(confidence))
    found = ratio_interval(trial, base, confidence)
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-9)
    ratios = [t / b for t, b in zip(trial, base, strict=True)]
    assert found.median == pytest.approx(statistics.geometric_mean(ratios))


def test_an_interval_worked_out_by_hand() -> None:
    # log2 ratios 0, 1, 2, 3: mean 1.5, standard error sqrt(5/3)/2; t of 3 degrees is 3.18245.
    found = ratio_interval([1, 2, 4, 8], [1, 1, 1, 1])
    assert found.median == pytest.approx(2**1.5)
    assert found.low == pytest.approx(2 ** (1.5 - 3.182446 * 0.6454972), rel=1e-5)
    assert found.high == pytest.approx(2 ** (1.5 + 3.182446 * 0.6454972), rel=1e-5)


def test_of_2000_nulls_one_in_twenty_excludes_one() -> None:
    rng = np.random.default_rng(20_240_607)
    runs = rng.lognormal(0, 0.1, (2000, 2, 6))
    wrong = sum(excludes_one(ratio_interval(trial, base)) for trial, base in runs)
    assert 0.035 <= wrong / 2000 <= 0.065  # three standard errors around 0.05


def test_noise_that_a_pair_shares_does_not_count() -> None:
    rng = np.random.default_rng(1)
    shared = rng.lognormal(0, 2, 6)
    trial, base = 0.9 * shared * rng.lognormal(0, 0.01, 6), shared
    assert ratio_interval(trial, base).high < 1


@given(PAIRS)
def test_turned_round_the_interval_is_inverted(pairs: list[tuple[float, float]]) -> None:
    trial, base = zip(*pairs, strict=True)
    there, back = ratio_interval(trial, base), ratio_interval(base, trial)
    assert np.log(parts(back)) == pytest.approx(-np.log(parts(there))[::-1], abs=1e-6)


@given(PAIRS, POSITIVE)
def test_the_unit_does_not_matter(pairs: list[tuple[float, float]], unit: float) -> None:
    trial, base = zip(*pairs, strict=True)
    here = ratio_interval(trial, base)
    there = ratio_interval([unit * t for t in trial], [unit * b for b in base])
    assert np.log(parts(there)) == pytest.approx(np.log(parts(here)), abs=1e-6)


def test_more_confidence_is_a_wider_interval_around_the_same_estimate() -> None:
    narrow, wide = (ratio_interval([1, 2, 3], [2, 2, 2], c) for c in (0.9, 0.99))
    assert wide.low < narrow.low < narrow.median == wide.median < narrow.high < wide.high


@pytest.mark.parametrize(("trial", "base"), [([1.0], [1.0]), ([], []), ([1.0, 2.0], [1.0])])
def test_too_few_or_unequal_values_are_a_bug(trial: list[float], base: list[float]) -> None:
    with pytest.raises(ValueError, match=f"2 .*{len(trial)} and {len(base)}"):
        ratio_interval(trial, base)


def test_the_half_width_is_a_share_of_the_estimate() -> None:
    assert Interval(median=2.0, low=1.9, high=2.1).relative_half_width == pytest.approx(0.05)


@given(st.lists(POSITIVE, min_size=1, max_size=30))
def test_the_geometric_mean(values: list[float]) -> None:
    assert geometric_mean(values) == pytest.approx(statistics.geometric_mean(values))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("sizes", [(2, 3), (5, 5), (30, 4)])
def test_without_pairs_it_is_welchs_interval_of_the_logs(
    sizes: tuple[int, int], confidence: float
) -> None:
    rng = np.random.default_rng(sizes)
    trial, base = rng.lognormal(0.3, 0.4, sizes[0]), rng.lognormal(0, 0.1, sizes[1])
    test = ttest_ind(np.log(trial), np.log(base), equal_var=False)
    expected = np.exp(test.confidence_interval(confidence))
    found = unpaired_ratio_interval(list(trial), list(base), confidence)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert unpaired_ratio_interval([2.0, 2.0], [1.0, 1.0]) == Interval(2.0, 2.0, 2.0)


def test_intervals_of_several_comparisons_hold_together() -> None:
    assert of_several(1) == of_several(0) == pytest.approx(0.95)
    assert of_several(4) == pytest.approx(0.9875)
    rng = np.random.default_rng(5)
    confidence, wrong = of_several(4), 0
    for _ in range(2000):
        logs = np.exp(rng.normal(size=(4, 3)))
        wrong += any(excludes_one(ratio_interval(row, np.ones(3), confidence)) for row in logs)
    assert 0.03 < wrong / 2000 < 0.065  # the truth is just below 0.05


def test_ratio_of_means_contains_the_true_ratio_as_often_as_it_says() -> None:
    rng, inside = np.random.default_rng(2), 0
    for _ in range(2_000):
        common = rng.normal(0, 0.02, 6)
        below, above = 0.3 + common + rng.normal(0, 0.02, 6), 0.27 + common
        found = ratio_of_means(above, below)
        assert found is not None
        assert found.low <= found.median <= found.high
        inside += found.low <= 0.9 <= found.high
    assert 0.93 <= inside / 2_000 <= 0.97


def test_ratio_of_means_has_no_interval_if_the_mean_below_may_be_zero() -> None:
    assert ratio_of_means([1.0, 1.1, 0.9], [0.1, -0.1, 0.05]) is None
