"""The guided search keeps the contract, believes a simulator that is right, and no other."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.algorithms.guided import Guided
from lsmtune.optimizers.base import Observation, Optimizer
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.testing.landscapes import SMOOTH, base_first, make_space, run, smooth
from lsmtune.testing.optimizers import OptimizerConformance

SPACE = make_space(SMOOTH, memory=2)
CONFIGS = 600
"""Enough of them on the simulator for eight knobs."""


class Planted:
    """Foretells what a function makes of a config's value."""

    def __init__(self, told: Callable[[float], float], knobs: Sequence[str] = ()) -> None:
        self.knobs = frozenset(knobs or (knob.name for knob in SPACE.knobs))
        self.asked = 0
        self._told = told

    def __call__(self, configs: Sequence[Config]) -> Floats:
        self.asked += len(configs)
        base = value(SPACE.default())
        return np.array([[np.log(self._told(value(config) / base))] for config in configs])


def value(config: Config) -> float:
    (told,) = smooth(SPACE)(config).values or ()
    return told


def against_base(config: Config) -> Observation:
    return Observation(config, (value(config) / value(SPACE.default()),), -0.5)


def best_after(foretell: Planted, trials: int) -> float:
    history = run(Guided(foretell, configs=CONFIGS), SPACE, trials, against_base)
    return best(history)


def best(history: Sequence[Observation]) -> float:
    return min(observation.value for observation in history if observation.value is not None)


@cache
def blind() -> list[Observation]:
    """The search without a simulator."""
    return run(make_optimizer("gp-ucb"), SPACE, 16, against_base)


class Position:
    """Foretells something of any space, whatever is asked for."""

    knobs = frozenset(SMOOTH.split(",")[:4])

    def __call__(self, configs: Sequence[Config]) -> Floats:
        return np.array([[int(config.hash, 16) % 1000 / 1000 - 0.5] for config in configs])


@pytest.mark.parametrize("optimizer", [Guided(Position(), configs=64)], ids=["guided"])
class TestConformance(OptimizerConformance):
    """The suite, with a simulator at hand."""

    def fresh(self, optimizer: Optimizer) -> Optimizer:
        return Guided(Position(), configs=64)


def test_a_simulator_that_is_right_is_believed_at_once() -> None:
    assert best_after(Planted(lambda v: v), 2) < best(blind()[:13])


def test_one_that_thinks_all_gains_are_half_as_large_is_no_worse() -> None:
    assert best_after(Planted(np.sqrt), 4) < 1.05 * best_after(Planted(lambda v: v), 4)


@pytest.mark.parametrize("wrong", [lambda v: 1 / v, lambda v: 1.0], ids=["turned round", "dull"])
def test_one_that_is_wrong_costs_a_few_trials(wrong: Callable[[float], float]) -> None:
    assert best_after(Planted(wrong), 20) < 1.1 * best(blind())


def test_knobs_of_which_it_knows_nothing_stay_as_they_are_at_first() -> None:
    known = SMOOTH.split(",")[:4]
    guided = Guided(Planted(lambda v: v, known), configs=CONFIGS)
    history = run(guided, SPACE, 4, against_base)
    advised = set(SPACE.starts())
    for config in (o.config for o in history if o.config not in advised):
        changed = {name for name, told in config.items() if told != SPACE.default()[name]}
        assert changed <= set(known)


def test_without_a_simulator_it_is_gp_ucb() -> None:
    def proposals(name: str, space: KnobSpace) -> list[Config]:
        return [o.config for o in run(make_optimizer(name), space, 6, smooth(space))]

    assert proposals("guided", SPACE) == proposals("gp-ucb", SPACE)


def test_many_configs_are_foretold_once_and_few_for_each_trial() -> None:
    foretell = Planted(lambda v: v)
    guided = Guided(foretell)
    history = base_first(SPACE)
    asked = []
    for _ in range(3):
        foretell.asked = 0
        history.append(against_base(guided.ask(SPACE, history, 1)))
        asked.append(foretell.asked)
    assert asked[0] > 600
    assert max(asked[1:]) < 200
