"""The answers of the first screen, from the record of a claim."""

from dataclasses import replace

from sample import pairs, study_view, verification

from lsmtune.analysis.claim import claim_of
from lsmtune.rehearsal import Rehearsal
from lsmtune.report.text.claim_text import answers, claim_text
from lsmtune.report.text.headline_text import MAX_WORDS


def test_gain_has_three_answers_with_ratio_pairs_scale_and_disturbed_runs() -> None:
    view = study_view()
    found = replace(view.verifications[0], disturbed=(2, 12))
    claim = claim_of(replace(view, verifications=(found,)))
    told = dict(answers(claim))
    assert list(told) == ["gain", "cost", "trust", "deploy"]
    assert f"{claim.pairs} pairs" in told["gain"]
    assert "1/64" in told["trust"]
    assert "2 of 12" in told["trust"]


def test_a_failed_rehearsal_is_the_headline_and_names_the_option() -> None:
    rehearsal = Rehearsal(
        version="11.8.1", failed="undo", step="open", message="Invalid argument: levels",
        options=("num_levels",),
    )  # fmt: skip
    claim = claim_of(replace(study_view(), rehearsal=rehearsal))
    text = claim_text(claim)
    assert (claim.status, claim.gain, claim.undo) == ("cannot be deployed", False, None)
    assert "num_levels" in text.headline
    assert len(text.headline.split()) <= MAX_WORDS
    assert "Invalid argument: levels" in dict(text.answers)["deploy"]


def test_each_metric_that_is_proven_worse_is_a_cost() -> None:
    worse = verification(pairs(shift={"get_p99_us": 1.05, "peak_space_bytes": 1.5}))
    claim = claim_of(study_view(verifications=(worse,)))
    costs = {cost.metric: cost.ratio.median for cost in claim.costs if cost.ratio is not None}
    proven = {
        name
        for name, ratio in worse.verdict.ratios.items()
        if name in ("get_p99_us", "peak_space_bytes") and ratio.low > 1
    }
    assert proven
    assert proven <= set(costs)
    assert list(costs.values()) == sorted(costs.values(), key=lambda ratio: -abs(ratio - 1))


def test_stalls_that_the_baseline_never_had_are_a_cost() -> None:
    runs = [({**best, "stall_s": 2.5}, {**base, "stall_s": 0.0}) for best, base in pairs()]
    claim = claim_of(study_view(verifications=(verification(tuple(runs)),)))
    assert [c.value for c in claim.costs if c.metric == "stall_s"] == [2.5]
    assert "2.5 s" in dict(answers(claim))["cost"]
    runs[0][0]["stall_s"] = 0.0
    claim = claim_of(study_view(verifications=(verification(tuple(runs)),)))
    assert all(cost.metric != "stall_s" for cost in claim.costs)


def test_unverified_result_says_so() -> None:
    told = dict(answers(claim_of(study_view(verifications=()))))
    assert "not verified" in told["trust"]
    assert "unknown" in told["cost"]


def test_way_back_of_an_own_file_is_the_saved_copy() -> None:
    own = claim_text(claim_of(replace(study_view(), own_base=True))).undo
    usual = claim_text(claim_of(study_view())).undo
    assert own is not None
    assert own.command is None
    assert usual is not None
    assert usual.command is not None
