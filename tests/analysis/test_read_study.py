"""From stored trials to what a study shows: its winner, its front, what was proven."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from stored import METRICS, Written, complete

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.cli.result_lines import summary_lines
from lsmtune.errors import UserError
from lsmtune.objective import Metrics, Objective
from lsmtune.report.figures import convergence
from lsmtune.report.front import pareto
from lsmtune.report.study_document import show_document
from lsmtune.report.text.headline_text import headline_of
from lsmtune.store.home import Home
from lsmtune.study.record import read_record
from lsmtune.trials import Role, Status, TrialResult

GOOD = [{"write_amp": 7.0 + n / 100} for n in range(6)]
BROKEN = [{**run, "get_data_blocks": 20.0} for run in GOOD]


class Case:
    """A study to write, and to look at."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def begin(self, **spec: Any) -> Written:
        return Written(self.home, **spec)

    def view(self, trial: int | None = None) -> StudyView:
        return read_study(self.home, "s", trial)


@pytest.fixture
def case(tmp_path: Path) -> Iterator[Case]:
    with Home(tmp_path / "home", create=True) as home:
        yield Case(home)


def searched(written: Written) -> None:
    """The base as trial 0, then trials 1 to 3, the second the best."""
    written.base()
    for size, amp in ((1000, 8.0), (2000, 7.0), (3000, 7.5)):
        written.add(Role.TRIAL, size, {"write_amp": amp})


def best_number(case: Case) -> int:
    best = case.view().best_trial
    assert best
    return best.number


def test_without_verification_the_lowest_value_wins(case: Case) -> None:
    searched(case.begin(objective="write_amp"))
    assert best_number(case) == 2
    assert [c.knob.name for c in case.view().changes] == ["block_size"]


