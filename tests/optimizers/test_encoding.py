"""Knobs go to Optuna's terms and back unchanged."""

import numpy as np
from optuna.distributions import FloatDistribution, IntDistribution

from lsmtune.knobs.types import Config
from lsmtune.optimizers.optuna_adapter import distributions, to_params, to_values
from lsmtune.testing.landscapes import make_space


def test_configs_come_back_as_they_were() -> None:
    space = make_space("all")
    rng = np.random.default_rng(1)
    configs = [space.default(), *space.starts(), *(space.sample(rng) for _ in range(20))]
    for config, params in zip(configs, to_params(space.knobs, configs), strict=True):
        assert params is not None
        assert params.keys() >= distributions(space.knobs).keys()
        assert Config(to_values(space.knobs, params)) == config


def test_only_the_given_knobs_are_encoded() -> None:
    space = make_space("bloom_bits,block_size,num_levels")
    (params,) = to_params(space.knobs[:1], [space.default()])
    assert params is not None
    assert set(to_values(space.knobs[:1], params)) == {space.knobs[0].name}


def test_a_value_that_the_knob_does_not_have_is_told() -> None:
    space = make_space("num_levels,block_size")
    odd = Config({**space.default(), "num_levels": 99})
    assert to_params(space.knobs, [odd, space.default()])[0] is None
    assert to_params(space.knobs, [odd, space.default()])[1] is not None


def test_wide_ranges_of_whole_numbers_are_a_continuum_and_narrow_ones_are_counted() -> None:
    found = distributions(make_space("num_levels,block_size").knobs)
    assert isinstance(found["num_levels"], IntDistribution)
    assert isinstance(found["block_size"], FloatDistribution)
