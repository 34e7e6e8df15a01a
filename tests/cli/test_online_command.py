"""`lsmtune tune --online` that is interrupted, on a store that is played."""

import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.entries import replaced
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Live, Places, Watch, Window
from lsmtune.knobs.types import Settings
from lsmtune.report.online_section import tuned, windows_plot
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, Judgement, Protocol, TrialSpec
from lsmtune.workloads import Workload

CAPTURED = Path(__file__).parents[1] / "data" / "captured" / "rocksdb-7.8.3-level"
OPTIONS = (CAPTURED / "OPTIONS").read_text()
WINDOWS = 3
STUDY_FILE = f"""
study = "s"
rocksdb = "11.8.1"
optimizer = "random"
trials = 4
workload = "overwrite"
[online]
windows = {WINDOWS}
"""


Gain = Callable[[Settings], float]


class Store:
    """A store on which `gain` gives the speed; the user presses Ctrl-C after some windows."""

    def __init__(self, windows: int, metrics: dict[str, float], gain: Gain) -> None:
        self._left = windows
        self._metrics = metrics
        self._gain = gain
        self._speed = 1.0

    def change(self, settings: Settings) -> None:
        self._speed = self._gain(settings)

    def window(self, seconds: float) -> Window:
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        speed = self._speed * (1000.0 + self._left % 3)
        return Window({"throughput_ops_s": speed, **self._metrics}, {})


