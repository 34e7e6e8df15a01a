"""Analysis of variance: of one factor, of all at once, and of runs of one config."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, f_oneway

from lsmtune.learning.factors import Design, Factor, Floats
from lsmtune.learning.least_squares import holm, least_squares
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
