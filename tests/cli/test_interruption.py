"""A study that is interrupted, however rudely, loses at most the running trial and goes on."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.fake_db_bench import Mode, install
from fakes.forks import Program
from fakes.patience import PATIENCE_S, eventually
from fakes.traces import left_behind, started
from lsmtune.store.home import Home
from lsmtune.trials import Role, Status

TRIALS = 3
A_TRIAL = 3
"""The load of this number is the second of the search."""
STUDY_FILE = f"""
study = "it"
optimizer = "random"
early_stop = false  # a load that is held would be cut
trials = {TRIALS}
base_runs = 1
finalists = 1
repeats = 0
simplify = false
pairs = 0
[workload]
name = "fillrandom"
num = 5000
[protocol]
quiet_s = 0.05
probe_reads = 100
"""


@dataclass
class Site:
    """A user's place: a study file, a db_bench, a home, and a folder for temporary files."""

    folder: Path
    program: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def hold(self) -> Path:
        return self.program.with_name("hold")

    def start(self, *arguments: str) -> Program:
        settings = {"LSMTUNE_HOME": str(self.home), "LSMTUNE_DB_BENCH": str(self.program),
                    "TMPDIR": str(self.folder / "tmp")}  # fmt: skip
        return Program(arguments, self.folder, os.environ | settings)

    def tune(self) -> Program:
        return self.start("tune", "study.toml", "--json")

    def loads(self) -> int:
        return sum(what == "load" for _, what in started(self.program))

    def rows(self) -> list[tuple[int, str, str]]:
        """Number, role and start of every trial that was kept."""
        if not (self.home / "lsmtune.sqlite3").exists():
            return []
        with Home(self.home, create=False) as home:
            study = home.find_study("it")
            trials = home.trials(study) if study else []
        return [(trial.number, trial.role, trial.started_at) for trial in trials]

    def check_clean(self) -> None:
        """No process, and no work directory, is left."""
        assert eventually(lambda: left_behind(self.program) == [])
        assert list((self.home / "work").iterdir()) == []

    def check_complete(self) -> None:
        """The study has all its trials, each with its evidence, numbered without a gap."""
        rows = self.rows()
        assert [number for number, _, _ in rows] == list(range(len(rows)))
        evidence = self.home / "evidence" / "it"
        assert sorted(int(path.name) for path in evidence.iterdir()) == [r[0] for r in rows]
        with Home(self.home, create=False) as home:
            trials = home.trials(home.study("it"))
        counted = [t for t in trials if t.result.status is not Status.DISTURBED]
        assert {t.result.status for t in counted} <= {Status.COMPLETE, Status.CUT}
        assert [t.role for t in counted] == [Role.BASE] + [Role.TRIAL] * TRIALS
        assert len({t.config for t in counted if t.role is Role.TRIAL}) == TRIALS
        self.check_clean()


def end(process: Program) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    return process.returncode, out, err


def make_site(folder: Path, mode: Mode = Mode.WORKS) -> Site:
    (folder / "study.toml").write_text(STUDY_FILE)
    (folder / "tmp").mkdir()
    return Site(folder, install(folder / "bin", mode))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path)


def check_goes_on(site: Site, kept: list[tuple[int, str, str]]) -> None:
    """The same command completes the study; what was kept before is as it was."""
    code, out, err = end(site.tune())
    assert code == 0, err
    document = json.loads(out)  # one document and nothing else
    assert document["study"] == "it"
    assert "Traceback" not in err
    assert site.rows()[: len(kept)] == kept
    site.check_complete()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_study_cleans_up_and_goes_on(site: Site, how: signal.Signals) -> None:
    site.hold.write_text(str(A_TRIAL))
    running = site.tune()
    assert eventually(lambda: site.loads() == A_TRIAL)
    running.send_signal(how)
    code, out, err = end(running)
    assert (code, out) == (1, ""), err
    messages = [line for line in err.splitlines() if line.startswith("lsmtune: ")]
    assert len(messages) == 1
    assert "interrupted" in messages[0]
    assert "Traceback" not in err
    site.check_clean()
    kept = site.rows()
    assert len(kept) == A_TRIAL - 1
    site.hold.unlink()
    check_goes_on(site, kept)


INTERRUPTED_IMPORT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores it
from {module} import {function}

