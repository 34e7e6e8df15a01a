"""A Gaussian process with a length scale a factor; a factor is a number or a category.

Matérn 5/2 over scaled distances: of a number its difference, of a category whether it differs, so
that categories have no order. Length scales, signal and noise are the most probable ones under
priors of which that of the length scales grows with the number of factors (Hvarfner, Hellsten,
Nardi 2024): it keeps twenty runs in thirty dimensions from being taken for noise, or for a fact.
scikit-learn's has no priors, and its gradient takes ten times as long.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.spatial.distance import squareform
from scipy.special import ndtr

from lsmtune.learning.factors import Floats
from lsmtune.learning.threads import one_thread

_SCALE_SPREAD = sqrt(3)
_NOISE_MEDIAN, _NOISE_SPREAD = 0.02, 1.5
"""Priors of the logarithms of a length scale, and of the variance of the noise as a share of that
of the outcomes. Rows that are alike tell the noise better than any prior."""
_LEAST_NOISE = 1e-6
_MOST_STEPS = 50
_SCALED_ON = 200
"""So many outcomes tell length scales, signal and noise well enough. Each step of the search for
them takes the cube."""
_SQRT5 = sqrt(5)
_BLOCK = 1000
"""Means of so many points are computed at a time: it bounds the memory."""


@dataclass(frozen=True, slots=True)
class GaussianProcess:
    """A fitted process: `predict` tells mean and standard deviation of the function itself.

    `noise_sd` is the standard deviation by which a run differs from it, in the outcomes' unit;
    `length_scales` has one number a factor: the shorter, the more the factor matters.
    """

    points: Floats
    categorical: NDArray[np.bool_]
    length_scales: Floats
    noise_sd: float
    _signal: float
    _offset: float
    _spread: float
    _lower: Floats
    _weights: Floats

    def predict(self, points: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation at each of the points (m, d), noise left out."""
        with one_thread():
            squares = _scaled_squares(points, self.points, self.categorical, self.length_scales)
            between = self._signal * _matern(squares)
            solved = solve_triangular(self._lower, between.T, lower=True)
            variance = np.maximum(self._signal - np.sum(solved**2, axis=0), 0.0)
            mean = self._offset + self._spread * (between @ self._weights)
        return mean, self._spread * np.sqrt(variance)

    def differences(self, points: Floats, reference: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the value at each point (m, d) minus that at one (1, d).

        Points that are close together are uncertain together, so a difference is known better
        than the two values.
        """
        both = np.vstack([points, reference])
        with one_thread():
            known = _scaled_squares(both, self.points, self.categorical, self.length_scales)
            between = self._signal * _matern(known)
            among = _scaled_squares(both, both, self.categorical, self.length_scales)
            solved = solve_triangular(self._lower, between.T, lower=True)
            covariance = self._signal * _matern(among) - solved.T @ solved
            mean = self._spread * (between @ self._weights)
        own = np.diag(covariance)
        variance = np.maximum(own[:-1] + own[-1] - 2 * covariance[:-1, -1], 0.0)
        return mean[:-1] - mean[-1], self._spread * np.sqrt(variance)

    def mean(self, points: Floats) -> Floats:
        """Mean at each of the points (m, d), which takes much less time than the deviation."""
        with one_thread():
            parts = [self._mean(points[at : at + _BLOCK]) for at in range(0, len(points), _BLOCK)]
        return np.concatenate(parts)

    def _mean(self, points: Floats) -> Floats:
        squares = _scaled_squares(points, self.points, self.categorical, self.length_scales)
        return np.asarray(
            self._offset + self._spread * self._signal * _matern(squares) @ self._weights
        )

    def believing(self, points: Floats) -> "GaussianProcess":
        """The process after an outcome at each point (m, d) that is its mean there, with noise.

        Its means stay the same, and its deviations become smaller near the points.
        """
        both = np.vstack([self.points, points])
        noise = (self.noise_sd / self._spread) ** 2
        with one_thread():
            squares = _scaled_squares(both, both, self.categorical, self.length_scales)
            lower = _lower(self._signal * _matern(squares), self._signal + noise)
        weights = np.append(self._weights, np.zeros(len(points)))
        return replace(self, points=both, _lower=lower, _weights=weights)

    def likeness(self, column: int) -> float:
        """How much points that differ in this category alone have in common, from 0 to 1."""
        return float(_matern(np.array([self.length_scales[column] ** -2.0]))[0])

    @property
    def left_out(self) -> Floats:
        """For each outcome the logarithm of its density, foretold from all others: (n,).

        Rasmussen, Williams: Gaussian Processes for Machine Learning (2006), 5.4.2.
        """
        with one_thread():
            inverse = cho_solve((self._lower, True), np.eye(len(self._weights)))
        precision = np.diag(inverse)
        squares = self._weights**2 / precision
        return np.asarray((np.log(precision / (2 * pi)) - squares) / 2 - log(self._spread))


@dataclass(frozen=True, slots=True)
class Prior:
    """What is thought of a function before it is seen.

    `mean` is expected far from all points (None: the mean of the outcomes). Outcomes are thought
    to vary by `least_spread` at least, however alike the first few are. `usual_scales` are the
    length scales that are expected of some columns, instead of the usual ones.
    """

    mean: float | None = None
    least_spread: float = 0.0
    usual_scales: Mapping[int, float] = field(default_factory=dict)


def fit_process(
    points: Floats, outcomes: Floats, categorical: NDArray[np.bool_], prior: Prior | None = None
) -> GaussianProcess:
    """The process that most probably gave the outcomes.

    points (n, d): numbers in [0, 1], categories as their codes; outcomes (n,). A config that ran
    several times has as many rows. The process knows all outcomes; its length scales, signal and
    noise are those of a random sample where there are many.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - every command would wait for it

    prior = prior or Prior()
    offset = float(np.mean(outcomes)) if prior.mean is None else prior.mean
    spread = max(float(np.std(outcomes)), prior.least_spread) or 1.0
    told = (outcomes - offset) / spread
    sample = np.random.default_rng(0).permutation(len(points))[:_SCALED_ON]
    if len(points) <= _SCALED_ON:
        sample = np.arange(len(points))
    distances = _distances(points[sample], categorical)
    count = points.shape[1]
    middle = np.array([*[sqrt(2) + log(count) / 2] * count, 0.0, log(_NOISE_MEDIAN)])
    for column, scale in prior.usual_scales.items():
        middle[column] = log(scale)
    widths = np.array([*[_SCALE_SPREAD] * count, 1.0, _NOISE_SPREAD])
    with one_thread():
        found = minimize(
            _improbability,
            middle,
            args=(distances, told[sample], middle, widths),
            jac=True,
            method="L-BFGS-B",
            bounds=[(m - 3 * w, m + 3 * w) for m, w in zip(middle, widths, strict=True)],
            options={"maxiter": _MOST_STEPS},
        )
    scales, signal, noise = _split(found.x)
    with one_thread():
        covariance = signal * _matern(_scaled_squares(points, points, categorical, scales))
        lower = _lower(covariance, signal + noise)
        weights = cho_solve((lower, True), told)
    return GaussianProcess(
        points, categorical, scales, spread * sqrt(noise), signal, offset, spread, lower,
        weights,
    )  # fmt: skip


def _lower(covariance: Floats, own: float) -> Floats:
    """The Cholesky factor of a covariance (n, n) with this variance of each outcome."""
    np.fill_diagonal(covariance, own + _LEAST_NOISE)
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)


