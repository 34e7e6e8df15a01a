"""Models of an outcome, and how well the best of them predicts runs that it has not seen."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from lsmtune.learning.factors import Floats
from lsmtune.stats import Interval

Regressor = Any
"""A scikit-learn regressor: its classes have no common typed base."""

FOREST = "random forest"
_TREES = 200
_FOLDS = 5
_INNER_FOLDS = 3
_MOST_COLUMNS = 16
"""A Gaussian process has a length scale for each of so many columns, those that trees need most."""
_FITTING_STEPS = 20


def forest(seed: int) -> Regressor:
    """The parameter study's model, with the bagging's own estimate of its accuracy."""
    return RandomForestRegressor(_TREES, oob_score=True, random_state=seed, n_jobs=-1)


def _extra_trees(seed: int, _: int) -> Regressor:
    return ExtraTreesRegressor(_TREES, random_state=seed, n_jobs=-1)


def _boosting(seed: int, _: int) -> Regressor:
    return GradientBoostingRegressor(
        n_estimators=800, learning_rate=0.03, max_depth=3, subsample=0.5, max_features=0.3,
        random_state=seed,
    )  # fmt: skip


def _gaussian_process(seed: int, columns: int) -> Regressor:
    kept = min(_MOST_COLUMNS, columns)
    scales = Matern(nu=2.5, length_scale=np.ones(kept), length_scale_bounds=(0.05, 1e3))
    kernel = ConstantKernel(1.0) * scales + WhiteKernel(0.1, (1e-6, 1.0))
    trees = ExtraTreesRegressor(_TREES // 2, random_state=seed, n_jobs=-1)
    return make_pipeline(
        SelectFromModel(trees, max_features=kept, threshold=-np.inf),
        GaussianProcessRegressor(
            kernel, normalize_y=True, optimizer=_few_steps, random_state=seed
        ),
    )


def _few_steps(
    objective: Callable[[Floats], tuple[float, Floats]], start: Floats, bounds: Floats
) -> tuple[Floats, float]:
    """Length scales after a few steps are as good at predicting as after many."""
    pairs = [(float(low), float(high)) for low, high in bounds]
    found = minimize(
        objective, start, method="L-BFGS-B", jac=True, bounds=pairs,
        options={"maxiter": _FITTING_STEPS},
    )  # fmt: skip
    return found.x, float(found.fun)


def _both(seed: int, columns: int) -> Regressor:
    """What trees and smooth surfaces get wrong is not the same."""
    return VotingRegressor(
        [("boosting", _boosting(seed, columns)), ("process", _gaussian_process(seed, columns))]
    )


MODELS: dict[str, Callable[[int, int], Regressor]] = {
    "extra trees": _extra_trees,
    "gradient boosting": _boosting,
    "Gaussian process": _gaussian_process,
    "boosting + Gaussian process": _both,
}
"""The candidates by name, made with a seed for so many columns."""


def fitted_model(name: str, seed: int, matrix: Floats, outcome: Floats) -> Regressor:
    """The model of that name, fitted."""
    with _silent():
        return _made(name, seed, matrix, outcome).fit(matrix, outcome)


def _made(name: str, seed: int, matrix: Floats, outcome: Floats) -> Regressor:
    """The model, not yet fitted; the candidates learn positive outcomes as logarithms.

    What options do to sizes and times multiplies. The forest stays as the paper has it.
    """
    if name == FOREST:
        return forest(seed)
    model = MODELS[name](seed, matrix.shape[1])
    if outcome.min() <= 0:
        return model
    return TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)


@contextmanager
def _silent() -> Iterator[None]:
    """A length scale at its bound is what a useless column should have, not worth a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well models predict held-out runs.

    `r2` is the coefficient of determination of whichever model was chosen inside the training
    part: its median over the folds of all repeats, between their 5 % and 95 % quantiles. `model`
    is the one that was chosen most often, `chosen` how often each was.
    """

    r2: Interval
    model: str
    chosen: dict[str, int]


def nested_accuracy(matrix: Floats, outcome: Floats, repeats: int, seed: int) -> Accuracy:
    """Repeated nested cross-validation over all models.

    For each outer fold an inner cross-validation on the rest chooses the model, which then
    predicts the fold: no run is used to judge what it has helped to choose.
    """
    scores, chosen = [], Counter[str]()
    for repeat in range(repeats):
        for train, test in _folds(seed + repeat).split(matrix):
            name = _best_model(matrix[train], outcome[train], seed + repeat)
            chosen[name] += 1
            model = fitted_model(name, seed + repeat, matrix[train], outcome[train])
            scores.append(float(r2_score(outcome[test], model.predict(matrix[test]))))
    return Accuracy(_spread(scores), chosen.most_common(1)[0][0], dict(chosen.most_common()))


def held_out_accuracy(
    name: str, matrix: Floats, outcome: Floats, repeats: int, seed: int
) -> Interval:
    """The held-out R² of one model, over the same folds as `nested_accuracy`."""
    scores = [
        score
        for repeat in range(repeats)
        for score in _scores(name, seed + repeat, matrix, outcome, _folds(seed + repeat))
    ]
    return _spread(scores)


def _spread(scores: list[float]) -> Interval:
    low, middle, high = np.quantile(scores, [0.05, 0.5, 0.95])
    return Interval(float(middle), float(low), float(high))


def _folds(seed: int) -> KFold:
    return KFold(_FOLDS, shuffle=True, random_state=seed)


def _best_model(matrix: Floats, outcome: Floats, seed: int) -> str:
    folds = KFold(_INNER_FOLDS, shuffle=True, random_state=seed)
    means = {name: _scores(name, seed, matrix, outcome, folds).mean() for name in MODELS}
    return max(means, key=lambda name: means[name])


def _scores(name: str, seed: int, matrix: Floats, outcome: Floats, folds: KFold) -> Floats:
    with _silent():
        model = _made(name, seed, matrix, outcome)
        scores: Floats = cross_val_score(model, matrix, outcome, scoring="r2", cv=folds)
    return scores
