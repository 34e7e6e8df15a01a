"""Verdicts on pairs of runs."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lsmtune.limits import Limit, parse_limit
from lsmtune.objective import Goal, Metrics, Objective, parse_objective
from lsmtune.verdict import Pair, Verdict, judge, lost_early

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from early_ends import given_up

SIX = (0.97, 1.02, 1.0, 0.99, 1.03, 0.98)
"""Noise of a few percent."""


def pairs(metric: str, ratio: float, noise: Sequence[float] = SIX) -> list[Pair]:
    """Runs whose metric is `ratio` times the base's, with noise; every other one is 1."""
    return [(run(metric, 8 * ratio * n), run(metric, 8.0)) for n in noise]


def run(metric: str, value: float) -> Metrics:
    return {"write_amp": 1.0, "get_p99_us": 1.0, "throughput_ops_s": 1.0, metric: value}


def asking(*metrics: str, limits: tuple[str, ...] = ()) -> Objective:
    """An objective with these goals and limits and no others."""
    return Objective(tuple(map(Goal, metrics)), tuple(parse_limit(text) for text in limits))


def verdict(
    metric: str, ratio: float, *, limits: tuple[str, ...] = (), noise: Sequence[float] = SIX
) -> Verdict:
    return judge(pairs(metric, ratio, noise), asking(metric, limits=limits))


def test_a_clear_gain_is_claimed() -> None:
    found = verdict("write_amp", 0.8)
    assert found.claim == "gain"
    assert found.pairs == 6
    assert found.objective.low < 0.8 < found.objective.high < 1
    assert found.better == ("write_amp",)
    assert found.worse == ()


@pytest.mark.parametrize(
    ("ratio", "noise"),
    [
        (1.0, SIX),
        (0.995, SIX),
        (1.2, SIX),
        (0.8, (0.5, 2.0, 0.7, 1.5, 1.0, 1.0)),  # a gain on average that may be chance
        (0.8, (0.5, 1.5)),
    ],
)
def test_no_gain_is_claimed_unless_the_whole_interval_is_below_one(
    ratio: float, noise: Sequence[float]
) -> None:
    found = verdict("write_amp", ratio, noise=noise)
    assert found.claim == "no gain"
    assert found.better == ()


def test_a_broken_limit_forbids_the_claim() -> None:
    slow_reads = [({**best, "get_p99_us": 1.2}, base) for best, base in pairs("write_amp", 0.5)]
    limits = ("get_p99_us <= 1.1 * base", "throughput_ops_s >= 0.9 * base")
    found = judge(slow_reads, asking("write_amp", limits=limits))
    assert found.claim == "no gain"
    assert found.objective.high < 1
    assert [(str(check.limit), check.state) for check in found.limits] == [
        (limits[0], "broken"),
        (limits[1], "kept"),
    ]
    assert found.limits[0].use == pytest.approx(1.2 / 1.1)


def with_reads(*uses: float) -> list[Pair]:
    """A clear gain, with these p99 latencies of gets as multiples of the baseline's."""
    return [
        ({**best, "get_p99_us": use}, base)
        for (best, base), use in zip(pairs("write_amp", 0.5), uses, strict=True)
    ]


@pytest.mark.parametrize(
    ("uses", "state"),
    [
        ((0.9, 1.0, 0.95, 1.0, 0.9, 1.0), "kept"),
        ((1.3, 1.2, 1.25, 1.3, 1.2, 1.3), "broken"),
        ((1.3, 0.9, 0.9, 0.9, 0.9, 0.9), "undecided"),
        ((1.0, 1.4, 1.2, 1.3, 1.0, 1.1), "undecided"),
    ],
)
def test_the_interval_of_its_ratio_decides_a_constraint(uses: Sequence[float], state: str) -> None:
    found = judge(with_reads(*uses), asking("write_amp", limits=("get_p99_us <= 1.1 * base",)))
    [check] = found.limits
    assert check.state == state
    assert found.claim == ("gain" if state == "kept" else "no gain")
    assert found.waits_for_constraints == (state == "undecided")


def test_an_undecided_constraint_on_the_read_probe_does_not_forbid_a_gain() -> None:
    runs = with_reads(1.3, 0.9, 0.9, 0.9, 0.9, 0.9)
    probed = Limit("get_p99_us", "<=", 1.1, True, default=True, probe=True)
    found = judge(runs, Objective((Goal("write_amp"),), (probed,)))
    assert (found.claim, found.limits[0].state) == ("gain", "undecided")
    assert not found.waits_for_constraints
    broken = judge(with_reads(*[1.3] * 6), Objective((Goal("write_amp"),), (probed,)))
    assert (broken.claim, broken.limits[0].state) == ("no gain", "broken")


