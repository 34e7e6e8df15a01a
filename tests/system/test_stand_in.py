"""A user's file that is set aside for a while, and commands of the user's."""

import os
import signal
import threading
from pathlib import Path

import pytest

from fakes.patience import PATIENCE_S, eventually
from lsmtune.errors import UserError
from lsmtune.system.cancelling import ProcessTimeout
from lsmtune.system.launch import run_command
from lsmtune.system.stand_in import StandIn


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "tikv.toml"
    path.write_text("mine = 1\n")
    path.chmod(0o640)
    return path


def test_the_users_file_comes_back_as_it_was(own: Path) -> None:
    before, stand_in = own.stat(), StandIn(own)
    assert not stand_in.is_aside
    assert not stand_in.put_back()
    for text in ("theirs = 2\n", "theirs = 3\n"):
        stand_in.write(text)
        assert own.read_text() == text
        assert own.stat().st_mode == before.st_mode
        assert own.stat().st_uid == before.st_uid
        assert stand_in.own_text() == "mine = 1\n"
    assert stand_in.put_back()
    after = own.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in own.parent.iterdir()] == ["tikv.toml"]


def test_a_later_process_finds_what_was_left_aside(own: Path) -> None:
    StandIn(own).write("theirs = 2\n")
    later = StandIn(own)
    assert later.is_aside
    assert later.own_text() == "mine = 1\n"
    assert later.put_back()
    assert own.read_text() == "mine = 1\n"


def test_an_edit_is_kept_beside_the_file(own: Path) -> None:
    stand_in = StandIn(own)
    for edit in ("edited = 3\n", "edited = 4\n"):
        stand_in.write("theirs = 2\n")
        own.write_text(edit)
    assert not StandIn(own).is_ours()
    later = StandIn(own)
    assert later.put_back()
    assert own.read_text() == "mine = 1\n"
    [first], [second] = stand_in.take_edits(), later.take_edits()
    assert (first.read_text(), second.read_text()) == ("edited = 3\n", "edited = 4\n")
    assert not stand_in.take_edits()
    assert sorted(own.parent.iterdir()) == sorted([own, first, second])


def test_behind_a_link_stands_the_file_itself(own: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(own)
    stand_in = StandIn(link)
    stand_in.write("theirs = 2\n")
    assert own.read_text() == "theirs = 2\n"
    stand_in.put_back()
    assert link.is_symlink()
    assert own.read_text() == "mine = 1\n"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    stand_in = StandIn(tmp_path / "nosuch.toml")
    with pytest.raises(UserError, match=r"read .*nosuch\.toml"):
        stand_in.own_text()
    with pytest.raises(UserError, match=r"write .*nosuch\.toml"):
        stand_in.write("theirs = 2\n")


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


def test_a_command_runs_to_its_end_and_says_how(tmp_path: Path) -> None:
    output = tmp_path / "output"
    assert run_command(shell("echo one; echo two >&2; exit 3"), output=output, limit_s=30) == 3
    assert output.read_text() == "one\ntwo\n"
    assert run_command(shell("kill -9 $$"), output=output, limit_s=30) == -9
    with pytest.raises(UserError, match="start nosuch"):
        run_command(["nosuch"], output=output, limit_s=30)


def test_what_a_command_has_started_goes_on(tmp_path: Path) -> None:
    go, told = tmp_path / "go", tmp_path / "told"
    script = f"(until [ -e {go} ]; do sleep 0.02; done; echo still here > {told}) & echo started"
    assert run_command(shell(script), output=tmp_path / "output", limit_s=PATIENCE_S) == 0
    assert not told.exists()
    go.touch()
    assert eventually(told.exists)


def test_a_command_that_does_not_end_is_killed(tmp_path: Path) -> None:
    with pytest.raises(ProcessTimeout, match=r"0\.2 s"):
        run_command(shell("exec sleep 60"), output=tmp_path / "output", limit_s=0.2)


def test_an_interruption_waits_for_the_command(tmp_path: Path) -> None:
    begun, interrupted, told = (tmp_path / name for name in ("begun", "interrupted", "told"))

    waits = f"touch {begun}; until [ -e {interrupted} ]; do sleep 0.02; done; touch {told}"

    def interrupt() -> None:
        assert eventually(begun.exists)
        os.kill(os.getpid(), signal.SIGINT)
        interrupted.touch()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_command(shell(waits), output=tmp_path / "out", limit_s=PATIENCE_S)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert told.exists()
