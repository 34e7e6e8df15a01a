"""Nothing without a valid marker of its own is ever deleted."""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.system.workdir import (
    MARKER_NAME,
    _draft,
    create_workdir,
    directory_bytes,
    remove_workdir,
    sweep_workdirs,
    workdir,
)

MAKE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from lsmtune.system.workdir import create_workdir
create_workdir(Path(sys.argv[1]), "left-over")
os.kill(os.getpid(), signal.SIGKILL)
"""


def edit_marker(path: Path, **changes: object) -> None:
    marker = path / MARKER_NAME
    marker.write_text(json.dumps(json.loads(marker.read_text()) | changes))


def left_over(parent: Path) -> Path:
    subprocess.run([sys.executable, "-c", MAKE_AND_DIE, str(parent)], check=False)
    return parent / "left-over"


def test_made_marked_and_removed(tmp_path: Path) -> None:
    path = create_workdir(tmp_path / "new" / "parent", "trial-1")
    assert path == tmp_path / "new" / "parent" / "trial-1"
    marker = json.loads((path / MARKER_NAME).read_text())
    assert marker["pid"] == os.getpid()
    assert marker.keys() >= {"start_ticks", "boot_id", "created"}
    (path / "db").mkdir()
    (path / "db" / "000001.sst").write_text("data")
    remove_workdir(path)
    assert not path.exists()
    assert path.parent.exists()
    remove_workdir(path)


def test_a_removal_that_is_interrupted_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = create_workdir(tmp_path, "a")
    (path / "000001.sst").touch()
    (path / "000002.sst").touch()
    unlink, left = Path.unlink, [KeyboardInterrupt()]

    def interrupted(file: Path, missing_ok: bool = False) -> None:
        unlink(file, missing_ok)
        if left:
            raise left.pop()

    monkeypatch.setattr(Path, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        remove_workdir(path)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_directory_is_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(UserError, match=r"data.*exists"):
        create_workdir(tmp_path, "data")
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("name", ["../up", "a/b", "/abs", "", "..", "."])
def test_a_name_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    parent = tmp_path / "in" / "here"
    parent.mkdir(parents=True)
    with pytest.raises(UserError):
        create_workdir(parent, name)
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "here"]


def unmarked(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    path.mkdir()
    return path


def with_empty_marker(tmp_path: Path) -> Path:
    path = unmarked(tmp_path)
    (path / MARKER_NAME).touch()
    return path


def with_binary_marker(tmp_path: Path) -> Path:
    path = unmarked(tmp_path)
    (path / MARKER_NAME).write_bytes(b"\xff\xfe")
    return path


def with_incomplete_marker(tmp_path: Path) -> Path:
    path = unmarked(tmp_path)
    (path / MARKER_NAME).write_text('{"pid": 1}')
    return path


def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(create_workdir(tmp_path, "original"), tmp_path / "copy"))


def moved(tmp_path: Path) -> Path:
    return create_workdir(tmp_path, "original").rename(tmp_path / "kept")


def symlink(tmp_path: Path) -> Path:
    path = tmp_path / "link"
    path.symlink_to(create_workdir(tmp_path, "original"))
    return path


def regular_file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.touch()
    return path


@pytest.mark.parametrize(
    "make",
    [
        unmarked,
        with_empty_marker,
        with_binary_marker,
        with_incomplete_marker,
        copied,
        moved,
        symlink,
        regular_file,
    ],
)
def test_what_is_not_ours_is_refused(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    path = make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError) as error:
        remove_workdir(path)
    assert str(path) in str(error.value)
    assert sweep_workdirs(tmp_path) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_removal_does_not_follow_links_out(tmp_path: Path) -> None:
    outside = unmarked(tmp_path)
    (outside / "file").touch()
    path = create_workdir(tmp_path, "trial")
    (path / "link").symlink_to(outside)
    (path / "dangling").symlink_to(tmp_path / "nothing")
    remove_workdir(path)
    assert (outside / "file").exists()


def test_reached_through_a_linked_parent(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    create_workdir(tmp_path / "alias", "trial")
    remove_workdir(tmp_path / "real" / "trial")
    assert not (tmp_path / "alias" / "trial").exists()


def test_a_refusing_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = create_workdir(tmp_path, "trial")

    def refuse(_: Path) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "rmdir", refuse)
    with pytest.raises(LsmtuneError, match=r"trial: Operation not permitted"):
        remove_workdir(path)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_the_block_cleans_up_whatever_ends_it(tmp_path: Path, error: type[BaseException]) -> None:
    with contextlib.suppress(error), workdir(tmp_path, "trial") as path:
        (path / "file").touch()
        raise error
    assert list(tmp_path.iterdir()) == []


def test_the_block_bears_that_its_directory_is_gone(tmp_path: Path) -> None:
    with workdir(tmp_path, "trial") as path:
        shutil.rmtree(path)


def test_sweep_takes_only_what_the_dead_have_left(tmp_path: Path) -> None:
    dead = left_over(tmp_path)
    mine = create_workdir(tmp_path, "mine")
    foreign = unmarked(tmp_path)
    assert dead.is_dir()
    assert sweep_workdirs(tmp_path) == [dead]
    assert sorted(tmp_path.iterdir()) == [mine, foreign]
    assert sweep_workdirs(tmp_path / "nowhere") == []


KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from lsmtune.system.workdir import create_workdir, remove_workdir
action, step, parent = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
if action == "remove":
    create_workdir(parent, "trial")
steps = 0
def stops(event, details):
    global steps
    watched = {"os.mkdir", "open", "os.rename", "os.remove", "os.rmdir"}
    if event in watched and str(parent) in str(details):
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(stops)
create_workdir(parent, "trial") if action == "create" else remove_workdir(parent / "trial")
"""


