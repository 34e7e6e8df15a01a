"""Objectives and limits: below 1 is always a gain, above 0 is always a broken limit."""

from math import exp, inf
from operator import le

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.each import each
from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError
from lsmtune.limits import (
    Limit,
    default_limits,
    known_limits,
    no_default_limits,
    parse_limit,
)
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import (
    COMPOSITES,
    Goal,
    Objective,
    front,
    gain_ratio,
    jin2022_fitness,
    limit_penalty,
    median_metrics,
    parse_objective,
    run_noise,
)
from lsmtune.workloads import Workload

ASKABLE = sorted(name for name, metric in METRICS.items() if metric.better)
OBJECTIVES = [*ASKABLE, *COMPOSITES]
BASE = dict.fromkeys(METRICS, 10.0)

DEFAULTS = default_limits(Workload(), ENGINES["rocksdb"])

VALUES = st.floats(min_value=1e-3, max_value=1e9)


def turned(name: str, better_by: float) -> float:
    """The base's value of the metric, made better by the factor."""
    return BASE[name] / better_by if METRICS[name].better == "lower" else BASE[name] * better_by


def test_a_latency_may_be_named_as_people_say_it() -> None:
    objective = parse_objective("p99_get_missing_us", ["p99_write_us <= 2000"])
    assert objective.metrics == ("get_missing_p99_us",)
    assert str(objective.limits[-1]) == "write_p99_us <= 2000"


@given(st.sampled_from(OBJECTIVES), st.fixed_dictionaries(dict.fromkeys(METRICS, VALUES)))
def test_the_base_is_one(name: str, metrics: dict[str, float]) -> None:
    assert parse_objective(name, ()).value(metrics, metrics) == pytest.approx(1)


@each(ASKABLE)
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


@pytest.mark.parametrize(
    ("probe", "plus"),
    [("get_data_blocks", 0.25), ("get_missing_data_blocks", 0.25), ("scan_sorted_runs", 1.0)],
)
def test_default_limits_of_the_probe_allow_a_tenth_and_a_number_more(
    probe: str, plus: float
) -> None:
    objective = parse_objective("write_amp", (), DEFAULTS)
    bound = 1.1 * BASE[probe] + plus
    assert objective.violation(BASE | {probe: bound - 0.01}, BASE) < 0
    assert objective.violation(BASE | {probe: 1.2 * bound}, BASE) == pytest.approx(0.2)
    assert objective.violation(BASE | {probe: plus}, BASE | {probe: 0.0}) <= 1e-9


@pytest.mark.parametrize("probe", ["get_p99_us", "get_missing_p99_us", "scan_p99_us"])
def test_default_limits_allow_a_tenth_more_microseconds_on_engines_without_counts(
    probe: str,
) -> None:
    objective = parse_objective("write_amp", (), default_limits(Workload(), ENGINES["simulated"]))
    assert objective.violation(BASE | {probe: 10.9}, BASE) < 0
    assert objective.violation(BASE | {probe: 12.1}, BASE) == pytest.approx(0.1)


def test_parse_objective_without_any_latency_limit_of_a_read_has_no_count_limit() -> None:
    """Published studies have no limits: their settings name the latencies."""
    lifted = ("get_p50_us <= none", "get_p99_us <= none", "scan_p50_us <= none")
    limits = parse_objective("write_amp", lifted, DEFAULTS).limits
    assert {"get_missing_data_blocks", "scan_sorted_runs"} <= {limit.metric for limit in limits}
    assert "get_data_blocks" not in {limit.metric for limit in limits}
    none = parse_objective("write_amp", no_default_limits(Workload(), ENGINES["rocksdb"]), DEFAULTS)
    assert none.limits == ()


@pytest.mark.parametrize("known", [{"get_data_blocks"}, {"get_p99_us"}, set()])
def test_known_limits_replace_unknown_counts_by_latencies(known: set[str]) -> None:
    found = known_limits(DEFAULTS, known)
    assert {limit.metric for limit in found} == known
    assert all(limit.probe for limit in found)


def test_the_worst_limit_counts() -> None:
    objective = parse_objective("write_amp", ("load_s <= 5", "settle_s <= 20", "stall_s <= 8"))
    assert objective.violation(BASE, BASE) == pytest.approx(1.0)


