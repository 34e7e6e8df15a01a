"""Tests of the results of searches and of their table."""

from math import inf

import pytest

from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation
from lsmtune.spec import StudySettings
from lsmtune_reproductions.comparison.page import render_comparison
from lsmtune_reproductions.comparison.race import (
    Curve,
    curve_of,
    median_interval,
    outcome,
    outcome_document,
)


def falling(name: str, seed: int, end: float, trials: int = 10) -> Curve:
    """Return a curve that falls from 1 to its end in equal steps."""
    steps = range(1, trials + 1)
    return Curve(name, seed, tuple(1 - (1 - end) * step / trials for step in steps))


CURVES = [
    *(falling("slow", seed, 0.8 + seed / 100) for seed in range(5)),
    *(falling("fast", seed, 0.4 + seed / 100) for seed in range(5)),
]


def test_outcome_best_is_first_and_worst_sets_the_target() -> None:
    found = outcome(CURVES, 10, None, None)
    assert [s.optimizer for s in found.standings] == ["fast", "slow"]
    assert found.target == pytest.approx(0.82)
    assert found.standings[0].trials_to_target == (4, 3, 4)
    assert found.standings[1].reached == 3


def test_outcome_reference_or_value_sets_the_target() -> None:
    assert outcome(CURVES, 10, None, "fast").target == pytest.approx(0.42)
    found = outcome(CURVES, 10, 0.3, None)
    assert found.target == 0.3
    assert found.standings[0].trials_to_target == (None, None, None)


def test_outcome_target_is_reached_by_most_searches_of_the_reference() -> None:
    even = [falling("one", 1, 0.5), falling("one", 2, 0.7)]
    found = outcome(even, 10, None, None)
    assert found.target == 0.7
    assert found.standings[0].trials_to_target[0] is not None


def test_outcome_document_has_the_fields_that_scripts_rely_on() -> None:
    document = outcome_document(outcome(CURVES, 10, None, None))
    fast = document["optimizers"]["fast"]  # type: ignore[index]
    assert document["target_value"] == pytest.approx(0.82)
    assert fast["best_at"].keys() == {"8", "10"}
    assert fast["best_at"]["10"] == pytest.approx({"median": 0.42, "low": 0.4, "high": 0.44})
    assert fast["trials_to_target"] == {"median": 4, "low": 3, "high": 4}


def test_page_has_every_optimizer_with_its_interval() -> None:
    page = render_comparison(outcome(CURVES, 10, None, None), StudySettings(), real=False)
    assert all(f">{name}</th>" in page for name in ("fast", "slow"))
    assert "0.42" in page


def test_curve_of_ignores_failed_pruned_and_violating_trials() -> None:
    config = Config({"a": 1})
    history = [
        Observation(config, (1.0,), -0.1),
        Observation(config, (0.5,), 1.0),  # violates a constraint
        Observation(config, None, None),
        Observation(config, (0.2,), None, cut=True),
        Observation(config, (0.7,), 0.0),
    ]
    assert curve_of("x", 1, history).costs == (1.0, 1.0, 1.0, 0.7)


@pytest.mark.parametrize(
    ("count", "low", "high"), [(1, 0, 0), (3, 0, 2), (6, 0, 5), (9, 1, 7), (20, 5, 14)]
)
def test_median_interval_runs_between_two_values(count: int, low: int, high: int) -> None:
    found = median_interval([float(n) for n in reversed(range(count))])
    assert (found.median, found.low, found.high) == ((count - 1) / 2, low, high)


def test_median_interval_may_be_infinite() -> None:
    assert median_interval([1.0, inf, inf]).median == inf
