"""The Gaussian process finds what matters, how noisy runs are, and where it knows nothing."""

import numpy as np
import pytest
from numpy.typing import NDArray

from lsmtune.learning.gaussian_process import GaussianProcess, fit_process

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


def test_far_from_what_was_measured_it_is_unsure() -> None:
    points = drawn(20, seed=7)
    points[:, 0] /= 4
    process = fit_process(points, np.sin(20 * points[:, 0]), CATEGORICAL)
    far = points[:1].copy()
    far[0, 0] = 1.0
    assert process.predict(far)[1][0] > 1.5 * process.predict(points[:1])[1][0]


def test_where_nothing_is_known_it_expects_what_it_is_told_to() -> None:
    points = np.zeros((12, FACTORS))
    points[:, 0] = np.linspace(0, 0.1, 12)
    values = np.sin(60 * points[:, 0])
    far = np.ones((1, FACTORS))
    means = [
        fit_process(points, values, CATEGORICAL, mean).predict(far)[0][0] for mean in (0.0, 2.0)
    ]
    assert means[1] > means[0] + 1


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


def test_the_model_that_explains_more_has_more_evidence() -> None:
    points = drawn(60, seed=11)
    values = truth(points)
    blind = fit_process(points[:, 3:], values, CATEGORICAL[3:])
    assert fit_process(points, values, CATEGORICAL).log_evidence > blind.log_evidence + 10
