"""A wall clock that is set while a trial runs spoils that trial, which is repeated; no other."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.studies import open_study
from lsmtune.analysis.read_study import read_study
from lsmtune.progress import Event
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study import runner
from lsmtune.study.search import run_search
from lsmtune.system.host import ClockWatch
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

TRIALS = 6
YEAR_S = 365 * 86400.0


class Clocks:
    """The clocks as lsmtune's runner sees them; the wall clock can be set."""

    def __init__(self) -> None:
        self.wall_s = 1.8e9
        self.monotonic_s = 0.0

    def watch(self) -> ClockWatch:
        return ClockWatch(lambda: self.wall_s, lambda: self.monotonic_s)

    def go_on(self, seconds: float) -> None:
        self.wall_s += seconds
        self.monotonic_s += seconds

    def set_by(self, seconds: float) -> None:
        self.wall_s += seconds


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Clocks:
    clocks = Clocks()
    monkeypatch.setattr(runner, "ClockWatch", clocks.watch)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return clocks


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home(tmp_path / "home", create=True) as opened:
        yield opened


def tune(home: Home, script: Script, clocks: Clocks, between: float = 0.0) -> list[StoredTrial]:
    """The trials of a study, the clock set between them by so much."""

    def listen(event: Event) -> None:
        if event.result is not None:
            clocks.set_by(between)

    spec = make_spec({"study": "s", "objective": "write_amp", "optimizer": "random", "pairs": 0,
                      "trials": TRIALS, "base_runs": 2, "repeats": 0}, "test")  # fmt: skip
    with open_study(home, spec, ScriptedEngine(script), listen) as study:
        run_search(study)
        return home.trials(study.stored)


@pytest.mark.parametrize("seconds", [3600.0, -3600.0, YEAR_S, -YEAR_S])
def test_a_trial_in_which_it_was_set_is_repeated(
    home: Home, clocks: Clocks, seconds: float
) -> None:
    runs = iter(range(100))

    def script(spec: TrialSpec) -> TrialResult:
        clocks.go_on(10)
        if next(runs) in (0, 4):
            clocks.set_by(seconds)
        return measured()

    trials = tune(home, script, clocks)
    spoilt = [trial for trial in trials if trial.result.status is Status.DISTURBED]
    assert [trial.number for trial in spoilt] == [0, 4]
    assert all(f"{seconds:+.1f} s" in str(trial.result.reason) for trial in spoilt)
    for trial in spoilt:
        again = trials[trial.number + 1]
        assert (again.role, again.config) == (trial.role, trial.config)
        assert again.result.status is Status.COMPLETE
    assert len(trials) == 2 + TRIALS + len(spoilt)
    view = read_study(home, "s")
    assert view.disturbed == 2
    assert len(view.searched) == TRIALS
    assert view.failed == ()


@pytest.mark.parametrize("seconds", [3600.0, -3600.0])
def test_between_trials_it_may_be_set(home: Home, clocks: Clocks, seconds: float) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        clocks.go_on(10)
        return measured()

    trials = tune(home, script, clocks, between=seconds)
    assert {trial.result.status for trial in trials} == {Status.COMPLETE}
    assert len(trials) == 2 + TRIALS


def test_slow_correction_spoils_nothing(home: Home, clocks: Clocks) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        clocks.go_on(600)
        clocks.set_by(600 * 100e-6)
        return measured()

    assert {t.result.status for t in tune(home, script, clocks)} == {Status.COMPLETE}


def test_a_clock_that_never_stands_still_does_not_stop_tuning(home: Home, clocks: Clocks) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        clocks.go_on(10)
        clocks.set_by(-60)
        return measured()

    trials = tune(home, script, clocks)
    base = [t.result.status for t in trials if t.role is Role.BASE]
    assert base == [Status.DISTURBED, Status.DISTURBED, Status.COMPLETE] * 2
