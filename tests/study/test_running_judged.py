"""Verifications of a running store: its default limits, open limits, and what a gain costs."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lsmtune.analysis.trades import price_of
from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError
from lsmtune.limits import default_limits, parse_limit
from lsmtune.objective import Metrics, Objective, parse_objective
from lsmtune.verdict import LimitCheck, Pair, Verdict, judge
from lsmtune.workloads import Workload

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from running_verifications import objective_of, summary

WRITES = Workload(name="overwrite")
MIXED = Workload(name="mix")
NOISE = {"p99": 0.15, "scan_sorted_runs": 0.1, "get_missing_data_blocks": 0.1, "p50": 0.08}
"""Standard deviation of the log of a metric between runs; of others, 0.04."""
BASE = {
    "write_amp": 6.0, "live_sst_bytes": 130e6, "cpu_us_per_op": 30.0, "capacity_ops_s": 47_600.0,
    "read_cost": 3.0, "get_data_blocks": 2.5, "get_missing_data_blocks": 0.03,
    "scan_sorted_runs": 7.2, "get_p50_us": 23.0, "get_missing_p50_us": 9.0, "scan_p50_us": 43.0,
    "get_p99_us": 80.0, "get_missing_p99_us": 60.0, "scan_p99_us": 150.0, "write_p99_us": 21.0,
    "peak_space_bytes": 180e6, "stall_s": 0.0, "wakeup_p99_us": 0.5, "overload": 0.5,
}  # fmt: skip
EXACT = ("overload", "wakeup_p99_us", "stall_s")


def noise_of(name: str) -> float:
    return next((value for part, value in NOISE.items() if part in name), 0.04)


def runs(count: int, rng: np.random.Generator, **ratios: float) -> list[Metrics]:
    return [
        {
            name: value
            * ratios.get(name, 1.0)
            * (1.0 if name in EXACT else float(np.exp(rng.normal(0, noise_of(name)))))
            for name, value in BASE.items()
        }
        for _ in range(count)
    ]


def asked(load: Workload = WRITES, *limits: str) -> Objective:
    defaults = default_limits(load, ENGINES["rocksdb"], "running")
    found = parse_objective("balanced", limits, defaults, measure="running", reads=load is MIXED)
    return replace(found, most_pairs=12)


def verdict(
    count: int = 12, objective: Objective | None = None, seed: int = 1, **ratios: float
) -> Verdict:
    rng = np.random.default_rng(seed)
    pairs: list[Pair] = list(zip(runs(count, rng, **ratios), runs(count, rng), strict=True))
    return judge(pairs, objective or asked())


def check_of(found: Verdict, metric: str) -> LimitCheck:
    return next(check for check in found.limits if check.limit.metric == metric)


def test_default_limits_of_watch_reads() -> None:
    assert list(map(str, default_limits(WRITES, ENGINES["rocksdb"], "running"))) == [
        "overload <= 1",
        "capacity_ops_s >= 0.91 * base",
        "write_amp <= 1.1 * base",
        "live_sst_bytes <= 1.1 * base",
        "cpu_us_per_op <= 1.1 * base",
        "get_data_blocks <= 1.1 * base",
        "get_p50_us <= 1.1 * base",
        "get_missing_data_blocks <= 1.1 * base + 0.1",
        "get_missing_p50_us <= 1.1 * base",
        "scan_sorted_runs <= 1.15 * base",
        "scan_p50_us <= 1.1 * base",
        "write_p99_us <= 1.35 * base",
    ]


def test_default_limits_of_reads_of_the_workload() -> None:
    limits = {limit.metric: limit for limit in default_limits(MIXED, ENGINES["rocksdb"], "running")}
    kinds = MIXED.definition.read_shares
    assert kinds
    assert {f"{kind}_p99_us" for kind in (*kinds, "write")} <= limits.keys()
    assert {name for name in limits if name.endswith("_p50_us")} == {f"{k}_p50_us" for k in kinds}
    assert all(limits[f"{kind}_p99_us"].bound == 1.35 for kind in kinds)


@pytest.mark.parametrize(("load", "terms"), [(WRITES, 3), (MIXED, 4)])
def test_balanced_has_the_read_cost_where_the_workload_reads(load: Workload, terms: int) -> None:
    objective = asked(load)
    assert len(objective.metrics) == terms
    gained = {**BASE, "cpu_us_per_op": BASE["cpu_us_per_op"] / 2**terms}
    assert objective.value(gained, BASE) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("total_s", ()), ("jin2022", ()), ("sustained_ops_s", ()),
        ("balanced", ("throughput_ops_s >= 100",)), ("balanced", ("overload <= none",)),
        ("balanced", ("overload <= 2",)),
    ],
)  # fmt: skip
def test_what_a_running_study_refuses(name: str, limits: tuple[str, ...]) -> None:
    defaults = default_limits(WRITES, ENGINES["rocksdb"], "running")
    with pytest.raises(UserError, match="running store"):
        parse_objective(name, limits, defaults, measure="running")
    if "overload <= none" not in limits and "overload <= 2" not in limits:
        parse_objective(name, limits, default_limits(WRITES, ENGINES["rocksdb"]))


def test_bounds_of_a_running_store_never_grow() -> None:
    objective = asked()
    assert objective.grown(dict.fromkeys(BASE, 0.5), BASE) == objective
    found = verdict(6, objective)
    assert [check.limit for check in found.limits] == list(objective.limits)
    assert all(check.asked is None for check in found.limits)


def test_open_limit_does_not_deny_a_gain() -> None:
    found = verdict(6, write_amp=0.5, get_missing_p50_us=1.05)
    check = check_of(found, "get_missing_p50_us")
    assert check.use is not None
    assert check.use < 1
    assert (check.state, check.can_be_open, check.forbids_gain) == ("undecided", True, False)
    assert found.claim == "gain"
    assert found.waits_for_constraints == check.may_turn


@pytest.mark.parametrize(("use", "turns"), [(0.99, True), (0.93, False), (1.02, False)])
def test_open_limit_costs_pairs_only_while_it_may_turn(use: float, turns: bool) -> None:
    check = LimitCheck(
        limit=parse_limit("get_p50_us <= 1.1 * base"),
        state="undecided",
        use=use,
        low=use / 1.1,
        high=use * 1.1,
        can_be_open=True,
        default=True,
    )
    assert (check.may_turn, check.forbids_gain) == (turns, use > 1)


def test_undecided_limit_whose_median_breaks_the_bound_denies_a_gain() -> None:
    found = verdict(6, write_amp=0.5, get_missing_p50_us=1.15, seed=3)
    check = check_of(found, "get_missing_p50_us")
    assert check.use is not None
    assert check.use > 1
    assert (check.state, check.forbids_gain) == ("undecided", True)
    assert found.claim == "no gain"
    assert found.waits_for_constraints


def test_limit_of_the_user_must_be_proven() -> None:
    objective = asked(WRITES, "get_missing_p50_us <= 1.1 * base")
    found = verdict(6, objective, write_amp=0.5, get_missing_p50_us=1.05)
    assert check_of(found, "get_missing_p50_us").state == "undecided"
    assert found.claim == "no gain"
    assert found.waits_for_constraints


@pytest.mark.parametrize(("late", "state"), [(6, "broken"), (3, "undecided"), (0, "kept")])
def test_store_that_cannot_keep_the_rate_has_no_gain(late: int, state: str) -> None:
    rng = np.random.default_rng(1)
    pairs: list[Pair] = list(zip(runs(6, rng, write_amp=0.5), runs(6, rng), strict=True))
    pairs = [({**best, "overload": 4.0 if at < late else 0.5}, base)
             for at, (best, base) in enumerate(pairs)]  # fmt: skip
    found = judge(pairs, asked())
    assert check_of(found, "overload").state == state
    assert found.claim == ("gain" if late == 0 else "no gain")


def test_price_names_metrics_without_a_limit_the_worst_first() -> None:
    objective = asked(WRITES, "write_p99_us <= none", "capacity_ops_s >= 0.1 * base")
    worse = {"write_p99_us": 1.8, "peak_space_bytes": 1.4, "capacity_ops_s": 0.5,
             "get_p99_us": 1.05}  # fmt: skip
    found = verdict(12, objective, write_amp=0.4, **worse)
    assert found.claim == "gain"
    assert [cost.metric for cost in price_of(found)] == ["write_p99_us", "peak_space_bytes"]
    assert price_of(verdict(12, write_amp=0.4)) == ()


def test_stalls_that_the_baseline_never_had_are_a_price() -> None:
    rng = np.random.default_rng(1)
    pairs = list(zip(runs(6, rng, write_amp=0.5), runs(6, rng), strict=True))
    found = judge([({**best, "stall_s": 0.7}, base) for best, base in pairs], asked())
    [cost] = price_of(found)
    assert (cost.metric, cost.ratio, cost.value) == ("stall_s", None, pytest.approx(0.7))


def test_p99_below_ten_times_the_wake_up_delay_has_no_default_limit() -> None:
    objective, late = asked(MIXED), {**BASE, "wakeup_p99_us": 5.0}
    assert objective.blurred(BASE) == ()
    assert objective.blurred(late) == ("write_p99_us",)
    given = asked(MIXED, "write_p99_us <= 1.2 * base")
    assert given.blurred(late) == ()
    left = {limit.metric for limit in objective.without(objective.blurred(late)).limits}
    assert "write_p99_us" not in left
    assert "get_p99_us" in left


@pytest.mark.parametrize("load", ["overwrite", "half"])
def test_replayed_verifications_of_the_baseline_claim_no_gain(load: str) -> None:
    recorded = runs(40, np.random.default_rng(7))
    found = summary(recorded, objective_of(load, recorded))
    assert found["verifications"] == 400
    assert found["claims_of_gain"] <= 0.05
    assert found["after_twelve_pairs"]["limits_decided"] >= 0.9
    assert found["mean_pairs"] < 12
