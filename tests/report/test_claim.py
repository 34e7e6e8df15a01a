"""The claim of a study: its record, its headline, its table, and the notes made from it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from math import exp
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample import (
    BASE_CONFIG,
    BASE_METRICS,
    BEST_CONFIG,
    EMPTY,
    LIMITS,
    pairs,
    pareto_view,
    read_view,
    study_view,
    trial,
    verification,
)

from lsmtune.analysis.claim import Claim, claim_of
from lsmtune.analysis.study_view import COMPARISON, ONLINE, StudyView, TrialView
from lsmtune.cli.result_lines import summary_lines
from lsmtune.limits import parse_limit
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Objective, parse_objective
from lsmtune.report.export_notes import export_notes
from lsmtune.report.page import render_page
from lsmtune.report.text.claim_text import claim_text, metric_cells
from lsmtune.report.text.headline_text import MAX_WORDS, headline_of, percent
from lsmtune.report.text.metric_words import label
from lsmtune.trials import Role, Status
from lsmtune.verdict import LimitCheck, Pair, State
from lsmtune_reproductions.recipes.base import Asked
from lsmtune_reproductions.recipes.reproduce import RECIPES

BROKEN = {"write_amp": 0.5, "get_data_blocks": 1.5}


def verified(
    shift: dict[str, float] | None = None, *, noise: float = 0.02, objective: str = "balanced"
) -> Claim:
    asked = replace(parse_objective(objective, (), LIMITS), most_pairs=12)
    return claim_of(verified_view(pairs(noise=noise, shift=shift), asked))


def verified_view(measured: tuple[Pair, ...], objective: Objective) -> StudyView:
    found = verification(measured, objective=objective)
    return study_view(objective=objective, verifications=(found,))


def kinds(claim: Claim) -> list[str]:
    return [step.kind for step in claim.steps]


def count_words(headline: str) -> int:
    """Return the words of the gain, without its scale, or those of its price if they are more."""
    parts = headline.rpartition("of the size: ")[2].split("; price: ")
    return max(len(part.split()) for part in parts)


def test_gain_has_a_row_per_metric_with_interval_and_constraint() -> None:
    claim = claim_of(study_view())
    assert (claim.status, claim.pairs, claim.trial, claim.reasons) == ("gain", 6, 18, ())
    rows = {row.metric.name: row for row in claim.rows}
    assert list(rows) == [
        "write_amp", "live_sst_bytes", "total_s", "throughput_ops_s", "write_p99_us",
        "get_data_blocks", "get_missing_data_blocks", "scan_sorted_runs", "sustained_ops_s",
    ]  # fmt: skip
    amp = rows["write_amp"]
    assert (amp.role, amp.side, amp.limits) == ("objective", "better", ())
    assert amp.baseline
    assert amp.winner
    assert amp.interval
    assert amp.winner / amp.baseline == pytest.approx(amp.interval.median, rel=0.02)
    [check] = rows["live_sst_bytes"].limits
    assert (str(check.limit), check.state) == ("live_sst_bytes <= 1.1 * base", "kept")
    assert check.value == pytest.approx(0.944, abs=0.001)
    assert claim.alternative is None
    assert kinds(claim) == ["verify_larger", "deploy"]
    assert claim.undo == "lsmtune export night-run --format options --back -o OPTIONS.back"


def test_gain_names_the_largest_proven_changes_in_the_order_of_the_objective() -> None:
    headline = headline_of(claim_of(study_view()))
    assert headline.index("30 %") < headline.index("1.7 ")
    assert label("write_amp") in headline
    assert label("live_sst_bytes") not in headline  # the smallest of three


def test_headline_of_a_gain_leaves_out_what_is_not_proven() -> None:
    claim = verified({"write_amp": 0.6, "total_s": 0.7, "live_sst_bytes": 1.0})
    sides = {row.metric.name: row.side for row in claim.rows}
    assert (claim.status, sides["live_sst_bytes"]) == ("gain", "undecided")
    assert label("live_sst_bytes") not in headline_of(claim)


def test_gain_of_the_mean_alone_names_no_metric() -> None:
    claim = claim_of(study_view())
    rows = tuple(replace(row, side="undecided") for row in claim.rows)
    headline = headline_of(replace(claim, all_rows=rows))
    assert not any(label(name) in headline for name in ("write_amp", "live_sst_bytes", "total_s"))
    assert "26 %" in headline


def test_gain_that_costs_another_metric_warns_of_it() -> None:
    claim = verified({"write_amp": 0.4, "live_sst_bytes": 1.06})
    assert (claim.status, claim.worse) == ("gain", ("live_sst_bytes",))
    assert any(label("live_sst_bytes") in text for text in claim_text(claim).warnings)


def test_broken_constraint_is_named_with_its_value_and_an_alternative() -> None:
    claim = verified(BROKEN)
    assert (claim.status, claim.reasons, claim.failed_trial) == (
        "no gain", ("constraint broken",), 18,
    )  # fmt: skip
    [check] = claim.failed
    assert (check.limit.metric, check.asked, check.state) == ("get_data_blocks", None, "broken")
    assert check.value == pytest.approx(1.5 * 1.62 / (1.1 * 1.62 + 0.25), abs=0.02)
    assert claim.alternative
    assert (claim.alternative.trial, claim.alternative.ratio) == (17, pytest.approx(0.82))
    assert claim.alternative.changes
    step = next(step for step in claim.steps if step.kind == "verify_other")
    assert step.command == "lsmtune verify night-run --trial 17"
    assert label("get_data_blocks") in headline_of(claim)
    reasons = " ".join(claim_text(claim).reasons)
    assert all(part in reasons for part in ("1.1 ", "0.25 blocks", "1.2 ", "trial 17", "18 %"))
    assert claim.undo is None


def test_winner_that_keeps_its_constraints_is_its_own_alternative() -> None:
    view = verified_view(pairs(noise=0.02, shift={}), parse_objective("write_amp", ()))
    claim = claim_of(replace(view, best_within_limits=view.best_trial))
    assert claim.failed == ()
    assert claim.alternative
    assert claim.alternative.trial == claim.trial
    assert "verify_other" not in kinds(claim)


@pytest.mark.parametrize(
    ("shift", "noise", "status", "reason"),
    [
        ({}, 0.01, "no gain", "chance"),
        ({"write_amp": 1.5}, 0.02, "loss", "objective worse"),
        (BROKEN, 0.02, "no gain", "constraint broken"),
    ],
)
def test_reason_for_no_gain(
    shift: dict[str, float], noise: float, status: str, reason: str
) -> None:
    claim = verified(shift, noise=noise, objective="write_amp")
    assert (claim.status, claim.reasons[0]) == (status, reason)


def test_lost_objective_is_named() -> None:
    objective = parse_objective(("write_amp", "space_amp"), (), ())
    measured = pairs(shift={"write_amp": 0.3, "space_amp": 1.3})
    claim = claim_of(verified_view(measured, objective))
    assert (claim.status, claim.lost) == ("no gain", ("space_amp",))
    assert label("space_amp") in headline_of(claim)


def test_constraint_that_cannot_be_checked_says_why() -> None:
    objective = parse_objective("write_amp", ("scan_p50_us <= 5",), ())
    measured = tuple(
        ({k: v for k, v in best.items() if k != "scan_p50_us"}, base) for best, base in pairs()
    )
    claim = claim_of(verified_view(measured, objective))
    assert claim.reasons == ("constraint unknown",)
    [check] = claim.failed
    assert (check.state, check.value) == ("unknown", None)
    assert check.why
    assert "6 of 6" in check.why
    assert any("6 of 6" in text for text in claim_text(claim).reasons)


def test_absolute_constraint_has_its_value_in_the_metrics_unit() -> None:
    objective = parse_objective("write_amp", ("write_p99_us <= 500",), ())
    claim = claim_of(verified_view(pairs(), objective))
    [check] = claim.failed
    assert check.value == pytest.approx(661, rel=0.05)
    row = next(row for row in claim.rows if row.limits)
    assert "500 µs" in metric_cells(row)[-1]


def test_objective_that_was_not_measured_has_no_ratio() -> None:
    bare = tuple(({"load_s": 1.0}, {"load_s": 2.0}) for _ in range(6))
    claim = claim_of(verified_view(bare, parse_objective("write_amp", (), ())))
    assert (claim.status, claim.reasons) == ("no gain", ("objective unknown",))
    assert (claim.objective, claim.value) == (None, None)
    assert claim.notes
    assert not re.search(r"\d", headline_of(claim))


def test_unverified_winner_has_values_without_intervals() -> None:
    claim = claim_of(study_view(verifications=()))
    assert (claim.status, claim.pairs, claim.objective) == ("not verified", 0, None)
    assert claim.value == 0.725
    assert all(row.interval is None and row.side == "undecided" for row in claim.rows)
    assert [(s.kind, s.command) for s in claim.steps] == [("verify", "lsmtune verify night-run")]
    headline = headline_of(claim)
    assert "18" in headline
    assert "28 %" in headline


def test_picked_trial_is_called_so_everywhere() -> None:
    claim = claim_of(study_view(verifications=(), picked=True))
    assert claim.view.picked
    assert claim.steps[0].command == "lsmtune verify night-run --trial 18"
    assert "picked" in headline_of(claim)
    verified_claim = claim_of(study_view(picked=True))
    assert "picked" in claim_text(verified_claim).summary
    assert verified_claim.undo
    assert "--trial 18" in verified_claim.undo


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"base": None, "trials": ()}, "not measured"),
        ({"trials": ()}, "not measured"),
        ({}, "nothing found"),
        ({"no_search": "screening"}, "no search"),
        ({"no_search": "controlled experiment"}, "no search"),
        ({"no_search": COMPARISON}, "no search"),
        ({"no_search": ONLINE}, "no search"),
    ],
)
def test_study_without_a_winner(fields: dict[str, object], status: str) -> None:
    claim = claim_of(study_view(**EMPTY, **fields))
    assert (claim.status, claim.trial, claim.rows, claim.undo) == (status, None, (), None)
    assert claim.steps


def test_without_a_winner_the_best_trial_that_broke_a_constraint_is_named() -> None:
    slow = {**BASE_METRICS, "get_p99_us": BASE_METRICS["get_p99_us"] * 2}
    broken = trial(9, Role.TRIAL, 0.7, violation=0.8, metrics=slow)
    kept = trial(8, Role.TRIAL, 1.1)
    view = study_view(**EMPTY, trials=(kept, broken), base_runs=(BASE_METRICS,))
    claim = claim_of(replace(view, best_within_limits=kept, **nearest(broken, "broken")))
    assert (claim.status, claim.failed_trial) == ("nothing found", 9)
    [check] = claim.failed
    assert (check.limit.metric, check.value) == ("get_p99_us", pytest.approx(2.0))
    assert kinds(claim) == ["relax_constraint"]  # trial 8 is worse than the baseline
    text = claim_text(claim)
    assert "keeps all limits" in text.headline
    assert not any("trial 8" in reason for reason in text.reasons)


def nearest(found: TrialView, state: State, *more: LimitCheck) -> dict[str, Any]:
    """The trial as the nearest one, with a limit in that state at twice the baseline's value."""
    use = {"kept": 0.9, "broken": 2 / 1.1, "undecided": 1.02}[state]
    limit = parse_limit("get_p99_us <= 1.1 * base")
    check = LimitCheck(limit=limit, state=state, use=use)
    return {"nearest": found, "limits": (check, *more)}


