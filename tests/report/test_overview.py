"""Several studies side by side: what each found, and whether it carries over."""

import pytest
from sample import EMPTY, pairs, pareto_view, read_view, study_view, verification

from lsmtune.report.overview import overview
from lsmtune.report.overview_page import overview_plot, render_overview


def test_gains_are_counted_over_all_studies() -> None:
    nothing = study_view(name="none", **EMPTY)
    record = overview([study_view(), read_view(), nothing])
    assert record.title == "2 of 3 studies ended in a verified gain"
    assert [card.study for card in record.cards] == ["night-run", "reads", "none"]
    assert [finding.study for finding in record.findings] == ["night-run", "reads"]


@pytest.mark.parametrize(
    ("shifts", "carries"),
    [
        ({}, "verified at scale 1/64 only"),
        ({"1": None}, "found at scale 1/64, carries over to scale 1"),
        ({"1": {}}, "found at scale 1/64, does not carry over to scale 1"),
        ({"1": {}, "1/8": None},
         "found at scale 1/64, carries over to scale 1/8 and does not carry over to scale 1"),
        ({"1": None, "1/8": None}, "found at scale 1/64, carries over to scales 1/8 and 1"),
    ],
)  # fmt: skip
def test_other_scales_tell_whether_a_gain_carries_over(
    shifts: dict[str, dict[str, float] | None], carries: str
) -> None:
    others = tuple(verification(pairs(shift=shift), scale=scale) for scale, shift in shifts.items())
    card = overview([study_view(verifications=(verification(), *others))]).cards[0]
    assert card.carries == carries
    scales = [finding.scale for finding in card.findings]
    assert scales == sorted(scales, key=["1/64", "1/8", "1"].index)


def test_an_unverified_study_has_a_mark_without_an_interval() -> None:
    record = overview([study_view(verifications=()), pareto_view()])
    first = record.findings[0]
    assert (first.claim, first.ratio.low) == ("not verified", None)
    assert record.cards[0].carries == "searched at scale 1/64 only"


def test_every_finding_has_a_mark_on_the_common_axis() -> None:
    record = overview([study_view(), pareto_view(), study_view(name="x", verifications=())])
    figure = overview_plot(record)
    assert sorted(y for trace in figure.data for y in trace.y) == [0, 1, 2]


def test_the_page_has_a_section_a_study() -> None:
    page = render_overview([study_view(), read_view()])
    assert page.count("<section>") == 2
    assert all(name in page for name in ("Study night-run", "Study reads", 'id="studies"'))
