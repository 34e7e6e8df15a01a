"""Every optimizer keeps the contract; those that learn, learn."""

from collections.abc import Callable
from statistics import median

import pytest

from lsmtune.errors import UserError
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, Optimizer
from lsmtune.optimizers.registry import OPTIMIZERS, make_optimizer
from lsmtune.testing.landscapes import (
    SMOOTH,
    hypervolume,
    make_space,
    position,
    random_history,
    run,
    smooth,
    trade_off,
)
from lsmtune.testing.optimizers import OptimizerConformance

SEEDS = (1, 2, 3)
PUBLISHED = ("genetic-jin2022", "gp-ucb-autotikv")
LEARNERS = [name for name in OPTIMIZERS if name not in ("random", "guided", *PUBLISHED)]
SHARES = {
    "tpe": 0.75,
    "gp-ucb": 0.75,
    "nsga2": 1.1,
    "bestconfig": 0.8,
    "genetic": 1.0,
}
"""How far from the optimum a learner is at most, as a share of random search's distance.

NSGA-II is made for several goals: with one goal it only has to keep up.
"""
AREAS = {"bestconfig": 0.9, "gp-ucb": 0.6, "cdbtune": 0.85}
"""What a learner reaches of random search's area at least, where that is less than all of it: what
is made for one goal only has to keep up with two, what thinks longer has had fewer trials."""
THREE = "block_size,cache_size,bloom_bits"


BLIND = [name for name in OPTIMIZERS if name != "guided"]
"""The guided one has a suite of its own, with a simulator."""


@pytest.mark.parametrize("optimizer", [make_optimizer(name) for name in BLIND], ids=BLIND)
class TestConformance(OptimizerConformance):
    """The suite, for each optimizer that there is."""


def test_an_unknown_optimizer_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UserError, match=r"^optimizer: .*'annealing'.*random.*tpe"):
        make_optimizer("annealing")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_is_called_what_it_is_listed_as(name: str) -> None:
    assert make_optimizer(name).name == name


TRIALS = {"gp-ucb": 25, "cdbtune": 25}
"""Of those that think longer, and learn more from less; of the others 60."""


def best_after(name: str, seed: int) -> float:
    space = make_space(SMOOTH, memory=2)
    history = run(make_optimizer(name), space, TRIALS.get(name, 60), smooth(space), seed)
    return min(observation.value for observation in history if observation.value is not None)


@pytest.fixture(scope="module")
def best_of_random() -> float:
    return median(best_after("random", seed) for seed in SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), SHARES.items())
def test_learners_beat_random_search_on_a_smooth_objective(
    name: str, share: float, best_of_random: float
) -> None:
    best = median(best_after(name, seed) for seed in SEEDS)
    assert best - 0.1 < share * (best_of_random - 0.1)  # 0.1 is the least there is


def area_after(name: str, seed: int) -> float:
    space = make_space(SMOOTH, memory=2)
    trials = TRIALS.get(name, 60)
    history = run(make_optimizer(name), space, trials, trade_off(space), seed, goals=2)
    return hypervolume(history[1:], corner=(2.0, 2.0))


@pytest.fixture(scope="module")
def area_of_random() -> float:
    return median(area_after("random", seed) for seed in SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_beat_random_search_on_two_goals(name: str, area_of_random: float) -> None:
    area = median(area_after(name, seed) for seed in SEEDS)
    assert area > AREAS.get(name, 1.0) * area_of_random


@pytest.fixture(params=["tpe", "gp-ucb"])
def model(request: pytest.FixtureRequest) -> Optimizer:
    """An optimizer with a model of what is where."""
    return make_optimizer(request.param)


def share_beyond(model: Optimizer, told: Callable[[Config], Observation]) -> float:
    """How many of 10 proposals have large blocks, when small ones are the worse the smaller."""
    space = make_space(THREE, memory=4)

    def place(config: Config) -> float:
        return position(space, config)["block_size"]

    def judge(config: Config) -> Observation:
        x = place(config)
        return told(config) if x > 0.5 else Observation(config, (1 - 0.2 * x,), -0.5)

    history = random_history(space, 60, judge)
    return sum(place(model.ask(space, history, seed)) > 0.5 for seed in range(1, 11)) / 10


@pytest.mark.parametrize("values", [(0.2,), (0.99,)])
@pytest.mark.parametrize(
    ("model", "violation"), [("tpe", 0.5), ("tpe", 1e-9), ("gp-ucb", 0.5)], indirect=["model"]
)
def test_a_model_turns_away_from_where_limits_are_broken(
    model: Optimizer, values: tuple[float], violation: float
) -> None:
    assert share_beyond(model, lambda config: Observation(config, values, violation)) < 0.5


def test_a_model_turns_away_from_where_trials_fail(model: Optimizer) -> None:
    assert share_beyond(model, lambda config: Observation(config, None, None)) < 0.5


def test_a_model_turns_away_from_where_trials_are_cut(model: Optimizer) -> None:
    """A bound is low when the trial was ended early, not when the config is good."""
    assert share_beyond(model, lambda config: Observation(config, (0.2,), None, cut=True)) < 0.5


def test_a_model_goes_where_values_are_low(model: Optimizer) -> None:
    assert share_beyond(model, lambda config: Observation(config, (0.2,), -0.5)) > 0.6


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_advised_is_tried_first(name: str) -> None:
    space = make_space()
    history = run(make_optimizer(name), space, len(space.starts()), smooth(space))
    assert tuple(observation.config for observation in history[1:]) == space.starts()
