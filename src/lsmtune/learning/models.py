"""Models of an outcome, and how well the best of them predicts runs that it has not seen."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score

from lsmtune.learning.factors import Floats
from lsmtune.stats import Interval

Regressor = Any
"""A scikit-learn regressor: its classes have no common typed base."""

_TREES = 200
_FOLDS = 5
_INNER_FOLDS = 3


def forest(seed: int) -> Regressor:
    """The parameter study's model, with the bagging's own estimate of its accuracy."""
    return RandomForestRegressor(_TREES, oob_score=True, random_state=seed, n_jobs=-1)


def _extra_trees(seed: int) -> Regressor:
    return ExtraTreesRegressor(_TREES, random_state=seed, n_jobs=-1)


def _boosting(seed: int) -> Regressor:
    return GradientBoostingRegressor(
        n_estimators=300, learning_rate=0.05, max_depth=4, subsample=0.7, max_features=0.5,
        random_state=seed,
    )  # fmt: skip


def _gaussian_process(seed: int) -> Regressor:
    kernel = ConstantKernel(1.0) * Matern(nu=2.5, length_scale=1.0) + WhiteKernel(0.1)
    return GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)


MODELS: dict[str, Callable[[int], Regressor]] = {
    "random forest": forest,
    "extra trees": _extra_trees,
    "gradient boosting": _boosting,
    "Gaussian process": _gaussian_process,
}
"""The candidates by name."""


def make_model(name: str, seed: int, outcome: Floats) -> Regressor:
    """The model of that name; outcomes that are all positive are learnt as logarithms.

    What options do to sizes and times multiplies.
    """
    model = MODELS[name](seed)
    if name == "random forest" or outcome.min() <= 0:
        return model
    return TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)


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
        folds = KFold(_FOLDS, shuffle=True, random_state=seed + repeat)
        for train, test in folds.split(matrix):
            name = _best_model(matrix[train], outcome[train], seed + repeat)
            chosen[name] += 1
            model = make_model(name, seed + repeat, outcome)
            model.fit(matrix[train], outcome[train])
            scores.append(float(r2_score(outcome[test], model.predict(matrix[test]))))
    low, middle, high = np.quantile(scores, [0.05, 0.5, 0.95])
    interval = Interval(float(middle), float(low), float(high))
    return Accuracy(interval, chosen.most_common(1)[0][0], dict(chosen.most_common()))


def held_out_accuracy(
    name: str, matrix: Floats, outcome: Floats, repeats: int, seed: int
) -> Interval:
    """The held-out R² of one model, over the same folds as `nested_accuracy`."""
    scores = np.concatenate([
        cross_val_score(
            make_model(name, seed + repeat, outcome), matrix, outcome, scoring="r2",
            cv=KFold(_FOLDS, shuffle=True, random_state=seed + repeat),
        )
        for repeat in range(repeats)
    ])  # fmt: skip
    low, middle, high = np.quantile(scores, [0.05, 0.5, 0.95])
    return Interval(float(middle), float(low), float(high))


def _best_model(matrix: Floats, outcome: Floats, seed: int) -> str:
    folds = KFold(_INNER_FOLDS, shuffle=True, random_state=seed)
    means = {
        name: cross_val_score(
            make_model(name, seed, outcome), matrix, outcome, scoring="r2", cv=folds
        ).mean()
        for name in MODELS
    }
    return max(means, key=lambda name: means[name])
