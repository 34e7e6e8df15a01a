"""What the page claims, and what it warns of."""

# ruff: noqa: RUF001 - the page writes ratios with a multiplication sign and an en dash

from dataclasses import replace

import pytest
from sample import pairs, study_view, verification

from lsmtune.cli.showing import summary_lines
from lsmtune.report.headline import headline
from lsmtune.report.words import Ratio, number, quantity
from lsmtune.verdict import Pair


def verdict_claim(measured: tuple[Pair, ...]) -> str:
    return headline(study_view(verification=verification(measured))).claim


def test_a_gain_is_told_metric_by_metric_with_intervals() -> None:
    claim = headline(study_view()).claim
    assert claim.startswith("Write amplification 0.68 × (0.67–0.70), live space 0.93 ×")
    assert "load + settle 1.59 × faster (1.50–1.67)" in claim
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
    head = headline(study_view(verification=None))
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
    view = study_view(verification=None, best=None, best_trial=None, changes=(), **fields)
    assert headline(view).claim == claim


def test_warnings_of_scale_and_assertions() -> None:
    warnings = headline(study_view()).warnings
    assert warnings[0] == "Found at scale 1/64: UNVERIFIED at scale 1."
    assert "assertions" in warnings[1]
    assert (
        headline(study_view(scale="1", assertions_enabled=False, verification=None)).warnings == ()
    )


def test_a_wide_interval_is_a_warning() -> None:
    wide = study_view(verification=verification(pairs(noise=0.2)))
    assert any("wide" in warning for warning in headline(wide).warnings)


def test_facts_name_the_workload_the_limits_and_the_machine() -> None:
    facts = dict(headline(study_view()).facts)
    assert facts["Workload"][1:3] == (
        "200,000 records by 1 thread",
        "keys of 16 bytes, values of 1,024 bytes",
    )
    assert facts["Limits"][1].startswith("get_p99_us <= 1.1 * base: holds, ")
    assert "storage fs type: ext4" in facts["Machine"]
    assert not any("boot" in fact for fact in facts["Machine"])


def test_limits_of_an_unverified_best_show_their_use() -> None:
    facts = dict(headline(study_view(verification=None)).facts)
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
    full = study_view(verification=replace(verification(), scale="1"))
    for view, expected in ((study_view(), True), (full, False)):
        assert (warned in headline(view).warnings) is expected
        assert any("UNVERIFIED" in line for line in summary_lines(view)) is expected
