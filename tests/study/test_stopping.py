"""When a search ends by itself: no gain, or none to be expected, whatever interrupts it."""

import re
from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.api.plan import Plan, plan_document
from lsmtune.cli.plan_lines import plan_lines
from lsmtune.cli.result_lines import summary_lines
from lsmtune.errors import UserError
from lsmtune.report.page import render_page
from lsmtune.report.study_document import show_document
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.opening import describe
from lsmtune.study.search import repeat_finalists, run_search, search
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

FEW = "level0_slowdown_writes_trigger,level0_stop_writes_trigger"


def make(**given: Any) -> StudySettings:
    """Live space has no limit: a search expects more of it under universal compaction."""
    fast = {"study": "s", "objective": "write_amp", "optimizer": "random", "repeats": 0,
            "limits": ["live_sst_bytes <= none"]}  # fmt: skip
    return make_spec({**fast, **given}, "test")


def tune(home: Home, spec: StudySettings, script: Script) -> tuple[list[StoredTrial], str]:
    """The searched trials, and why the search ended."""
    told: list[str] = []
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        measure_baseline(study)
        search(study, told.append)
        repeat_finalists(study, 1)
        trials = [trial for trial in study.trials() if trial.role is Role.TRIAL]
    assert home.study(spec.name).ended == told[-1]
    return trials, told[-1]


def planted(**amps: float) -> Script:
    """A base of 10 +- 2 %, and trials of 10 but for those named by their place: t3=5."""
    calls = 0

    def script(spec: TrialSpec) -> TrialResult:
        nonlocal calls
        calls += 1
        if calls <= 3:
            return measured(write_amp=(9.8, 10.0, 10.2)[calls - 1])
        return measured(write_amp=amps.get(f"t{calls - 3}", 10.0))

    return script


def bowl(spec: TrialSpec) -> TrialResult:
    """Least at triggers of 28 and 52; runs differ by 1 or 2 %."""
    slowdown, stop = (float(spec.settings[name]) for name in FEW.split(","))
    noise = 1 + 0.01 * ((spec.seed * 7 + round(slowdown)) % 5 - 2)
    amp = 5 + ((slowdown - 28) / 4) ** 2 + ((stop - 52) / 8) ** 2
    return measured(write_amp=amp * noise)


def cut_off_at(call: int, script: Script) -> Script:
    calls = 0

    def cut(spec: TrialSpec) -> TrialResult:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return script(spec)

    return cut


def test_a_number_ends_the_search_after_so_many_trials_without_a_gain(home: Home) -> None:
    trials, ended = tune(home, make(study="a", until=5), planted())
    assert len(trials) == 5
    assert ended.endswith(" 5 trials")
    assert len(tune(home, make(study="b", until=5), planted(t4=5.0, t7=2.0))[0]) == 7 + 5


def test_what_noise_explains_is_no_gain(home: Home) -> None:
    assert len(tune(home, make(study="a", until=5), planted(t4=9.8))[0]) == 5
    assert len(tune(home, make(study="b", until=5), planted(t4=9.0, t5=8.9))[0]) == 4 + 5


def test_what_breaks_a_limit_is_no_gain(home: Home) -> None:
    spec = make(until=5, limits=["total_s <= 2"])
    result = measured(write_amp=1.0, total_s=3.0)
    calls: list[TrialSpec] = []

    def script(trial: TrialSpec) -> TrialResult:
        calls.append(trial)
        return measured(write_amp=2.0) if len(calls) <= 3 else result

    assert len(tune(home, spec, script)[0]) == 5


def test_of_several_goals_a_gain_in_any_counts(home: Home) -> None:
    spec = make(until=4, objective=["write_amp", "total_s"])
    trials = iter([(1.0, 1.0)] * 3 + [(0.5, 2.0), (1.0, 1.0), (2.0, 0.5), (0.6, 2.0)])

    def script(_: TrialSpec) -> TrialResult:
        amp, time = next(trials, (1.0, 1.0))
        return measured(write_amp=amp, total_s=time)

    assert len(tune(home, spec, script)[0]) == 3 + 4


def test_a_search_is_stable_when_little_is_to_be_expected(home: Home) -> None:
    trials, ended = tune(home, make(until="stable", knobs=FEW, optimizer="tpe"), bowl)
    assert ended.startswith("stable: ")
    gain, noise = map(float, re.findall(r"([\d.e+-]+) %", ended))
    assert 0 <= gain < noise
    assert 12 <= len(trials) < 60
    best = min(trial.result.metrics["write_amp"] for trial in trials)
    assert best < 5.5