def test_a_limit_of_the_user_joins_the_default_ones() -> None:
    objective = parse_objective("write_amp", ("load_s <= 1.5 * base",), DEFAULTS)
    assert objective.violation(BASE | {"load_s": 18.0}, BASE) == pytest.approx(0.2)
    assert objective.violation(BASE | {"scan_sorted_runs": 24.0}, BASE) == pytest.approx(1.0)


def test_a_limit_of_the_user_lifts_the_default_one_of_its_metric() -> None:
    objective = parse_objective("write_amp", ("scan_sorted_runs <= 3 * base",), DEFAULTS)
    assert objective.violation(BASE | {"scan_sorted_runs": 24.0}, BASE) < 0
    assert objective.violation(BASE | {"get_data_blocks": 22.5}, BASE) == pytest.approx(1.0)


def test_without_limits_nothing_is_broken() -> None:
    assert Objective((Goal("write_amp"),)).violation(BASE, BASE) < 0


def test_the_papers_fitness_is_a_sum_of_shares_gained() -> None:
    trial = BASE | {
        "write_amp": 7.0, "live_sst_bytes": 5.0, "total_s": 11.0, "rate_mb_s": 19.0
    }  # fmt: skip
    assert jin2022_fitness(trial, BASE) == pytest.approx(300 + 500 - 100 + 900)
    objective = parse_objective("jin2022", ())
    value = objective.value(trial, BASE)
    assert value == pytest.approx(exp(-0.4))
    assert objective.fitness(value) == pytest.approx(1600)
    assert objective.fitness(1) == 0
    assert parse_objective("balanced", ()).fitness(value) is None


@given(st.fixed_dictionaries(dict.fromkeys(COMPOSITES["jin2022"], st.floats(0, 1e9))))
def test_the_papers_fitness_gives_a_positive_value_whatever_is_measured(
    trial: dict[str, float],
) -> None:
    objective = parse_objective("jin2022", ())
    for base in (BASE, dict.fromkeys(BASE, 0.0)):
        assert 0 < objective.value(trial, base) < inf


def test_several_goals_have_a_value_each_and_their_mean() -> None:
    objective = parse_objective(["write_amp", "throughput_ops_s"], ())
    trial = BASE | {"write_amp": 5.0, "throughput_ops_s": 5.0}
    assert objective.values(trial, BASE) == pytest.approx((0.5, 2.0))
    assert objective.value(trial, BASE) == pytest.approx(1)
    assert objective.pareto
    assert objective.name == "write_amp + throughput_ops_s"
    assert objective.metrics == ("write_amp", "throughput_ops_s")
    assert not parse_objective(["write_amp"], ()).pareto


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "empty.*balanced"),
        (["write_amp", "load_s", "write_amp"], "'write_amp'.*twice"),
        (["balanced", "load_s"], "'balanced'.*remove load_s"),
        (["load_s", "jin2022"], "'jin2022'.*remove load_s"),
        (["balanced", "jin2022"], "'balanced'.*remove jin2022"),
        (["load_s", "speed"], "'speed'.*balanced, .*load_s"),
    ],
)
def test_goals_that_do_not_go_together_are_refused(names: list[str], words: str) -> None:
    with pytest.raises(UserError, match=f"^objective: .*{words}"):
        parse_objective(names, ())


def test_the_default_limits_are_the_callers_choice() -> None:
    limits = (Limit("get_p99_us", "<=", 1.1, True), Limit("live_sst_bytes", "<=", 1.1, True))
    objective = parse_objective("throughput_ops_s", ("get_p99_us <= 50",), limits)
    assert [str(limit) for limit in objective.limits] == [
        "live_sst_bytes <= 1.1 * base", "get_p99_us <= 50",
    ]  # fmt: skip


def test_what_a_load_does_not_produce_is_missing_and_breaks_its_limit() -> None:
    objective = parse_objective(["write_amp", "scan_p99_us"], ("scan_p99_us <= 5",))
    run = {"write_amp": 1.0, "live_sst_bytes": 1.0, "get_p99_us": 1.0, "get_missing_p99_us": 1.0}
    assert objective.missing(run) == ["scan_p99_us"]
    assert objective.violation(run, run) == inf


