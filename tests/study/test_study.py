"""The loop of a study, driven by a scripted engine: order, budget, failures, interruptions."""

import errno
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.cli.result_lines import summary_lines
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.progress import Event
from lsmtune.report.page import render_page
from lsmtune.report.study_document import show_document
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.search import run_search
from lsmtune.study.session import Session
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

FULL = os.strerror(errno.ENOSPC)

Decision = tuple[int, Role, str, int]
"""Number, role, config and workload seed of a trial."""


def make(**given: Any) -> StudySettings:
    fast = {"study": "s", "objective": "write_amp", "optimizer": "random", "repeats": 0}
    return make_spec({**fast, **given}, "test")


@contextmanager
def opened(
    home: Home, spec: StudySettings, script: Script, listener: Callable[[Event], None] | None = None
) -> Iterator[Session]:
    with open_study(home, spec, ScriptedEngine(script), listener or (lambda _: None)) as study:
        yield study


def tune(home: Home, spec: StudySettings, script: Script) -> list[StoredTrial]:
    """All trials of the study after tuning."""
    with opened(home, spec, script) as study:
        run_search(study)
        return study.home.trials(study.stored)


def smooth(spec: TrialSpec) -> TrialResult:
    """Better with larger blocks; by other metrics all the same."""
    return measured(write_amp=1e4 / float(spec.settings["block_size"]))


def flat(_: TrialSpec) -> TrialResult:
    return measured()


def decisions(trials: list[StoredTrial]) -> list[Decision]:
    return [(t.number, t.role, t.config.hash, t.spec.seed) for t in trials]


def roles(trials: list[StoredTrial]) -> Counter[Role]:
    return Counter(trial.role for trial in trials)


class Fate:
    """A script with accidents: what happens at which call, and what otherwise."""

    def __init__(self, script: Script, accidents: dict[int, TrialResult | BaseException]) -> None:
        self.calls = 0
        self._script = script
        self._accidents = accidents

    def __call__(self, spec: TrialSpec) -> TrialResult:
        fate = self._accidents.get(self.calls)
        self.calls += 1
        if isinstance(fate, BaseException):
            raise fate
        return self._script(spec) if fate is None else fate


CRASH = TrialResult(status=Status.CRASHED, reason="signal 6")
DISTURBED = measured(others_cpu_percent=50.0)


def test_the_base_comes_first_as_often_as_asked(home: Home) -> None:
    trials = tune(home, make(base_runs=2, trials=5), smooth)
    assert [trial.role for trial in trials] == [Role.BASE] * 2 + [Role.TRIAL] * 5
    with opened(home, make(base_runs=2, trials=5), smooth) as study:
        base = study.space.base
        assert all(trial.spec.settings == base for trial in trials[:2])
        assert trials[0].config == study.space.default()
        assert [o.config for o in study.history.observations] == [t.config for t in trials[1:]]
        assert study.history.observations[0].value == 1


def test_the_engine_runs_what_the_study_says(home: Home) -> None:
    spec = make(trials=2, seed=5, workload={"num": 5000}, protocol={"probe_reads": 500})
    given: list[TrialSpec] = []
    tune(home, spec, lambda task: given.append(task) or smooth(task))  # type: ignore[func-returns-value]
    # The base runs under seeds of their own, so that they tell how far runs differ.
    assert [task.seed for task in given] == [5, 6, 7, 5, 5]
    assert {task.workload.num for task in given} == {5000}
    assert {task.protocol.probe_reads for task in given} == {500}


def test_every_trial_is_another_config(home: Home) -> None:
    trials = tune(home, make(trials=20), smooth)
    assert len({trial.config for trial in trials if trial.role is Role.TRIAL}) == 20


def test_a_slow_trial_is_cut_far_above_the_base(home: Home) -> None:
    trials = tune(home, make(trials=1), smooth)
    assert trials[0].spec.protocol.wall_limit_s == 3600
    assert trials[-1].spec.protocol.wall_limit_s == 60  # the shortest; the base took no time


def test_a_larger_budget_continues_with_the_same_numbering(home: Home) -> None:
    first = tune(home, make(trials=4), smooth)
    both = tune(home, make(trials=9), smooth)
    assert both[: len(first)] == first
    assert [trial.number for trial in both] == list(range(3 + 9))
    assert tune(home, make(trials=9), smooth) == both


def test_in_two_calls_it_decides_as_in_one(home: Home) -> None:
    tune(home, make(study="two", trials=6), smooth)
    two = tune(home, make(study="two", trials=11), smooth)
    one = tune(home, make(study="one", trials=11), smooth)
    assert decisions(two) == decisions(one)


