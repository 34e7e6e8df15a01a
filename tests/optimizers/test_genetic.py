"""The published genetic algorithm is the paper's; the other one has sane operators."""

from statistics import median

import pytest

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.testing.landscapes import SMOOTH, make_space, run, smooth

GENES = "write_buffer_size,level0_slowdown_writes_trigger,block_size,cache_size"


def crossings(parents: list[Config], space: KnobSpace) -> set[Config]:
    """All that have the one parent's genes up to a cut, the other's behind it."""
    names = [knob.name for knob in space.knobs]
    return {
        space.legalise({n: (one if at < cut else other)[n] for at, n in enumerate(names)})
        for one, other in (parents, parents[::-1])
        for cut in range(1, len(names))
    }


def best_two(history: list[Observation]) -> list[Config]:
    return [o.config for o in sorted(history, key=lambda o: o.value or 9)[:2]]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_as_published_two_children_of_the_best_two_and_two_new_a_generation(seed: int) -> None:
    space = make_space(GENES, memory=8)
    history = run(make_optimizer("genetic-jin2022"), space, 36, smooth(space), seed)[1:]
    assert len({o.config for o in history}) == 36
    for first in range(8, 36, 4):
        before, generation = history[:first], history[first : first + 4]
        parents = best_two(before)
        possible = crossings(parents, space)
        for child in generation[:2]:
            assert child.config in possible or possible <= {o.config for o in history}
        # Entirely new ones share a gene with the parents at most by luck.
        for new in generation[2:]:
            shared = [
                name for name in new.config if any(new.config[name] == p[name] for p in parents)
            ]
            assert len(shared) <= 2


def test_a_generation_is_decided_by_those_before_it_alone() -> None:
    """So the order in which a generation is measured does not matter."""
    space = make_space(GENES, memory=8)
    judge = smooth(space)
    optimizer = make_optimizer("genetic-jin2022")
    history = run(optimizer, space, 9, judge, 1)
    second = optimizer.ask(space, history, 1)
    better = Observation(history[-1].config, (0.001,), -1.0)
    assert optimizer.ask(space, [*history[:-1], better], 1) == second


def test_sane_operators_beat_the_published_one() -> None:
    space = make_space(SMOOTH, memory=2)

    def best(name: str) -> float:
        return median(
            min(o.value or 9 for o in run(make_optimizer(name), space, 36, smooth(space), seed))
            for seed in range(1, 8)
        )

    assert best("genetic") < best("genetic-jin2022")


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
