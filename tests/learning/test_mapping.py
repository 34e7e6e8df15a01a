"""Loads are told apart by what was measured under each."""

import numpy as np
from numpy.typing import NDArray

from lsmtune.learning.mapping import Measured, distances, kept_metrics

Floats = NDArray[np.float64]


def load_of(weights: tuple[float, float], seed: int, count: int = 40) -> Measured:
    """A load under which two things happen, each seen in four metrics of other units."""
    rng = np.random.default_rng(seed)
    points = rng.random((count, 3))
    causes = np.column_stack([weights[0] * (1 + points[:, 0]), weights[1] * (1 + points[:, 1])])
    scales = np.array([1, 10, 1e3, 1e6])
    metrics = np.hstack([causes[:, [0]] * scales, causes[:, [1]] * scales])
    return Measured(points, metrics * rng.normal(1, 0.01, metrics.shape))


def test_of_metrics_that_tell_the_same_one_is_kept() -> None:
    metrics = load_of((1, 1), seed=1).metrics
    constant = np.column_stack([metrics, np.ones(len(metrics))])
    kept = kept_metrics(constant)
    assert len(kept) <= 4
    assert {column // 4 for column in kept} == {0, 1}  # of each cause, never the constant


def test_metrics_that_never_change_are_not_kept() -> None:
    assert kept_metrics(np.ones((10, 5))) == []


def test_the_like_load_is_nearest_whatever_configs_it_ran_with() -> None:
    target = load_of((1, 5), seed=2, count=10)
    others = [load_of((5, 1), seed=3), load_of((1.1, 4.8), seed=4), load_of((3, 3), seed=5)]
    far = distances(target, others)
    assert int(np.argmin(far)) == 1
    assert far[1] < far[2] < far[0]


def test_loads_that_measure_nothing_different_are_equally_far() -> None:
    flat = Measured(np.random.default_rng(1).random((6, 2)), np.ones((6, 3)))
    assert distances(flat, [flat, flat]) == [0.0, 0.0]
