"""BestConfig: spread samples in rounds, each round around the best of the one before it.

Zhu, Liu, Guo, Bao, Ma, Liu, Song, Yang: BestConfig: Tapping the Performance Potential of Systems
via Automatic Configuration Tuning (SoCC 2017).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import qmc

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.algorithms.random import RandomSearch
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.judgement import ranking
from lsmtune.optimizers.opening import next_start
from lsmtune.optimizers.points import Points

_ROUND = 6
"""Samples a round, k in the paper: small, so that budgets of some dozen trials see rounds."""
_TRIES = 20


class BestConfig:
    """Divide-and-diverge sampling, and recursive bound-and-search.

    Of k equal intervals of each knob's scale a round samples every one once (a Latin hypercube).
    Where a round has found the best config so far, the next one samples between the nearest values
    that the round has tried on either side of it, knob by knob; else it samples the whole space
    again. The base and what is advised belong to the first round.
    """

    name = "bestconfig"
    summary = (
        "BestConfig (Zhu et al. 2017): rounds of Latin hypercube samples; after a new best "
        "config, the next round samples only near this config"
    )

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next sample of the round that is under way."""
        if (start := next_start(space, history)) is not None:
            return start
        first = 1 + len(space.starts())  # of the first hypercube
        number, place = divmod(max(0, len(history) - first), _ROUND)
        low, high = _bounds(Points(space.knobs), history, first, number)
        tried = seen(history)
        for point in _samples(len(space.knobs), place, [seed, number]):
            if (config := space.at((low + (high - low) * point).tolist())) not in tried:
                return config
        return RandomSearch().ask(space, history, seed)


def _bounds(
    points: Points, history: Sequence[Observation], first: int, rounds: int
) -> tuple[Floats, Floats]:
    """The lowest and the highest place of each knob in the round after so many finished ones.

    The first hypercube begins at the place `first`; what is before belongs to the first round.
    """
    low, high = np.zeros(len(points.knobs)), np.full(len(points.knobs), np.nextafter(1, 0))
    for begin, end, best in _gains(history, first, rounds):
        tried = points.places([observation.config for observation in history[begin:end]])
        centre = tried[best - begin]
        # What the rules made of a sample may lie outside of where it was drawn.
        low, high = np.minimum(low, centre), np.maximum(high, centre)
        low = np.where(tried < centre, tried, low).max(axis=0)
        high = np.where(tried > centre, tried, high).min(axis=0)
    return low, high


def _gains(history: Sequence[Observation], first: int, rounds: int) -> list[tuple[int, int, int]]:
    """The last rounds in a row that each found the best config so far.

    For each round where it begins and ends, and the place of its best config.
    """
    order = ranking(history)
    gains: list[tuple[int, int, int]] = []
    if not order:
        return gains
    rank, best, begin = np.argsort(order), 0, 0
    for end in range(first + _ROUND, first + _ROUND * rounds + 1, _ROUND):
        best = min(best, begin + int(np.argmin(rank[begin:end])), key=rank.__getitem__)
        gains = [*gains, (begin, end, best)] if best >= begin else []
        begin = end
    return gains


def _samples(dimensions: int, place: int, seed: Sequence[int]) -> Iterator[Floats]:
    """The point of the round's hypercube, then others in case that it has been tried."""
    rng = np.random.default_rng(seed)
    yield qmc.LatinHypercube(dimensions, rng=rng).random(_ROUND)[place]
    yield from np.random.default_rng([*seed, place]).random((_TRIES, dimensions))