def test_more_pairs_are_no_help_where_the_objective_is_undecided() -> None:
    runs = [
        ({**best, "get_p99_us": use}, base)
        for (best, base), use in zip(pairs("write_amp", 1.0), (1.3, *[0.9] * 5), strict=True)
    ]
    found = judge(runs, asking("write_amp", limits=("get_p99_us <= 1.1 * base",)))
    assert not found.waits_for_constraints


NOISY = (1.0, 1.3, 0.8, 1.2, 0.9, 1.1, 0.7, 1.25, 1.0, 0.85, 1.15, 0.95)


def noisy_reads(ratio: float) -> list[Pair]:
    """A clear gain with noisy reads; those of the winner are `ratio` times as slow."""
    gained = pairs("write_amp", 0.5, SIX * 2)
    return [
        ({**best, "get_p99_us": ratio * here}, {**base, "get_p99_us": there})
        for (best, base), here, there in zip(gained, NOISY[::-1], NOISY, strict=True)
    ]


def test_the_bound_of_a_default_constraint_grows_with_the_noise_of_the_baseline() -> None:
    limit = Limit("get_p99_us", "<=", 1.1, True, default=True)
    objective = Objective((Goal("write_amp"),), (limit,), most_pairs=12)
    found = judge(noisy_reads(1.0), objective)
    [check] = found.limits
    assert (found.claim, check.state, check.asked) == ("gain", "kept", limit)
    assert 1.2 < check.limit.bound < 1.5
    slow = judge(noisy_reads(2.0), objective)
    assert (slow.claim, slow.limits[0].state) == ("no gain", "broken")
    own = replace(objective, limits=(replace(limit, default=False),))
    assert judge(noisy_reads(1.0), own).limits[0].asked is None


def test_a_limit_is_taken_against_the_base_of_the_same_pair() -> None:
    runs = [
        ({**best, "get_p99_us": 1.05 * slow}, {**base, "get_p99_us": slow})
        for (best, base), slow in zip(pairs("write_amp", 0.5), (1, 9, 2, 7, 3, 5), strict=True)
    ]
    found = judge(runs, asking("write_amp", limits=("get_p99_us <= 1.1 * base",)))
    assert found.limits[0].use == pytest.approx(1.05 / 1.1)


def test_more_throughput_is_a_gain() -> None:
    found = verdict("throughput_ops_s", 1.5)
    assert found.claim == "gain"
    assert found.objective.high < 1
    assert found.ratios["throughput_ops_s"].low > 1  # a ratio is best / base, unturned
    assert found.better == ("throughput_ops_s",)


def test_less_throughput_is_a_loss() -> None:
    found = verdict("throughput_ops_s", 0.7)
    assert found.claim == "no gain"
    assert found.worse == ("throughput_ops_s",)


def test_a_composite_names_what_pays_for_the_gain() -> None:
    found = judge(runs_of(write_amp=0.5, live_sst_bytes=1.2, total_s=1.0), asking("balanced"))
    assert found.claim == "gain"
    assert found.better == ("write_amp",)
    assert found.worse == ("live_sst_bytes",)


def runs_of(**ratios: float) -> list[Pair]:
    """Pairs in which each metric is the ratio times the base's, with noise."""
    base = dict.fromkeys(ratios, 8.0)
    return [({name: 8 * ratio * n for name, ratio in ratios.items()}, base) for n in SIX]


def test_of_several_goals_each_has_an_interval_and_together_they_make_the_claim() -> None:
    found = judge(runs_of(write_amp=0.5, load_s=1.0), asking("write_amp", "load_s"))
    assert found.claim == "gain"
    assert found.goals["write_amp"].high < 1
    assert found.goals["load_s"].low < 1 < found.goals["load_s"].high
    assert found.objective.median == pytest.approx(
        (found.goals["write_amp"].median * found.goals["load_s"].median) ** 0.5
    )
    assert found.lost_goals == ()


def test_a_goal_that_is_lost_forbids_the_claim() -> None:
    found = judge(runs_of(write_amp=0.5, load_s=1.2), asking("write_amp", "load_s"))
    assert found.objective.high < 1
    assert found.claim == "no gain"
    assert found.lost_goals == ("load_s",)


def test_the_papers_fitness_is_claimed_like_any_other_goal() -> None:
    runs = runs_of(write_amp=0.7, live_sst_bytes=0.5, total_s=1.1, rate_mb_s=1.9)
    found = judge(runs, parse_objective("jin2022", (), ()))
    assert found.claim == "gain"
    assert found.goals["jin2022"] == found.objective


