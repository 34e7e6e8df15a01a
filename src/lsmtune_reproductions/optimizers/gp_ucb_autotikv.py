"""AutoTiKV's Gaussian process as it was published, with what it got wrong.

Wang (2019), https://github.com/tikv/auto-tikv: gpmodel.py, gpclass.py, pipeline.py. Its regression
and its constants are OtterTune's.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.learning.factors import Floats
from lsmtune.learning.threads import one_thread
from lsmtune.objective import limit_penalty
from lsmtune.optimizers.algorithms.random import RandomSearch
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.judgement import chosen_trials, judged

_RANDOM_ROUNDS = 10
_RIDGE = 0.01
_SIGMAS = 3.0
_UNIFORM, _BEST = 30, 10
_NUDGE = 0.001
"""Descents from a measured point begin a little beside it."""
_STEPS, _RATE, _EPSILON = 500, 0.01, 1e-6
_FIRST_DECAY, _SECOND_DECAY = 0.9, 0.999
"""Adam as TensorFlow has it by default."""
_MOST_TRIALS = 250
"""The model has so many trials. AutoTiKV has no bound; each step takes the square of them."""


class PublishedGpUcb:
    """Ten random configs, then the lowest of forty descents on a process that is never fitted.

    The kernel is exp(-distance) over standardised values: a range in its plain unit, a choice by
    its number. The search keeps within the least and the most of what was measured. The newest run
    counts twice, the second time with the mean of all: AutoTiKV standardises it alone.
    A config that comes out again gives way to a random one, where AutoTiKV would run it again.
    """

    name = "gp-ucb-autotikv"
    summary = (
        "AutoTiKV's Gaussian process as published, with a fixed kernel; after random configs, "
        "searches only between the lowest and highest measured values"
    )

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next round's config."""
        new = RandomSearch().ask(space, history, seed)
        told = judged(chosen_trials(history, _MOST_TRIALS))[1:]  # it never measures the base
        if len(history) <= _RANDOM_ROUNDS or not told:
            return new
        rng = np.random.default_rng([seed, len(history)])
        rows = np.array(
            [[_number(knob, j.config[knob.name]) for knob in space.knobs] for j in told]
        )
        values = np.array([float(np.prod(j.values)) ** (1 / len(j.values)) for j in told])
        values *= [limit_penalty(j.violation) for j in told]
        recommended = _recommended(rows, values, rng)
        config = space.legalise(
            {k.name: _value(k, number) for k, number in zip(space.knobs, recommended, strict=True)}
        )
        return new if config in seen(history) else config


def _recommended(rows: Floats, values: Floats, rng: np.random.Generator) -> Floats:
    """The row that the published model recommends, given measured rows and their values."""
    rows = np.vstack([rows, rows[-1]])
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread == 0] = 1.0
    scaled = (rows - centre) / spread
    deviation = float(values.std()) or 1.0
    told = np.append((values - values.mean()) / deviation, 0.0)
    low, high = scaled.min(axis=0), scaled.max(axis=0)
    best = scaled[np.argsort(told, kind="stable")[:_BEST]] + _NUDGE
    starts = np.vstack([low + rng.random((_UNIFORM, len(low))) * (high - low), best])
    with one_thread():
        ends, bounds = _descended(starts, scaled, told, low, high)
    return np.asarray(ends[int(np.argmin(bounds))] * spread + centre)


def _descended(
    starts: Floats, points: Floats, told: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """Where Adam ends from each start, kept within the bounds, and the bound found there."""
    covariance = np.exp(-cdist(points, points)) + _RIDGE * np.eye(len(points))
    factor = cho_factor(covariance)
    weights, inverse = cho_solve(factor, told), cho_solve(factor, np.eye(len(points)))
    here = np.clip(starts, low, high)
    best, lowest = here.copy(), np.full(len(here), np.inf)
    first, second = np.zeros_like(here), np.zeros_like(here)
    for step in range(1, _STEPS + 1):
        bound, slope = _bound(here, points, weights, inverse)
        better = bound < lowest
        best[better], lowest[better] = here[better], bound[better]
        first = _FIRST_DECAY * first + (1 - _FIRST_DECAY) * slope
        second = _SECOND_DECAY * second + (1 - _SECOND_DECAY) * slope**2
        rate = _RATE * np.sqrt(1 - _SECOND_DECAY**step) / (1 - _FIRST_DECAY**step)
        here = np.clip(here - rate * first / (np.sqrt(second) + _EPSILON), low, high)
    return best, lowest


def _bound(here: Floats, points: Floats, weights: Floats, inverse: Floats) -> tuple[Floats, Floats]:
    """Mean minus three standard deviations at each place, and its gradient there."""
    distances = np.maximum(cdist(here, points), 1e-9)
    kernel = np.exp(-distances)
    solved = kernel @ inverse
    deviation = np.sqrt(np.maximum(1 - np.sum(solved * kernel, axis=1), 1e-9))
    pull = weights + _SIGMAS * solved / deviation[:, None]
    share = -kernel / distances * pull
    slope = share.sum(axis=1)[:, None] * here - share @ points
    return kernel @ weights - _SIGMAS * deviation, slope


def _number(knob: Knob, value: Value) -> float:
    """The value as AutoTiKV's model has it."""
    if not knob.is_range:
        return float(knob.values.index(value)) if value in knob.values else 0.0
    return float(value)


def _value(knob: Knob, number: float) -> Value:
    if knob.is_range:
        return knob.clip(float(number))
    return knob.drawn[min(max(round(float(number)), 0), len(knob.drawn) - 1)]
