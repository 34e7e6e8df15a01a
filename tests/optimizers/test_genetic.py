"""The genetic algorithm begins with advice, and failed configs are no parents."""

import pytest

from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.testing.landscapes import make_space, run, smooth

GENES = "write_buffer_size,level0_slowdown_writes_trigger,block_size,cache_size"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_begins_with_advice_and_what_is_near_it(seed: int) -> None:
    space = make_space("jin2022", memory=8)
    advised = space.starts()
    history = run(make_optimizer("genetic"), space, 8, smooth(space), seed)[1:]
    configs = [observation.config for observation in history]
    assert tuple(configs[: len(advised)]) == advised
    assert len(set(configs)) == len(configs) > len(advised)
    for config in configs[len(advised) :]:
        changed = min(len(config.differing(start)) for start in advised)
        assert 0 < changed < len(space.knobs) / 2


def test_failed_configs_are_no_parents() -> None:
    space = make_space(GENES, memory=8)
    good = [Observation(space.at([0.2 + 0.02 * n] * 4), (0.5,), -1.0) for n in range(8)]
    bad = [Observation(space.at([0.9 + 0.01 * n] * 4), None, None) for n in range(8)]
    genetic = make_optimizer("genetic")
    history = [Observation(space.default(), (1.0,), -1.0), *good, *bad]
    failed = {o.config[name] for o in bad for name in o.config}
    children = [genetic.ask(space, history, seed) for seed in range(1, 21)]
    taken = sum(child[name] in failed for child in children for name in child)
    assert taken <= 2  # a mutation may come there
