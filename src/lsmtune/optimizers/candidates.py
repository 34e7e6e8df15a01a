"""Which config to try next, by a bound that is quickly computed anywhere."""

from collections.abc import Callable

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.points import Points

_RANDOM, _NEAR = 1000, 1000
"""Candidates: so many anywhere, and near the best for each step."""
_PARENTS = 5
_LEGAL = 12
"""So many of the candidates are made legal in each round: the rules between knobs take time."""
_STEPS = (0.2, 0.1, 0.05)
_CHANGED = 3.0
"""How many knobs of a neighbour change on average."""
_REDRAWN = 0.3


class CandidateSearch:
    """The search for the lowest bound among legal configs that have not been tried."""

    def __init__(
        self,
        space: KnobSpace,
        bound: Callable[[Floats], Floats],
        tried: frozenset[Config],
        rng: np.random.Generator,
    ) -> None:
        self._space = space
        self._points = Points(space.knobs)
        self._bound = bound
        self._tried = tried
        self._rng = rng
        self._found: dict[Config, float] = {}

    def lowest(self, best: Floats) -> Config | None:
        """The config, given the places of those so far, the best first; None if none is new."""
        anywhere = self._rng.random((_RANDOM, best.shape[1]))
        near = np.vstack([self._near(best[:_PARENTS], step) for step in _STEPS])
        self._keep(np.vstack([anywhere, near]))
        for step in _STEPS:
            if self._found:
                self._keep(self._near(self._places_of_best(), step))
        return min(self._found, key=lambda config: self._found[config], default=None)

    def _near(self, places: Floats, step: float) -> Floats:
        return neighbours(places, _NEAR, step, self._rng)

    def _places_of_best(self) -> Floats:
        ranked = sorted(self._found, key=lambda config: self._found[config])
        return self._points.places(ranked[:_PARENTS])

    def _keep(self, places: Floats) -> None:
        """Make the most promising of the places legal, and keep those that are new."""
        order = np.argsort(self._bound(places), kind="stable")[:_LEGAL]
        legal = {self._space.at(places[at]) for at in order.tolist()}
        new = sorted(legal - self._tried - self._found.keys(), key=lambda config: config.hash)
        if new:
            bounds = self._bound(self._points.places(new))
            self._found |= dict(zip(new, bounds.tolist(), strict=True))


def neighbours(places: Floats, count: int, step: float, rng: np.random.Generator) -> Floats:
    """So many points near the given ones: some knobs moved a step, or drawn anew."""
    near = places[rng.integers(len(places), size=count)]
    changed = rng.random(near.shape) < min(1.0, _CHANGED / places.shape[1])
    redrawn = rng.random(near.shape) < _REDRAWN
    moved = np.abs(near + rng.normal(0, step, near.shape))
    moved = np.where(moved >= 1, np.maximum(2 - moved, 0.0), moved)
    moved = np.where(redrawn, rng.random(near.shape), moved)
    return np.minimum(np.where(changed, moved, near), np.nextafter(1.0, 0.0))
