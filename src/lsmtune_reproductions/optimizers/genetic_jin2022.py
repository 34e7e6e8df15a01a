"""The genetic algorithm of Jin et al. 2022, as their paper has it.

Jin, Choi, Choi, Sung, Park: Improvement of RocksDB Performance via Large-Scale Parameter Analysis
and Optimization (2022). What a generation is follows from the order of the history alone.
"""

from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.algorithms.genetic import legal, ranked
from lsmtune.optimizers.algorithms.random import RandomSearch
from lsmtune.optimizers.base import Observation, seen


class PublishedGenetic:
    """The paper's (section 4.5): of eight, four survive, two are crossed and two are new.

    The best two of all are the parents. A crossing is cut at one point, which the paper leaves
    open; where it has been measured already, an entirely new chromosome takes its place.
    """

    name = "genetic-jin2022"
    summary = (
        "genetic algorithm of Jin et al. 2022 with a population of 8, as in their experiments "
        "(section 4.5)"
    )

    _population = 8
    _crossed = 2
    _new = 2

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next chromosome of the generation that is under way."""
        chromosomes = max(0, len(history) - 1)  # the first is the base
        new = RandomSearch().ask(space, history, seed)
        bred = self._crossed + self._new
        generation, place = divmod(chromosomes - self._population, bred)
        if chromosomes < self._population or place >= self._crossed:
            return new
        before = ranked(history[1 : 1 + self._population + generation * bred])
        cuts = np.random.default_rng([seed, generation]).permutation(len(space.knobs)).tolist()
        children = _crossings(space, before[0], before[1 % len(before)], cuts, place)
        tried = seen(history)
        return next((child for child in children if child not in tried), new)


def _crossings(
    space: KnobSpace, first: Config, second: Config, cuts: Sequence[int], place: int
) -> list[Config]:
    """Children that have the one's genes before a cut, the other's behind it."""
    one, other = (first, second) if place % 2 == 0 else (second, first)
    names = [knob.name for knob in space.knobs]
    return [
        legal(space, {n: (one if at < cut else other)[n] for at, n in enumerate(names)})
        for cut in cuts
        if cut > 0
    ]
