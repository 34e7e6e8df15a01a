"""How much each factor matters to an outcome, by methods that err in different ways."""

import warnings

import numpy as np
import optuna
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.importance import PedAnovaImportanceEvaluator
from optuna.trial import TrialState
from scipy.special import stdtrit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path

from lsmtune.learning.factors import MOST_GROUPS, Design, Factor, Floats
from lsmtune.learning.models import (
    Accuracy,
    Fold,
    Regressor,
    accuracy,
    fitted_model,
    nested_folds,
    outer_folds,
)
from lsmtune.stats import Interval

optuna.logging.set_verbosity(optuna.logging.WARNING)

_SPECIAL_PLACE, _SCALE_BEGINS = 0.1, 0.2


def mdi(design: Design, fitted_forest: Regressor) -> Floats:
    """Each factor's share in the decrease of impurity of a fitted forest, its columns added up.

    As the parameter study ranks, and shown only for that: it favours factors with many values
    (Strobl et al. 2007).
    """
    shares = fitted_forest.feature_importances_
    return np.array([shares[span].sum() for span in design.spans])


def permutation(
    design: Design, outcome: Floats, model: str, repeats: int, seed: int
) -> list[Interval]:
    """By how much held-out R² falls when a factor's values are dealt out anew, for each factor.

    All columns of a factor move together, on runs that the model has not seen. The interval is
    that of the mean over the folds of all repeats of a cross-validation (Student's t, 95 %).
    """
    falls = []
    for number in range(seed, seed + repeats):
        rng = np.random.default_rng(number)
        for train, test in outer_folds(number).split(outcome):
            fitted = fitted_model(model, number, design.matrix[train], outcome[train])
            falls.append(_falls(design, outcome, Fold(model, test, fitted), rng))
    return [_mean_interval(column) for column in np.transpose(falls)]


def cross_validated(
    design: Design, outcome: Floats, repeats: int, seed: int
) -> tuple[Accuracy, list[Interval]]:
    """The accuracy of the models of `nested_folds`, and `permutation` with the same models."""
    scores, names, falls, rng = [], [], [], np.random.default_rng(seed)
    for fold in nested_folds(design.matrix, outcome, repeats, seed):
        scores.append(fold.r2(design.matrix, outcome))
        names.append(fold.model)
        falls.append(_falls(design, outcome, fold, rng))
    return accuracy(scores, names), [_mean_interval(column) for column in np.transpose(falls)]


def _falls(design: Design, outcome: Floats, fold: Fold, rng: np.random.Generator) -> Floats:
    """By how much R² falls without each factor, the variance of all outcomes being 1."""
    matrix, judged = design.matrix[fold.test], outcome[fold.test]
    error = float(((fold.fitted.predict(matrix) - judged) ** 2).mean())
    dealt = [_dealt(matrix, span, rng) for span in design.spans]
    expected = fold.fitted.predict(np.concatenate(dealt)).reshape(len(dealt), -1)
    falls: Floats = (((expected - judged) ** 2).mean(axis=1) - error) / float(np.var(outcome))
    return falls


def _dealt(matrix: Floats, span: slice, rng: np.random.Generator) -> Floats:
    """The runs with a factor's values dealt out anew among them."""
    dealt = matrix.copy()
    dealt[:, span] = dealt[rng.permutation(len(matrix)), span]
    return dealt


def _mean_interval(values: Floats) -> Interval:
    mean, count = float(values.mean()), len(values)
    half = float(stdtrit(count - 1, 0.975)) * float(values.std(ddof=1)) / count**0.5
    return Interval(mean, mean - half, mean + half)


def lasso_ranks(design: Design, outcome: Floats) -> list[int]:
    """The place at which each factor enters the Lasso path, the strongest first, from 1.

    OtterTune's ranking (Van Aken et al. 2017): columns brought to one spread, names one column
    each, and squares of the scales, so that a curve is seen too. A factor enters with the first
    of its columns; those that never do share the last place.
    """
    blocks = [_lasso_columns(factor) for factor in design.factors]
    owner = np.repeat(range(len(blocks)), [block.shape[1] for block in blocks])
    matrix = np.column_stack(blocks)
    matrix = matrix - matrix.mean(axis=0)
    spread = matrix.std(axis=0)
    matrix = matrix / np.where(spread > 0, spread, 1.0)
    with warnings.catch_warnings():
        # The path ends where nothing is left to explain; the order until then is what counts.
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, entered, _ = lars_path(matrix, outcome - outcome.mean(), method="lasso")
    order = list(dict.fromkeys(int(owner[column]) for column in entered))
    return [order.index(place) + 1 if place in order else len(order) + 1
            for place in range(len(blocks))]  # fmt: skip


def _lasso_columns(factor: Factor) -> Floats:
    columns = factor.columns
    if not factor.ordered or len(set(factor.cells)) < 3:  # noqa: PLR2004 - no curve in two values
        return columns
    return np.column_stack([columns, (columns[:, 0] - columns[:, 0].mean()) ** 2])


def ped_anova(design: Design, outcome: Floats, *, lower_is_better: bool) -> Floats:
    """Each factor's share in telling the best tenth of the runs from all (Watanabe et al. 2023)."""
    distributions: dict[str, BaseDistribution] = {
        factor.name: _distribution(factor) for factor in design.factors
    }
    study = optuna.create_study(direction="minimize" if lower_is_better else "maximize")
    cells = [_params(factor) for factor in design.factors]
    for run, value in enumerate(outcome):
        params = {f.name: cells[place][run] for place, f in enumerate(design.factors)}
        study.add_trial(
            optuna.create_trial(
                state=TrialState.COMPLETE, value=float(value), params=params,
                distributions=distributions,
            )
        )  # fmt: skip
    found = PedAnovaImportanceEvaluator().evaluate(study)
    shares = np.array([found.get(factor.name, 0.0) for factor in design.factors])
    return shares / shares.sum() if shares.sum() > 0 else shares


def _distribution(factor: Factor) -> BaseDistribution:
    if _is_continuous(factor):
        return FloatDistribution(0.0, 1.0)
    return CategoricalDistribution(sorted({str(cell) for cell in factor.cells}))


def _is_continuous(factor: Factor) -> bool:
    return factor.ordered and len(set(factor.cells)) > MOST_GROUPS


def _params(factor: Factor) -> list[float | str]:
    if not _is_continuous(factor):
        return [str(cell) for cell in factor.cells]
    if not factor.special:
        return [float(place) for place in factor.scale]
    special: NDArray[np.bool_] = np.array([cell in factor.special for cell in factor.cells])
    placed = _SCALE_BEGINS + (1 - _SCALE_BEGINS) * factor.scale
    return [float(place) for place in np.where(special, _SPECIAL_PLACE, placed)]