@pytest.mark.parametrize(
    ("points", "kept"),
    [
        ([], []),
        ([(1.0, 1.0)], [0]),
        ([(1.0, 1.0), (0.5, 2.0), (0.9, 0.9), (0.5, 2.1)], [1, 2]),
        ([(1.0, 1.0), (1.0, 1.0)], [0, 1]),
        ([(1.0, 1.0), (1.0, 0.9)], [1]),
        ([(0.5, 2.0, 2.0), (2.0, 0.5, 2.0), (2.0, 2.0, 0.5), (2.0, 2.0, 2.0)], [0, 1, 2]),
    ],
)
def test_the_front_holds_what_nothing_beats(
    points: list[tuple[float, ...]], kept: list[int]
) -> None:
    assert front(points) == kept


POINTS = st.lists(st.tuples(*[st.integers(1, 5).map(float)] * 2), max_size=12)


@given(POINTS)
def test_every_point_off_the_front_is_beaten_by_one_on_it(points: list[tuple[float, ...]]) -> None:
    kept = front(points)
    for place, point in enumerate(points):
        beaten = any(points[k] != point and all(map(le, points[k], point)) for k in kept)
        assert beaten is (place not in kept)


def test_noise_is_pooled_over_configs_that_ran_again() -> None:
    base = [{"load_s": 1.0}, {"load_s": exp(0.2)}]
    other = [{"load_s": 50.0}, {"load_s": 50.0}, {"load_s": 50 * exp(0.3)}]
    squares = 2 * 0.1**2 + 2 * 0.1**2 + 0.2**2  # around means of 0.1 and 0.1, three freedoms
    noise = run_noise([base, other], of_runs=1)
    assert noise == pytest.approx({"load_s": exp(2 * (squares / 3) ** 0.5)})
    assert run_noise([base, other], of_runs=4)["load_s"] == pytest.approx(noise["load_s"] ** 0.5)


def test_without_repeats_no_noise_is_assumed() -> None:
    assert run_noise([], of_runs=1) == {}
    assert run_noise([[{"load_s": 1.0}], [{"load_s": 3.0}]], of_runs=1) == {}
    assert run_noise([[{"load_s": 1.0, "stall_s": 0.0}, {"load_s": 1.0}]], 1) == {"load_s": 1.0}


@pytest.mark.parametrize("name", ["speed", "others_cpu_percent"])
def test_unknown_metrics_are_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UserError, match=rf"'{name}'.*write_amp.*throughput_ops_s"):
        parse_objective(name, ())
    with pytest.raises(UserError, match=rf"^limits: .*'{name}'.*write_amp"):
        parse_limit(f"{name} <= 5")


def test_an_unknown_objective_is_told_of_the_composites() -> None:
    with pytest.raises(UserError, match=r"'fastest'.*balanced"):
        parse_objective("fastest", ())


def test_medians_are_taken_metric_by_metric() -> None:
    runs = [{"load_s": 3.0, "stall_s": 0.0}, {"load_s": 1.0}, {"load_s": 2.0, "stall_s": 4.0}]
    assert median_metrics(runs) == {"load_s": 2.0, "stall_s": 2.0}
    assert median_metrics([]) == {}


def test_of_several_goals_none_has_a_default_limit() -> None:
    several = parse_objective(["live_sst_bytes", "total_s"], (), DEFAULTS)
    assert "live_sst_bytes" not in {limit.metric for limit in several.limits}
    own = ("live_sst_bytes <= 2 * base",)
    kept = parse_objective(["live_sst_bytes", "total_s"], own, DEFAULTS)
    assert "live_sst_bytes <= 2 * base" in {str(limit) for limit in kept.limits}
    one = parse_objective("total_s", (), DEFAULTS)
    assert "live_sst_bytes" in {limit.metric for limit in one.limits}


def test_a_value_counts_as_worse_by_what_a_limit_is_exceeded() -> None:
    assert limit_penalty(0.25) == 1.25
    assert limit_penalty(-0.5) == limit_penalty(0.0) == limit_penalty(None) == 1.0