@pytest.mark.parametrize(
    ("state", "steps"),
    [("kept", ["verify_other"]), ("undecided", ["verify_other"]), ("broken", ["relax_constraint"])],
)
def test_trial_that_came_nearest_has_a_table_and_one_next_step(
    state: State, steps: list[str]
) -> None:
    found = trial(9, Role.TRIAL, 0.7)
    view = study_view(**EMPTY, trials=(found,), base_runs=(BASE_METRICS,))
    claim = claim_of(replace(view, **nearest(found, state)))
    assert (claim.status, claim.pairs, claim.trial, claim.compared) == (
        "nothing found", 0, None, "trial 9",
    )  # fmt: skip
    states = {row.metric.name: [c.state for c in row.limits] for row in claim.rows}
    assert states["get_p99_us"] == [state]
    assert states["write_amp"] == []
    assert [check.state for check in claim.failed] == [state] * (state != "kept")
    assert kinds(claim) == steps
    shown = replace(view, **nearest(found, state))
    page = render_page(shown)
    assert "trial 9 / baseline" in page
    assert "not verified" in page
    assert count_words(headline_of(claim)) <= MAX_WORDS
    told = " ".join(summary_lines(shown, claim_of(shown)))
    assert told.count("Keep the baseline") == 1


def test_warnings_about_undecided_reads_are_about_a_winner_only() -> None:
    found = trial(9, Role.TRIAL, 0.7)
    limit = parse_limit("scan_p99_us <= 1.1 * base")
    reads = LimitCheck(limit=limit, state="undecided", use=1.02, required=False)
    view = study_view(**EMPTY, trials=(found,), base_runs=(BASE_METRICS,))
    claim = claim_of(replace(view, **nearest(found, "broken", reads)))
    assert [check.limit.metric for check in claim.failed] == ["get_p99_us"]
    assert claim.undecided == ()
    assert not any("None" in text for text in claim_text(claim).warnings)


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_study_of_a_recipe_names_the_recipe_as_the_next_command(recipe: str) -> None:
    names = [spec.name for spec in RECIPES[recipe].studies(Asked())]
    for name in (name for name in names if name.startswith("reproduce-")):
        experiment = study_view(name=name, no_search="controlled experiment", **EMPTY)
        interrupted = study_view(name=name, is_interrupted=True, **EMPTY)
        for view in (experiment, interrupted):
            assert claim_of(view).steps[0].command == f"lsmtune reproduce {recipe}"
    others = study_view(name="reproduce-it", no_search="controlled experiment", **EMPTY)
    assert kinds(claim_of(others)) == ["read_sweep"]


