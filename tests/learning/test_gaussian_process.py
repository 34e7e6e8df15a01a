"""The Gaussian process finds what matters, how noisy runs are, and where it knows nothing."""

import numpy as np
import pytest
from numpy.typing import NDArray

from lsmtune.learning.gaussian_process import GaussianProcess, Prior, fit_process

COUNT, FACTORS, CATEGORY = 80, 6, 2
CATEGORICAL = np.arange(FACTORS) == CATEGORY
NOISE_SD = 0.05


def truth(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first factor and one of the categories matter, nothing else does."""
    found: NDArray[np.float64] = np.sin(4 * points[:, 0]) + 0.5 * (points[:, CATEGORY] == 1)
    return found


def drawn(count: int, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    points = rng.random((count, FACTORS))
    points[:, CATEGORY] = rng.integers(4, size=count)
    return points


@pytest.fixture(scope="module")
def process() -> GaussianProcess:
    points = drawn(COUNT, seed=1)
    noise = np.random.default_rng(2).normal(0, NOISE_SD, COUNT)
    return fit_process(points, truth(points) + noise, CATEGORICAL)


def test_it_predicts_what_it_has_not_seen(process: GaussianProcess) -> None:
    points = drawn(500, seed=3)
    mean, deviation = process.predict(points)
    off = np.abs(mean - truth(points))
    assert float(np.sqrt(np.mean(off**2))) < 0.05
    assert 0.85 < float(np.mean(off < 2 * deviation)) <= 1


def test_factors_that_matter_have_short_length_scales(process: GaussianProcess) -> None:
    order = np.argsort(process.length_scales)
    assert set(order[:2].tolist()) == {0, CATEGORY}
    assert process.length_scales[order[2]] > 3 * process.length_scales[order[1]]


def test_it_tells_how_noisy_runs_are(process: GaussianProcess) -> None:
    assert 0.5 * NOISE_SD < process.noise_sd < 2 * NOISE_SD


def test_runs_of_one_point_tell_the_noise_before_anything_else_is_known() -> None:
    point = np.full((8, FACTORS), 0.5)
    others = drawn(3, seed=5)
    values = np.append(np.random.default_rng(6).normal(0, 0.3, 8), truth(others))
    process = fit_process(np.vstack([point, others]), values, CATEGORICAL)
    assert 0.1 < process.noise_sd < 0.6


def test_far_from_what_was_measured_it_is_unsure_and_expects_what_it_is_told_to() -> None:
    points = drawn(40, seed=7)
    points[:, 0] /= 4
    far = points[:1].copy()
    far[0, 0] = 1.0
    values = np.sin(20 * points[:, 0])
    low, high = (fit_process(points, values, CATEGORICAL, Prior(mean)) for mean in (-3.0, 3.0))
    for process in (low, high):
        assert process.predict(far)[1][0] > 1.5 * process.predict(points[:1])[1][0]
    assert high.predict(far)[0][0] > low.predict(far)[0][0] + 1


def test_categories_have_no_order() -> None:
    """What is learnt of a category does not depend on the number it goes by."""
    points = drawn(40, seed=8)
    renamed = points.copy()
    renamed[:, CATEGORY] = np.array([3.0, 0.0, 2.0, 1.0])[points[:, CATEGORY].astype(int)]
    values = truth(points)
    expected = fit_process(points, values, CATEGORICAL).predict(points)[0]
    found = fit_process(renamed, values, CATEGORICAL).predict(renamed)[0]
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0]])
def test_a_single_value_is_expected_everywhere(values: list[float]) -> None:
    process = fit_process(drawn(len(values), seed=9), np.array(values), CATEGORICAL)
    mean, deviation = process.predict(drawn(5, seed=10))
    assert mean == pytest.approx([values[0]] * 5)
    assert np.all(deviation >= 0)


def test_what_others_tell_of_is_more_probable_when_it_is_left_out() -> None:
    points = drawn(40, seed=11)
    smooth = np.sin(4 * points[:, 0])
    shuffled = np.random.default_rng(12).permutation(smooth)
    told, untold = (
        fit_process(points, values, CATEGORICAL).left_out for values in (smooth, shuffled)
    )
    assert told.shape == (40,)
    assert told.sum() > untold.sum() + 20


def test_densities_are_in_the_unit_of_the_outcomes() -> None:
    points = drawn(20, seed=13)
    values = np.sin(4 * points[:, 0])
    small, large = (fit_process(points, k * values, CATEGORICAL).left_out for k in (1.0, 10.0))
    assert small - large == pytest.approx(np.full(20, np.log(10)), abs=1e-3)


def test_the_first_few_alike_do_not_mean_that_all_are() -> None:
    points = drawn(3, seed=14)
    values = np.array([1.0, 1.001, 0.999])
    _, sure = fit_process(points, values, CATEGORICAL).predict(drawn(5, seed=15))
    _, careful = fit_process(points, values, CATEGORICAL, Prior(least_spread=0.1)).predict(
        drawn(5, seed=15)
    )
    assert np.all(careful > 10 * sure)


def test_categories_that_change_nothing_are_alike_and_others_are_not() -> None:
    """Two studies, told apart by a category: of the same load, and of one turned round."""
    points = drawn(60, seed=11)
    points[:, CATEGORY] = np.arange(60) % 2
    same = np.sin(4 * points[:, 0])
    turned = np.where(points[:, CATEGORY] == 0, same, -same)
    prior = Prior(usual_scales={CATEGORY: 1.0})
    alike, unlike = (
        fit_process(points, values, CATEGORICAL, prior).likeness(CATEGORY)
        for values in (same, turned)
    )
    assert alike > 0.8
    assert unlike < 0.3