def _improbability(
    logs: Floats, distances: Floats, told: Floats, middle: Floats, widths: Floats
) -> tuple[float, Floats]:
    """Minus the logarithm of likelihood times prior, and its gradient."""
    scales, signal, noise = _split(logs)
    squares = scales**-2 @ distances
    matern = _matern(squares)
    factor = cho_factor(_covariance(matern, signal, noise), lower=True)
    weights = cho_solve(factor, told)
    inner = cho_solve(factor, np.eye(len(told))) - np.outer(weights, weights)
    between, trace = signal * squareform(inner, checks=False), float(np.trace(inner))
    of_scales = -2 * (distances @ (between * _matern_slope(squares))) / scales**2
    of_signal = between @ matern + signal * trace / 2
    of_noise = noise * trace / 2
    away = (logs - middle) / widths
    value = told @ weights / 2 + np.sum(np.log(np.diag(factor[0]))) + away @ away / 2
    return float(value), np.array([*of_scales, of_signal, of_noise]) + away / widths


def _split(logs: Floats) -> tuple[Floats, float, float]:
    """Length scales, signal and noise, from their logarithms."""
    values = np.exp(logs)
    return values[:-2], float(values[-2]), float(values[-1])


def _covariance(matern: Floats, signal: float, noise: float) -> Floats:
    """Between all outcomes (n, n), from the correlation of each pair of points."""
    covariance = np.asarray(squareform(signal * matern), dtype=np.float64)
    np.fill_diagonal(covariance, signal + noise + _LEAST_NOISE)
    return covariance


def _distances(points: Floats, categorical: NDArray[np.bool_]) -> Floats:
    """Squared distances of each pair of points, factor by factor: (d, n (n - 1) / 2)."""
    first, second = np.triu_indices(len(points), 1)
    apart = points.T[:, first] - points.T[:, second]
    return np.where(categorical[:, None], (apart != 0).astype(np.float64), apart**2)


def _scaled_squares(
    first: Floats, second: Floats, categorical: NDArray[np.bool_], scales: Floats
) -> Floats:
    """Squared distances over all factors, each in its length scale: (n, m)."""
    numbers, codes = ~categorical, categorical
    left, right = (points[:, numbers] / scales[numbers] for points in (first, second))
    squares = np.sum(left**2, axis=1)[:, None] + np.sum(right**2, axis=1) - 2 * left @ right.T
    for column in np.flatnonzero(codes):
        squares += (first[:, column, None] != second[None, :, column]) / scales[column] ** 2
    return np.asarray(np.maximum(squares, 0.0))


def _matern(squares: Floats) -> Floats:
    root = _SQRT5 * np.sqrt(squares)
    return np.asarray((1 + root + 5 * squares / 3) * np.exp(-root))


def _matern_slope(squares: Floats) -> Floats:
    """The derivative by the squared distance."""
    root = _SQRT5 * np.sqrt(squares)
    return np.asarray(-5 / 6 * (1 + root) * np.exp(-root))


_LEAST_SD = 1e-12


def expected_improvement(best: float, mean: Floats, sd: Floats) -> Floats:
    """By how much each point is expected to lie below the best; where it lies above, by nothing.

    Mean and standard deviation are the model's at each point (Jones, Schonlau, Welch 1998).
    """
    wide = np.maximum(sd, _LEAST_SD)
    below = (best - mean) / wide
    density = np.exp(-(below**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(wide * (below * ndtr(below) + density))