def test_a_search_for_several_goals_is_stable_when_each_of_them_is(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        amp = bowl(spec).metrics["write_amp"]
        return measured(write_amp=amp, total_s=3 + amp)

    goals = ["write_amp", "total_s"]
    spec = make(until="stable", knobs=FEW, optimizer="tpe", objective=goals)
    assert re.match(r"stable: .* %", tune(home, spec, script)[1])


def test_without_any_gain_it_is_stable_too(home: Home) -> None:
    failing = TrialResult(status=Status.CRASHED, reason="signal 6")
    calls: list[TrialSpec] = []

    def script(trial: TrialSpec) -> TrialResult:
        calls.append(trial)
        return measured() if len(calls) <= 3 else failing

    trials, ended = tune(home, make(until="stable", knobs=FEW), script)
    assert len(trials) == 20
    assert re.match(r"stable: .* 20 trials$", ended)


@pytest.mark.parametrize(("until", "calls"), [(4, (2, 3, 2)), ("stable", (2, 6, 9))])
def test_interrupted_anywhere_it_ends_where_it_would_have(
    home: Home, until: Any, calls: tuple[int, ...]
) -> None:
    given = {"until": until, "knobs": FEW, "optimizer": "tpe", "repeats": 2, "finalists": 2}
    whole, ended = tune(home, make(study="one", **given), bowl)
    spec = make(study="two", **given)
    for call in calls:
        with (
            pytest.raises(KeyboardInterrupt),
            open_study(home, spec, ScriptedEngine(cut_off_at(call, bowl)), lambda _: None) as study,
        ):
            run_search(study)
        assert home.study("two").ended is None
    for _ in range(2):
        parts, again = tune(home, spec, bowl)
        assert again == ended
        assert [trial.config for trial in parts] == [trial.config for trial in whole]


def test_finalists_that_tell_the_noise_better_do_not_open_a_search_again(home: Home) -> None:
    spec = make(until=4, repeats=4, finalists=4)
    amps = iter([9.0, 10.0, 11.0])

    def script(_: TrialSpec) -> TrialResult:
        return measured(write_amp=next(amps, 9.0))

    for _ in range(2):
        assert len(tune(home, spec, script)[0]) == 4
    assert len(tune(home, make(until=5, repeats=4, finalists=4), script)[0]) > 5


def test_it_may_change_while_a_study_goes_on(home: Home) -> None:
    assert len(tune(home, make(until=3), planted())[0]) == 3
    trials, ended = tune(home, make(until=6), planted())
    assert len(trials) == 6
    assert ended.endswith(" 6 trials")
    assert re.match(r"all 5 trials", tune(home, make(until=6, trials=5), planted())[1])


def test_page_and_words_say_why_the_search_has_ended(home: Home) -> None:
    _, ended = tune(home, make(until=3, pairs=0), planted(t1=5.0))
    view = read_study(home, "s")
    assert any(ended in line for line in summary_lines(view, claim_of(view)))
    assert show_document(view)["ended"] == ended
    assert ended in render_page(view)


def test_the_plan_says_what_may_end_the_search(tmp_path: Path) -> None:
    def plan(**given: Any) -> tuple[str, dict[str, Any]]:
        spec = make(knobs=FEW, **given)
        facts, ground = describe(spec, ScriptedEngine(planted()), tmp_path)
        found = Plan(facts, KnobSpaces(spec, ground), tmp_path, (), None)
        return " ".join(" ".join(plan_lines(found)).split()), plan_document(found)

    words, document = plan(until="stable")
    assert re.search(r"no further gain\b.*\b12 trials\b", words)
    assert document["until"] == "stable"
    assert document["number_of_runs"][1] is None
    words, document = plan(until=5, trials=30)
    assert re.search(r"30 trials.*\b5\b", words)
    assert document["number_of_runs"][0] < document["number_of_runs"][1]
    assert document["duration_s"] == [None, None]


def test_other_ends_are_told_alike(home: Home) -> None:
    assert re.match(r"all 2 trials", tune(home, make(study="a", trials=2), planted())[1])
    tiny = make(study="b", knobs="compaction_style", trials=50)
    trials, ended = tune(home, tiny, planted())
    assert len(trials) < 50
    assert re.match(r"all configs", ended)


def test_trials_are_no_limit_unless_they_are_given() -> None:
    assert make(until="stable").trials is None
    assert make(budget="20m").trials is None
    assert make(budget="20m", trials=7).trials == 7
    assert make(until="12").until == 12
    assert make(until=12, trials=7).trials == 7
    assert make().trials == 16


@pytest.mark.parametrize("until", [0, -3, "never", "", True, 1.5])
def test_what_is_no_end_is_refused(until: Any) -> None:
    with pytest.raises(UserError, match=r"^(test: )?until.*stable"):
        make(until=until)


@pytest.mark.parametrize(("end", "value"), [("until", 5), ("budget", "20m")])
def test_online_tuning_has_no_such_end(end: str, value: Any) -> None:
    with pytest.raises(UserError, match=rf"{end}: .*\[online\].*trials"):
        make_spec({"workload": "tpcc", "online": {}, end: value}, "test")