def test_alternative_that_ran_once_is_not_called_the_best_config() -> None:
    """A repeat of another config is not a run of the alternative."""
    once = trial(8, Role.TRIAL, 0.9, config=BASE_CONFIG | {"open_files": 10_000})
    repeat = trial(9, Role.REPEAT, 0.95, config=BEST_CONFIG)
    picked = trial(7, Role.TRIAL, 0.99)
    view = study_view(
        best_trial=picked,
        trials=(once, repeat),
        base_runs=(BASE_METRICS,),
        verifications=(verification(pairs(shift={})),),
    )
    claim = claim_of(replace(view, best_within_limits=once))
    assert claim.status == "no gain"
    assert claim.alternative
    assert (claim.alternative.trial, claim.alternative.runs) == (8, 1)
    reasons = " ".join(claim_text(claim).reasons)
    assert "best config" not in reasons
    assert "ran only once" in reasons
    again = replace(repeat, number=10, config=once.config)
    repeated = claim_of(replace(view, trials=(once, repeat, again), best_within_limits=once))
    assert repeated.alternative
    assert repeated.alternative.runs == 2
    assert "ran only once" not in " ".join(claim_text(repeated).reasons)


def test_only_a_verification_at_full_scale_lifts_the_warning() -> None:
    full = study_view(verifications=(replace(verification(), scale="1"),))
    for view, unverified in ((study_view(), True), (full, False)):
        claim = claim_of(view)
        assert claim.unverified_at_full_scale is unverified
        told = any("UNVERIFIED" in text for text in claim_text(claim).warnings)
        assert told is unverified
        assert any("UNVERIFIED" in note for note in export_notes(claim)) is unverified


