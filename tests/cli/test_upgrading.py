"""`lsmtune verify --rocksdb` on versions that are played."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from fakes.versions import NEW, OLD, Played
from lsmtune.cli.main import run
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import measured
from lsmtune.trials import Role, TrialResult, TrialSpec

BEST = 0
"""The value of compaction_pri that wins on the old version; the baseline has 3."""
THIRD = "10.1.3"


def script(version: str, spec: TrialSpec) -> TrialResult:
    """An upgrade helps; the winner wins on the old version only."""
    is_best = spec.settings["compaction_pri"] == BEST
    noise = 1 + 0.001 * (spec.seed % 5)
    if version == OLD:
        return measured(write_amp=(5.0 if is_best else 10.0) * noise)
    return measured(write_amp=(8.0 if is_best else 4.0) * noise)


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch, own_host: Path) -> Played:
    found = Played(script)
    found.install(monkeypatch)
    return found


@pytest.fixture
def home(tmp_path: Path, played: Played) -> Iterator[Path]:
    """A home with a study that has found its winner on the old version."""
    folder = tmp_path / "home"
    settings = {"study": "s", "objective": "write_amp", "optimizer": "random", "repeats": 0,
                "base_runs": 1, "knobs": "compaction_pri", "rocksdb": OLD}  # fmt: skip
    spec = make_spec(settings, "test")
    with (
        Home(folder, create=True) as opened,
        open_study(opened, spec, played.engine(OLD), lambda _: None) as study,
    ):
        run_search(study)
    played.trials.clear()
    return folder


def verify(home: Path, *flags: str) -> int:
    return run(["verify", "s", "--home", str(home), *flags])


def document(home: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    capsys.readouterr()
    assert verify(home, "--json", *flags) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_answer_has_the_upgrade_and_the_winner_on_each_version(
    home: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(home, capsys, "--rocksdb", NEW)
    metric = found["metrics"]["write_amp"]
    assert metric["upgrade"].keys() == {NEW}
    assert metric["upgrade"][NEW]["ratio"]["median"] == pytest.approx(0.4)
    assert metric["upgrade"][NEW]["proven"] == "better"
    assert {v: c["proven"] for v, c in metric["winner"].items()} == {OLD: "better", NEW: "worse"}
    assert len(metric["answers"]) == 2
    assert found["experiment"]["libraries"].keys() == {OLD, NEW}
    assert found["experiment"]["blocks"] == 6
    page = home / "results" / "s-versions" / "report.html"
    assert played.hash(NEW) in page.read_text()


def test_runs_that_exist_are_not_run_again(
    home: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    first = document(home, capsys, "--rocksdb", OLD, "--rocksdb", NEW)
    count = len(played.trials)
    assert count == 6 * (4 + 1)
    assert verify(home, "--rocksdb", NEW, "--json") == 0
    again = capsys.readouterr()
    assert json.loads(again.out) == first
    assert "all runs are done" in again.err
    assert len(played.trials) == count
    with Home(home, create=False) as opened:
        trials = opened.trials(opened.study("s-versions"))
    assert sum(trial.role is Role.TRIAL for trial in trials) == 24
    assert {trial.spec.settings["compaction_pri"] for trial in trials} == {BEST, 3}


def test_a_knob_of_the_winner_that_a_version_lacks_is_told_before_any_run(
    home: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    played.missing = {THIRD: ("compaction_pri",)}
    assert verify(home, "--rocksdb", NEW, "--rocksdb", THIRD) == 2
    told = capsys.readouterr().err
    assert THIRD in told
    assert "compaction_pri" in told
    assert played.trials == []
    with Home(home, create=False) as opened:
        assert opened.study_names() == ["s"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--rocksdb", OLD), "another"),
        (("--rocksdb", "8"), "`lsmtune engines`"),
        (("--rocksdb", NEW, "--scale", "1"), "--scale"),
        (("--rocksdb", NEW, "--trial", "99"), "--trial 99"),
    ],
)
def test_mistakes_are_told_in_one_sentence(
    home: Path,
    played: Played,
    capsys: pytest.CaptureFixture[str],
    flags: tuple[str, ...],
    words: str,
) -> None:
    assert verify(home, *flags) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert played.trials == []


def test_other_versions_do_not_join_an_earlier_comparison(
    home: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(home, "--rocksdb", NEW) == 0
    count = len(played.trials)
    assert verify(home, "--rocksdb", THIRD) == 2
    assert "s-versions" in capsys.readouterr().err
    assert len(played.trials) == count


def test_a_study_on_another_library_is_another_system(home: Path, played: Played) -> None:
    played.content[OLD] = "other"
    assert verify(home, "--rocksdb", NEW) == 2
    assert played.trials == []


def shown(home: Path, capsys: pytest.CaptureFixture[str], study: str) -> str | None:
    """Return the only command that `lsmtune show` names as the next step."""
    capsys.readouterr()
    assert run(["show", study, "--home", str(home), "--json"]) == 0
    (step,) = json.loads(capsys.readouterr().out)["claim"]["next"]
    assert step["kind"] == "read_upgrade"
    command: str | None = step["command"]
    return command


@pytest.mark.slow
def test_show_names_the_command_that_continues_the_comparison(
    home: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    with Home(home, create=False) as opened:
        trials = opened.trials(opened.study("s"))
    other = next(t.number for t in trials if t.config["compaction_pri"] not in (BEST, 3))
    for flags in (
        ("--rocksdb", THIRD, "--rocksdb", NEW),
        ("--trial", str(other), "--rocksdb", NEW),
    ):
        assert verify(home, *flags) == 0
        count = len(played.trials)
        command = shown(home, capsys, "s-versions")
        assert command is not None
        assert ("--trial" in command) is ("--trial" in flags)
        assert run([*shlex.split(command)[1:], "--home", str(home)]) == 0
        assert len(played.trials) == count
        assert run(["verify", "s-versions", "--trial", "1", "--home", str(home)]) == 2
        assert len(played.trials) == count
        assert run(["rename", "s-versions", "old", "--home", str(home)]) == 0
        assert shown(home, capsys, "old") is None
        assert run(["delete", "old", "--yes", "--home", str(home)]) == 0
