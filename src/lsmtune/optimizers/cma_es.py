"""CMA-ES: a distribution that learns where good configs lie, and in which directions better ones.

Hansen, Ostermeier: Completely Derandomized Self-Adaptation in Evolution Strategies (2001). With
categories: Hamano, Saito, Nomura, Uchida, Shirakawa: CatCMA (2024).
"""

from collections.abc import Sequence

import numpy as np
from cmaes import CMA, CatCMA

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.judgement import ranking
from lsmtune.optimizers.opening import ENOUGH, nearby, opening
from lsmtune.optimizers.points import Points

_POPULATION = 6
"""Less than advised for 30 dimensions, so that budgets of some dozen trials see generations."""
_STEP = 0.2
"""Standard deviation of a knob's place at the beginning."""
_KEPT = 0.7
"""How likely a name, or whether a value is special, is that of the best at the beginning."""
_FEWEST_RANGES = 2
_GENERATIONS = 200
"""After so many generations the distribution begins anew around the best config. So an ask repeats
no more than these."""
_TRIES = 10


class CmaEs:
    """Draws generations from a distribution that follows the better half of each.

    It begins around the best config of the opening. Places in a range are normally distributed,
    each with each; names and special values have probabilities (CatCMA). What a generation is told
    are the legal configs that its points became, by their rank, those within the limits first. It
    all follows from the history anew: Optuna's sampler would keep its state in the study. With
    fewer than two ranges there are no directions, and neighbours of the best are tried instead.
    """

    name = "cmaes"
    summary = "evolution strategy CMA-ES; CatCMA if a knob has categories or special values"

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A draw for the generation that is under way."""
        rng = np.random.default_rng([seed, len(history)])
        if (first := opening(space, history, rng, seed)) is not None:
            return first
        points, tried = Points(space.knobs), seen(history)
        if np.count_nonzero(~points.categorical) >= _FEWEST_RANGES:
            distribution = _fitted(points, history)
            distribution.reseed(int(rng.integers(2**31)))
            for _ in range(_TRIES):
                place = points.places_at(distribution.draw()[None])[0]
                if (config := space.at(place.tolist())) not in tried:
                    return config
        return nearby(space, history, rng, seed)


class _Distribution:
    """Of rows: CMA-ES for the places in ranges, CatCMA where there are names as well."""

    def __init__(self, points: Points, start: Floats) -> None:
        self._start = start
        self._ranges = ~points.categorical
        self._names = points.counts > 1  # what has one name has no choice
        self._counts = points.counts[self._names]
        self._numbers = np.arange(self._counts.max(initial=0))
        mean = start[self._ranges]
        bounds = np.tile([0.0, 1.0], (len(mean), 1))
        if self._names.any():
            likely = _KEPT * self._marked(start) + (1 - _KEPT) * self._even()
            self._cma: CMA | CatCMA = CatCMA(
                mean, _STEP, self._counts, bounds, population_size=_POPULATION, cat_param=likely
            )
        else:
            self._cma = CMA(mean, _STEP, bounds, population_size=_POPULATION)

    def reseed(self, seed: int) -> None:
        """What is drawn from now on follows from the seed."""
        self._cma.reseed_rng(seed)

    def tell(self, rows: Floats) -> None:
        """A whole generation, the best first."""
        if isinstance(self._cma, CatCMA):
            parts = ((row[self._ranges], self._marked(row)) for row in rows)
            self._cma.tell([(part, rank) for rank, part in enumerate(parts)])
        else:
            self._cma.tell([(row[self._ranges], rank) for rank, row in enumerate(rows)])

    def draw(self) -> Floats:
        """A row."""
        row = self._start.copy()
        if isinstance(self._cma, CatCMA):
            row[self._ranges], marked = self._cma.ask()
            row[self._names] = marked.argmax(axis=1)
        else:
            row[self._ranges] = self._cma.ask()
        return row

    def _marked(self, row: Floats) -> Floats:
        """Names x numbers: 1 where the name has the number."""
        return np.array(row[self._names][:, None] == self._numbers, dtype=float)

    def _even(self) -> Floats:
        counts = self._counts[:, None]
        return np.where(self._numbers < counts, 1 / counts, 0.0)


def _fitted(points: Points, history: Sequence[Observation]) -> _Distribution:
    """The distribution after all generations that are complete."""
    opened, order = _opened(history), ranking(history)
    complete = (len(history) - opened) // _POPULATION
    begin = opened + complete // _GENERATIONS * _GENERATIONS * _POPULATION
    best = next(at for at in order if at < begin)
    distribution = _Distribution(points, points.matrix([history[best].config])[0])
    rank = np.argsort(order)
    told = range(begin, opened + complete * _POPULATION)
    rows = points.matrix([history[at].config for at in told])
    for first in told[::_POPULATION]:
        generation = sorted(range(first, first + _POPULATION), key=rank.__getitem__)
        distribution.tell(rows[[at - begin for at in generation]])
    return distribution


def _opened(history: Sequence[Observation]) -> int:
    """How many trials the opening took."""
    counts = np.cumsum([observation.values is not None for observation in history])
    return int(np.searchsorted(counts, ENOUGH + 1)) + 1
