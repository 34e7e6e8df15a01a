"""What the page claims, and what it warns of."""

# ruff: noqa: RUF001 - the page writes ratios with a multiplication sign and an en dash

import re
from dataclasses import replace

import pytest
from sample import EMPTY, pairs, pareto_view, read_view, study_view, trial, verification

from lsmtune.cli.showing import summary_lines
from lsmtune.objective import parse_objective
from lsmtune.report.facts import workload_text
from lsmtune.report.headline import headline
from lsmtune.report.words import Ratio, label, number, quantity
from lsmtune.trials import Role, Status
from lsmtune.verdict import Pair
from lsmtune.workloads import PRESETS, Workload


def verdict_claim(measured: tuple[Pair, ...]) -> str:
    return headline(study_view(verifications=(verification(measured),))).claim


def test_a_gain_is_told_metric_by_metric_with_intervals() -> None:
    claim = headline(study_view()).claim
    assert claim.startswith("Write amplification 0.70 × (0.69–0.72), live space 0.94 ×")
    assert "load + settle 1.7 × faster (1.6–1.8)" in claim
    assert claim.endswith("verified in 6 pairs")


def test_a_gain_does_not_hide_a_metric_without_proof() -> None:
    claim = verdict_claim(pairs(noise=0.02, shift={"write_amp": 0.6, "total_s": 0.7}))
    assert "no proven change in live space" in claim


def test_no_gain_because_the_interval_includes_1() -> None:
    claim = verdict_claim(pairs(noise=0.05, shift={}))
    assert claim.startswith("No gain: the objective is ")
    assert claim.endswith("), an interval that includes 1")


def test_no_gain_because_it_is_worse() -> None:
    claim = verdict_claim(pairs(shift={"write_amp": 1.5}))
    assert claim.endswith("), worse than the base")


def test_no_gain_because_a_limit_broke() -> None:
    claim = verdict_claim(pairs(shift={"write_amp": 0.5, "get_p99_us": 1.3}))
    assert claim.startswith("No gain: the objective is 0.")
    assert claim.endswith("but get_p99_us <= 1.1 * base is broken")


def test_unverified_is_said_first_and_without_an_interval() -> None:
    head = headline(study_view(verifications=()))
    assert head.claim.startswith("Not verified: best so far is trial 18, write amplification 0.6")
    assert "–" not in head.claim
    assert "lsmtune verify night-run" in head.grounds[0]


@pytest.mark.parametrize(
    ("fields", "claim"),
    [
        ({"base": None, "trials": ()}, "Nothing to compare yet: the base has not been measured"),
        ({"trials": ()}, "Nothing to compare yet: only the base has been measured"),
        ({}, "Nothing found: none of 16 trials beat the base within the limits"),
    ],
)
def test_a_study_without_a_best(fields: dict[str, object], claim: str) -> None:
    view = study_view(**EMPTY, **fields)
    assert headline(view).claim == claim


def test_warnings_of_scale_and_assertions() -> None:
    warnings = headline(study_view()).warnings
    assert warnings[0] == "Found at scale 1/64: UNVERIFIED at scale 1."
    assert "assertions" in warnings[1]
    assert (
        headline(study_view(scale="1", assertions_enabled=False, verifications=())).warnings == ()
    )


def test_a_wide_interval_is_a_warning() -> None:
    wide = study_view(verifications=(verification(pairs(noise=0.2)),))
    assert any("wide" in warning for warning in headline(wide).warnings)


def test_facts_name_the_workload_the_limits_and_the_machine() -> None:
    facts = dict(headline(study_view()).facts)
    assert facts["Workload"] == (
        f"fillrandom: {PRESETS['fillrandom'].what}",
        "records: 200,000",
        "key size: 16 bytes",
        "value size: 1,024 bytes",
        "threads: 1",
        "size of compressed values: 0.5",
    )
    assert facts["Limits"][1].startswith("get_p99_us <= 1.1 * base: holds, ")
    assert "storage fs type: ext4" in facts["Machine"]
    assert not any("boot" in fact for fact in facts["Machine"])


def test_limits_of_an_unverified_best_show_their_use() -> None:
    facts = dict(headline(study_view(verifications=())).facts)
    assert all("% of it used" in limit for limit in facts["Limits"])


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Ratio(0.6941, 0.6722, 0.7168), "0.69 × (0.67–0.72)"),
        (Ratio(0.98, 0.962, 0.9983), "0.980 × (0.962–0.998)"),
        (Ratio(12.34, 11.9, 12.8), "12.3 × (11.9–12.8)"),
        (Ratio(0.7, 0.7, 0.7), "0.700 × (0.700–0.700)"),
        (Ratio(0.69123), "0.691 ×"),
    ],
)
def test_ratios_have_the_digits_of_their_interval(ratio: Ratio, text: str) -> None:
    assert str(ratio) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (2.684, "2.68"), (999.6, "1,000"), (32517, "32,500")]
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_quantities_have_units_for_people() -> None:
    assert quantity(80e6, "bytes") == "76.3 MiB"
    assert quantity(12.34, "us") == "12.3 µs"
    assert quantity(125, "s") == "2 min 5 s"


