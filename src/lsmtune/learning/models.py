"""Models of an outcome, and how well the best of them predicts runs that it has not seen."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from lsmtune.learning.factors import Floats
from lsmtune.learning.gaussian_process import fit_process
from lsmtune.stats import Interval

Regressor = Any
"""A scikit-learn regressor: its classes have no common typed base."""

Places = NDArray[np.int64]
"""Places of runs."""

Choose = Callable[[Floats, Floats, int], str]
"""Returns the name of a model, from the runs that choose it and a seed."""

FOREST = "random forest"
_TREES = 100
_FOLDS = 5
_INNER_FOLDS = 3
_MOST_NESTED = 200
"""Up to so many runs, each fold chooses its own model."""


def forest(seed: int) -> Regressor:
    """The parameter study's model, with the bagging's own estimate of its accuracy."""
    return RandomForestRegressor(_TREES, oob_score=True, random_state=seed)


def _extra_trees(seed: int) -> Regressor:
    return ExtraTreesRegressor(_TREES, random_state=seed)


def _boosting(seed: int) -> Regressor:
    return GradientBoostingRegressor(
        n_estimators=800, learning_rate=0.03, max_depth=3, subsample=0.5, max_features=0.3,
        random_state=seed,
    )  # fmt: skip


class _Process:
    """A Gaussian process as a regressor; every column counts as a number."""

    def fit(self, matrix: Floats, outcome: Floats) -> "_Process":
        """Fit the process."""
        self._fitted = fit_process(matrix, outcome, np.zeros(matrix.shape[1], dtype=np.bool_))
        return self

    def predict(self, matrix: Floats) -> Floats:
        """The mean at each row."""
        return self._fitted.mean(matrix)


def _gaussian_process(_: int) -> Regressor:
    return _Process()


_PARTS: dict[str, Callable[[int], Regressor]] = {
    FOREST: forest,
    "extra trees": _extra_trees,
    "gradient boosting": _boosting,
    "Gaussian process": _gaussian_process,
}
"""What models are made of, by name; made with a seed."""

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
    fitted = tuple(_PARTS[part](seed).fit(matrix, learnt) for part in parts)
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


@dataclass(frozen=True, slots=True)
class Fold:
    """A part of a cross-validation: a model, and the places of runs that it has not seen."""

    model: str
    test: Places
    fitted: Fitted

    def r2(self, matrix: Floats, outcome: Floats) -> float:
        """The coefficient of determination of the runs that the model has not seen."""
        return float(r2_score(outcome[self.test], self.fitted.predict(matrix[self.test])))


def nested_folds(
    matrix: Floats, outcome: Floats, repeats: int, seed: int, choose: Choose | None = None
) -> Iterator[Fold]:
    """Repeated cross-validation over all models: no run judges a model that it helped to choose.

    For each fold `choose`, by default an inner cross-validation, chooses the model on the rest.
    This takes most of the time, so of more than 200 runs, at most 200 choose the model once and
    judge nothing.
    """
    choosing = _choosing(len(outcome), seed)
    choose = choose or _best_model
    name = choose(matrix[choosing], outcome[choosing], seed) if len(choosing) else None
    for number, train, test in _splits(len(outcome), repeats, seed):
        chosen = name or choose(matrix[train], outcome[train], number)
        yield Fold(chosen, test, fitted_model(chosen, number, matrix[train], outcome[train]))


def accuracy(scores: Sequence[float], models: Iterable[str]) -> Accuracy:
    """The accuracy, given R² and model of each fold of `nested_folds`."""
    chosen = Counter(models)
    return Accuracy(_spread(scores), chosen.most_common(1)[0][0], dict(chosen.most_common()))


def held_out_accuracy(
    name: str, matrix: Floats, outcome: Floats, repeats: int, seed: int
) -> Interval:
    """The held-out R² of one model, over the same folds as `nested_folds`."""
    scores = []
    for number, train, test in _splits(len(outcome), repeats, seed):
        fitted = fitted_model(name, number, matrix[train], outcome[train])
        scores.append(Fold(name, test, fitted).r2(matrix, outcome))
    return _spread(scores)


def _choosing(runs: int, seed: int) -> Places:
    """The places of the runs that choose the model and judge nothing; none of few runs."""
    if runs <= _MOST_NESTED:
        return np.empty(0, dtype=np.int64)
    return np.random.default_rng(seed).permutation(runs)[: min(_MOST_NESTED, runs // 2)]


def _splits(runs: int, repeats: int, seed: int) -> Iterator[tuple[int, Places, Places]]:
    """For each fold of each repeat its seed, the runs to learn from and those to judge by."""
    choosing = _choosing(runs, seed)
    judging = np.setdiff1d(np.arange(runs), choosing)
    for number in range(seed, seed + repeats):
        for train, test in outer_folds(number).split(judging):
            yield number, np.concatenate([choosing, judging[train]]), judging[test]


def _spread(scores: Sequence[float]) -> Interval:
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
