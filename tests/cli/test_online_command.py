"""`lsmtune tune --online` that is interrupted, on a store that is played."""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lsmtune.cli import tuning
from lsmtune.cli.main import run
from lsmtune.engines.base import Live, Places, Watch, Window
from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.knobs.types import Settings
from lsmtune.trials import Base, TrialSpec

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


class Store:
    """A store on which no change helps; the user presses Ctrl-C after a number of windows."""

    def __init__(self, windows: int) -> None:
        self._left = windows

    def change(self, settings: Settings) -> None:
        pass

    def window(self, seconds: float) -> Window:
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        return Window({"throughput_ops_s": 1000.0 + self._left}, {})


class Engine(ScriptedEngine):
    """RocksDB that runs under a load."""

    def __init__(self, changes: int) -> None:
        super().__init__(lambda _: measured())
        self._windows = changes * (WINDOWS + 1 + WINDOWS)

    @contextmanager
    def serve(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Iterator[Live]:
        yield Store(self._windows)


def test_what_an_interrupted_call_did_is_told(
    tmp_path: Path,
    own_host: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY_FILE)

    def interrupted(changes: int) -> str:
        monkeypatch.setattr(tuning, "engine_of", lambda _: Engine(changes))
        assert run(["tune", "study.toml", "--home", "home"]) == 1
        return capsys.readouterr().err

    first, second = interrupted(2), interrupted(0)
    assert "2 changes" in first.splitlines()[-1]
    assert "`lsmtune trials s`" in first
    assert not any("earlier" in line for line in first.splitlines())
    assert sum("2 changes" in line for line in second.splitlines()[:-1]) == 1
    assert list(Path("home/work").iterdir()) == []

    assert run(["show", "s", "--home", "home", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["trials"]["total"] == 2
    (step,) = document["claim"]["next"]
    assert step["kind"] == "read_online"
    assert run([*shlex.split(step["command"])[1:], "--home", "home", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2