def test_only_a_verification_at_full_scale_lifts_the_warning() -> None:
    warned = "Found at scale 1/64: UNVERIFIED at scale 1."
    full = study_view(verifications=(replace(verification(), scale="1"),))
    for view, expected in ((study_view(), True), (full, False)):
        assert (warned in headline(view).warnings) is expected
        assert any("UNVERIFIED" in line for line in summary_lines(view)) is expected


def test_a_load_is_told_with_all_parameters_that_it_has() -> None:
    mixed = Workload(name="mix", num=5000, mix={"get": 0.9, "put": 0.1}, skew=4)
    told = list(workload_text(mixed))
    assert told[0].startswith("mix: gets, puts and scans")
    assert "mix: 0.9 get, 0.1 put and 0 scan" in told
    assert "operations of each thread: 5,000" in told
    assert "skew: 4.0" in told
    assert "reads pass by the page cache: yes" in told
    writing = Workload(name="readwhilewriting", num=5000)
    assert "write rate: 4 MiB/s" in list(workload_text(writing))


def test_a_read_load_is_claimed_by_what_was_measured_of_it() -> None:
    head = headline(read_view())
    assert head.claim.startswith("Throughput 1.4")
    assert dict(head.facts)["Limits"][1].startswith("write_amp <= 1.1 * base: holds")


def test_several_goals_are_told_one_by_one_and_that_there_is_a_choice() -> None:
    head = headline(pareto_view())
    assert head.claim.startswith("Write amplification 0.70 ×")
    assert ", throughput 1.6" in head.claim
    assert "Of 5 trials on the front this one has the lowest mean" in head.grounds[0]
    assert dict(head.facts)["Objective"][1:] == (
        "write_amp: lower is better", "throughput_ops_s: higher is better",
    )  # fmt: skip


def test_a_goal_that_is_lost_is_the_reason_for_no_gain() -> None:
    objective = parse_objective(("write_amp", "space_amp"), (), ())
    measured = pairs(shift={"write_amp": 0.3, "space_amp": 1.3})
    found = verification(measured, objective=objective)
    claim = headline(study_view(objective=objective, verifications=(found,))).claim
    assert claim.endswith("but space_amp is worse")


def test_a_trial_that_the_user_picked_is_called_so() -> None:
    picked = study_view(verifications=(), picked=True)
    assert headline(picked).claim.startswith("Not verified: you picked trial 18")
    assert headline(picked).grounds[0].endswith("lsmtune verify night-run --trial 18")


def test_other_scales_are_a_warning_where_the_gain_does_not_carry_over() -> None:
    full = verification(pairs(shift={}), scale="1")
    view = study_view(verifications=(verification(), full))
    assert headline(view).claim.endswith("verified in 6 pairs")
    assert headline(view).warnings[0].startswith("At scale 1 there was no gain: the objective is")
    kept = study_view(verifications=(verification(), verification(scale="1/8")))
    assert any(text.startswith("A gain at scale 1/8 too") for text in headline(kept).grounds)


def test_a_limit_that_cannot_be_checked_is_named_with_the_reason() -> None:
    objective = parse_objective("write_amp", ("scan_p50_us <= 5",), ())
    measured = tuple(
        ({k: v for k, v in best.items() if k != "scan_p50_us"}, base) for best, base in pairs()
    )
    view = study_view(
        objective=objective, verifications=(verification(measured, objective=objective),)
    )
    assert "cannot be checked (scan_p50_us is missing in 6 of 6 pairs)" in headline(view).claim
    assert dict(headline(view).facts)["Limits"][0].startswith("scan_p50_us <= 5: cannot be checked")


def test_an_objective_that_was_not_measured_is_said_so_without_numbers() -> None:
    objective = parse_objective("write_amp", (), ())
    bare = tuple(({"load_s": 1.0}, {"load_s": 2.0}) for _ in range(6))
    view = study_view(objective=objective, verifications=(verification(bare, objective=objective),))
    head = headline(view)
    assert head.claim == "No gain: the objective is not known: write_amp is missing in 6 of 6 pairs"
    assert not any("of the base" in text for text in head.grounds)


def test_the_papers_fitness_stands_beside_its_value() -> None:
    objective = parse_objective("jin2022", (), ())
    view = study_view(objective=objective, verifications=(verification(objective=objective),))
    assert re.search(r"a fitness of 1,\d\d\d \(1,\d\d\d to 1,\d\d\d\)", headline(view).grounds[0])


def test_what_the_base_is_and_what_it_lacks_is_a_fact() -> None:
    facts = ("your OPTIONS file mine", "no plug-in comparator")
    assert dict(headline(study_view(base_facts=facts)).facts)["Base"] == facts


def test_cut_runs_are_counted_apart_from_failed_ones() -> None:
    cut = trial(5, Role.TRIAL, None, status=Status.CUT)
    search = dict(headline(study_view(**EMPTY, trials=(cut,))).facts)["Search"]
    assert "1 trial, no runs failed, 1 run cut" in search


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("get_missing_p999_us", "99.9 % latency of gets that miss"),
        ("scan_p50_us", "50 % latency of scans"),
        ("write_p9999_us", "99.99 % latency of writes"),
        ("cpu_s", "cpu s"),
    ],
)
def test_metrics_have_names_for_a_sentence(metric: str, words: str) -> None:
    assert label(metric) == words