class Interruption:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interruption())
{function}()
"""


def test_interruption_during_the_imports_prints_no_traceback() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["lsmtune"].split(":")
    script = INTERRUPTED_IMPORT.format(module=module, function=function)
    argv = [sys.executable, "-c", script]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "interrupted" in ended.stderr
    assert "Traceback" not in ended.stderr


def start_a_load(site: Site) -> Program:
    before = site.loads()
    running = site.tune()
    assert eventually(lambda: site.loads() > before or running.poll() is not None)
    return running


@pytest.mark.slow
def test_killed_at_any_moment_it_loses_the_running_trial_at_most(site: Site) -> None:
    chance = random.Random(20261121)
    kept: list[tuple[int, str, str]] = []
    for kills in range(1, 5):
        running = start_a_load(site)
        time.sleep(chance.uniform(0, 0.8))
        running.kill()
        code, _, err = end(running)
        assert code in (-signal.SIGKILL, 0), err
        assert eventually(lambda: left_behind(site.program) == [])
        assert site.rows()[: len(kept)] == kept
        kept = site.rows()
        assert site.loads() - len(kept) <= kills
    check_goes_on(site, kept)


def test_killed_before_the_first_trial_it_starts_anew(site: Site) -> None:
    running = site.tune()
    assert eventually(lambda: bool(started(site.program)))
    running.kill()
    end(running)
    assert eventually(lambda: left_behind(site.program) == [])
    check_goes_on(site, [])


@pytest.mark.slow
def test_a_killed_calibration_is_swept_away(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    monkeypatch.setenv("PATH", str(site.program.parent))  # no other engine is found and started
    site.hold.write_text("2")
    running = site.start("doctor", "--calibrate")
    assert eventually(lambda: site.loads() == 2)
    running.kill()
    end(running)
    assert eventually(lambda: left_behind(site.program) == [])
    site.hold.unlink()
    _, out, err = end(site.start("doctor", "--calibrate", "--json"))
    told = {check["name"]: check["ok"] for check in json.loads(out)["checks"]}
    assert told["calibration"], err
    site.check_clean()


def test_a_second_process_on_the_study_is_sent_away(site: Site) -> None:
    site.hold.write_text(str(A_TRIAL))
    running = site.tune()
    try:
        assert eventually(lambda: site.loads() == A_TRIAL)
        for arguments in (["tune", "study.toml"], ["verify", "it"]):
            code, out, err = end(site.start(*arguments))
            assert (code, out) == (2, "")
            (line,) = err.splitlines()
            assert line.startswith("lsmtune: study 'it': ")
            assert f"(process {running.pid})" in line
        code, out, err = end(site.start("show", "it", "--json"))
        assert (code, err) == (0, "")
        assert json.loads(out)["study"] == "it"
        assert running.poll() is None
    finally:
        site.hold.unlink()
        code, out, err = end(running)
    assert code == 0, err
    json.loads(out)
    site.check_complete()


def test_two_studies_take_turns_on_a_host(site: Site) -> None:
    site.hold.write_text("1")
    first = site.tune()
    assert eventually(lambda: site.loads() == 1)
    second = site.start("tune", "study.toml", "--study", "other", "--trials", "1", "--json")
    try:
        turn = site.folder / "tmp" / "lsmtune-turn.lock"
        assert eventually(lambda: turn.read_text() == str(second.pid))
        assert site.loads() == 1
    finally:
        site.hold.unlink()
        ends = [end(first), end(second)]
    assert [code for code, _, _ in ends] == [0, 0], ends
    assert f"(process {first.pid})" in ends[1][2]
    assert [json.loads(out)["study"] for _, out, _ in ends] == ["it", "other"]
    site.check_complete()


def test_a_base_that_cannot_be_measured_ends_the_study_in_one_sentence(tmp_path: Path) -> None:
    site = make_site(tmp_path, Mode.REFUSES)
    code, out, err = end(site.tune())
    assert (code, out) == (1, "")
    *_, told = err.splitlines()
    assert told.startswith("lsmtune: ")
    assert Status.REFUSED.meaning in told
    assert "open error: Invalid argument" in told
    assert "Traceback" not in err
    assert [role for _, role, _ in site.rows()] == ["base"]
    site.check_clean()
