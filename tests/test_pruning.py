"""The rule of pruning as data: it judges as the search of one host does."""

import pytest

from lsmtune.objective import parse_objective
from lsmtune.pruning import PruneRule

BASE = {"write_amp": 4.0, "live_sst_bytes": 100.0, "total_s": 10.0, "read_amp": 1.0}


@pytest.mark.parametrize("total_s", [5.0, 8.9, 9.1, 12.0])
@pytest.mark.parametrize("objective", ["balanced", "total_s", ("write_amp", "total_s")])
def test_the_rule_is_the_same_after_the_wire(
    objective: str | tuple[str, ...], total_s: float
) -> None:
    goals = parse_objective(objective, ())
    noise, to_beat = (1.05,) * len(goals.goals), [(0.9,) * len(goals.goals)]
    bounds = BASE | {"total_s": total_s}
    rule = PruneRule.of(goals, BASE, noise, to_beat)
    sent = PruneRule.model_validate_json(rule.model_dump_json())
    assert sent == rule
    assert sent.reason(bounds) == rule.reason(bounds)


def test_the_rule_contains_only_the_metrics_that_it_needs() -> None:
    rule = PruneRule.of(parse_objective("total_s", ()), BASE, (1.0,), [])
    assert rule.base == {"total_s": 10.0}


def test_a_missing_bound_prunes_nothing() -> None:
    rule = PruneRule.of(parse_objective("balanced", ()), BASE, (1.0,), [])
    assert rule.reason({"total_s": 1e9}) is None