@pytest.mark.parametrize("action", ["create", "remove"])
def test_sweep_removes_what_a_kill_at_any_step_left(tmp_path: Path, action: str) -> None:
    for step in range(1, 10):
        arguments = [sys.executable, "-c", KILLED_IN_THE_MIDDLE, action, str(step), str(tmp_path)]
        killed = subprocess.run(arguments, check=False).returncode == -signal.SIGKILL
        sweep_workdirs(tmp_path)
        assert list(tmp_path.iterdir()) == [], step
        if not killed:
            break
    assert not killed
    assert step >= 4


def test_sweep_leaves_drafts_with_content_and_of_living_processes(tmp_path: Path) -> None:
    path = create_workdir(tmp_path, "trial")
    draft = _draft(path)
    draft.mkdir()
    foreign = draft.with_name(draft.name.replace(f"~{os.getpid()}~", "~4194305~"))
    foreign.mkdir()
    (foreign / "file").touch()
    unnamed = tmp_path / ".lsmtune-new~of~another~version"
    unnamed.mkdir()
    assert sweep_workdirs(tmp_path) == []
    assert sorted(tmp_path.iterdir()) == sorted([path, draft, foreign, unnamed])


def test_sweep_sees_through_a_reused_process_id(tmp_path: Path) -> None:
    path = create_workdir(tmp_path, "trial")
    edit_marker(path, start_ticks=1)
    assert sweep_workdirs(tmp_path) == [path]


def test_sweep_takes_what_an_earlier_boot_left(tmp_path: Path) -> None:
    path = create_workdir(tmp_path, "trial")
    edit_marker(path, boot_id="an earlier one")
    assert sweep_workdirs(tmp_path) == [path]


@pytest.mark.parametrize(
    "elsewhere",
    [{"host": "another", "boot_id": "another"}, {"pid_namespace": "pid:[1]", "start_ticks": 1}],
)
def test_sweep_leaves_owners_it_cannot_see(tmp_path: Path, elsewhere: dict[str, object]) -> None:
    path = create_workdir(tmp_path, "trial")
    edit_marker(path, **elsewhere)
    assert sweep_workdirs(tmp_path) == []
    assert path.exists()


def test_an_interrupted_removal_can_be_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = left_over(tmp_path)
    (path / "db").mkdir()

    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", interrupt)
        with pytest.raises(KeyboardInterrupt):
            remove_workdir(path)
    assert sweep_workdirs(tmp_path) == [path]


def test_a_directory_that_cannot_be_marked_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(UserError, match=f"trial: {os.strerror(errno.ENOSPC)}"):
        create_workdir(tmp_path, "trial")
    assert list(tmp_path.iterdir()) == []


def test_directory_bytes_counts_lengths_of_regular_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a").write_bytes(b"x" * 1000)
    (tmp_path / "sub" / "b").write_bytes(b"x" * 24)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "fifo")
    assert directory_bytes(tmp_path) == 1024
    assert directory_bytes(tmp_path / "nowhere") == 0


def test_directory_bytes_bears_vanishing_files(tmp_path: Path) -> None:
    for i in range(20):
        (tmp_path / f"{i}.sst").write_bytes(b"x")
    churn = "while :; do mkdir d; echo > d/f; rm -r d; done"
    with subprocess.Popen(["/bin/sh", "-c", churn], cwd=tmp_path) as writer:
        sizes = {directory_bytes(tmp_path) for _ in range(500)}
        writer.kill()
    assert sizes <= {20, 21}
