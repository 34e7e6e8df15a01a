"""Locks hold across processes, say who holds them, and die with their holder."""

import contextlib
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from fakes.patience import eventually
from lsmtune.errors import UserError
from lsmtune.system.lock import host_lock, study_lock
from lsmtune.system.process import ChildProcess

HOLD_STUDY = """
import sys
from pathlib import Path
from lsmtune.system.lock import study_lock
with study_lock(Path(sys.argv[1]), "study 'mine'"):
    print("held", flush=True)
    sys.stdin.read()
"""

HOLD_HOST = """
import sys
from lsmtune.system.lock import host_lock
with host_lock(lambda sentence: print(sentence, flush=True)):
    print("held", flush=True)
    sys.stdin.readline()
"""


class Holder:
    """A process that runs a script and holds its lock until its standard input ends."""

    def __init__(self, script: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": tempfile.gettempdir()},
        )

    def said(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def let_go(self) -> None:
        self.process.communicate()

    def kill(self) -> None:
        self.process.kill()
        self.let_go()


@contextlib.contextmanager
def holding(script: str, *arguments: str) -> Iterator[Holder]:
    holder = Holder(script, *arguments)
    try:
        yield holder
    finally:
        holder.kill()


@pytest.fixture(autouse=True)
def _own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_study_in_use_is_refused_by_name_and_process(tmp_path: Path) -> None:
    path = tmp_path / "study.lock"
    with holding(HOLD_STUDY, str(path)) as holder:
        assert holder.said() == "held"
        with pytest.raises(UserError, match=r"^study 'mine':") as error:
            study_lock(path, "study 'mine'").__enter__()
        assert f"process {holder.process.pid}" in str(error.value)
        holder.let_go()
        with study_lock(path, "study 'mine'"):
            assert path.read_text() == str(os.getpid())


def test_a_holder_without_a_name_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "study.lock"
    with holding(HOLD_STUDY, str(path)) as holder:
        holder.said()
        path.write_text("")
        with pytest.raises(UserError, match=r"^study 'mine': .*another lsmtune process;"):
            study_lock(path, "study 'mine'").__enter__()


def test_killing_the_holder_frees_the_study(tmp_path: Path) -> None:
    path = tmp_path / "study.lock"
    with holding(HOLD_STUDY, str(path)) as holder:
        holder.said()
        holder.kill()
        with study_lock(path, "study 'mine'"):
            pass


def test_a_child_process_neither_breaks_nor_inherits_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "study.lock"
    with contextlib.ExitStack() as held:
        held.enter_context(study_lock(path, "study 'mine'"))
        with ChildProcess(
            ["sleep", "60"],
            cwd=tmp_path,
            stdout_path=tmp_path / "out",
            stderr_path=tmp_path / "err",
            env={},
        ):
            with holding(HOLD_STUDY, str(path)) as other:
                assert other.said() == ""
            held.close()
            with holding(HOLD_STUDY, str(path)) as other:
                assert other.said() == "held"


def test_the_host_lock_waits_and_says_so_once() -> None:
    with holding(HOLD_HOST) as first:
        assert first.said() == "held"
        with holding(HOLD_HOST) as second:
            assert f"process {first.process.pid}" in second.said()
            first.let_go()
            assert second.said() == "held"


def test_who_had_the_host_waits_for_the_process_that_is_next() -> None:
    with holding(HOLD_HOST + HOLD_HOST) as first:
        assert first.said() == "held"
        with holding(HOLD_HOST) as second:
            assert f"process {first.process.pid}" in second.said()
            assert first.process.stdin is not None
            print(file=first.process.stdin, flush=True)
            assert f"process {second.process.pid}" in first.said()
            assert second.said() == "held"


def test_a_free_host_lock_does_not_wait() -> None:
    waits: list[str] = []
    for _ in range(2):
        with host_lock(waits.append):
            pass
    assert waits == []


def test_killing_the_holder_frees_the_host() -> None:
    with holding(HOLD_HOST) as first:
        first.said()
        with holding(HOLD_HOST) as second:
            second.said()
            first.kill()
            assert second.said() == "held"


def test_two_that_want_the_host_take_turns() -> None:
    """Who has just had it would otherwise have it again before the other looks."""
    order: list[str] = []
    finished = {"a": threading.Event(), "b": threading.Event()}

    def work(name: str, other: str) -> None:
        for _ in range(3):
            with host_lock(None):
                order.append(name)
                assert eventually(lambda: finished[other].is_set() or next_in_line())
        finished[name].set()

    threads = [threading.Thread(target=work, args=names) for names in ("ab", "ba")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "".join(order) in ("ababab", "bababa")


def next_in_line() -> bool:
    """Whether somebody waits for the host and has the turn."""
    turn = FileLock(Path(tempfile.gettempdir()) / "lsmtune-turn.lock", mode=0o666)
    try:
        turn.acquire(blocking=False)
    except Timeout:
        return True
    turn.release()
    return False


def test_every_user_can_open_the_host_lock(tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        with host_lock(None):
            files = list(tmp_path.iterdir())
            assert files
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o666}
    finally:
        os.umask(umask)


@pytest.mark.parametrize("name", ["lsmtune-host.lock", "lsmtune-turn.lock"])
def test_a_planted_link_is_refused_and_not_written_through(tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    with host_lock(None):
        lock_file = tmp_path / name
        assert lock_file.exists()
    lock_file.unlink()
    lock_file.symlink_to(victim)
    with pytest.raises(UserError, match=r"^lock file .*\.lock"):
        host_lock(None).__enter__()
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("name", ["lsmtune-host.lock", "lsmtune-turn.lock"])
@pytest.mark.parametrize("content", ["precious", "12", ""])
def test_a_second_name_of_a_file_is_refused_and_not_written(
    tmp_path: Path, name: str, content: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text(content)
    (tmp_path / name).hardlink_to(victim)
    with pytest.raises(UserError, match=name):
        host_lock(None).__enter__()
    assert victim.read_text() == content


@pytest.mark.parametrize("content", ["precious", "1" * 1000, "12\n"])
def test_a_file_that_is_no_lock_is_refused_and_not_written(tmp_path: Path, content: str) -> None:
    path = tmp_path / "study.lock"
    path.write_text(content)
    with pytest.raises(UserError, match=r"study\.lock"):
        study_lock(path, "study 'mine'").__enter__()
    assert path.read_text() == content


def test_a_lock_file_that_cannot_be_made_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"^lock file"):
        study_lock(tmp_path / "file" / "study.lock", "study 'mine'").__enter__()