class Engine(ScriptedEngine):
    """RocksDB that runs under a load."""

    def __init__(self, changes: int, gain: Gain = lambda _: 1.0, **metrics: float) -> None:
        super().__init__(lambda _: measured(), options=OPTIONS)
        self._windows = changes * (1 + WINDOWS + 1 + WINDOWS)
        self._metrics = metrics
        self._gain = gain

    @contextmanager
    def serve(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Iterator[Live]:
        yield Store(self._windows, self._metrics, self._gain)


def test_what_an_interrupted_call_did_is_told(
    tmp_path: Path,
    own_host: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY_FILE)

    def interrupted(changes: int) -> str:
        monkeypatch.setitem(ENGINES, "rocksdb", replaced("rocksdb", lambda _: Engine(changes)))
        assert run(["tune", "study.toml", "--home", "home"]) == 1
        return capsys.readouterr().err

    first, second = interrupted(2), interrupted(0)
    assert "2 changes" in first.splitlines()[-1]
    assert not any("earlier" in line for line in first.splitlines())
    assert sum("2 changes" in line for line in second.splitlines()[:-1]) == 1
    assert list(Path("home/work").iterdir()) == []

    assert run(["show", "s", "--home", "home", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["trials"]["total"] == 2
    (step,) = document["claim"]["next"]
    assert step["kind"] == "read_online"
    listing = [*shlex.split(step["command"])[1:], "--home", "home"]
    assert run([*listing, "--json"]) == 0
    trials = json.loads(capsys.readouterr().out)
    assert [trial["judgement"] for trial in trials] == [Judgement.NOT_SHOWN] * 2
    assert run(listing) == 0
    _, *lines = capsys.readouterr().out.splitlines()
    for trial, line in zip(trials, lines, strict=True):
        assert trial["changed"].items() <= trial["config"].items()
        assert 0 < len(trial["changed"]) < len(trial["config"])
        assert all(f"{name} = {value}" in line for name, value in trial["changed"].items())


@pytest.mark.parametrize(
    "key",
    ["limits", "base_runs", "early_stop", "finalists", "repeats", "pairs", "max_pairs",
     "protocol.probe_reads", "protocol.scan_length", "workload.operations", "workload.duration_s"],
)  # fmt: skip
def test_a_key_without_effect_is_refused(
    tmp_path: Path, own_host: Path, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    """The default value too: the user set it because an effect was expected."""
    fields = {"study", *StudySettings.model_fields, *Protocol.model_fields, *Workload.model_fields}
    table, _, name = key.rpartition(".")
    assert name in fields
    values: dict[str, object] = {
        "limits": ["write_amp <= 2"], "early_stop": "true", "pairs": 6, "max_pairs": 12
    }  # fmt: skip
    file, home = tmp_path / "study.toml", tmp_path / "home"
    text = STUDY_FILE.replace('"overwrite"', '{name = "overwrite"}')
    line = f"{key} = {values.get(name, 100)}\n"
    if table == "workload":
        text = text.replace('{name = "overwrite"}', f'{{name = "overwrite", {name} = 100}}')
    else:
        text = line + text
    file.write_text(text)
    assert run(["tune", str(file), "--home", str(home), "--dry-run"]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert f"{file}: {key}: " in error
    assert not home.exists()


@pytest.mark.parametrize(
    "flags", [["--pairs", "6"], ["--limit", "write_amp <= 2"], ["--new-baseline"]]
)
def test_a_flag_without_effect_is_refused(
    tmp_path: Path, own_host: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY_FILE)
    assert run(["tune", str(file), "--home", str(tmp_path / "home"), *flags]) == 2
    (error,) = capsys.readouterr().err.splitlines()
    assert f"{flags[0]}: " in error


def test_an_objective_of_several_metrics_is_refused_before_a_study_begins(
    tmp_path: Path,
    own_host: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(ENGINES, "rocksdb", replaced("rocksdb", lambda _: Engine(0)))
    file, home = tmp_path / "study.toml", tmp_path / "home"
    file.write_text(STUDY_FILE)
    for dry in ([], ["--dry-run"]):
        tune = ["tune", str(file), "--home", str(home), "--objective", "balanced", *dry]
        assert run(tune) == 2
        (error,) = capsys.readouterr().err.splitlines()
        assert "objective: balanced" in error
        assert not home.exists()


def test_another_metric_needs_no_clearing_after_a_metric_of_zero(
    tmp_path: Path,
    own_host: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY_FILE)
    monkeypatch.setitem(
        ENGINES, "rocksdb", replaced("rocksdb", lambda _: Engine(100, read_amp=0.0))
    )
    tune = ["tune", "study.toml", "--home", "home", "--json"]
    assert run([*tune, "--objective", "read_amp"]) == 2
    assert "read_amp" in capsys.readouterr().err
    assert list(Path("home/work").iterdir()) == []
    assert run(tune) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["study"] == "s-2"
    assert run(["tune", "--study", "s-2", "--home", "home", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == first["steps"]


def more_jobs(settings: Settings) -> float:
    """Return twice the speed for more background jobs than by default."""
    return 2.0 if int(settings["max_background_jobs"]) > 2 else 1.0


@pytest.fixture
def view(
    tmp_path: Path,
    own_host: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> StudyView:
    """A study with two calls: the first is interrupted, the second keeps a change."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LSMTUNE_HOME", str(tmp_path / "home"))
    Path("study.toml").write_text(STUDY_FILE)
    for windows, code in ((2, 1), (100, 0)):
        monkeypatch.setitem(
            ENGINES, "rocksdb", replaced("rocksdb", lambda _, n=windows: Engine(n, more_jobs))
        )
        assert run(["tune", "study.toml"]) == code
        assert Path("home/results/s/report.html").is_file()
    capsys.readouterr()
    with Home(tmp_path / "home", create=False) as home:
        return read_study(home, "s")


def test_the_newest_call_is_what_the_page_shows(view: StudyView) -> None:
    call = view.online
    assert call is not None
    assert (call.windows, len(call.tried)) == (WINDOWS, 4)
    assert call.earlier >= 1
    kept = [t.number for t in call.tried if t.online and t.online.judgement is Judgement.KEPT]
    assert kept[-1:] == [call.trial]
    assert call.times_kept == len(kept) >= 1
    assert {change.knob.name: change.best for change in call.kept}.items() <= call.config.items()
    assert int(call.config["max_background_jobs"]) > 2

    record = tuned(view, call)
    assert [change.number for change in record.changes] == [1, 2, 3, 4]
    first = record.changes[kept[0] - call.tried[0].number]
    assert first.outcome == "kept"
    assert first.ratio is not None
    assert first.ratio.value == pytest.approx(2, rel=0.01)
    assert [len(phase) for phase in first.phases] == [WINDOWS] * 3
    assert ("max_background_jobs", "2 threads") in [option[:2] for option in first.options]

    drawn = [trace for trace in windows_plot(record).data if trace.yaxis is None]
    counts = [sum(len(change.phases[at]) for change in record.changes) for at in range(3)]
    assert [len(trace.x) for trace in drawn] == counts
    places = [x for trace in drawn for x in trace.x]
    assert len(set(places)) == len(places)
    assert {round(x) for x in places} == {1, 2, 3, 4}
    claim = claim_of(view)
    assert (claim.trial, claim.changes) == (call.trial, call.kept)


@pytest.mark.parametrize("back", [[], ["--back"]])
def test_the_files_of_online_tuning_can_be_exported_again(
    view: StudyView, capsys: pytest.CaptureFixture[str], back: list[str]
) -> None:
    """The command of the claim writes the file that the call wrote."""
    claim = claim_of(view)
    command = claim.undo if back else next(s.command for s in claim.steps if s.kind == "deploy")
    assert command is not None
    assert run(shlex.split(command)[1:]) == 0
    name = "OPTIONS.back" if back else "OPTIONS"
    assert Path(name).read_text() == Path("home/results/s", name).read_text()
    capsys.readouterr()
    assert run(["export", "s", "--format", "db_bench", *back]) == 2


def test_a_memory_limit_that_the_deployed_file_would_break_is_refused_before_tuning(
    tmp_path: Path,
    own_host: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The limit is for the full-size tree."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY_FILE)
    monkeypatch.setitem(ENGINES, "rocksdb", replaced("rocksdb", lambda _: Engine(0)))
    tune = ["tune", "study.toml", "--home", "home", "--dry-run", "--memory"]
    assert run([*tune, "64MiB"]) == 2
    assert "64 MiB" in capsys.readouterr().err
    assert run([*tune, "16GiB"]) == 0