def test_other_scales_are_part_of_the_claim() -> None:
    full = verification(pairs(shift={}), scale="1")
    claim = claim_of(study_view(verifications=(verification(), full)))
    assert [(other.scale, other.verdict.claim) for other in claim.others] == [("1", "no gain")]
    assert any("scale 1:" in text for text in claim_text(claim).warnings)
    kept = claim_of(study_view(verifications=(verification(), verification(scale="1/8"))))
    assert any("scale 1/8" in text for text in claim_text(kept).details)


def test_simulated_study_proves_nothing_about_rocksdb() -> None:
    claim = claim_of(study_view(engine="simulated"))
    assert claim.view.is_simulated
    assert kinds(claim)[0] == "run_for_real"
    assert any("UNVERIFIED" in note for note in export_notes(claim))


def test_front_offers_a_choice() -> None:
    claim = claim_of(pareto_view())
    assert (len(claim.view.front), len(claim.view.objective.goals)) == (5, 2)
    assert kinds(claim)[-1] == "pick"


def test_fitness_of_the_paper_is_part_of_the_claim() -> None:
    claim = verified(None, objective="jin2022")
    assert claim.fitness
    assert 1000 < claim.fitness < 2000
    assert any(f"{claim.fitness:,.0f}" in text for text in claim_text(claim).details)


