"""`lsmtune rehearse` and `lsmtune.rehearse`, on stores of the installed library."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lsmtune
from fakes import store_user
from fakes.patience import eventually
from fakes.user_stores import make_store, make_study, state
from lsmtune.cli.main import run
from lsmtune.engines.libraries.installed import (
    DEFAULT_VERSION,
    engine_of_version,
    installed_engines,
)

pytest.importorskip("lsmsim", reason="the native core is not built here")


KEYS = {
    "study", "trial", "passed", "version", "reader", "families", "records", "replaced", "seconds",
    "failed", "step", "message", "options", "remarks", "folder", "store_version", "plan", "tables",
    "read", "written", "added", "quiet",
}  # fmt: skip
"""The keys of the JSON document, which are a part of the contract."""


@pytest.fixture(scope="module")
def library(installed: Path) -> Path:
    engine = engine_of_version(installed_engines(installed), DEFAULT_VERSION)
    assert engine is not None
    return engine.library


@pytest.fixture(scope="module")
def folder(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, and with the home of a study of its options."""
    folder = tmp_path_factory.mktemp("rehearsed")
    make_study(folder / "home", make_store(library, folder / "store"), library)
    return folder


def rehearse(folder: Path, *more: str, store: str = "store") -> int:
    return run(["rehearse", "own", str(folder / store), "--home", str(folder / "home"), *more])


def test_rehearse_prints_plan_and_document(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(folder / "store")
    assert rehearse(folder, "--json") == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert set(document) == KEYS
    assert document["passed"]
    assert document["quiet"]
    assert document["failed"] is None
    assert document["plan"]["limit_s"] >= 600
    assert "time limit" in err
    assert state(folder / "store") == before


@pytest.mark.slow
def test_rehearse_of_a_file_that_the_store_refuses_ends_with_code_1(
    folder: Path, library: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flat = make_store(library, tmp_path / "flat", {"default": "num_levels=2"})
    make_study(folder / "home", flat, library, "flat")
    given = ["rehearse", "flat", str(folder / "store"), "--home", str(folder / "home")]
    assert run(given) == 1
    assert "num_levels" in capsys.readouterr().out
    found = lsmtune.rehearse("flat", folder / "store", home=folder / "home")
    assert (found.passed, found.found.failed, found.found.options) == (False, "exported", ())
    assert len(found.found.remarks) == 1  # the undo file fails, too


@pytest.mark.slow
def test_rehearse_names_the_command_for_the_version_of_the_store(
    folder: Path, installed: Path, library: Path, tmp_path: Path
) -> None:
    older = [e for e in installed_engines(installed) if e.record.version != DEFAULT_VERSION]
    if not older:
        pytest.skip("one version is installed")
    store = make_store(older[-1].library, tmp_path / "older")
    found = lsmtune.rehearse("own", store, home=folder / "home")
    assert found.passed
    assert f"--rocksdb {older[-1].record.version}" in found.found.remarks[0]


def test_rehearse_refuses_two_versions_and_engines_without_a_store(
    folder: Path, library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rehearse(folder, "--rocksdb", DEFAULT_VERSION, "--library", str(library)) == 2
    assert rehearse(folder, "--rocksdb", "new") == 2
    assert rehearse(folder, "--trial", "99") == 2
    assert rehearse(folder, store="missing") == 2
    assert len(capsys.readouterr().err.splitlines()) == 4


@pytest.mark.slow
def test_rehearse_of_a_store_that_the_caller_has_open_keeps_its_lock(
    folder: Path, library: Path
) -> None:
    """Python code would lose its lock if lsmtune opened the file LOCK in the same process."""
    store = folder / "own-use"
    argv = [sys.executable, store_user.__file__, str(library), str(store), "plain"]
    with subprocess.Popen(
        [*argv, "own", str(folder / "home")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as user:  # fmt: skip
        assert user.stdout is not None
        lines = [user.stdout.readline() for _ in range(2)]
        assert f"process {user.pid} uses this store" in lines[1]
        with pytest.raises(lsmtune.UserError, match=f"process {user.pid} uses"):
            lsmtune.rehearse("own", store, home=folder / "home")
        user.communicate()


@pytest.mark.slow
def test_rehearse_after_a_kill_removes_what_was_left(folder: Path) -> None:
    before = state(folder / "store")
    words = ["rehearse", "own", str(folder / "store"), "--home", str(folder / "home")]
    program = "from lsmtune.cli.start import main; main()"
    process = subprocess.Popen([sys.executable, "-c", program, *words], start_new_session=True)
    assert eventually(lambda: bool(list(folder.glob("lsmtune-rehearsal-*/try*/db/CURRENT"))))
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert list(folder.glob("lsmtune-rehearsal-*"))
    assert state(folder / "store") == before
    assert rehearse(folder) == 0
    assert not list(folder.glob("*lsmtune-*"))
    assert state(folder / "store") == before
