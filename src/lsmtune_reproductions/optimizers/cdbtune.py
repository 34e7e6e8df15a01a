"""CDBTune: an actor that proposes from what the last trial's metrics say, and its critic.

Zhang, Liu, Zhou, Li, Xiao, Cheng, Xing, Wang, Cheng, Liu, Ran, Li: An End-to-End Automatic Cloud
Database Tuning System Using Deep Reinforcement Learning (SIGMOD 2019).
"""

import math
from collections.abc import Sequence

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.base import Observation, ended, seen
from lsmtune.optimizers.judgement import judged
from lsmtune.optimizers.opening import ENOUGH, nearby, opening
from lsmtune.optimizers.points import Points
from lsmtune_reproductions.optimizers.actor_critic import Steps, train

_NOISE, _LEAST_NOISE = 0.5, 0.1
"""The standard deviation of what exploration adds to each place at first, and at least."""
_TRIES = 10
_MOST_STEPS = 1000
"""The networks learn from so many of the newest trials, like a memory of limited size."""
_LOUDER = 1.3
"""By how much more noise a proposal is drawn again that has been tried."""


class CdbTune:
    """Deep deterministic policy gradients (DDPG) over metrics.

    The state is what a trial's metrics were, the action the next config, the reward the paper's.
    The authors train larger networks before they tune. Here small ones are trained anew on the
    study's own history at each ask, and know what dozens of trials tell; what follows a step
    counts half for them, 0.9 in the authors' code. Several goals are their geometric mean.
    """

    name = "cdbtune"
    summary = (
        "CDBTune (Zhang et al. 2019): reinforcement learning from the metrics of the last trial"
    )

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """What the actor does after the last trial, with noise that falls with the trials."""
        rng = np.random.default_rng([seed, len(history)])
        if (start := opening(space, history, rng, seed)) is not None:
            return start
        learnt = ended(history)
        newest = learnt[-_MOST_STEPS - 1 :]
        states = _states(newest, len(space.knobs))
        places = Points(space.knobs).places([observation.config for observation in newest])
        rewards = _rewards(_values(learnt))[-_MOST_STEPS:]
        steps = Steps(states[:-1], places[1:], rewards, states[1:])
        action = train(steps, [seed, len(history)]).act(states[-1])
        tried, noise = seen(history), _noise(len(history))
        for attempt in range(_TRIES):
            moved = action + rng.normal(0, noise * _LOUDER**attempt, len(action))
            if (config := space.at(_inside(moved).tolist())) not in tried:
                return config
        return nearby(space, history, rng, seed)


def _states(history: Sequence[Observation], actions: int) -> Floats:
    """The standardised logarithms of what each trial measured; what is missing is the mean.

    However many metrics there are, together they weigh as much as so many actions.
    """
    names = sorted({name for observation in history for name in observation.metrics})
    table = np.array([[o.metrics.get(name, math.nan) for name in names] for o in history])
    logs = np.sign(table) * np.log1p(np.abs(table))
    known = np.isfinite(logs)
    count = np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, logs - np.where(known, logs, 0.0).sum(axis=0) / count, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / count)
    varied = spread > 0
    scale = math.sqrt(actions / max(actions, int(varied.sum())))
    return np.asarray(centred[:, varied] / spread[varied] * scale)


def _values(history: Sequence[Observation]) -> Floats:
    """One number a trial, lower is better: limits exceeded make it worse by how much."""
    return np.array([
        math.prod(j.values) ** (1 / len(j.values)) * (1 + max(0.0, j.violation))
        for j in judged(history)
    ])  # fmt: skip


def _rewards(values: Floats) -> Floats:
    """The paper's reward of each trial but the first, scaled to a deviation of one.

    It grows with the square of the change since the first trial, the more so the greater the
    change since the previous one; what is better than the first but worse than the previous is
    worth nothing. Of a loss the change is that of the speed, the value's inverse: from -1 to 1.
    """
    first, previous = _change(values[0], values[1:]), _change(values[:-1], values[1:])
    gain, loss = (1 + first) ** 2 - 1, 1 - (1 - first) ** 2
    rewards = np.where(first > 0, gain * np.abs(1 + previous), loss * np.abs(1 - previous))
    rewards = np.where((rewards > 0) & (previous < 0), 0.0, rewards)
    return np.asarray(rewards / (rewards.std() or 1.0))


def _change(before: Floats, now: Floats) -> Floats:
    return np.asarray((before - now) / np.maximum(before, now))


def _noise(trials: int) -> float:
    return max(_LEAST_NOISE, _NOISE * math.sqrt(ENOUGH / trials))


def _inside(places: Floats) -> Floats:
    """The places, those beyond an end of the scale thrown back from it."""
    back = 1 - np.abs(1 - np.abs(places) % 2)
    return np.asarray(np.minimum(back, np.nextafter(1.0, 0.0)))
