"""Every optimizer keeps the contract; the one that learns, learns."""

from statistics import median

import pytest
from conformance import OptimizerConformance, make_space, position, random_history, run, smooth

from lsmtune.errors import UserError
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Optimizer
from lsmtune.optimizers.registry import OPTIMIZERS, make_optimizer


@pytest.mark.parametrize("optimizer", [make_optimizer(name) for name in OPTIMIZERS], ids=OPTIMIZERS)
class TestConformance(OptimizerConformance):
    """The suite, for each optimizer that there is."""


def test_an_unknown_optimizer_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UserError, match=r"'annealing'; known are .*tpe.*random"):
        make_optimizer("annealing")


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_is_called_what_it_is_listed_as(name: str) -> None:
    assert make_optimizer(name).name == name


def best_after(name: str, seed: int) -> float:
    space = make_space("write-path", memory=2)
    history = run(make_optimizer(name), space, 60, smooth(space), seed)
    return min(observation.value for observation in history if observation.value is not None)


def test_tpe_beats_random_search_on_a_smooth_objective() -> None:
    seeds = (1, 2, 3)
    tpe, random = (median(best_after(name, seed) for seed in seeds) for name in ("tpe", "random"))
    assert tpe - 0.1 < 0.75 * (random - 0.1)  # 0.1 is the least there is


@pytest.fixture
def tpe() -> Optimizer:
    return make_optimizer("tpe")


def test_tpe_turns_away_from_where_limits_are_broken(tpe: Optimizer) -> None:
    """The lowest values lie where a limit is broken; without the limit it goes there."""
    space = make_space("block_size,cache_size,bloom_bits", memory=4)

    def proposals(violation: float) -> float:
        def judge(config: Config) -> tuple[float, float]:
            x = position(space, config)["block_size"]
            return 1 - 0.9 * x, violation if x > 0.5 else -0.5

        history = random_history(space, 60, judge)
        asked = [tpe.ask(space, history, seed) for seed in range(1, 16)]
        return sum(judge(config)[1] > 0 for config in asked) / len(asked)

    assert proposals(violation=0.5) < 0.5
    assert proposals(violation=1e-9) < 0.5


def test_tpe_goes_where_values_are_low(tpe: Optimizer) -> None:
    space = make_space("block_size,cache_size,bloom_bits", memory=4)

    def judge(config: Config) -> tuple[float, float]:
        return 1 - 0.9 * position(space, config)["block_size"], -0.5

    history = random_history(space, 60, judge)
    asked = [tpe.ask(space, history, seed) for seed in range(1, 16)]
    assert median(position(space, config)["block_size"] for config in asked) > 0.8


def test_tpe_tries_what_is_advised_first(tpe: Optimizer) -> None:
    space = make_space()
    history = run(tpe, space, len(space.starts()), smooth(space))
    assert tuple(observation.config for observation in history[1:]) == space.starts()
