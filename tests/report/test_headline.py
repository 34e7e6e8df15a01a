"""Headline of the page: its facts, and the words for numbers and metrics."""

# ruff: noqa: RUF001 - the page writes ratios with a multiplication sign and an en dash

import re

import pytest
from sample import EMPTY, LIMITS, study_view, trial

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.study_view import StudyView
from lsmtune.report.study_facts import study_facts
from lsmtune.report.text.claim_text import claim_text
from lsmtune.report.text.facts import workload_text
from lsmtune.report.text.headline_text import headline_of
from lsmtune.report.text.metric_words import Ratio, label
from lsmtune.report.text.words import number, quantity
from lsmtune.trials import Role, Status
from lsmtune.workloads import Workload


def facts_of(view: StudyView) -> dict[str, tuple[str, ...]]:
    return dict(study_facts(view, claim_of(view)))


def test_text_of_a_claim_begins_with_its_headline() -> None:
    for view in (study_view(), study_view(verifications=()), study_view(**EMPTY)):
        claim = claim_of(view)
        assert claim_text(claim).headline == headline_of(claim)


def test_facts_name_workload_constraints_and_machine() -> None:
    facts = facts_of(study_view())
    workload = " ".join(facts["Workload"])
    assert facts["Workload"][0].startswith("fillrandom: ")
    assert all(value in workload for value in ("200,000", "16 bytes", "1,024 bytes", "0.5"))
    assert len(facts["Limits"]) == len(LIMITS)
    assert any("kept" in text for text in facts["Limits"])
    assert any("ext4" in fact for fact in facts["Machine"])
    assert not any("boot" in fact for fact in facts["Machine"])


def test_constraints_of_an_unverified_winner_have_values() -> None:
    facts = facts_of(study_view(verifications=()))
    assert all("kept" in text for text in facts["Limits"])
    nothing = facts_of(study_view(**EMPTY))
    assert len(nothing["Limits"]) == len(LIMITS)
    assert not any("kept" in text for text in nothing["Limits"])


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Ratio(0.6941, 0.6722, 0.7168), "0.69 × (0.67–0.72)"),
        (Ratio(0.98, 0.962, 0.9983), "0.980 × (0.962–0.998)"),
        (Ratio(12.34, 11.9, 12.8), "12.3 × (11.9–12.8)"),
        (Ratio(0.7, 0.7, 0.7), "0.700 × (0.700–0.700)"),
        (Ratio(1.1, 0.43, 2.7), "1.10 × (0.43–2.70)"),
        (Ratio(1.0, 0.04, 2.7), "1.00 × (0.04–2.70)"),
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


def test_workload_text_has_all_parameters() -> None:
    mixed = Workload(name="mix", num=5000, mix={"get": 0.9, "put": 0.1}, skew=4)
    lines = list(workload_text(mixed))
    assert lines[0].startswith("mix: ")
    assert "mix: 0.9 get, 0.1 put and 0 scan" in lines
    assert "skew: 4.0" in lines
    assert any(re.fullmatch("operations.*: 5,000", line) for line in lines)
    assert any(re.fullmatch("direct reads.*: yes", line) for line in lines)
    writing = Workload(name="readwhilewriting", num=5000)
    assert "write rate: 4 MiB/s" in list(workload_text(writing))


def test_baseline_facts_are_shown() -> None:
    facts = ("your OPTIONS file mine", "no plug-in comparator")
    assert facts_of(study_view(base_facts=facts))["Baseline"] == facts


def test_pruned_trials_are_counted_apart_from_failed_ones() -> None:
    runs = (
        trial(5, Role.TRIAL, None, status=Status.CUT),
        trial(6, Role.TRIAL, None, status=Status.CRASHED),
        trial(7, Role.TRIAL, None, status=Status.CUT),
    )
    search = facts_of(study_view(**EMPTY, trials=runs))["Search"]
    assert any(re.findall(r"\d+", text) == ["3", "1", "2"] for text in search)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("get_missing_p999_us", "p99.9 latency of gets of missing keys"),
        ("scan_p50_us", "p50 latency of scans"),
        ("write_p9999_us", "p99.99 latency of writes"),
        ("write_mean_us", "mean latency of writes"),
        ("cpu_s", "CPU time"),
    ],
)
def test_metrics_have_names_for_a_sentence(metric: str, words: str) -> None:
    assert label(metric) == words
