"""CDBTune: an actor that has learnt from what was measured."""

from dataclasses import replace
from statistics import median

import pytest

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.testing.landscapes import (
    SMOOTH,
    Judge,
    make_space,
    position,
    random_history,
    run,
    smooth,
)


def measured(space: KnobSpace) -> Judge:
    """The smooth landscape with metrics: speed, and what follows each knob."""
    judge = smooth(space)

    def judge_measured(config: Config) -> Observation:
        told = judge(config)
        places = position(space, config).items()
        metrics = {f"of_{name}": 1000 * (0.3 + x) for name, x in places}
        return replace(told, metrics={**metrics, "ops_per_s": 1e5 / (told.value or 1.0)})

    return judge_measured


@pytest.mark.slow
def test_after_some_dozens_of_trials_its_proposals_beat_random_ones() -> None:
    space = make_space(SMOOTH, memory=2)
    judge = measured(space)

    def late(name: str) -> float:
        """The median of the last proposals, not the best: luck does not count."""
        histories = [run(make_optimizer(name), space, 40, judge, seed) for seed in (1, 2, 3)]
        return median(o.value or 9.0 for history in histories for o in history[-10:])

    assert late("cdbtune") - 0.1 < 0.7 * (late("random") - 0.1)  # 0.1 is the least there is


def test_the_last_trials_metrics_move_the_proposal() -> None:
    space = make_space(SMOOTH, memory=2)
    history = random_history(space, 30, measured(space))
    last = replace(history[-1], metrics={name: 9 * x for name, x in history[-1].metrics.items()})
    cdbtune = make_optimizer("cdbtune")
    assert cdbtune.ask(space, history, 1) != cdbtune.ask(space, [*history[:-1], last], 1)


def test_metrics_that_are_missing_constant_or_no_numbers_do_not_stop_it() -> None:
    space = make_space(SMOOTH, memory=2)
    history = random_history(space, 20, measured(space))
    odd = {"constant": 1.0, "infinite": float("inf"), "unknown": float("nan"), "negative": -5.0}
    mixed = [
        replace(o, metrics={**o.metrics, **odd}) if n % 3 else replace(o, metrics={})
        for n, o in enumerate(history)
    ]
    config = make_optimizer("cdbtune").ask(space, mixed, 1)
    assert space.violations(config) == []
