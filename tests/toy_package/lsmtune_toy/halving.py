"""The optimizer halving: it draws near the best config, each time with half of the changes."""

from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, seen

_TRIES = 200


class Halving:
    """Neighbours of the best config, and random configs where there are no others."""

    name = "halving"
    summary = "neighbours of the best config so far"

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """Return a config that was not tried, while the space has one."""
        rng = np.random.default_rng([seed, len(history)])
        measured = [one for one in history if one.is_measured and (one.violation or 0) <= 0]
        tried = seen(history)
        for number in range(_TRIES):
            if measured and number % 2:
                best = min(measured, key=lambda one: one.value or 0.0)
                found = space.neighbour(best.config, rng)
            else:
                found = space.sample(rng)
            if found not in tried:
                return found
        return found
