"""Which trials a model learns from when there are more than it can use in time."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest

import numpy as np

from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.judgement import judged, ranking

_PARTS = 3
"""The best, the newest and random trials each make up so much of the choice."""


def chosen_trials(history: Sequence[Observation], most: int) -> list[Observation]:
    """Return at most so many trials in their order; all of a shorter history.

    The choice has the baseline, the best trials (of several goals, also those of each goal), the
    newest trials, and random ones from all. So a model knows the best region well and still has
    an idea of the rest. The random trials change little from one trial to the next.
    """
    if len(history) <= most:
        return list(history)
    newest = range(len(history) - most // _PARTS, len(history))
    best = islice(best_first(history), most // _PARTS)
    kept = {0, *newest, *best}
    # The first numbers of a longer sequence are the same, so a trial keeps its number.
    order = np.argsort(np.random.default_rng(0).random(len(history)), kind="stable")
    rest = (at for at in order.tolist() if at not in kept)
    return [history[at] for at in sorted([*kept, *islice(rest, most - len(kept))])]


def best_first(history: Sequence[Observation]) -> Iterator[int]:
    """Yield the places of the trials, the best by all goals together and by each goal in turn.

    Those within the limits come first. Nothing comes from a history without values.
    """
    orders = [ranking(history)]
    told = judged(history)
    goals = len(told[0].values) if told else 0
    if goals > 1:
        for goal in range(goals):
            keys = [(max(0.0, j.violation), j.values[goal]) for j in told]
            orders.append(sorted(range(len(told)), key=keys.__getitem__))
    places = chain.from_iterable(zip_longest(*orders))
    return iter(dict.fromkeys(place for place in places if place is not None))