def test_a_time_budget_ends_the_search(home: Home) -> None:
    now = [0.0]

    def slow(spec: TrialSpec) -> TrialResult:
        now[0] += 10
        return smooth(spec)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: now[0])
        trials = tune(home, make(trials=1000, budget="35s"), slow)
    assert roles(trials)[Role.TRIAL] == 4  # the base's time does not count
    assert all(trial.duration_s == 10 for trial in trials)


def test_a_space_that_is_used_up_ends_the_search(home: Home) -> None:
    trials = tune(home, make(knobs="compaction_pri", trials=16), flat)
    assert sorted(t.config["compaction_pri"] for t in trials if t.role is Role.TRIAL) == [0, 1, 2]


@pytest.mark.parametrize("optimizer", ["random", "tpe"])
@pytest.mark.parametrize("calls", [0, 2, 3, 8, 14])
def test_after_an_interruption_it_decides_as_without(
    home: Home, optimizer: str, calls: int
) -> None:
    knobs = "block_size,bloom_bits,num_levels"
    spec = make(optimizer=optimizer, trials=12, knobs=knobs)
    whole = tune(home, spec.model_copy(update={"study": "whole"}), smooth)
    with pytest.raises(KeyboardInterrupt):
        tune(home, spec, Fate(smooth, {calls: KeyboardInterrupt()}))
    assert list(home.work.iterdir()) == []
    assert len(home.trials(home.study("s"))) == calls
    assert decisions(tune(home, spec, smooth)) == decisions(whole)


def test_what_is_wrong_with_the_engine_is_raised_and_nothing_is_left(home: Home) -> None:
    with pytest.raises(ZeroDivisionError):
        tune(home, make(), Fate(smooth, {4: ZeroDivisionError()}))
    assert len(home.trials(home.study("s"))) == 4
    assert list(home.work.iterdir()) == []
    assert len(list((home.evidence / "s").iterdir())) == 4


def test_evidence_that_was_cut_off_is_swept_when_the_study_goes_on(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfileobj", full_disk)
        with pytest.raises(LsmtuneError, match=FULL):
            tune(home, make(), smooth)
    assert home.trials(home.study("s")) == []
    trials = tune(home, make(trials=2), smooth)
    assert [trial.number for trial in trials] == list(range(5))
    assert all(home.read_evidence(trial, "script.txt") == "complete" for trial in trials)


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, FULL)


def fails_often(spec: TrialSpec) -> TrialResult:
    """Three in ten of the configs fail, in different ways; the base does not."""
    kinds = [Status.CRASHED, Status.REFUSED, Status.TIMED_OUT]
    digit = int(spec.settings["block_size"]) % 10
    if digit < 3:
        return TrialResult(status=kinds[digit], reason=f"because of {digit}")
    return smooth(spec)


@pytest.mark.parametrize("optimizer", ["random", "tpe"])
def test_failed_trials_are_data(home: Home, optimizer: str) -> None:
    spec = make(
        trials=40, optimizer=optimizer, knobs="block_size,bloom_bits,num_levels", new_store=True
    )
    trials = tune(home, spec, fails_often)
    searched = [trial for trial in trials if trial.role is Role.TRIAL]
    failed = [t for t in searched if t.result.status is not Status.COMPLETE]
    assert len(searched) == 40
    assert 0 < len(failed) < len(searched)
    assert all(t.result.reason and not t.result.metrics for t in failed)
    assert all(home.read_evidence(t, "script.txt") == t.result.status for t in failed)
    with opened(home, spec, fails_often) as study:
        observed = {o.config: o for o in study.history.observations}
        assert all(observed[t.config].value is observed[t.config].violation is None for t in failed)
        assert sum(o.value is None for o in study.history.observations) == len(failed)
        best = study.best()
    values = {t.config: t.result.metrics["write_amp"] for t in searched if t not in failed}
    assert best is not None
    assert best.metrics["write_amp"] == min(values.values())


def test_a_study_in_which_every_trial_fails_has_no_winner(home: Home) -> None:
    crashes = Fate(smooth, dict.fromkeys(range(3, 100), CRASH))
    with opened(home, make(trials=5), crashes) as study:
        run_search(study)
        assert study.best() is None
        assert roles(study.trials())[Role.TRIAL] == 5


@pytest.mark.parametrize(
    ("disturbances", "statuses"),
    [
        ([4], [Status.DISTURBED, Status.COMPLETE]),
        ([4, 5], [Status.DISTURBED, Status.DISTURBED, Status.COMPLETE]),
        ([4, 5, 6, 7], [Status.DISTURBED, Status.DISTURBED, Status.COMPLETE]),
    ],
)
def test_a_disturbed_trial_is_kept_and_repeated_at_most_twice(
    home: Home, disturbances: list[int], statuses: list[Status]
) -> None:
    script = Fate(flat, dict.fromkeys(disturbances[:3], DISTURBED))
    spec = make(trials=3)
    trials = tune(home, spec, script)
    again = trials[4 : 4 + len(statuses)]
    assert [trial.result.status for trial in again] == statuses
    assert len({trial.config for trial in again}) == 1
    assert len(trials) == 3 + 3 + len(statuses) - 1
    with opened(home, spec, script) as study:
        assert len(study.history.observations) == 1 + 3
        assert len(complete_trials(study.trials(), Role.TRIAL)) == 3


