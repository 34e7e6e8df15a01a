"""Random search: the yardstick."""

from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, seen

_TRIES = 1000


class RandomSearch:
    """Draws every knob uniformly in its own scale, the rules between knobs respected."""

    name = "random"
    summary = "uniform in each knob's scale; learns nothing, misses little"

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A random legal config, new if one is found in a thousand draws."""
        rng = np.random.default_rng([seed, len(history)])
        tried = seen(history)
        for _ in range(_TRIES):
            config = space.sample(rng)
            if config not in tried:
                break
        return config
