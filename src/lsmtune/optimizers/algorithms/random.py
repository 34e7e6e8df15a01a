"""Random search: the yardstick."""

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.optimizers.base import Observation, seen

_TRIES = 20
_FEW_CONFIGS = 1000


class RandomSearch:
    """Draws every knob uniformly in its own scale, the rules between knobs respected."""

    name = "random"
    summary = "random search over the whole knob space; does not learn from trials"

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A random legal config; a new one, unless a small space has no more."""
        rng = np.random.default_rng([seed, len(history)])
        tried = seen(history)
        for _ in range(_TRIES):
            config = space.sample(rng)
            if config not in tried:
                return config
        return next((left for left in _all_of_few(space) if left not in tried), config)


def _all_of_few(space: KnobSpace) -> Iterator[Config]:
    """The legal configs of a space that has few; none of a larger space."""
    if math.prod(_count(knob) for knob in space.knobs) > _FEW_CONFIGS:
        return
    names = [knob.name for knob in space.knobs]
    for values in product(*(_values(knob) for knob in space.knobs)):
        config = space.canonical(dict(zip(names, values, strict=True)))
        if not space.violations(config):
            yield config


def _count(knob: Knob) -> float:
    if knob.drawn:
        return len(knob.drawn)
    low, high = knob.bounds()
    return high - low + 1 + len(knob.special) if knob.kind == "int" else math.inf


def _values(knob: Knob) -> list[Value]:
    """The values of a knob that has a finite number of them."""
    if knob.drawn:
        return list(knob.drawn)
    low, high = knob.bounds()
    return [*knob.special_values, *range(int(low), int(high) + 1)]


make = RandomSearch
