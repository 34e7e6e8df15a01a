"""BestConfig samples as published: hypercubes in rounds, each bounded around the best."""

import pytest

from lsmtune.knobs.space import KnobSpace, place_of
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.testing.landscapes import Judge, base_first, make_space, smooth

KNOBS = "write_buffer_size,max_bytes_for_level_base,block_size"
ROUND = 6
SEEDS = (1, 2, 3)


def space_without_advice() -> KnobSpace:
    space = make_space(KNOBS, memory=8)
    return KnobSpace(space.knobs, space.base, space.open_files, space.memory)


def rounds(space: KnobSpace, judge: Judge, count: int, seed: int) -> list[list[Observation]]:
    """The rounds after the base, as far as they were asked for."""
    optimizer, history = make_optimizer("bestconfig"), base_first(space)
    for _ in range(ROUND * count):
        history.append(judge(optimizer.ask(space, history, seed)))
    return [history[1 + ROUND * n :][:ROUND] for n in range(count)]


def places(space: KnobSpace, tried: list[Observation]) -> list[list[float]]:
    """For each knob where the configs stand in its scale."""
    return [[place_of(knob, o.config[knob.name]) for o in tried] for knob in space.knobs]


def is_worse_than_base(config: Config) -> Observation:
    return Observation(config, (2.0,), -1.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_meets_every_interval_of_every_knob_once(seed: int) -> None:
    space = space_without_advice()
    first, _, third = rounds(space, is_worse_than_base, 3, seed)  # the second is around the base
    for tried in (first, third):
        for found in places(space, tried):
            assert sorted(int(place * ROUND) for place in found) == list(range(ROUND))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_round_that_finds_the_best_bounds_the_next_by_its_nearest_values(seed: int) -> None:
    space = space_without_advice()
    bowl = smooth(space)

    def judge(config: Config) -> Observation:
        return Observation(config, (0.1 * (bowl(config).value or 0.0),), -1.0)

    first, second = rounds(space, judge, 2, seed)
    best = min(range(ROUND), key=lambda n: first[n].value or 0.0)
    base = [place_of(knob, space.default()[knob.name]) for knob in space.knobs]
    for knob, (before, after) in enumerate(
        zip(places(space, first), places(space, second), strict=True)
    ):
        others = [*before, base[knob]]
        low = max((place for place in others if place < before[best]), default=0.0)
        high = min((place for place in others if place > before[best]), default=1.0)
        assert low - 0.02 <= min(after)  # values are whole numbers
        assert max(after) <= high + 0.02


def test_a_round_in_vain_leads_back_to_the_whole_space() -> None:
    space = space_without_advice()
    judged = 0

    def judge(config: Config) -> Observation:
        """The first round finds the best there is."""
        nonlocal judged
        judged += 1
        return Observation(config, (0.5 if judged <= ROUND else 0.6,), -1.0)

    _, second, third = rounds(space, judge, 3, 1)
    for bounded, wide in zip(places(space, second), places(space, third), strict=True):
        assert max(bounded) - min(bounded) < 0.5
        assert max(wide) - min(wide) > 0.6
