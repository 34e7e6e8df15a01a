"""Models of an outcome, and how well the best of them predicts runs that it has not seen."""

import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from lsmtune.learning.factors import Floats
from lsmtune.stats import Interval

Regressor = Any
"""A scikit-learn regressor: its classes have no common typed base."""

FOREST = "random forest"
_TREES = 200
_FOLDS = 5
_INNER_FOLDS = 3
_MOST_COLUMNS = 24
"""A Gaussian process has a length scale for each of so many columns, those that trees need most."""
_FITTING_STEPS = 20
_SCALED_ON = 300
"""So many runs tell the length scales of a Gaussian process well enough."""


def forest(seed: int) -> Regressor:
    """The parameter study's model, with the bagging's own estimate of its accuracy."""
    return RandomForestRegressor(_TREES, oob_score=True, random_state=seed)


def _forest(seed: int, _: int) -> Regressor:
    return forest(seed)


def _extra_trees(seed: int, _: int) -> Regressor:
    return ExtraTreesRegressor(_TREES, random_state=seed)


def _boosting(seed: int, _: int) -> Regressor:
    return GradientBoostingRegressor(
        n_estimators=800, learning_rate=0.03, max_depth=3, subsample=0.5, max_features=0.3,
        random_state=seed,
    )  # fmt: skip


def _gaussian_process(seed: int, columns: int) -> Regressor:
    kept = min(_MOST_COLUMNS, columns)
    scales = Matern(nu=2.5, length_scale=np.ones(kept), length_scale_bounds=(0.05, 1e3))
    kernel = ConstantKernel(1.0) * scales + WhiteKernel(0.1, (1e-6, 1.0))
    trees = ExtraTreesRegressor(_TREES // 2, random_state=seed)
    return make_pipeline(
        SelectFromModel(trees, max_features=kept, threshold=-np.inf),
        _Process(kernel, normalize_y=True, optimizer=_few_steps, random_state=seed),
    )


class _Process(GaussianProcessRegressor):  # type: ignore[misc]
    """A Gaussian process that fits its length scales to a sample where there are many runs.

    Each step of that costs the cube of the runs; what is expected of a point rests on all.
    """

    def fit(self, matrix: Floats, outcome: Floats) -> "_Process":
        """Fit scales and then the process."""
        if len(matrix) <= _SCALED_ON:
            return self._fitted(matrix, outcome)
        sample = np.random.default_rng(self.random_state).permutation(len(matrix))[:_SCALED_ON]
        scaled = clone(self)._fitted(matrix[sample], outcome[sample])
        self.kernel, self.optimizer = scaled.kernel_, None
        return self._fitted(matrix, outcome)

    def _fitted(self, matrix: Floats, outcome: Floats) -> "_Process":
        super().fit(matrix, outcome)
        return self


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


_PARTS: dict[str, Callable[[int, int], Regressor]] = {
    FOREST: _forest,
    "extra trees": _extra_trees,
    "gradient boosting": _boosting,
    "Gaussian process": _gaussian_process,
}
"""What models are made of, by name; made with a seed for so many columns."""

MODELS: dict[str, tuple[str, ...]] = {
    "extra trees": ("extra trees",),
    "gradient boosting": ("gradient boosting",),
    "Gaussian process": ("Gaussian process",),
    "boosting + Gaussian process": ("gradient boosting", "Gaussian process"),
}
"""The candidates by name. One of several parts predicts their mean: what trees and smooth
surfaces get wrong is not the same."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted model: the mean of its parts; `logarithmic` parts have learnt logarithms."""

    parts: tuple[Regressor, ...]
    logarithmic: bool

    def predict(self, matrix: Floats) -> Floats:
        """The expected outcome of each row."""
        mean: Floats = np.mean([part.predict(matrix) for part in self.parts], axis=0)
        return np.exp(mean) if self.logarithmic else mean


def fitted_model(name: str, seed: int, matrix: Floats, outcome: Floats) -> Fitted:
    """The candidate or the forest of that name, fitted.

    Candidates learn positive outcomes as logarithms: what options do to sizes and times
    multiplies. The forest stays as the paper has it.
    """
    logarithmic = name != FOREST and bool(outcome.min() > 0)
    learnt = np.log(outcome) if logarithmic else outcome
    parts = MODELS.get(name, (name,))
    with warnings.catch_warnings():
        # A length scale at its bound is what a useless column should have.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = tuple(_PARTS[part](seed, matrix.shape[1]).fit(matrix, learnt) for part in parts)
    return Fitted(fitted, logarithmic)


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
        for train, test in outer_folds(seed + repeat).split(matrix):
            name = _best_model(matrix[train], outcome[train], seed + repeat)
            chosen[name] += 1
            model = fitted_model(name, seed + repeat, matrix[train], outcome[train])
            scores.append(float(r2_score(outcome[test], model.predict(matrix[test]))))
    return Accuracy(_spread(scores), chosen.most_common(1)[0][0], dict(chosen.most_common()))


def held_out_accuracy(
    name: str, matrix: Floats, outcome: Floats, repeats: int, seed: int
) -> Interval:
    """The held-out R² of one model, over the same folds as `nested_accuracy`."""
    scores = []
    for repeat in range(repeats):
        for train, test in outer_folds(seed + repeat).split(matrix):
            model = fitted_model(name, seed + repeat, matrix[train], outcome[train])
            scores.append(float(r2_score(outcome[test], model.predict(matrix[test]))))
    return _spread(scores)


def _spread(scores: list[float]) -> Interval:
    low, middle, high = np.quantile(scores, [0.05, 0.5, 0.95])
    return Interval(float(middle), float(low), float(high))


def outer_folds(seed: int) -> KFold:
    """The folds by which everything held out is judged."""
    return KFold(_FOLDS, shuffle=True, random_state=seed)


def _best_model(matrix: Floats, outcome: Floats, seed: int) -> str:
    """The candidate with the best mean R² over inner folds; each part is fitted once a fold."""
    scores: dict[str, list[float]] = {name: [] for name in MODELS}
    singles = dict.fromkeys(part for parts in MODELS.values() for part in parts)
    for train, test in KFold(_INNER_FOLDS, shuffle=True, random_state=seed).split(matrix):
        fitted = {part: fitted_model(part, seed, matrix[train], outcome[train]) for part in singles}
        for name, parts in MODELS.items():
            joined = tuple(one for part in parts for one in fitted[part].parts)
            model = Fitted(joined, fitted[parts[0]].logarithmic)
            scores[name].append(float(r2_score(outcome[test], model.predict(matrix[test]))))
    return max(scores, key=lambda name: float(np.mean(scores[name])))
