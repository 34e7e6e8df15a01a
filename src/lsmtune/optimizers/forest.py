"""Trees as a model of what configs come to, and the config that promises to gain most.

As SMAC (Hutter, Hoos, Leyton-Brown: Sequential Model-Based Optimization for General Algorithm
Configuration, 2011), with extremely randomised trees (Geurts, Ernst, Wehenkel 2006). Those grow
until each trial has a leaf of its own: what they do not know shows in how far they differ, and of
the variance within leaves, the other part in Hutter et al. (2014), nothing is left.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import ExtraTreeRegressor

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.learning.improvement import expected_improvement
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.candidates import neighbours
from lsmtune.optimizers.chosen_trials import chosen_trials
from lsmtune.optimizers.judgement import judged
from lsmtune.optimizers.opening import nearby, opening
from lsmtune.optimizers.outcomes import chebyshev
from lsmtune.optimizers.points import Points

_TREES = 40
"""More of them find a little more, but take as much more time."""
_RANDOM, _NEAR = 500, 500
"""Candidates: so many anywhere, and near the best."""
_PARENTS = 5
_STEP = 0.2
_LEGALISED = 6
"""So many candidates are looked at again as the legal configs that they become."""
_MOST_EXCESS = 1e9
_MOST_TRIALS = 1000
"""The trees learn from so many trials; more of them take more time."""


class Forest:
    """Expected improvement by extremely randomised trees, within the limits.

    The trees learn logarithms, so that half is as far as double. Candidates are drawn from the
    whole space and near the best configs; each counts with the improvement to be expected times
    how likely it keeps the limits. With several goals every ask weighs them anew, at random.
    """

    name = "forest"
    summary = (
        "predicts the objective with randomised trees and selects the config with the largest "
        "expected improvement, similar to SMAC"
    )

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The candidate that promises most."""
        rng = np.random.default_rng([seed, len(history)])
        if (first := opening(space, history, rng, seed)) is not None:
            return first
        points, tried = Points(space.knobs), seen(history)
        chosen = chosen_trials(history, _MOST_TRIALS)
        places = points.places([observation.config for observation in chosen])
        costs, within = _outcomes(chosen, rng)
        promise = _Promise(points.at(places), costs, within, int(rng.integers(2**31)))
        parents = places[np.lexsort((costs, ~within))[:_PARENTS]]
        near = neighbours(parents, _NEAR, _STEP, rng)
        drawn = np.vstack([near, rng.random((_RANDOM, near.shape[1]))])
        best = np.argsort(-promise(points.at(drawn)), kind="stable")[:_LEGALISED]
        configs = [c for c in map(space.at, drawn[best].tolist()) if c not in tried]
        if not configs:
            return nearby(space, history, rng, seed)
        return configs[int(np.argmax(promise(points.matrix(configs))))]


def _outcomes(
    history: Sequence[Observation], rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """What each trial costs (lower is better), and whether it keeps the limits.

    While none does, the cost is by how much the limits are exceeded.
    """
    told = judged(history)
    excess = np.array([max(0.0, judgement.violation) for judgement in told])
    if excess.all():
        return np.log1p(np.minimum(excess, _MOST_EXCESS)), np.ones(len(told), dtype=bool)
    logs = np.log([judgement.values for judgement in told])
    return chebyshev(logs, logs, rng.dirichlet(np.ones(logs.shape[1]))), excess == 0


class _Promise:
    """How much rows promise: the improvement to be expected, times the chance to be within.

    The same trees learn both, each as important as the other.
    """

    def __init__(self, rows: Floats, costs: Floats, within: NDArray[np.bool_], seed: int) -> None:
        outcomes = np.column_stack([costs, within])
        spread = outcomes.std(axis=0)
        self._scale = np.where(spread > 0, spread, 1.0)
        self._least = float(costs[within].min())
        scaled, single = outcomes / self._scale, rows.astype(np.float32)
        trees = (
            ExtraTreeRegressor(max_features=None, random_state=seed + n) for n in range(_TREES)
        )
        self._trees = [tree.fit(single, scaled, check_input=False).tree_ for tree in trees]

    def __call__(self, rows: Floats) -> Floats:
        single = rows.astype(np.float32)  # as trees want them
        each = np.array([tree.predict(single)[:, :, 0] for tree in self._trees]) * self._scale
        mean, spread = each.mean(axis=0), each[:, :, 0].std(axis=0)
        promise: Floats = expected_improvement(self._least, mean[:, 0], spread) * mean[:, 1]
        return promise
