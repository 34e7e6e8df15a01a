"""CDBTune: an actor that proposes from what the last trial's metrics say, and its critic.

Zhang, Liu, Zhou, Li, Xiao, Cheng, Xing, Wang, Cheng, Liu, Ran, Li: An End-to-End Automatic Cloud
Database Tuning System Using Deep Reinforcement Learning (SIGMOD 2019).

They learn by deep deterministic policy gradients: Lillicrap, Hunt, Pritzel, Heess, Erez, Tassa,
Silver, Wierstra: Continuous Control with Deep Reinforcement Learning (ICLR 2016). Histories of
trials are short: every gradient step sees all of the steps instead of a batch of them, and the
networks are small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.learning.threads import one_thread
from lsmtune.optimizers.base import Observation, ended, seen
from lsmtune.optimizers.judgement import judged
from lsmtune.optimizers.opening import ENOUGH, nearby, opening
from lsmtune.optimizers.points import Points

_NOISE, _LEAST_NOISE = 0.5, 0.1
"""The standard deviation of what exploration adds to each place at first, and at least."""
_TRIES = 10
_MOST_STEPS = 1000
"""The networks learn from so many of the newest trials, like a memory of limited size."""
_LOUDER = 1.3
"""By how much more noise a proposal is drawn again that has been tried."""

_HIDDEN = (32, 32)
_GRADIENT_STEPS = 80
_CRITIC_RATE, _ACTOR_RATE = 0.01, 0.003
_DISCOUNT = 0.5
"""A step leads to where its own action puts the system, so what follows owes it little."""
_FOLLOWS = 0.05
"""How much the target networks follow the trained ones in each gradient step."""
_DECAY = 1e-3
_SPREAD = sqrt(12)
"""Uniform numbers from 0 to 1 times this have a deviation of one, as the critic learns best."""
_FIRST_MOMENT, _SECOND_MOMENT, _LEAST = 0.9, 0.999, 1e-8
"""Adam's."""


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


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps that were taken, a row each: in a state an action led to a reward and a next state.

    States and rewards are best standardised; actions are points of the unit cube.
    """

    states: Floats
    actions: Floats
    rewards: Floats
    following: Floats


class Actor:
    """What to do in a state."""

    def __init__(self, network: "_Network") -> None:
        self._network = network

    def act(self, state: Floats) -> Floats:
        """The action, a point of the unit cube."""
        return _sigmoid(self._network.layers(state[None, :])[-1]).ravel()


def train(steps: Steps, seed: Sequence[int]) -> Actor:
    """The actor that a critic of these steps has taught; the same for the same seed."""
    rng = np.random.default_rng(seed)
    states, actions = steps.states.shape[1], steps.actions.shape[1]
    critic = _Network((states + actions, *_HIDDEN, 1), rng)
    actor = _Network((states, *_HIDDEN, actions), rng)
    lesson = _Lesson(steps, critic, actor)
    with one_thread():
        for _ in range(_GRADIENT_STEPS):
            lesson.teach_critic()
            lesson.teach_actor()
            lesson.follow()
    return Actor(actor)


class _Lesson:
    """Both networks, the slower copies that tell the value of what follows, and the steps."""

    def __init__(self, steps: Steps, critic: "_Network", actor: "_Network") -> None:
        self._steps, self._critic, self._actor = steps, critic, actor
        self._slow_critic, self._slow_actor = critic.copy(), actor.copy()
        self._critic_adam = _Adam(critic, _CRITIC_RATE)
        self._actor_adam = _Adam(actor, _ACTOR_RATE)
        self._taken = np.hstack([steps.states, _spread(steps.actions)])

    def teach_critic(self) -> None:
        """A step towards the reward and what the slow networks expect to follow."""
        following = self._steps.following
        then = _sigmoid(self._slow_actor.layers(following)[-1])
        ahead = self._slow_critic.layers(np.hstack([following, _spread(then)]))[-1][:, 0]
        wanted = self._steps.rewards + _DISCOUNT * ahead
        layers = self._critic.layers(self._taken)
        error = (layers[-1][:, 0] - wanted) / len(wanted)
        self._critic_adam.step(self._critic.gradient(layers, error[:, None])[0])

    def teach_actor(self) -> None:
        """A step towards actions that the critic values more."""
        states = self._steps.states
        actor_layers = self._actor.layers(states)
        actions = _sigmoid(actor_layers[-1])
        critic_layers = self._critic.layers(np.hstack([states, _spread(actions)]))
        uphill = np.full((len(states), 1), -1 / len(states))
        slope = self._critic.gradient(critic_layers, uphill)[1][:, states.shape[1] :]
        gradient, _ = self._actor.gradient(actor_layers, _SPREAD * slope * actions * (1 - actions))
        self._actor_adam.step(gradient)

    def follow(self) -> None:
        """Move the slow networks a little towards the trained ones."""
        self._slow_critic.weights += _FOLLOWS * (self._critic.weights - self._slow_critic.weights)
        self._slow_actor.weights += _FOLLOWS * (self._actor.weights - self._slow_actor.weights)


class _Network:
    """Layers of tanh and a linear last one; all weights stand in one array."""

    def __init__(self, sizes: Sequence[int], rng: np.random.Generator) -> None:
        self._sizes = tuple(sizes)
        self.weights = np.concatenate([
            rng.uniform(-1, 1, (inputs + 1) * outputs) / np.sqrt(inputs + 1)
            for inputs, outputs in pairwise(sizes)
        ])  # fmt: skip
        self._matrices = self._views(self.weights)

    def copy(self) -> "_Network":
        """Another one that is alike."""
        made = _Network(self._sizes, np.random.default_rng(0))
        made.weights[:] = self.weights
        return made

    def layers(self, rows: Floats) -> list[Floats]:
        """The rows, what each hidden layer makes of them, and the output."""
        found = [rows]
        for matrix in self._matrices[:-1]:
            found.append(np.tanh(found[-1] @ matrix[:-1] + matrix[-1]))
        last = self._matrices[-1]
        return [*found, found[-1] @ last[:-1] + last[-1]]

    def gradient(self, layers: Sequence[Floats], slope: Floats) -> tuple[Floats, Floats]:
        """By weight and by input, where the loss has this slope in the outputs."""
        by_weight = np.empty_like(self.weights)
        views = self._views(by_weight)
        for at in range(len(views) - 1, -1, -1):
            if at < len(views) - 1:
                slope = slope * (1 - layers[at + 1] ** 2)
            views[at][:-1] = layers[at].T @ slope
            views[at][-1] = slope.sum(axis=0)
            slope = slope @ self._matrices[at][:-1].T
        return by_weight, slope

    def _views(self, flat: Floats) -> list[Floats]:
        """The matrix of each layer in the array, its last row the bias."""
        views, at = [], 0
        for inputs, outputs in pairwise(self._sizes):
            end = at + (inputs + 1) * outputs
            views.append(flat[at:end].reshape(inputs + 1, outputs))
            at = end
        return views


class _Adam:
    """Kingma, Ba: Adam (ICLR 2015), with weights that decay."""

    def __init__(self, network: _Network, rate: float) -> None:
        self._weights, self._rate, self._steps = network.weights, rate, 0
        self._first = np.zeros_like(network.weights)
        self._second = np.zeros_like(network.weights)

    def step(self, gradient: Floats) -> None:
        """Move the weights against the gradient."""
        self._steps += 1
        self._first += (1 - _FIRST_MOMENT) * (gradient - self._first)
        self._second += (1 - _SECOND_MOMENT) * (gradient**2 - self._second)
        first = self._first / (1 - _FIRST_MOMENT**self._steps)
        second = self._second / (1 - _SECOND_MOMENT**self._steps)
        moved = first / (np.sqrt(second) + _LEAST) + _DECAY * self._weights
        self._weights -= self._rate * moved


def _sigmoid(values: Floats) -> Floats:
    return np.asarray(0.5 + 0.5 * np.tanh(values / 2))


def _spread(actions: Floats) -> Floats:
    return _SPREAD * (actions - 0.5)
