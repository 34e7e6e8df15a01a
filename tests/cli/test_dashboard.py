"""A study as a storage of Optuna: the same trials, and nothing of the dashboard left behind."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

from fakes.studies import open_study
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.cli.main import run
from lsmtune.knobs.types import Config
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import NewTrial
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

KNOBS = "block_size,bytes_per_sync,bloom_bits,compression_type,mmap_read"
METRICS = {
    "write_amp", "throughput_ops_s", "live_sst_bytes", "write_p99_us", "get_data_blocks",
    "get_missing_data_blocks", "scan_sorted_runs", "flushes", "others_cpu_percent",
}  # fmt: skip
"""Those of the objectives and constraints: an export writes a row for each metric of a trial."""


def complete(**metrics: float) -> TrialResult:
    """A result with few metrics."""
    result = measured(**metrics)
    assert result.measurement is not None
    few = {
        name: value for name, value in result.metrics.items() if name in METRICS or name in metrics
    }
    measurement = result.measurement.model_copy(update={"metrics": few})
    return result.model_copy(update={"measurement": measurement})


FATES = {
    3: TrialResult(status=Status.CRASHED, reason="it died"),
    5: TrialResult(status=Status.CUT, reason="hopeless", bounds={"write_amp": 3.0}),
    6: complete(write_amp=0.1, live_sst_bytes=100.0),  # the best, if there were no limits
    8: complete(others_cpu_percent=50.0),
}


def make_study(home: Path, **given: Any) -> None:
    """A study with a trial of every fate, tuned by a script."""
    runs = iter(range(1000))

    def script(spec: TrialSpec) -> TrialResult:
        fine = complete(write_amp=1e4 / float(spec.settings["block_size"]))
        return FATES.get(next(runs), fine)

    fast = {"study": "s", "objective": "write_amp", "optimizer": "random", "knobs": KNOBS,
            "trials": 8, "base_runs": 2, "repeats": 0, "pairs": 0}  # fmt: skip
    spec = make_spec({**fast, **given}, "test")
    with (
        Home(home, create=True) as opened,
        open_study(opened, spec, ScriptedEngine(script), lambda event: None) as study,
    ):
        run_search(study)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        make_study(folder / "home")
    return folder / "home"


@pytest.fixture(scope="module")
def exported(template: Path, tmp_path_factory: pytest.TempPathFactory) -> optuna.Study:
    file = tmp_path_factory.mktemp("exported") / "o.sqlite3"
    flags = ["--home", str(template), "--storage", str(file), "--export-only"]
    assert run(["dashboard", "s", *flags]) == 0
    return load(file)


@pytest.fixture
def home(template: Path, tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSMTUNE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))  # nothing is beside it
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    return Path(shutil.copytree(template, tmp_path / "home"))


def export(file: Path) -> None:
    assert run(["dashboard", "s", "--storage", str(file), "--export-only"]) == 0


def load(file: Path, name: str = "s") -> optuna.Study:
    return optuna.load_study(study_name=name, storage=f"sqlite:///{file}")


def view_of(home: Path) -> StudyView:
    with Home(home, create=False) as opened:
        return read_study(opened, "s")


def test_optuna_reads_the_same_trials(template: Path, exported: optuna.Study) -> None:
    study, view = exported, view_of(template)
    assert len(study.trials) == len(view.trials) == 11
    for told, kept in zip(study.trials, view.trials, strict=True):
        assert told.number == kept.number == told.user_attrs["trial"]
        assert told.params == kept.config
        assert tuple(told.values or ()) == kept.values
        attributes = told.user_attrs
        assert (attributes["role"], attributes["status"]) == (kept.role, kept.status)
        assert attributes.get("reason") == kept.reason
        assert {name: attributes[name] for name in kept.metrics} == kept.metrics
        assert told.datetime_complete is not None
    states = {Status.COMPLETE: TrialState.COMPLETE, Status.CUT: TrialState.PRUNED}
    assert [t.state for t in study.trials] == [
        states.get(t.status, TrialState.FAIL) for t in view.trials
    ]
    assert {t.status for t in view.trials} == {
        Status.COMPLETE, Status.CRASHED, Status.CUT, Status.DISTURBED
    }  # fmt: skip


def test_the_best_keeps_the_limits(template: Path, exported: optuna.Study) -> None:
    study, view = exported, view_of(template)
    assert view.best_trial is not None
    assert study.best_trial.number == view.best_trial.number
    assert study.user_attrs["best_trial"] == view.best_trial.number
    assert study.user_attrs["scale"] == "1/64"


def test_ranges_are_the_knobs_own_and_hold_what_ran(exported: optuna.Study) -> None:
    ranges = exported.trials[0].distributions
    assert set(ranges) == set(KNOBS.split(","))
    assert isinstance(ranges["block_size"], optuna.distributions.IntDistribution)
    assert ranges["block_size"].log
    assert isinstance(ranges["bytes_per_sync"], optuna.distributions.IntDistribution)
    assert (ranges["bytes_per_sync"].low, ranges["bytes_per_sync"].log) == (0, False)
    assert isinstance(ranges["mmap_read"], optuna.distributions.CategoricalDistribution)
    assert ranges["mmap_read"].choices == (False, True)


def test_several_goals_are_several_values(tmp_path: Path, own_host: Path) -> None:
    make_study(tmp_path / "home", objective=["write_amp", "throughput_ops_s"], trials=3)
    file = tmp_path / "o.sqlite3"
    command_line = ["dashboard", "s", "--export-only", "--home", str(tmp_path / "home")]
    assert run([*command_line, "--storage", str(file)]) == 0
    study = load(file)
    assert study.metric_names == ["write_amp (trial / base)", "throughput_ops_s (trial / base)"]
    assert study.trials[0].values == [1.0, 1.0]
    assert len(study.best_trials) >= 1


def test_runs_at_another_scale_have_no_value(home: Path, tmp_path: Path) -> None:
    with Home(home, create=False) as opened:
        stored = opened.study("s")
        best = opened.trials(stored)[-1]
        for scale, role in (("1", Role.VERIFY_BEST), ("1/64", Role.VERIFY_BASE)):
            made = opened.add_verification(stored, best.number, scale, best.spec.workload)
            result = complete(memory_bytes=1.0)
            trial = NewTrial(
                role, Config(best.config), best.spec, result, best.started_at, 1.0, made.id, 0
            )
            opened.add_trial(stored, trial, {})
    export(tmp_path / "o.sqlite3")
    *_, there, here = load(tmp_path / "o.sqlite3").trials
    assert (there.state, here.state) == (TrialState.FAIL, TrialState.COMPLETE)
    assert there.user_attrs["write_amp"] == 1.0


def test_an_earlier_export_is_replaced(home: Path) -> None:
    file = home / "results" / "s" / "optuna.sqlite3"
    for _ in range(2):
        assert run(["dashboard", "s", "--export-only"]) == 0
        assert len(load(file).trials) == 11
    assert list(file.parent.iterdir()) == [file]


def text_file(file: Path) -> None:
    file.write_text("mine\n")


def other_database(file: Path) -> None:
    optuna.create_study(storage=f"sqlite:///{file}", study_name="mine")


def study_beside_ours(file: Path) -> None:
    export(file)
    other_database(file)


def folder(file: Path) -> None:
    file.mkdir()


@pytest.mark.parametrize("make", [text_file, other_database, study_beside_ours, folder])
def test_what_is_not_ours_is_left_alone(
    home: Path, tmp_path: Path, make: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "o.sqlite3"
    make(file)
    before = file.read_bytes() if file.is_file() else None
    assert run(["dashboard", "s", "--storage", str(file), "--export-only"]) == 2
    assert "--storage" in capsys.readouterr().err
    assert before == (file.read_bytes() if file.is_file() else None)


def test_a_link_of_the_user_is_followed_and_one_in_the_home_is_not(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert run(["dashboard", "s", "--storage", str(tmp_path / "link"), "--export-only"]) == 0
    assert (tmp_path / "link").is_symlink()
    assert len(load(tmp_path / "real").trials) == 11
    (tmp_path / "victim").mkdir()
    (home / "results").mkdir(exist_ok=True)
    (home / "results" / "s").symlink_to(tmp_path / "victim")
    assert run(["dashboard", "s", "--export-only"]) == 2
    assert "link" in capsys.readouterr().err
    assert list((tmp_path / "victim").iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--port", "0"], ["--port", "1"]),
        (["--port", "65536"], ["--port", "65535"]),
        (["--storage", "home/lsmtune.sqlite3/x"], ["--storage", "cannot be written"]),
        (["--storage", "who?/x"], ["--storage", "?"]),
    ],
)
def test_wrong_use_is_told(
    home: Path, flags: list[str], words: list[str], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(home.parent)
    assert run(["dashboard", "s", *flags, "--export-only"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("lsmtune: ")
    assert all(word in err for word in words), err
    assert "Traceback" not in err


def a_program(folder: Path) -> Path:
    """Write a program of that name that says what it was given."""
    folder.mkdir()
    program = folder / "optuna-dashboard"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("flags", [[], ["--no-browser"], ["--port", "9000"]])
def test_the_printed_command_opens_the_storage(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, flags: list[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("PATH", str(a_program(tmp_path / "bin").parent), prepend=os.pathsep)
    file = tmp_path / "a file" / "o.sqlite3"
    file.parent.mkdir()
    assert run(["dashboard", "s", "--storage", str(file), *flags]) == 0
    command = capsys.readouterr().out.splitlines()[-1]
    told = subprocess.run(shlex.split(command), check=True, capture_output=True, text=True)
    port = flags[-1] if "--port" in flags else "8080"
    assert told.stdout.splitlines() == [f"sqlite:///{file}", "--port", port]
    assert len(load(file).trials) == 11


def test_json_has_the_command_and_its_address(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["dashboard", "s", "--json", "--port", "9000"]) == 0
    out, err = capsys.readouterr()
    file = home / "results" / "s" / "optuna.sqlite3"
    found = json.loads(out)
    assert shlex.split(found.pop("command")) == [
        "optuna-dashboard", f"sqlite:///{file}", "--port", "9000"
    ]  # fmt: skip
    assert found == {"storage": str(file), "trials": 11, "dashboard": "http://127.0.0.1:9000/"}
    assert "pip install optuna-dashboard" in err
    assert err.count("\n") == 1


def test_a_program_beside_python_is_named_with_its_path(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it also runs if the environment of Python is not active."""
    program = a_program(tmp_path / "bin")
    monkeypatch.setattr("sys.executable", str(program.with_name("python")))
    assert run(["dashboard", "s", "--json"]) == 0
    out, err = capsys.readouterr()
    assert shlex.split(json.loads(out)["command"])[0] == str(program)
    assert err == ""


def test_an_export_alone_has_no_command(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["dashboard", "s", "--export-only"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert err == ""