def test_a_limit_that_cannot_be_checked_does_not_hold() -> None:
    runs = pairs("write_amp", 0.5)
    del runs[2][0]["get_p99_us"]  # type: ignore[attr-defined]
    found = judge(runs, asking("write_amp", limits=("get_p99_us <= 1.1 * base",)))
    assert found.claim == "no gain"
    assert found.limits[0].use is None
    assert found.limits[0].why == "get_p99_us is missing in 1 of 6 pairs of runs"
    assert Verdict.model_validate_json(found.model_dump_json()) == found


def test_a_pair_without_a_metric_of_the_objective_does_not_count() -> None:
    runs = pairs("write_amp", 0.5)
    del runs[2][1]["write_amp"]  # type: ignore[attr-defined]
    found = judge(runs, asking("write_amp"))
    assert found.claim == "gain"
    assert found.notes == ("write_amp is missing in 1 of 6 pairs of runs",)


def test_an_objective_that_was_not_measured_is_no_gain() -> None:
    found = judge(pairs("load_s", 0.5), asking("scan_p99_us"))
    assert found.claim == "no gain"
    assert found.objective.low < 1 < found.objective.high
    assert Verdict.model_validate_json(found.model_dump_json()) == found


def test_only_the_objective_is_claimed_and_all_ratios_are_reported() -> None:
    runs = [
        ({"write_amp": 0.5 * n, "load_s": 0.5 * n}, {"write_amp": 1.0, "load_s": 1.0}) for n in SIX
    ]
    found = judge(runs, asking("write_amp"))
    assert found.better == ("write_amp",)
    assert found.ratios["load_s"].median == pytest.approx(found.ratios["write_amp"].median)


@pytest.mark.parametrize("side", [0, 1])
def test_a_metric_that_was_zero_or_missing_once_has_no_ratio(side: int) -> None:
    runs = [({"write_amp": 0.5 * n, "stall_s": 1.0, "load_s": 1.0}, {
        "write_amp": 1.0, "stall_s": 1.0, "load_s": 1.0}) for n in SIX]  # fmt: skip
    runs[3][side]["stall_s"] = 0.0
    del runs[4][side]["load_s"]
    found = judge(runs, asking("write_amp"))
    assert set(found.ratios) == {"write_amp"}
    assert found.claim == "gain"


def test_an_objective_of_zero_on_both_sides_is_no_gain() -> None:
    runs = [({"stall_s": 0.0}, {"stall_s": 0.0})] * 6
    found = judge(runs, asking("stall_s"))
    assert found.claim == "no gain"
    assert found.ratios == {}


def test_of_2000_nulls_one_in_forty_is_claimed() -> None:
    rng = np.random.default_rng(7)
    objective = asking("write_amp")
    runs = rng.lognormal(0, 0.1, (2000, 6, 2))
    verdicts = (
        judge([({"write_amp": best}, {"write_amp": base}) for best, base in study], objective)
        for study in runs.tolist()
    )
    claims = sum(found.claim == "gain" for found in verdicts)
    assert 0.0145 <= claims / 2000 <= 0.0355  # three standard errors around 0.025


def test_swapping_the_sides_turns_better_into_worse() -> None:
    there = pairs("write_amp", 0.8)
    back = [(base, best) for best, base in there]
    objective = asking("write_amp")
    assert judge(back, objective).worse == judge(there, objective).better == ("write_amp",)


def test_the_half_width_shrinks_with_more_pairs() -> None:
    few, many = verdict("write_amp", 0.8), verdict("write_amp", 0.8, noise=SIX * 4)
    assert many.half_width < few.half_width / 1.5


def test_one_pair_is_no_verdict() -> None:
    with pytest.raises(ValueError, match=r"2 pairs.*got 1"):
        verdict("write_amp", 0.5, noise=(1.0,))


def test_a_verdict_survives_json() -> None:
    found = verdict("write_amp", 0.8, limits=("get_p99_us <= 1.1 * base",))
    assert Verdict.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("ratio", "space", "count", "lost"),
    [
        (0.8, 1.0, 3, False),  # a gain needs six pairs
        (0.8, 2.0, 3, True),  # the constraint is broken by far
        (0.8, 1.11, 3, False),
        (1.6, 1.0, 3, True),
        (1.6, 1.0, 2, False),  # no look before three pairs
    ],
)
def test_few_pairs_can_prove_that_there_is_no_gain(
    ratio: float, space: float, count: int, lost: bool
) -> None:
    found = [
        ({"write_amp": 8 * ratio * n, "live_sst_bytes": space * n}, {"write_amp": 8.0,
          "live_sst_bytes": 1.0}) for n in (1.0, 1.01, 0.99)[:count]
    ]  # fmt: skip
    asked = asking("write_amp", limits=("live_sst_bytes <= 1.1 * base",))
    assert (lost_early(found, asked) is not None) == lost


@pytest.mark.slow
def test_config_at_its_bounds_is_hardly_ever_given_up_early() -> None:
    assert given_up(1_000) <= 50
