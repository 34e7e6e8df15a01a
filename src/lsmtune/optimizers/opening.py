"""How a search begins, before there is enough to learn from."""

from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.algorithms.random import RandomSearch
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.judgement import incumbent

_TRIES = 10
ENOUGH = 8
"""Trials with values, the base not counted, from which on a model is worth asking."""


def opening(
    space: KnobSpace, history: Sequence[Observation], rng: np.random.Generator, seed: int
) -> Config | None:
    """The advised starts, then configs near the best; None once eight trials have values.

    A dozen random configs tell too little in 25 dimensions.
    """
    if (start := next_start(space, history)) is not None:
        return start
    if sum(o.values is not None for o in history) > ENOUGH:
        return None
    return nearby(space, history, rng, seed)


def next_start(space: KnobSpace, history: Sequence[Observation]) -> Config | None:
    """The first advised start that has not been tried; a much longer history has had them all."""
    if len(history) > len(space.advice) + ENOUGH:
        return None
    tried = seen(history)
    return next((start for start in space.starts() if start not in tried), None)


def nearby(
    space: KnobSpace, history: Sequence[Observation], rng: np.random.Generator, seed: int
) -> Config:
    """A neighbour of the best config so far that has not been tried.

    A random config while nothing is measured, and where all neighbours that were drawn are known.
    """
    tried = seen(history)
    if (best := incumbent(history, rng)) is not None:
        kept = within(space, best)
        for _ in range(_TRIES):
            if (config := space.neighbour(kept, rng)) not in tried:
                return config
    return RandomSearch().ask(space, history, seed)


def within(space: KnobSpace, config: Config) -> Config:
    """The config, with the base's values where an earlier host allowed what this one does not."""
    strange = [knob.name for knob in space.knobs if not knob.allows(config[knob.name])]
    if not strange:
        return config
    base = space.default()
    return space.legalise({**config, **{name: base[name] for name in strange}})
