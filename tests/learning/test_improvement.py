"""Expected improvement, against its definition."""

import numpy as np
import pytest

from lsmtune.learning.gaussian_process import expected_improvement


def test_it_is_the_mean_of_what_lies_below_the_best() -> None:
    drawn = np.random.default_rng(1).normal(size=200_000)
    means, sds = np.array([-1.0, 0.3, 2.0]), np.array([0.5, 1.5, 1.0])
    found = expected_improvement(0.2, means, sds)
    for gain, mean, sd in zip(found, means, sds, strict=True):
        wanted = np.maximum(0.0, 0.2 - (mean + sd * drawn)).mean()
        assert gain == pytest.approx(wanted, abs=0.01)


def test_what_is_certain_improves_by_the_difference_or_not_at_all() -> None:
    found = expected_improvement(1.0, np.array([0.4, 1.6]), np.zeros(2))
    assert found == pytest.approx([0.6, 0.0])