def test_read_workload_is_claimed_by_its_own_metrics() -> None:
    claim = claim_of(read_view())
    assert next(row.metric.name for row in claim.rows) == "throughput_ops_s"
    assert "44 %" in headline_of(claim)


def test_wide_interval_is_reported() -> None:
    assert claim_of(study_view()).wide is None
    assert (verified({}, noise=0.2).wide or 0) > 0.05


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(0.697, "30 %"), (0.995, "0.5 %"), (1.5, "50 %"), (0.0041, "99.6 %"), (13.4, "1,240 %")],
)
def test_percent_has_two_digits(ratio: float, text: str) -> None:
    assert percent(ratio) == text


GOALS = [name for name, metric in METRICS.items() if metric.better]


def claims(ratios: dict[str, float], goals: tuple[str, ...], noise: float) -> Iterator[Claim]:
    """Claims of a study with these ratios, in every state, for one or more objectives."""
    objective = parse_objective(goals, ())
    limited = [limit.metric for limit in objective.limits]
    base = dict.fromkeys([*objective.metrics, *limited, *ratios], 100.0)
    spread = (1, -1, 0.5, -0.5, 0.8, -0.8)
    runs = tuple(
        ({n: v * ratios.get(n, 1.0) * exp(noise * x) for n, v in base.items()}, base)
        for x in spread
    )
    bare: tuple[Pair, ...] = (({}, {}),) * 6
    best = trial(12345, Role.TRIAL, 0.5)
    for measured in (runs, bare):
        found = verification(measured, objective=objective)
        yield claim_of(study_view(objective=objective, best_trial=best, verifications=(found,)))
    for picked in (False, True):
        yield claim_of(
            study_view(
                objective=objective, best_trial=replace(best, metrics=runs[0][0]),
                verifications=(), picked=picked, base_runs=(base,),
            )
        )  # fmt: skip
    crashed = trial(1, Role.TRIAL, None, status=Status.CRASHED)
    others = tuple({"no_search": what} for what in ("screening", COMPARISON, ONLINE))
    for fields in ({"trials": ()}, {}, {"trials": (crashed,)}, *others):
        yield claim_of(study_view(**EMPTY, objective=objective, **fields))


@settings(max_examples=40)
@given(
    goals=st.one_of(
        st.sampled_from([("balanced",), ("jin2022",)]),
        st.lists(st.sampled_from(GOALS), min_size=1, max_size=4, unique=True).map(tuple),
    ),
    changes=st.dictionaries(st.sampled_from(GOALS), st.floats(0.001, 900), max_size=6),
    noise=st.sampled_from([0.001, 0.03, 0.5]),
)
def test_headline_has_at_most_12_words(
    goals: tuple[str, ...], changes: dict[str, float], noise: float
) -> None:
    for claim in claims(changes, goals, noise):
        headline = headline_of(claim)
        assert count_words(headline) <= MAX_WORDS == 12
        for row in claim.rows:
            proven = row.role == "objective" and row.side == "better"
            if claim.gain and not proven and not _shares_a_label(row.metric.name, claim):
                assert label(row.metric.name) not in headline.lower()


def _shares_a_label(name: str, claim: Claim) -> bool:
    """Whether the metric's label is part of the label of a proven one."""
    proven = [row.metric.name for row in claim.rows if row.side == "better"]
    return any(label(name) in label(other) for other in proven)


@pytest.mark.parametrize("name", GOALS)
def test_any_single_metric_fits_into_the_headline(name: str) -> None:
    for ratio in (0.0123, 0.5, 0.954, 1.046, 1.57, 123.4):
        found = next(claims({name: ratio}, (name,), 0.001))
        assert count_words(headline_of(found)) <= MAX_WORDS
    for claim in claims({"write_amp": 0.5, name: 3.0}, ("write_amp",), 0.001):
        assert count_words(headline_of(claim)) <= MAX_WORDS
    objective = parse_objective("write_amp", (f"{name} <= 0.001",), ())
    slow = tuple(({"write_amp": 1.0, name: 1.0}, {"write_amp": 2.0, name: 1.0}) for _ in range(6))
    claim = claim_of(verified_view(slow, objective))
    assert claim.status == "no gain"
    assert count_words(headline_of(claim)) <= MAX_WORDS
