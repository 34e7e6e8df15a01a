"""A study as a storage of Optuna: the same trials, and nothing of the dashboard left behind."""

import errno
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState

from fakes.patience import PATIENCE_S
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.cli import dashboard as command
from lsmtune.cli.main import run
from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.knobs.types import Config
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import NewTrial
from lsmtune.studies.study import open_study
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
        study.tune()


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
    monkeypatch.setattr(command, "_is_installed", lambda: False)
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


def test_without_the_program_it_says_how_to_go_on(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["dashboard", "s", "--json"]) == 0
    out, err = capsys.readouterr()
    file = home / "results" / "s" / "optuna.sqlite3"
    assert json.loads(out) == {"storage": str(file), "trials": 11, "dashboard": None}
    assert "pip install optuna-dashboard" in err
    assert err.count("\n") == 1


MODULE = """\
def wsgi(storage):
    def app(environ, start_response):
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [storage.encode()]
    return app
"""


def ctrl_c_works() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def port() -> Iterator[int]:
    """A port that no other program gets: a socket has it, but does not listen on it."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield int(keeper.getsockname()[1])


@contextmanager
def dashboard(folder: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Run the command with a stand-in for optuna-dashboard, and give what it has told."""
    (folder / "optuna_dashboard.py").write_text(MODULE)
    code = "from lsmtune.cli.main import main; main()"
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    with subprocess.Popen(
        [sys.executable, "-c", code, "dashboard", "s", "--json", "--port", str(port)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": path},
        preexec_fn=ctrl_c_works,  # noqa: PLW1509 - no threads here
    ) as process:  # fmt: skip
        assert process.stdout is not None
        try:
            yield process, json.loads("".join(process.stdout.readline() for _ in range(5)))
        finally:
            process.kill()


def answer(port: int, host: str | None) -> tuple[int, str]:
    """Return status and text of the answer to a request with that header `Host`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.putrequest("GET", "/", skip_host=True)
        if host is not None:
            connection.putheader("Host", host)
        connection.endheaders()
        found = connection.getresponse()
        return found.status, found.read().decode()
    finally:
        connection.close()


def check_ended(process: subprocess.Popen[str], port: int, code: int) -> None:
    """It says nothing more, and nothing answers any longer."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (code, "", "")
    with pytest.raises(ConnectionRefusedError):
        answer(port, "localhost")


@pytest.mark.slow
def test_the_dashboard_answers_only_requests_to_this_machine_until_ctrl_c(
    home: Path, port: int
) -> None:
    with dashboard(home.parent, port) as (process, document):
        assert document["dashboard"] == f"http://127.0.0.1:{port}/"
        for name in ("127.0.0.1", "localhost", "LocalHost"):
            for host in (name, f"{name}:{port}"):
                assert answer(port, host) == (200, f"sqlite:///{document['storage']}")
        for host in (
            None, "", "evil.example", f"evil.example:{port}", "127.0.0.1.evil.example",
            "localhost.evil.example", f"localhost:{port}.evil.example", "127.0.0.1:1", "[::1]",
        ):  # fmt: skip
            status, text = answer(port, host)
            assert status == 403
            assert document["storage"] not in text
        process.send_signal(signal.SIGINT)
        check_ended(process, port, 0)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_the_dashboard_ends_with_the_program(
    home: Path, port: int, how: signal.Signals, code: int
) -> None:
    with dashboard(home.parent, port) as (process, _):
        assert answer(port, "localhost")[0] == 200
        process.send_signal(how)
        check_ended(process, port, code)


def test_a_port_in_use_is_told_at_once(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_is_installed", lambda: True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert run(["dashboard", "s", "--port", str(port)]) == 2
    err = capsys.readouterr().err
    assert f"--port {port}: " in err
    assert os.strerror(errno.EADDRINUSE) in err
    assert not (home / "results").exists()
