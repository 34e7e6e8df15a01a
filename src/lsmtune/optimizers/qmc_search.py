"""Quasi-random search: points that keep away from each other."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import qmc

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.random_search import RandomSearch

_TRIES = 20


class QmcSearch:
    """A scrambled Sobol sequence (Sobol 1967, Owen 1998), each point made legal.

    Each trial is the next point, whatever came of those before; a point whose config has been tried
    is passed over.
    """

    name = "qmc"
    summary = "quasi-random search with a scrambled Sobol sequence; does not learn from trials"

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The config of the next point."""
        tried = seen(history)
        at = max(0, len(history) - 1)  # the first is the base
        sequence = qmc.Sobol(len(space.knobs), rng=np.random.default_rng(seed))
        drawn = sequence.random_base2((at + _TRIES).bit_length())  # balanced in powers of two
        for point in drawn[at : at + _TRIES].tolist():
            if (config := space.at(point)) not in tried:
                return config
        return RandomSearch().ask(space, history, seed)
