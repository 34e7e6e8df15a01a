"""What counts as best, and what failed and cut trials count for."""

import numpy as np
import pytest

from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.judgement import incumbent, judged, ranking


def told(
    name: str, *values: float, violation: float | None = -0.1, cut: bool = False
) -> Observation:
    return Observation(Config({"name": name}), values or None, violation, cut)


def drawn(*history: Observation) -> set[object]:
    """Which configs are called best, over many seeds."""
    best = (incumbent(history, np.random.default_rng(seed)) for seed in range(40))
    return {config and config["name"] for config in best}


def test_the_value_of_several_goals_is_their_geometric_mean() -> None:
    assert told("a", 0.5, 2.0).value == pytest.approx(1.0)
    assert told("a", 0.123).value == 0.123
    assert told("a").value is None


def test_the_best_has_the_lowest_value_made_worse_by_the_excess() -> None:
    a, b = told("a", 1.0), told("b", 0.8)
    assert drawn(a, b, told("c", 0.7, violation=0.5)) == {"b"}
    assert drawn(a, b, told("c", 0.7, violation=0.05)) == {"c"}


def test_with_several_goals_any_config_that_none_dominates_is_best() -> None:
    front = told("a", 1.0, 1.0), told("b", 0.5, 2.0), told("c", 2.0, 0.5)
    assert drawn(*front, told("d", 2.0, 1.0)) == {"a", "b", "c"}


def test_with_several_goals_a_config_beyond_the_limits_is_best_only_where_all_are() -> None:
    inside, beyond = told("a", 1.0, 1.0), told("b", 0.1, 0.1, violation=0.1)
    assert drawn(inside, beyond) == {"a"}
    assert drawn(beyond, told("c", 0.1, 0.1, violation=0.5)) == {"b"}


def test_failed_and_cut_trials_are_never_best() -> None:
    unknown = told("a", violation=None), told("b", 0.1, violation=None, cut=True)
    assert drawn(*unknown, told("c", 5.0)) == {"c"}
    assert drawn(*unknown) == {None}
    assert drawn() == {None}


def test_measured_trials_count_as_they_are() -> None:
    history = [told("a", 1.0, 2.0), told("b", 3.0, 0.5, violation=0.2)]
    assert [(j.values, j.violation) for j in judged(history)] == [
        ((1.0, 2.0), -0.1),
        ((3.0, 0.5), 0.2),
    ]


def test_a_cut_trial_counts_with_its_bound_but_no_better_than_the_median() -> None:
    measured = [told("a", 1.0, 10.0), told("b", 2.0, 20.0), told("c", 3.0, 30.0)]
    cut = told("d", 0.5, 25.0, violation=None, cut=True)
    last = judged([*measured, cut])[-1]
    assert (last.values, last.violation) == ((2.0, 25.0), 0.0)


def test_cut_trials_alone_count_with_their_bounds() -> None:
    history = [told(name, value, cut=True) for name, value in (("a", 1.0), ("b", 3.0))]
    assert [j.values for j in judged(history)] == [(2.0,), (3.0,)]


def test_a_failed_trial_counts_as_the_worst_and_breaks_the_limits_most() -> None:
    history = [told("a", 1.0), told("b", 4.0, violation=2.0), told("c", violation=None)]
    last = judged(history)[-1]
    assert last.values == (4.0,)
    assert last.violation == 3.0


def test_of_a_history_without_values_nothing_can_be_said() -> None:
    assert judged([told("a", violation=None)]) == []
    assert judged([]) == []


def test_a_ranking_puts_the_limits_before_the_values() -> None:
    history = [
        told("a", 0.1, violation=0.5),
        told("b", 2.0),
        told("c", violation=None),
        told("d", 0.3, violation=0.2),
        told("e", 1.0),
    ]
    assert ranking(history) == [4, 1, 3, 0, 2]
    assert ranking([told("a", violation=None)]) == []