def test_a_winner_that_does_not_stand_up_hands_over_to_the_runner_up(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.verify(2, 2000, BROKEN)
    assert best_number(case) == 3
    assert case.view().verifications == ()
    written.verify(3, 3000, GOOD)
    assert best_number(case) == 3
    assert case.view().verification
    written.verify(1, 1000, GOOD)
    assert best_number(case) == 3  # the better one of those proven


def test_when_none_stands_up_the_first_is_shown_with_its_verdict(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    for number in (1, 2, 3):
        written.verify(number, 1000 * number, BROKEN)
    view = case.view()
    assert view.best_trial
    assert view.best_trial.number == 2
    assert view.verification
    assert view.verification.verdict.claim == "no gain"


def test_the_newest_verification_counts_once_it_has_pairs_enough(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.verify(2, 2000, BROKEN)
    written.verify(2, 2000, GOOD[:5])
    assert best_number(case) == 3
    written.verify(2, 2000, GOOD)
    assert best_number(case) == 2


def test_a_verification_at_another_scale_is_shown_and_takes_nothing_back(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.verify(2, 2000, GOOD)
    written.verify(2, 2000, BROKEN, scale="1")
    view = case.view()
    assert view.best_trial
    assert view.best_trial.number == 2
    assert [(v.scale, v.verdict.claim) for v in view.verifications] == [
        ("1", "no gain"), ("1/64", "gain"),
    ]  # fmt: skip
    assert not view.unverified_at_full_scale
    assert len(show_document(view)["verifications"]) == 2


def test_a_trial_that_the_user_picks_takes_the_winners_place(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.verify(1, 1000, GOOD)
    written.verify(3, 3000, BROKEN)
    view = case.view(trial=3)
    assert view.best_trial
    assert (view.best_trial.number, view.picked) == (3, True)
    assert view.best_trial.metrics["write_amp"] == 7.5
    assert view.verification
    assert view.verification.verdict.claim == "no gain"


@pytest.mark.parametrize("number", [0, 4, 99])
def test_only_a_measured_trial_of_the_search_can_be_picked(case: Case, number: int) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.add(Role.TRIAL, 4000, TrialResult(status=Status.CRASHED, reason="died"))
    with pytest.raises(UserError, match=rf"^trial = {number}: .*available: 1, 2, 3$"):
        case.view(trial=number)


def test_the_front_of_two_goals_and_its_default_winner(case: Case) -> None:
    written = case.begin(objective=["write_amp", "total_s"])
    written.base()
    points = [(5.0, 10.5), (8.0, 8.0), (9.0, 5.0), (9.5, 8.5), (4.0, 30.0), (20.0, 20.0)]
    for size, (amp, time) in enumerate(points, start=1000):
        written.add(Role.TRIAL, size, {"write_amp": amp, "total_s": time})
    written.add(Role.TRIAL, 7000, {"write_amp": 1.0, "total_s": 1.0, "get_data_blocks": 99.0})
    view = case.view()
    assert [trial.number for trial in view.front] == [5, 1, 2, 3]
    assert view.front[0].values == pytest.approx((0.4, 3.0))
    assert view.best_trial
    assert view.best_trial.number == 3
    assert [trial["trial"] for trial in show_document(view)["front"]] == [5, 1, 2, 3]
    assert any(x.split() == ["5", "0.400", "3.000"] for x in summary_lines(view, claim_of(view)))


def test_runs_of_finalists_tell_how_noisy_the_limits_are(case: Case) -> None:
    written = case.begin(objective="write_amp")
    written.base({}, {}, {})
    number = written.add(Role.TRIAL, 1000, {"write_amp": 5.0, "live_sst_bytes": 11.2})
    assert read_record(case.home, "s").history.ranked == []
    for space in (9.0, 14.0):
        written.add(Role.REPEAT, 1000, {"write_amp": 5.0, "live_sst_bytes": space})
    ranked = read_record(case.home, "s").history.ranked
    assert [c.trial.number for c in ranked] == [number]
    assert ranked[0].runs == 3


def finalist_near_a_limit(written: Written, *space: float) -> int:
    """Three runs of the baseline, and a finalist whose runs use this live space."""
    written.base({"live_sst_bytes": 9.7}, {}, {"live_sst_bytes": 10.3})
    amp = iter((5.0, 7.0, 6.0))
    first, *others = ({"write_amp": next(amp), "live_sst_bytes": size} for size in space)
    number = written.add(Role.TRIAL, 1000, first)
    for run in others:
        written.add(Role.REPEAT, 1000, run)
    return number


def test_constraint_that_the_repeats_of_a_finalist_break_is_named(case: Case) -> None:
    space = (15.3, 15.5, 15.0)
    number = finalist_near_a_limit(case.begin(objective="write_amp", trials=1), *space)
    view = case.view()
    claim = claim_of(view)
    assert (claim.status, claim.failed_trial, claim.alternative) == ("nothing found", number, None)
    assert [(c.limit.metric, c.state) for c in claim.failed] == [("live_sst_bytes", "broken")]
    assert claim.failed[0].value == pytest.approx(1.53)
    assert claim.nearest
    assert (claim.nearest.trial, claim.nearest.runs) == (number, 3)
    assert claim.nearest.ratio == pytest.approx(0.6)
    assert [found.kind for found in claim.steps] == ["accept_trade", "keep_baseline"]
    rows = {row.metric.name: row for row in claim.rows}
    assert rows["live_sst_bytes"].winner == 15.3
    assert [c.state for c in rows["live_sst_bytes"].limits] == ["broken"]
    shown = show_document(view)["claim"]
    assert (shown["nearest"]["trial"], shown["nearest"]["runs"]) == (number, 3)


def test_constraint_that_the_repeats_of_a_finalist_do_not_decide_is_verified(case: Case) -> None:
    number = finalist_near_a_limit(case.begin(objective="write_amp", trials=1), 10.6, 11.2, 10.9)
    claim = claim_of(case.view())
    assert (claim.status, claim.trial, claim.nearest) == ("not verified", number, None)
    [check] = claim.failed
    assert (check.limit.metric, check.state) == ("live_sst_bytes", "undecided")
    assert check.value == pytest.approx(1.09)
    assert [found.kind for found in claim.steps] == ["verify"]


def test_trial_that_ran_again_is_judged_by_the_median_of_its_runs_everywhere(case: Case) -> None:
    written = case.begin(objective="write_amp", limits=["live_sst_bytes <= none"])
    number = finalist_near_a_limit(written, 10.0, 10.0, 10.0)
    view = case.view()
    trial = next(trial for trial in view.trials if trial.number == number)
    assert (trial.value, trial.runs, trial.median) == (
        pytest.approx(0.5), 3, pytest.approx(0.6),
    )  # fmt: skip
    [mark] = [mark for mark in convergence(view).measured if mark.number == number]
    assert (mark.value, mark.runs) == (pytest.approx(0.6), 3)
    assert convergence(view).best == (number, pytest.approx(0.6))
    assert show_document(view)["best"]["objective"] == pytest.approx(0.6)
    assert claim_of(view).value == pytest.approx(0.6)


@pytest.mark.parametrize(("runs", "status"), [(BROKEN, "no gain"), (GOOD, "gain")])
def test_verification_decides_what_the_repeats_did_not(
    case: Case, runs: Sequence[dict[str, float]], status: str
) -> None:
    written = case.begin(objective="write_amp", trials=1)
    number = finalist_near_a_limit(written, 10.6, 11.2, 10.9)
    written.verify(number, 1000, runs)
    claim = claim_of(case.view())
    assert (claim.status, claim.trial, claim.nearest) == (status, number, None)
    broken = [("get_data_blocks", "broken")] if runs is BROKEN else []
    assert [(c.limit.metric, c.state) for c in claim.failed] == broken


def test_search_that_has_not_ended_says_so_first(case: Case) -> None:
    written = case.begin(objective="write_amp", trials=16)
    claim = claim_of(case.view())
    assert (claim.status, claim.view.is_interrupted, len(claim.view.tried)) == (
        "not measured",
        True,
        0,
    )
    assert "0 of 16" in headline_of(claim)
    written.base()
    written.add(Role.TRIAL, 1000, TrialResult(status=Status.DISTURBED, reason="others"))
    written.add(Role.TRIAL, 1000, {"write_amp": 12.0})
    claim = claim_of(case.view())
    assert (claim.status, len(claim.view.tried), claim.view.planned) == ("nothing found", 1, 16)
    assert "1 of 16" in headline_of(claim)
    assert [step.kind for step in claim.steps] == ["start"]
    written.add(Role.TRIAL, 2000, {"write_amp": 8.0})
    claim = claim_of(case.view())
    assert claim.status == "not verified"
    assert "2 of 16" in headline_of(claim)
    assert [step.kind for step in claim.steps] == ["start", "verify"]
    written.home.update_ended(written.study, "the budget is used up")
    ended = claim_of(case.view())
    assert not ended.view.is_interrupted
    assert "of 16" not in headline_of(ended)


def test_disturbed_runs_are_not_trials_of_a_search(case: Case) -> None:
    written = case.begin(objective="write_amp", trials=2)
    written.base()
    written.add(Role.TRIAL, 1000, TrialResult(status=Status.DISTURBED, reason="others"))
    written.add(Role.TRIAL, 1000, {"write_amp": 12.0})
    assert case.view().is_interrupted
    written.add(Role.TRIAL, 2000, {"write_amp": 12.0})
    assert not case.view().is_interrupted


def test_cut_trials_are_no_failures_and_show_what_they_could_still_have_reached(
    case: Case,
) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    cut = TrialResult(status=Status.CUT, reason="too slow", bounds={"write_amp": 12.0})
    written.add(Role.TRIAL, 4000, cut)
    written.add(Role.TRIAL, 5000, cut.model_copy(update={"bounds": {"load_s": 3.0}}))
    view = case.view()
    assert view.failed == ()
    assert [trial.bound for trial in view.cut] == [pytest.approx((1.2,)), ()]
    assert show_document(view)["trials"] == {
        "total": 5, "complete": 3, "failed": 0, "cut": 2, "disturbed": 0, "kept_disturbed": 0,
    }  # fmt: skip
    assert any("2 pruned" in line for line in summary_lines(view, claim_of(view)))
    assert len(read_record(case.home, "s").history.candidates) == 3


def test_the_papers_fitness_is_shown_beside_its_value(case: Case) -> None:
    written = case.begin(objective="jin2022")
    written.base({"rate_mb_s": 10.0})
    written.add(Role.TRIAL, 1000, {"write_amp": 8.0, "rate_mb_s": 15.0})
    view = case.view()
    assert show_document(view)["best"]["fitness"] == pytest.approx(700)
    assert claim_of(view).fitness == pytest.approx(700)
    assert any("700" in line for line in summary_lines(view, claim_of(view)))


def test_a_load_without_the_metrics_asked_for_is_shown_all_the_same(case: Case) -> None:
    written = case.begin(objective="scan_p50_us")
    bare = complete({"throughput_ops_s": 5.0})
    written.add(Role.BASE, None, bare)
    written.add(Role.TRIAL, 1000, bare)
    view = case.view()
    assert view.base
    assert view.best_trial is None
    assert view.searched[0].value is None
    assert claim_of(view).status == "nothing found"


def test_a_study_that_has_not_begun(case: Case) -> None:
    case.begin(objective=["write_amp", "total_s"])
    view = case.view()
    assert (view.base, view.best, view.front, view.trials) == (None, None, (), ())
    assert set(METRICS) >= set(view.objective.metrics)


def test_best_config_within_constraints_has_kept_them_in_its_verification(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.add(Role.TRIAL, 4000, {"write_amp": 5.0, "get_data_blocks": 20.0})
    written.verify(2, 2000, BROKEN)
    written.verify(3, 3000, BROKEN)
    view = case.view()
    claim = claim_of(view)
    assert (claim.status, claim.trial, claim.failed_trial) == ("no gain", 2, 2)
    [check] = claim.failed
    assert (check.limit.metric, check.value) == ("get_data_blocks", pytest.approx(20 / 11.25))
    assert claim.alternative
    assert (claim.alternative.trial, claim.alternative.ratio) == (1, pytest.approx(0.8))
    assert [change.best for change in claim.alternative.changes] == [1000]
    assert "verify_other" in [step.kind for step in claim.steps]
    written.verify(1, 1000, [{"write_amp": 10.0 + n / 10} for n in range(-3, 3)])
    again = claim_of(case.view())
    assert again.alternative
    assert (again.alternative.trial, again.alternative.verified) == (1, True)
    assert "verify_other" not in [step.kind for step in again.steps]


def test_summary_shows_every_metric_of_the_claim_and_every_changed_option(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.verify(2, 2000, GOOD)
    view = case.view()
    claim = claim_of(view)
    lines = summary_lines(view, claim)
    first = {line.split()[0] for line in lines if line}
    assert claim.gain
    assert {row.metric.name for row in claim.rows} <= first
    assert {change.knob.name for change in claim.changes} <= first
    commands = [*(step.command for step in claim.steps if step.command), claim.undo]
    assert {line.strip() for line in lines} >= set(commands)


def test_commands_name_the_home_only_where_it_is_needed(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = case.begin(objective=["write_amp", "total_s"])
    searched(written)
    written.verify(2, 2000, GOOD)

    def commands() -> list[str]:
        view = case.view()
        claim = claim_of(view)
        front = pareto(view)
        assert front
        picks = [pick.command for pick in front.picks]
        return [*picks, *(step.command for step in claim.steps if step.command), claim.undo or ""]

    flag = f" --home {case.home.path}"
    assert len(commands()) > 3
    assert all(command.endswith(flag) for command in commands())
    monkeypatch.setenv("LSMTUNE_HOME", str(case.home.path))
    assert not any("--home" in command for command in commands())


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_summary_fits_the_terminal(
    case: Case, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    written = case.begin(objective="balanced")
    searched(written)
    written.verify(2, 2000, GOOD)
    view = case.view()
    shown = summary_lines(view, claim_of(view))
    lines = [line for line in shown if not line.startswith("    lsmtune ")]
    assert max(map(len, lines)) <= int(columns)
    assert all(any(row.metric.name in line for line in lines) for row in claim_of(view).rows)


def test_claim_is_part_of_the_json_document(case: Case) -> None:
    written = case.begin(objective="write_amp")
    searched(written)
    written.verify(2, 2000, BROKEN)
    written.verify(3, 3000, BROKEN)
    document = json.loads(json.dumps(show_document(case.view())["claim"]))
    assert (document["status"], document["trial"], document["pairs"]) == ("no gain", 2, 6)
    assert document["reasons"] == ["constraint broken"]
    assert [check["limit"] for check in document["failed"]] == [
        "get_data_blocks <= 1.1 * base + 0.25"
    ]
    assert document["failed"][0]["value"] == pytest.approx(20 / 11.25)
    assert document["alternative"]["config"] == {"block_size": 1000}
    row = next(row for row in document["metrics"] if row["metric"] == "write_amp")
    assert row["interval"]["low"] <= row["ratio"] <= row["interval"]["high"]
    assert (row["base"], row["side"]) == (10.0, "better")
    assert [step["kind"] for step in document["next"]][:3] == [
        "relax_constraint", "keep_baseline", "verify_other",
    ]  # fmt: skip


def test_only_configs_that_probably_keep_all_constraints_can_win(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(case.begin(objective="write_amp"))
    kept = {7.0: 0.79, 7.5: 0.81, 8.0: 0.99}

    def probability(_: Objective, metrics: Metrics, *__: object) -> float:
        return kept.get(metrics["write_amp"], 1.0)

    monkeypatch.setattr(Objective, "kept_probability", probability)
    assert best_number(case) == 3
