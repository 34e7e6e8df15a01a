"""Least squares with its tests, and analysis of variance by them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtrit
from scipy.stats import chi2, f_oneway

from lsmtune.learning.factors import Design, Factor, Floats
from lsmtune.stats import Interval

_FEWEST = 2


def one_way_p(factor: Factor, outcome: Floats) -> float:
    """How likely group means differ so much by chance; as the paper tests one factor at a time.

    1 where there is nothing to compare.
    """
    groups = [outcome[runs] for _, runs in factor.groups if runs.sum() >= _FEWEST]
    if len(groups) < _FEWEST or np.ptp(outcome) == 0:
        return 1.0
    return float(f_oneway(*groups).pvalue)


@dataclass(frozen=True, slots=True)
class Share:
    """A factor's part in a model of all factors at once.

    `p` is corrected for testing many factors (Holm). `eta_squared` is its share of the whole
    variance, the others held (type II sums of squares, main effects).
    """

    p: float
    eta_squared: float


def multi_factor(design: Design, outcome: Floats) -> list[Share]:
    """The part of each factor, the others accounted for.

    The model has the groups of every factor as levels; where there are too few runs for that,
    the factor's own columns. Factors with a single level have no part.
    """
    blocks = [_levels(factor) for factor in design.factors]
    if 2 * sum(block.shape[1] for block in blocks) > len(outcome):
        blocks = [factor.columns for factor in design.factors]
    ones = np.ones((len(outcome), 1))
    full = least_squares(outcome, np.column_stack([ones, *blocks]))
    total = float(((outcome - outcome.mean()) ** 2).sum())
    parts = []
    for place in range(len(blocks)):
        rest = np.column_stack([ones, *blocks[:place], *blocks[place + 1 :]])
        reduced = least_squares(outcome, rest)
        if full.rank <= reduced.rank or total == 0:
            parts.append((1.0, 0.0))
            continue
        share = max(0.0, reduced.squares - full.squares) / total
        parts.append((full.p_against(reduced), share))
    corrected = holm([p for p, _ in parts])
    return [Share(p, share) for p, (_, share) in zip(corrected, parts, strict=True)]


def _levels(factor: Factor) -> Floats:
    """One column a group, but for the first."""
    columns = [runs.astype(float) for _, runs in factor.groups[1:]]
    return np.column_stack(columns) if columns else np.empty((len(factor.cells), 0))


@dataclass(frozen=True, slots=True)
class Noise:
    """How far runs of one config differ, and what that leaves for any model to explain.

    `relative` is the standard deviation of one run as a share of its config's mean, `ceiling` the
    greatest R² that a perfect model of single runs can expect, with a 95 % interval.
    """

    relative: float
    ceiling: Interval


def noise(groups: Sequence[Sequence[float]], outcome: Floats) -> Noise | None:
    """The noise of an outcome from configs that ran more than once; None where none did.

    The variance within configs is pooled; the outcomes are single runs of all configs.
    """
    repeated = [np.asarray(group) for group in groups if len(group) >= _FEWEST]
    freedom = sum(len(group) - 1 for group in repeated)
    spread = float(np.var(outcome, ddof=1)) if len(outcome) > 1 else 0.0
    if not freedom or spread == 0:
        return None
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in repeated)
    relative = sum(float((((group / group.mean()) - 1) ** 2).sum()) for group in repeated)
    # Of the variance: its estimate, and the bounds between which it lies with 95 % confidence.
    variances = [
        squares / freedom,
        *(squares / float(chi2.ppf(q, freedom)) for q in (0.025, 0.975)),
    ]
    ceiling = [max(0.0, 1 - variance / spread) for variance in variances]
    return Noise((relative / freedom) ** 0.5, Interval(*ceiling))


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

    Tests and intervals are those of a linear model with normal noise (Seber and Lee, Linear
    Regression Analysis, 2003, sections 3.9, 4.3 and 5.1).
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
    """The probabilities in their order, each corrected for being one of several.

    This is Holm, A simple sequentially rejective multiple test procedure, 1979.
    """
    order = np.argsort(ps, kind="stable")
    steps = np.asarray(ps, dtype=float)[order] * np.arange(len(ps), 0, -1)
    corrected = np.empty(len(ps))
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(p) for p in corrected]
