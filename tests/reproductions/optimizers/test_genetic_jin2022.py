"""The genetic algorithm of Jin et al. 2022 is the paper's; sane operators are better."""

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
