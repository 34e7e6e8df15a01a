"""Claims about a running store: rate, price, open limits, and stores that cannot keep the rate."""

from dataclasses import replace

import pytest
from sample import PACE, RUNNING, RUNNING_LIMITS, running_view

from lsmtune.analysis.claim import claim_of
from lsmtune.cli.result_lines import summary_lines
from lsmtune.objective import parse_objective
from lsmtune.report.export_notes import export_notes
from lsmtune.report.page import render_page
from lsmtune.report.study_document import show_document
from lsmtune.report.text.claim_text import answers, claim_text
from lsmtune.report.text.headline_text import headline_of
from lsmtune.report.text.metric_words import label

DEAR = {"write_p999_us": 1.8, "peak_space_bytes": 1.4, "get_p99_us": 1.3, "write_p50_us": 1.2}
OPEN = {"scan_p50_us": 1.1, "get_missing_p50_us": 1.12}


def test_every_output_names_the_rate() -> None:
    view = running_view()
    claim = claim_of(view)
    assert (claim.status, claim.view.shown_pace) == ("gain", PACE)
    assert "24,000 operations/s" in headline_of(claim)
    told = dict(answers(claim))
    for part in ("24,000", "25 MB/s", "half", "not your rate"):
        assert part in told["rate"]
    document = show_document(view)
    assert (document["measure"], document["rate"]["ops_s"]) == ("running", 24_000.0)
    assert document["claim"]["rate"]["share"] == pytest.approx(0.504)
    assert document["verification"]["rate"]["given"] is False
    page = render_page(view)
    assert page.count("24,000 operations/s") >= 3
    assert "pending compactions when the workload starts" not in page
    assert any("window" in line for line in summary_lines(view, claim))


def test_next_tells_how_to_enter_a_rate_until_one_is_given() -> None:
    view = running_view()
    own = replace(view.verifications[0], rate=500.0)
    given = replace(view.verifications[0], pace=replace(PACE, given=True))
    for found, is_told in (
        (view, True),
        (replace(view, verifications=(*view.verifications, own)), False),
        (replace(view, verifications=(given,)), False),
    ):
        steps = {step.kind: step.command for step in claim_of(found).steps}
        assert ("own_rate" in steps) == is_told
        assert not is_told or steps["own_rate"] == "lsmtune verify running --rate R"
        assert "deploy" in steps


def test_a_gain_with_a_price_is_a_gain_that_names_the_worst_metrics() -> None:
    view = running_view(**DEAR)
    claim = claim_of(view)
    assert (claim.status, claim.gain) == ("gain with a price", True)
    assert [cost.metric for cost in claim.price] == [*DEAR]
    headline = headline_of(claim)
    assert label("write_p999_us") in headline
    assert label("write_p50_us") not in headline
    assert headline.endswith(" and 3 more")
    assert "79 %" in headline
    assert claim.undo is not None
    assert "deploy" in [step.kind for step in claim.steps]
    assert "gain with a price" in export_notes(claim)[0]
    document = show_document(view)
    assert document["claim"]["status"] == document["verification"]["claim"] == "gain with a price"
    first = document["claim"]["price"][0]
    assert first["metric"] == "write_p999_us"
    assert 1.1 < first["low"] < first["ratio"] < first["high"]


def test_a_metric_with_a_limit_is_no_price() -> None:
    limits = ("write_p999_us <= 3 * base", "peak_space_bytes <= 2 * base", "get_p99_us <= 9 * base",
              "write_p50_us <= 9 * base")  # fmt: skip
    objective = parse_objective("balanced", limits, RUNNING_LIMITS, measure="running")
    assert claim_of(running_view(objective, **DEAR)).status == "gain"


def test_open_limits_are_counted() -> None:
    claim = claim_of(running_view(**OPEN))
    assert claim.status == "gain"
    assert {check.limit.metric for check in claim.undecided} == {*OPEN}
    count = len(RUNNING.limits)
    assert f"(2 of {count} limits open)" in headline_of(claim)
    assert "2 open" in dict(answers(claim))["gain"]
    warnings = " ".join(claim_text(claim).warnings)
    assert all(label(name) in warnings for name in OPEN)


def test_a_store_that_cannot_keep_the_rate_cannot_be_accepted() -> None:
    late = claim_of(running_view(overload=8.0, behind_s=1200.0))
    assert late.status == "no gain"
    assert "cannot keep 24,000 operations/s: at the end 1.2 s behind" in headline_of(late)
    assert any("1.2 s behind" in reason for reason in claim_text(late).reasons)
    assert "relax_constraint" not in [step.kind for step in late.steps]
    owing = claim_of(running_view(overload=8.0))
    assert "compactions" in headline_of(owing)
    assert not {cost.metric for cost in late.costs} & {"overload", "behind_s"}


def test_trust_names_the_p99_that_this_machine_cannot_judge() -> None:
    view = replace(running_view(), blurred=("write_p99_us",))
    assert label("write_p99_us") in dict(answers(claim_of(view)))["trust"]
