"""200 trials of which a third fail in every way: it ends, counts right, and stays quick."""

import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from fakes.studies import open_study
from lsmtune.cli.main import run
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

pytestmark = pytest.mark.slow

TRIALS = 200
BASE_RUNS = 3
FAILURES = [status for status in Status if status.failed]
MOST_SLOWDOWN = 3
"""CPU time of a late step of the search / an early one."""


class Fate:
    """A script in which a third of the trials fails, and the clock of each step."""

    def __init__(self) -> None:
        self._chance = random.Random(20261122)
        self.starts_s: list[float] = []
        self.given: list[tuple[Status, float]] = []

    def __call__(self, spec: TrialSpec) -> TrialResult:
        self.starts_s.append(time.process_time())
        if len(self.starts_s) > BASE_RUNS and self._chance.random() < 0.3:
            failed = self._chance.choice(FAILURES)
            self.given.append((failed, 0.0))
            return TrialResult(status=failed, reason="because")
        amplification = self._chance.uniform(1.0, 9.0) if self.given else 5.0
        self.given.append((Status.COMPLETE, amplification))
        return measured(write_amp=amplification)

    def steps_s(self) -> list[float]:
        pairs = zip(self.starts_s, self.starts_s[1:], strict=False)
        return [after - before for before, after in pairs]


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Fate]:
    folder, fate = tmp_path_factory.mktemp("many"), Fate()
    spec = make_spec({"study": "s", "objective": "write_amp", "optimizer": "random", "pairs": 0,
                      "trials": TRIALS, "base_runs": BASE_RUNS, "repeats": 0}, "test")  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        with (
            Home(folder / "home", create=True) as home,
            open_study(home, spec, ScriptedEngine(fate), lambda event: None) as study,
        ):
            run_search(study)
    return folder / "home", fate


def document(home: Path, capsys: pytest.CaptureFixture[str], *command: str) -> object:
    capsys.readouterr()
    assert run([*command, "s", "--home", str(home), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_trial_is_kept_as_it_ended(tuned: tuple[Path, Fate]) -> None:
    with Home(tuned[0], create=False) as home:
        trials = home.trials(home.study("s"))
    assert [trial.number for trial in trials] == list(range(BASE_RUNS + TRIALS))
    assert [trial.result.status for trial in trials] == [status for status, _ in tuned[1].given]
    assert len({trial.config for trial in trials if trial.role is Role.TRIAL}) == TRIALS
    assert {trial.result.status for trial in trials} == {Status.COMPLETE, *FAILURES}
    evidence = tuned[0] / "evidence" / "s"
    assert len(list(evidence.iterdir())) == BASE_RUNS + TRIALS


def test_it_counts_right_and_finds_the_best(
    tuned: tuple[Path, Fate], capsys: pytest.CaptureFixture[str]
) -> None:
    home, fate = tuned
    shown = document(home, capsys, "show")
    assert isinstance(shown, dict)
    searched = fate.given[BASE_RUNS:]
    statuses = Counter(status for status, _ in searched)
    assert shown["trials"]["total"] == TRIALS
    assert shown["trials"]["complete"] == statuses[Status.COMPLETE]
    assert shown["trials"]["failed"] == TRIALS - statuses[Status.COMPLETE] > TRIALS // 5
    _, best = min((a, n) for n, (_, a) in enumerate(fate.given) if a and n >= BASE_RUNS)
    assert shown["best"]["trial"] == best
    rows = document(home, capsys, "trials")
    assert isinstance(rows, list)
    assert Counter(row["status"] for row in rows[BASE_RUNS:]) == statuses


def test_the_page_and_the_words_hold_all_of_it(
    tuned: tuple[Path, Fate], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home, _ = tuned
    page = tmp_path / "page.html"
    assert run(["report", "s", "--home", str(home), "-o", str(page)]) == 0
    assert page.stat().st_size > 10_000
    assert run(["show", "s", "--home", str(home)]) == 0
    assert f"{TRIALS} trials" in capsys.readouterr().out


def test_a_step_stays_quick(tuned: tuple[Path, Fate]) -> None:
    steps_s = tuned[1].steps_s()[BASE_RUNS:]
    assert median(steps_s[-50:]) < MOST_SLOWDOWN * median(steps_s[:20])
