"""Objectives and limits: below 1 is always a gain, above 0 is always a broken limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import UserError
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import (
    COMPOSITES,
    DEFAULT_LIMITS,
    Limit,
    Objective,
    gain_ratio,
    median_metrics,
    parse_limit,
    parse_objective,
)

ASKABLE = sorted(name for name, metric in METRICS.items() if metric.better)
OBJECTIVES = [*ASKABLE, *COMPOSITES]
BASE = dict.fromkeys(METRICS, 10.0)

VALUES = st.floats(min_value=1e-3, max_value=1e9)


def turned(name: str, better_by: float) -> float:
    """The base's value of the metric, made better by the factor."""
    return BASE[name] / better_by if METRICS[name].better == "lower" else BASE[name] * better_by


@given(st.sampled_from(OBJECTIVES), st.fixed_dictionaries(dict.fromkeys(METRICS, VALUES)))
def test_the_base_is_one(name: str, metrics: dict[str, float]) -> None:
    assert parse_objective(name, ()).value(metrics, metrics) == pytest.approx(1)


@pytest.mark.parametrize("name", ASKABLE)
def test_twice_as_good_is_one_half_whichever_way_is_better(name: str) -> None:
    trial = BASE | {name: turned(name, 2)}
    assert parse_objective(name, ()).value(trial, BASE) == pytest.approx(0.5)
    assert gain_ratio(name, trial[name], BASE[name]) == pytest.approx(0.5)


def test_balanced_is_the_geometric_mean_of_its_three_gains() -> None:
    trial = BASE | {"write_amp": 5.0, "live_sst_bytes": 9.0, "total_s": 6.0}
    value = parse_objective("balanced", ()).value(trial, BASE)
    assert value == pytest.approx((0.5 * 0.9 * 0.6) ** (1 / 3))


def test_balanced_counts_speed_once_and_nothing_else() -> None:
    asked = {"write_amp", "live_sst_bytes", "total_s"}
    others = {name: 77.0 for name in METRICS if name not in asked}
    assert parse_objective("balanced", ()).value(BASE | others, BASE) == pytest.approx(1)


def test_metrics_of_zero_compare() -> None:
    objective = parse_objective("stall_s", ())
    assert objective.value({"stall_s": 0.0}, {"stall_s": 0.0}) == 1
    assert objective.value({"stall_s": 0.0}, {"stall_s": 3.0}) < 1e-6
    assert objective.value({"stall_s": 3.0}, {"stall_s": 0.0}) > 1e6


@pytest.mark.parametrize("probe", ["get_p99_us", "get_missing_p99_us", "scan_p99_us"])
def test_each_probe_may_be_a_tenth_slower_by_default(probe: str) -> None:
    objective = parse_objective("write_amp", ())
    assert objective.violation(BASE | {probe: 10.9}, BASE) < 0
    assert objective.violation(BASE | {probe: 12.1}, BASE) == pytest.approx(0.1)
    assert objective.violation(BASE | {probe: 1.0}, BASE) < 0


def test_the_worst_limit_counts() -> None:
    objective = parse_objective("write_amp", ("load_s <= 5", "settle_s <= 20", "stall_s <= 8"))
    assert objective.violation(BASE, BASE) == pytest.approx(1.0)


def test_a_limit_of_the_user_joins_the_default_ones() -> None:
    objective = parse_objective("write_amp", ("load_s <= 1.5 * base",))
    assert objective.violation(BASE | {"load_s": 18.0}, BASE) == pytest.approx(0.2)
    assert objective.violation(BASE | {"scan_p99_us": 22.0}, BASE) == pytest.approx(1.0)


def test_a_limit_of_the_user_lifts_the_default_one_of_its_metric() -> None:
    objective = parse_objective("write_amp", ("scan_p99_us <= 3 * base",))
    assert objective.violation(BASE | {"scan_p99_us": 22.0}, BASE) < 0
    assert objective.violation(BASE | {"get_p99_us": 22.0}, BASE) == pytest.approx(1.0)


def test_without_limits_nothing_is_broken() -> None:
    assert Objective("write_amp", ("write_amp",), ()).violation(BASE, BASE) < 0


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("write_p99_us <= 2000", Limit("write_p99_us", "<=", 2000, False)),
        ("live_sst_bytes<=1.1*base", Limit("live_sst_bytes", "<=", 1.1, True)),
        (" rate_mb_s >= 0.9 * base ", Limit("rate_mb_s", ">=", 0.9, True)),
        ("live_sst_bytes <= 4e8", Limit("live_sst_bytes", "<=", 4e8, False)),
    ],
)
def test_limits_are_read(text: str, limit: Limit) -> None:
    assert parse_limit(text) == limit


@pytest.mark.parametrize("limit", [*DEFAULT_LIMITS, Limit("rate_mb_s", ">=", 25.5, False)])
def test_a_limit_says_itself_as_the_user_writes_it(limit: Limit) -> None:
    assert parse_limit(str(limit)) == limit


@pytest.mark.parametrize(
    ("text", "value", "broken_by"),
    [
        ("load_s <= 10", 10.0, 0.0),
        ("load_s <= 10", 15.0, 0.5),
        ("load_s <= 0.5 * base", 10.0, 1.0),
        ("rate_mb_s >= 10", 10.0, 0.0),
        ("rate_mb_s >= 10", 5.0, 1.0),
        ("rate_mb_s >= 2 * base", 16.0, 0.25),
        ("stall_s <= 0", 0.0, 0.0),
    ],
)
def test_how_far_a_limit_is_broken(text: str, value: float, broken_by: float) -> None:
    limit = parse_limit(text)
    violation = parse_objective("write_amp", (text,)).violation(BASE | {limit.metric: value}, BASE)
    assert violation == pytest.approx(broken_by)


def test_a_limit_of_zero_is_broken_by_anything_above() -> None:
    assert parse_objective("write_amp", ("stall_s <= 0",)).violation(BASE, BASE) > 1e6


@pytest.mark.parametrize("text", ["", "load_s", "load_s < 5", "load_s <= -5", "5 >= load_s"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="METRIC <= NUMBER"):
        parse_limit(text)


@pytest.mark.parametrize("name", ["speed", "others_cpu_percent"])
def test_unknown_metrics_are_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UserError, match=rf"'{name}'.*write_amp.*throughput_ops_s"):
        parse_objective(name, ())
    with pytest.raises(UserError, match=rf"limit: '{name}'.*write_amp"):
        parse_limit(f"{name} <= 5")


def test_an_unknown_objective_is_told_of_the_composites() -> None:
    with pytest.raises(UserError, match=r"'fastest'.*balanced"):
        parse_objective("fastest", ())


def test_medians_are_taken_metric_by_metric() -> None:
    runs = [{"load_s": 3.0, "stall_s": 0.0}, {"load_s": 1.0}, {"load_s": 2.0, "stall_s": 4.0}]
    assert median_metrics(runs) == {"load_s": 2.0, "stall_s": 2.0}
    assert median_metrics([]) == {}
