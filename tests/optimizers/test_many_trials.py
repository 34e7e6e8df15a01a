"""Thousands of trials: no optimizer fails, and none does work that grows faster than their number.

Work is counted, not timed: the Python functions that an ask calls, and the bytes that it holds at
most. Both show a loop within a loop, and a matrix of all trials by all trials.
"""

import sys
import tracemalloc
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import pytest

from lsmtune.knobs.space import KnobSpace
from lsmtune.optimizers.base import Earlier, Observation, Optimizer
from lsmtune.optimizers.expectation import MOST_TRIALS, expectation
from lsmtune.optimizers.judgement import chosen_trials, incumbent, ranking
from lsmtune.optimizers.registry import OPTIMIZERS, make_optimizer
from lsmtune.testing.landscapes import Landscape, base_first, mixed, shared_space, smooth, trade_off
from lsmtune.testing.optimizers import check_is_legal

KNOBS = (
    "write_buffer_size,max_bytes_for_level_base,block_size,bloom_bits,compaction_style,"
    "max_write_buffer_number"
)
MANY, HALF = 5000, 2504
"""Where generations of 4 and of 8 begin."""


@cache
def drawn(landscape: Landscape) -> list[Observation]:
    """Some hundred trials, which all tests share: drawing them takes longer than most of these."""
    space, rng = shared_space(KNOBS, memory=4), np.random.default_rng(1)
    judge = mixed(landscape(space))
    return [judge(space.sample(rng)) for _ in range(300)]


def long_history(space: KnobSpace, count: int, landscape: Landscape = smooth) -> list[Observation]:
    """So many trials of some hundred configs."""
    told, rng = drawn(landscape), np.random.default_rng(1)
    goals = next(len(o.values) for o in told if o.values is not None)
    return base_first(space, goals) + [told[at] for at in rng.integers(len(told), size=count)]


def work(optimizer: Optimizer, space: KnobSpace, history: list[Observation]) -> tuple[int, int]:
    """How many functions an ask calls, and how many bytes it holds at most."""
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        check_is_legal(space, optimizer.ask(space, history, 1))
    finally:
        sys.setprofile(before)
    tracemalloc.start()
    try:
        optimizer.ask(space, history, 1)
        return calls, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


SLOW = {"gp-ucb", "guided", "gp-ucb-autotikv", "cdbtune"}
"""They choose few trials. With two goals they do all that they do with one."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "landscape"),
    [(name, trade_off) for name in OPTIMIZERS]
    + [(name, smooth) for name in OPTIMIZERS if name not in SLOW],
)
def test_twice_the_trials_are_at_most_twice_the_work(name: str, landscape: Landscape) -> None:
    space, optimizer = shared_space(KNOBS, memory=4), make_optimizer(name)
    many = long_history(space, MANY, landscape)
    optimizer.ask(space, many[:100], 1)  # what is loaded once does not count
    calls, held = work(optimizer, space, many)
    calls_before, held_before = work(optimizer, space, many[: HALF + 1])
    assert calls < 2.2 * calls_before
    assert held < 2.2 * held_before + 1e6


def test_a_warm_start_from_thousands_of_runs_is_at_most_twice_the_work() -> None:
    space = shared_space(KNOBS, memory=4)
    many = long_history(space, MANY)

    def warm(count: int) -> Optimizer:
        return make_optimizer("gp-ucb", [Earlier("s", tuple(many[:count]))])

    history = many[:1]
    warm(HALF).ask(space, history, 1)
    calls, held = work(warm(MANY), space, history)
    calls_before, held_before = work(warm(HALF), space, history)
    assert calls < 2.2 * calls_before
    assert held < 2.2 * held_before + 1e6


def test_a_process_learns_from_no_more_trials_than_it_can_in_time() -> None:
    space = shared_space(KNOBS, memory=4)
    found = expectation(space, long_history(space, 2000))
    assert found is not None
    assert len(found.values) <= MOST_TRIALS


def test_the_parents_of_nsga2_are_the_best_of_thousands() -> None:
    """Its children have the values of the best, however long ago these ran."""
    space, optimizer = shared_space(KNOBS, memory=4), make_optimizer("nsga2")
    history = long_history(space, MANY)
    rng = np.random.default_rng(2)
    found = [Observation(space.sample(rng), (0.001 * n,), -0.5) for n in range(1, 9)]
    history[100:108] = found
    values = {name: {o.config[name] for o in found} for name in found[0].config}
    same = total = 0
    for seed in range(1, 11):
        child = optimizer.ask(space, history, seed)
        same += sum(child[name] in values[name] for name in child)
        total += len(child)
    assert same > 0.6 * total


def test_a_short_history_is_chosen_whole() -> None:
    space = shared_space(KNOBS, memory=4)
    history = long_history(space, 99)
    assert chosen_trials(history, 100) == history


@pytest.mark.parametrize("landscape", [smooth, trade_off])
def test_the_choice_has_the_base_the_best_the_newest_and_others(landscape: Landscape) -> None:
    space = shared_space(KNOBS, memory=4)
    history = long_history(space, 2000, landscape)
    chosen = chosen_trials(history, 90)
    kept = {id(observation) for observation in chosen}
    assert len(chosen) == 90
    assert chosen[0] is history[0]
    assert chosen[-30:] == history[-30:]
    best = ranking(history)
    assert history[best[0]] in chosen
    within = [o for o in history if o.is_measured and (o.violation or 0.0) <= 0]
    for goal in range(len(history[0].values or ())):
        assert min(within, key=lambda o: (o.values or ())[goal]) in chosen
    assert sum(id(history[at]) in kept for at in best[600:]) > 20


def test_the_choice_changes_little_with_a_new_trial() -> None:
    space = shared_space(KNOBS, memory=4)
    history = [
        Observation(o.config, (1.0 + 0.001 * at,), -0.1)
        for at, o in enumerate(long_history(space, 2000))
    ]
    before, after = (
        {o.values for o in chosen_trials(told, 90)} for told in (history[:-1], history)
    )
    assert len(before & after) >= 87


def test_the_best_of_several_goals_is_never_dominated() -> None:
    rng, space = np.random.default_rng(1), shared_space(KNOBS, memory=4)
    values = rng.integers(1, 30, size=(400, 3)).astype(float)
    configs = [space.sample(rng) for _ in values]
    history = [
        Observation(config, tuple(row), -0.1) for config, row in zip(configs, values, strict=True)
    ]
    front = {
        config
        for config, row in zip(configs, values, strict=True)
        if not np.any(np.all(values <= row, axis=1) & np.any(values < row, axis=1))
    }
    found = {incumbent(history, np.random.default_rng(seed)) for seed in range(300)}
    assert found <= front
    assert len(found) > len(front) // 2