def test_a_disturbed_run_that_is_kept_is_marked(home: Home) -> None:
    trials = tune(home, make(trials=3), Fate(flat, dict.fromkeys((4, 5, 6), DISTURBED)))
    kept = [trial for trial in trials if trial.result.disturbance is not None]
    assert [(t.role, t.result.status) for t in kept] == [(Role.TRIAL, Status.COMPLETE)]
    view = read_study(home, "s")
    assert (view.disturbed, view.kept_disturbed) == (2, 1)
    assert show_document(view)["trials"]["kept_disturbed"] == 1
    assert show_document(view)["claim"]["disturbed_runs"] == 1
    for text in ("\n".join(summary_lines(view, claim_of(view))), render_page(view)):
        assert "DISTURBED: 1 run" in text
    assert "disturbed, but kept" in render_page(view)


def test_accepted_noise_is_marked_and_not_repeated(home: Home) -> None:
    def script(_: TrialSpec) -> TrialResult:
        return DISTURBED

    spec = make(trials=3)
    engine = ScriptedEngine(script)
    with open_study(home, spec, engine, lambda _: None, accept_noise=True) as study:
        run_search(study)
        trials = study.trials()
    assert len(trials) == 3 + 3
    assert {trial.result.status for trial in trials} == {Status.COMPLETE}
    assert all(trial.result.disturbance for trial in trials)


def test_little_use_of_the_cpu_by_others_disturbs_nothing(home: Home) -> None:
    trials = tune(home, make(trials=2), lambda _: measured(others_cpu_percent=4.9))
    assert {trial.result.status for trial in trials} == {Status.COMPLETE}


def test_a_disturbed_base_run_does_not_count(home: Home) -> None:
    noisy = measured(others_cpu_percent=50.0, write_amp=99.0)
    trials = tune(home, make(base_runs=2, trials=1), Fate(flat, {0: noisy, 2: noisy}))
    base = [trial for trial in trials if trial.role is Role.BASE]
    assert [t.result.status is Status.COMPLETE for t in base] == [False, True, False, True]


