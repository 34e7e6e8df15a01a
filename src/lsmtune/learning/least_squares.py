"""Ordinary least squares with its tests, also where columns of the design say the same.

Tests and intervals are those of a linear model with normal noise (Seber and Lee, Linear Regression
Analysis, 2003, sections 3.9, 4.3 and 5.1). The correction for several tests is Holm's (A simple
sequentially rejective multiple test procedure, 1979).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtrit

from lsmtune.learning.factors import Floats


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """A fit of n outcomes by p columns of the given `rank`.

    `params` are the coefficients, shape (p,): of all that fit equally well, the shortest where each
    column has length 1.
    `covariance` is the diagonal of their covariance as a multiple of the noise's variance, shape
    (p,). `squares` is the sum of squared residuals, `freedom` is n - rank.
    """

    params: Floats
    covariance: Floats
    squares: float
    rank: int
    freedom: int

    def interval(self, place: int, confidence: float = 0.95) -> tuple[float, float]:
        """The t-interval of a coefficient; `freedom` must be at least 1."""
        variance = self.squares / self.freedom * float(self.covariance[place])
        half = float(stdtrit(self.freedom, (1 + confidence) / 2)) * variance**0.5
        return float(self.params[place]) - half, float(self.params[place]) + half

    def p_against(self, reduced: "LeastSquares") -> float:
        """The p of the F test whether this fit explains more than one of fewer columns.

        1 where it cannot be told: the rank is not higher, or no freedom is left for noise.
        """
        added, gained = self.rank - reduced.rank, reduced.squares - self.squares
        if added < 1 or self.freedom < 1 or gained <= 0:
            return 1.0
        if self.squares == 0:
            return 0.0
        return float(fdtrc(added, self.freedom, gained / added / self.squares * self.freedom))


def least_squares(outcome: Floats, matrix: Floats) -> LeastSquares:
    """Fit outcomes, shape (n,), by the columns of a matrix, shape (n, p).

    The rank counts singular values above n or p (the greater) machine epsilons of the largest, as
    `numpy.linalg.matrix_rank` does. Columns are scaled to length 1: next to columns of 2^19, the
    coefficients of small columns would depend on how the processor rounds.
    """
    lengths = np.linalg.norm(matrix, axis=0)
    lengths[lengths == 0] = np.inf  # the coefficient of an empty column is 0
    left, values, right = np.linalg.svd(matrix / lengths, full_matrices=False)
    kept = values > values.max() * max(matrix.shape) * np.finfo(float).eps
    inverse = right[kept].T / values[kept] / lengths[:, None]
    params = inverse @ (left[:, kept].T @ outcome)
    residuals = outcome - matrix @ params
    rank = int(kept.sum())
    return LeastSquares(
        params, (inverse**2).sum(axis=1), float(residuals @ residuals), rank, len(outcome) - rank
    )


def holm(ps: Sequence[float]) -> list[float]:
    """The probabilities in their order, each corrected for being one of several."""
    order = np.argsort(ps, kind="stable")
    steps = np.asarray(ps, dtype=float)[order] * np.arange(len(ps), 0, -1)
    corrected = np.empty(len(ps))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(p) for p in corrected]
