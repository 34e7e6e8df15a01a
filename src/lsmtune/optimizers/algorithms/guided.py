"""A search that is led by a simulator: hundreds of configs there, a few on the real engine.

What is modelled is by how much runs differ from what was foretold (Kennedy, O'Hagan: Predicting the
output from a complex computer code when fast approximations are available, 2000), so that a wrong
simulator costs a few trials and never the result.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.algorithms.gp_ucb import GpUcb
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.expectation import corrected
from lsmtune.optimizers.judgement import chebyshev
from lsmtune.optimizers.opening import ENOUGH
from lsmtune.optimizers.points import Points, neighbours

_CONFIGS = 704
"""So many configs are searched on the simulator before the first trial."""
_ANYWHERE = 3 / 11
"""The share of them that is drawn from anywhere; the rest is bred."""
_CHILDREN, _PARENTS = 128, 24
_STEPS = (0.2, 0.1, 0.05)
_NEAR, _ROUNDS = 64, 2
"""Before each trial so many neighbours of the best are foretold, round by round."""
_NEAREST = 8
_UCB = 1.0


class Foretell(Protocol):
    """What configs are expected to come to, without a run."""

    knobs: frozenset[str]
    """Those that it knows; others change nothing that it foretells."""

    def __call__(self, configs: Sequence[Config]) -> Floats:
        """The logarithms of their values against the base's (n, goals)."""


class Guided:
    """Goes where the simulator, corrected by the runs so far, expects little.

    Without a simulator of the engine, and where it misleads, it is `gp-ucb`.
    """

    name = "guided"
    summary = (
        "the simulator predicts the objective, and trials correct the predictions; default for "
        "workloads that the simulator can run"
    )

    def __init__(self, foretell: Foretell | None = None, configs: int = _CONFIGS) -> None:
        self._foretell = foretell
        self._configs = configs
        self._alone = GpUcb()
        self._pools: dict[tuple[str, ...], _Pool] = {}

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The config with the lowest bound among those that the simulator thinks best."""
        foretell = self._foretell
        if foretell is None or foretell.knobs.isdisjoint(knob.name for knob in space.knobs):
            return self._alone.ask(space, history, seed)
        expected = corrected(space, history, foretell)
        if expected is None or not expected.is_known_before:
            return self._alone.ask_alone(space, history, seed, expected)
        rng = np.random.default_rng([seed, len(history)])
        weights = rng.dirichlet(np.ones(expected.values.shape[1]))
        points = Points(space.knobs)

        def bounds(configs: Sequence[Config], foretold: Floats) -> Floats:
            mean, deviation = expected.predict(points.places(configs), foretold)
            return chebyshev(mean - _UCB * deviation, expected.values, weights)

        ranked = np.argsort(chebyshev(expected.values, expected.values, weights), kind="stable")
        best = expected.places[ranked[:_NEAREST]]
        pool, all_knobs = self._pool(space, foretell, seed), len(history) > ENOUGH
        found = pool.ranked(bounds, best, rng, all_knobs=all_knobs)
        tried = seen(history)
        open_ = (config for config in found if config not in tried)
        return next(open_, None) or self._alone.ask(space, history, seed)

    def _pool(self, space: KnobSpace, foretell: Foretell, seed: int) -> "_Pool":
        """Found once for a space and a seed: it hangs on nothing else."""
        key = str(seed), space.default().hash, *(knob.model_dump_json() for knob in space.knobs)
        if key not in self._pools:
            rng = np.random.default_rng(seed)
            self._pools[key] = _Pool(space, foretell, self._configs, rng)
        return self._pools[key]


class _Pool:
    """All configs that an evolution on the simulator has met, and what it foretells of them."""

    def __init__(
        self, space: KnobSpace, foretell: Foretell, count: int, rng: np.random.Generator
    ) -> None:
        self._space = space
        self._points = Points(space.knobs)
        self._foretell = foretell
        self._configs = list(dict.fromkeys([space.default(), *space.starts()]))
        self._foretold = foretell(self._configs)
        self._evolve(count, rng)

    def ranked(
        self,
        bounds: Callable[[Sequence[Config], Floats], Floats],
        best: Floats,
        rng: np.random.Generator,
        *,
        all_knobs: bool,
    ) -> list[Config]:
        """The configs and new neighbours of theirs and of the best places, the lowest bound first.

        `bounds` tells the bound of configs from what is foretold of them. Without `all_knobs` new
        ones are as the base where the simulator knows nothing.
        """
        found = dict(zip(self._configs, bounds(self._configs, self._foretold), strict=True))
        for _ in range(_ROUNDS):
            promising = sorted(found, key=lambda config: found[config])[:_NEAREST]
            around = np.vstack([best, self._points.places(promising)])
            near = neighbours(around, _NEAR, _STEPS[-1], rng)
            new = self._legal(near if all_knobs else self._held(near), found)
            if new:
                found |= dict(zip(new, bounds(new, self._foretell(new)), strict=True))
        return sorted(found, key=lambda config: found[config])

    def _evolve(self, count: int, rng: np.random.Generator) -> None:
        def add(places: Floats) -> None:
            new = self._legal(self._held(places), self._configs)
            if new:
                self._configs += new
                self._foretold = np.vstack([self._foretold, self._foretell(new)])

        anywhere = round(_ANYWHERE * count)
        generations = (count - anywhere) // _CHILDREN
        add(rng.random((anywhere, len(self._space.knobs))))
        for generation in range(generations):
            foretold = self._foretold
            weights = rng.dirichlet(np.ones(foretold.shape[1]))
            best = np.argsort(chebyshev(foretold, foretold, weights), kind="stable")[:_PARENTS]
            parents = self._points.places([self._configs[at] for at in best])
            step = _STEPS[generation * len(_STEPS) // generations]
            add(neighbours(parents, _CHILDREN, step, rng))

    def _held(self, places: Floats) -> Floats:
        """The places, with the base's values of the knobs of which the simulator knows nothing."""
        known = [knob.name in self._foretell.knobs for knob in self._space.knobs]
        return np.where(known, places, self._points.places([self._space.default()]))

    def _legal(self, places: Floats, known: Iterable[Config]) -> list[Config]:
        """The places as legal configs, without those that are known."""
        met = set(known)
        found = dict.fromkeys(self._space.at(place) for place in places.tolist())
        return [config for config in found if config not in met]


make = Guided