def test_a_disturbed_trial_that_was_cut_off_before_its_repeat_is_run_again(home: Home) -> None:
    script = Fate(smooth, {4: DISTURBED, 5: KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        tune(home, make(trials=3), script)
    trials = tune(home, make(trials=3), script)
    assert trials[4].result.status is Status.DISTURBED
    assert trials[5].config == trials[4].config
    assert trials[5].result.status is Status.COMPLETE


def test_the_winner_is_the_lowest_that_keeps_the_limits(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        size = float(spec.settings["block_size"])
        return measured(write_amp=1e4 / size, get_data_blocks=9.0 if size > 9000 else 1.0)

    spec = make(trials=30, knobs="block_size")
    trials = tune(home, spec, script)
    sizes = [int(t.config["block_size"]) for t in trials if t.role is Role.TRIAL]
    assert max(sizes) > 9000
    with opened(home, spec, script) as study:
        best = study.best()
        assert best is not None
        assert best.trial.config["block_size"] == max(size for size in sizes if size <= 9000)
        broken = [
            o for o in study.history.observations if o.violation is not None and o.violation > 0
        ]
        assert len(broken) == sum(size > 9000 for size in sizes)


def test_what_is_no_better_than_the_base_is_no_winner(home: Home) -> None:
    with opened(home, make(trials=5), flat) as study:
        run_search(study)
        assert study.best() is None


def lucky_once(spec: TrialSpec) -> TrialResult:
    """compaction_pri 0 is superb under the first seed only; 1 is good under each."""
    first = {0: 0.2, 1: 0.7, 2: 0.9, 3: 1.0}
    later = first | {0: 0.95}
    values = first if spec.seed == 1 else later
    return measured(write_amp=values[int(spec.settings["compaction_pri"])])


def test_a_lucky_run_does_not_win(home: Home) -> None:
    spec = make(knobs="compaction_pri", trials=3, finalists=2, repeats=2)
    with opened(home, spec, lucky_once) as study:
        run_search(study)
        best = study.best()
        assert best is not None
        assert best.trial.config["compaction_pri"] == 1
        assert best.runs == 3
        repeats = complete_trials(study.trials(), Role.REPEAT)
        history = study.history.observations
    assert [(t.config["compaction_pri"], t.spec.seed) for t in repeats] == [
        (0, 2), (1, 2), (0, 3), (1, 3),
    ]  # fmt: skip
    assert len(history) == 4  # repeats are none of the optimizer's business


def test_once_finalists_ran_again_a_single_good_run_does_not_win(home: Home) -> None:
    spec = make(knobs="compaction_pri", trials=3, finalists=1, repeats=2)
    with opened(home, spec, lucky_once) as study:
        run_search(study)
        best = study.best()
        assert best is not None
        assert best.trial.config["compaction_pri"] == 0
        assert best.metrics["write_amp"] == 0.95
        assert best.value == pytest.approx(0.95)


def breaks_a_limit_later(spec: TrialSpec) -> TrialResult:
    """compaction_pri 0 and 1 keep the constraint under the first seed only; 2 always does."""
    number = int(spec.settings["compaction_pri"])
    slow = spec.seed != 1 and number in (0, 1)
    return measured(
        write_amp={0: 0.5, 1: 0.6, 2: 0.9, 3: 1.0}[number], get_data_blocks=3.0 if slow else 1.0
    )


def test_if_no_finalist_keeps_the_limits_the_next_configs_run_again(home: Home) -> None:
    spec = make(knobs="compaction_pri", trials=3, finalists=2, repeats=2)
    for _ in ("new", "complete"):
        with opened(home, spec, breaks_a_limit_later) as study:
            run_search(study)
            best = study.best()
            assert best is not None
            assert (best.trial.config["compaction_pri"], best.runs) == (2, 3)
            repeats = complete_trials(study.trials(), Role.REPEAT)
        assert [(t.config["compaction_pri"], t.spec.seed) for t in repeats] == [
            (0, 2), (1, 2), (0, 3), (1, 3), (2, 2), (2, 3),
        ]  # fmt: skip


def test_finalists_that_were_interrupted_are_finished(home: Home) -> None:
    spec = make(knobs="compaction_pri", trials=3, finalists=2, repeats=2)
    whole = tune(home, spec.model_copy(update={"study": "whole"}), lucky_once)
    for calls in (6, 7, 8, 9):
        cut = spec.model_copy(update={"study": f"cut-{calls}"})
        with pytest.raises(KeyboardInterrupt):
            tune(home, cut, Fate(lucky_once, {calls: KeyboardInterrupt()}))
        assert decisions(tune(home, cut, lucky_once)) == decisions(whole)


def test_a_base_that_fails_ends_the_study_with_the_reason(home: Home) -> None:
    with pytest.raises(LsmtuneError, match=r"baseline.*signal 6") as caught:
        tune(home, make(), Fate(smooth, {1: CRASH}))
    assert not isinstance(caught.value, UserError)
    assert [t.result.status for t in home.trials(home.study("s"))] == [
        Status.COMPLETE,
        Status.CRASHED,
    ]


def test_a_study_whose_base_failed_can_go_on(home: Home) -> None:
    with pytest.raises(LsmtuneError):
        tune(home, make(), Fate(smooth, {1: CRASH}))
    trials = tune(home, make(trials=2), smooth)
    assert [(t.role, t.result.status) for t in trials[:4]] == [
        (Role.BASE, Status.COMPLETE),
        (Role.BASE, Status.CRASHED),
        (Role.BASE, Status.COMPLETE),
        (Role.BASE, Status.COMPLETE),
    ]
    assert roles(trials)[Role.TRIAL] == 2


def test_other_settings_under_the_same_name_are_refused(home: Home) -> None:
    tune(home, make(trials=1), flat)
    with (
        pytest.raises(UserError, match=r"seed was 1 .* 2\).*another study"),
        opened(home, make(seed=2), flat),
    ):
        pass
    assert home.study("s").spec["seed"] == 1


def test_a_study_that_is_open_elsewhere_is_in_use(home: Home) -> None:
    with (
        opened(home, make(), flat),
        pytest.raises(UserError, match=f"^study 's': .*process {os.getpid()}"),
        opened(home, make(), flat),
    ):
        pass


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"knobs": "no_such_knob"}, "no_such_knob"),
        ({"optimizer": "annealing"}, "annealing"),
        ({"memory": "1MiB"}, "memory"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_is_kept(
    home: Home, given: dict[str, str], words: str
) -> None:
    with pytest.raises(UserError, match=words), opened(home, make(**given), flat):
        pass
    assert home.study_names() == []


def test_listeners_hear_of_phases_and_results(home: Home) -> None:
    events: list[Event] = []
    with opened(home, make(base_runs=1, trials=1), smooth, events.append) as study:
        run_search(study)
    told = [(event.task.role, event.phase, event.result is not None) for event in events]
    assert told == [
        (role, phase, phase == "done")
        for role in (Role.BASE, Role.TRIAL)
        for phase in ("load", "done")
    ]
