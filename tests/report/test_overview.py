"""Overview of several studies: the result of each, also at other scales."""

import pytest
from sample import EMPTY, pairs, pareto_view, read_view, study_view, verification

from lsmtune.report.overview_page import overview, overview_plot, render_overview


def test_overview_counts_gains_of_all_studies() -> None:
    nothing = study_view(name="none", **EMPTY)
    record = overview([study_view(), read_view(), nothing])
    assert record.title.startswith("2 of 3 ")
    assert [card.study for card in record.cards] == ["night-run", "reads", "none"]
    assert [finding.study for finding in record.findings] == ["night-run", "reads"]


@pytest.mark.parametrize(
    ("shifts", "gains"),
    [
        ({}, {"1/64": True}),
        ({"1": None}, {"1/64": True, "1": True}),
        ({"1": {}}, {"1/64": True, "1": False}),
        ({"1": {}, "1/8": None}, {"1/64": True, "1/8": True, "1": False}),
        ({"1": None, "1/8": None}, {"1/64": True, "1/8": True, "1": True}),
    ],
)
def test_overview_has_a_claim_per_scale(
    shifts: dict[str, dict[str, float] | None], gains: dict[str, bool]
) -> None:
    others = tuple(verification(pairs(shift=shift), scale=scale) for scale, shift in shifts.items())
    card = overview([study_view(verifications=(verification(), *others))]).cards[0]
    assert [(f.scale, f.claim == "gain") for f in card.findings] == list(gains.items())
    also = [scale for scale, gain in gains.items() if gain and scale != "1/64"]
    assert ("also" in card.carries) == bool(also)
    assert ("no gain" in card.carries) == (False in gains.values())
    assert all(scale in card.carries for scale in gains)


def test_unverified_study_has_a_mark_without_an_interval() -> None:
    record = overview([study_view(verifications=()), pareto_view()])
    first = record.findings[0]
    assert (first.claim, first.ratio.low) == ("not verified", None)
    assert "not verified" in record.cards[0].carries
    assert "1/64" in record.cards[0].carries


def test_overview_plot_has_a_mark_per_finding() -> None:
    record = overview([study_view(), pareto_view(), study_view(name="x", verifications=())])
    figure = overview_plot(record)
    assert sorted(y for trace in figure.data for y in trace.y) == [0, 1, 2]


def test_overview_page_has_a_section_per_study() -> None:
    page = render_overview([study_view(), read_view()])
    assert page.count("<section>") == 2
    assert all(name in page for name in ("Study night-run", "Study reads", 'id="studies"'))
