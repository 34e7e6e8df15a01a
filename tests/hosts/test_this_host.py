"""A host without Dask: one attempt at a time, results that stay until they are confirmed."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.host_processes import STUDY, host_task
from lsmtune.engines.base import Engine, Outcome, Places, Watch
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.hosts.task import HostResult, HostTask
from lsmtune.hosts.this_host import Outbox, ThisHost, this_host
from lsmtune.system.cancelling import check_cancelled
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, TrialResult, TrialSpec

Script = Callable[[TrialSpec], TrialResult]


@contextmanager
def host(home: Path, script: Script, orphan_s: float = 60) -> Iterator[ThisHost]:
    def make_engine(_: object) -> Engine:
        engine = ScriptedEngine(script)
        engine.times_matter = False
        return engine

    with this_host(home, make_engine, orphan_s) as made:
        yield made


def simple(spec: TrialSpec) -> TrialResult:
    return measured(write_amp=float(spec.settings["value"]))


class Waiting:
    """A script that runs until the test lets it end, or the host ends it."""

    def __init__(self) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()

    def __call__(self, spec: TrialSpec) -> TrialResult:
        self.began.set()
        while not self.go_on.wait(0.01):
            check_cancelled()
        return simple(spec)


def test_a_task_is_the_same_after_the_wire_and_not_readable_on_it() -> None:
    task = host_task("a-1").model_copy(update={"base_settings": {"write_buffer_size": 1.5}})
    sent = HostTask.unpack(task.pack())
    assert sent == task
    assert sent.trial.base_settings == {"write_buffer_size": 1.5}
    assert b"fillrandom" not in task.pack()


def test_a_task_of_another_version_is_one_sentence_without_values() -> None:
    with pytest.raises(LsmtuneError, match="same version") as error:
        HostTask.unpack(b"something")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("attempt", ["", "../x", "a/b", ".hidden", "a" * 101])
def test_the_name_of_an_attempt_is_the_name_of_a_folder(attempt: str) -> None:
    task = host_task("a").model_copy(update={"attempt": attempt})
    with pytest.raises(LsmtuneError, match="same version"):
        HostTask.unpack(task.pack())


def test_a_result_stays_until_it_is_confirmed_also_after_a_restart(tmp_path: Path) -> None:
    with host(tmp_path, simple) as first:
        summary = first.start(host_task("a-1", value=3.0)).result(60)
        assert summary.problem is None
        name = first.id
    with host(tmp_path, simple) as second:
        assert second.id == name
        assert second.describe().kept == {STUDY: ("a-1",)}
        text, evidence = second.outbox.get("a-1")
        result = HostResult.model_validate_json(text)
        assert result.result.metrics["write_amp"] == 3.0
        assert gzip.decompress(evidence["script.txt"]) == b"complete"
        second.outbox.confirm("a-1")
        second.outbox.confirm("a-1")
        assert second.describe().kept == {}
        assert list((tmp_path / "outbox").iterdir()) == []
        assert list((tmp_path / "work").iterdir()) == []


def test_an_attempt_that_comes_again_does_not_run_again(tmp_path: Path) -> None:
    runs = []

    def counted(spec: TrialSpec) -> TrialResult:
        runs.append(spec.seed)
        return simple(spec)

    with host(tmp_path, counted) as one:
        one.start(host_task("a-1")).result(60)
        assert one.start(host_task("a-1")).result(60).problem is None
        assert one.join("a-1").result(60).problem is None
        assert one.join("a-2").result(60).problem is not None
    assert runs == [1]


def test_only_one_attempt_runs_at_a_time(tmp_path: Path) -> None:
    script = Waiting()
    with host(tmp_path, script) as one:
        done = one.start(host_task("a-1"))
        assert script.began.wait(60)
        assert one.describe().running == "a-1"
        assert one.start(host_task("a-1")) is done
        with pytest.raises(LsmtuneError, match="a-1"):
            one.start(host_task("a-2"))
        script.go_on.set()
        assert done.result(60).problem is None
        assert one.start(host_task("a-2")).result(60).problem is None


def test_an_ended_attempt_leaves_no_folder_and_no_result(tmp_path: Path) -> None:
    script = Waiting()
    with host(tmp_path, script) as one:
        done = one.start(host_task("a-1"))
        assert script.began.wait(60)
        one.end("another")
        one.end("a-1")
        assert "ended" in str(done.result(60).problem)
        assert list((tmp_path / "work").iterdir()) == []
        assert one.describe().kept == {}


def test_a_host_ends_its_attempt_when_it_stops(tmp_path: Path) -> None:
    script = Waiting()
    with host(tmp_path, script) as one:
        done = one.start(host_task("a-1"))
        assert script.began.wait(60)
    assert done.result(60).problem is not None
    assert list((tmp_path / "work").iterdir()) == []


@pytest.mark.slow
def test_only_the_commander_of_its_study_keeps_an_attempt_alive(tmp_path: Path) -> None:
    script = Waiting()
    with host(tmp_path, script, orphan_s=1) as one:
        done = one.start(host_task("a-1"))
        for _ in range(8):
            threading.Event().wait(0.25)
            one.heard((STUDY,))
        assert not done.done()
        while not done.done():
            threading.Event().wait(0.25)
            one.heard(("another",))
        assert "commanded" in str(done.result(60).problem)


def test_a_bug_of_an_engine_keeps_its_traceback_and_the_host_goes_on(tmp_path: Path) -> None:
    def broken(_: TrialSpec) -> TrialResult:
        raise ZeroDivisionError

    with host(tmp_path, broken) as one:
        problem = one.start(host_task("a-1")).result(60).problem
        assert problem is not None
        assert "Traceback" in problem
        assert "ZeroDivisionError" in one.start(host_task("a-2")).result(60).problem  # type: ignore[operator]


def test_an_engine_that_a_host_cannot_make_is_one_sentence(tmp_path: Path) -> None:
    def refuse(_: object) -> Engine:
        raise UserError("rocksdb 11.8.1: not installed")

    with this_host(tmp_path, refuse, 60) as one:
        assert one.start(host_task("a-1")).result(60).problem == "rocksdb 11.8.1: not installed"


def test_settings_that_a_host_does_not_know_are_one_sentence_without_values(tmp_path: Path) -> None:
    task = host_task("a-1").model_copy(update={"engine": {"unknown": "a value"}})
    with host(tmp_path, simple) as one:
        problem = one.start(task).result(60).problem
    assert problem is not None
    assert "same version" in problem
    assert "a value" not in problem


def test_an_outbox_removes_what_a_kill_left_half_done(tmp_path: Path) -> None:
    with host(tmp_path, simple) as one:
        one.start(host_task("a-1")).result(60)
        one.start(host_task("a-2")).result(60)
    (tmp_path / "outbox" / "a-1" / "result.json").unlink()
    found = Outbox(tmp_path / "outbox")
    assert found.kept() == {STUDY: ("a-2",)}
    assert [path.name for path in (tmp_path / "outbox").iterdir()] == ["a-2"]


def test_a_result_that_cannot_be_read_names_its_file(tmp_path: Path) -> None:
    with host(tmp_path, simple) as one:
        one.start(host_task("a-1")).result(60)
    file = tmp_path / "outbox" / "a-1" / "result.json"
    file.write_text("{")
    with pytest.raises(UserError, match=str(file)), host(tmp_path, simple):
        pass


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="home ="), host(tmp_path / "file", simple):
        pass


def test_a_relative_home_gives_trials_an_absolute_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    class Noting(ScriptedEngine):
        def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
            found.append(places)
            return super().run(spec, base, places, watch)

    def make_engine(_: object) -> Engine:
        engine = Noting(simple)
        engine.times_matter = False
        return engine

    monkeypatch.chdir(tmp_path)
    with this_host(Path("home"), make_engine, 60) as one:
        assert one.start(host_task("a-1")).result(60).problem is None
    (places,) = found
    assert places.workdir.is_absolute()
    assert places.templates.is_absolute()
