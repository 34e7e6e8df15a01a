"""A study gets the library that it names, unchanged since its installation."""

import hashlib
import os
from pathlib import Path

import pytest

from fakes.libraries import put
from lsmtune.engines.libraries.installed import DEFAULT_VERSION, Loaded, loaded_library
from lsmtune.engines.registry import engine_of
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def refused(rocksdb: str | None, library: str | None) -> str:
    with pytest.raises(UserError) as caught:
        loaded_library(rocksdb, library)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_version_is_the_installed_library(cache: Path) -> None:
    _, wanted = put(cache, "11.8.1", "8.10.2")
    record = wanted.record
    found = loaded_library("8.10.2", None)
    assert found == Loaded(wanted.library, "8.10.2", record.source, record.sha256)


def test_a_library_with_a_pin_is_preferred(cache: Path) -> None:
    (pinned,) = put(cache, "8.10.2")
    put(cache, "8.10.2", pinned=False)
    assert loaded_library("8.10.2", None).path == pinned.library


def test_a_version_that_is_not_installed(cache: Path) -> None:
    assert "`lsmtune engines install rocksdb@8.10.2`" in refused("8.10.2", None)
    put(cache, "11.8.1")
    message = refused("8.10.2", None)
    assert "`lsmtune engines install rocksdb@8.10.2`" in message
    assert "11.8.1" in message


def test_a_library_that_changed_after_its_installation(cache: Path) -> None:
    (engine,) = put(cache, "8.10.2")
    engine.library.write_text("another library")
    assert str(engine.library) in refused("8.10.2", None)


@pytest.mark.parametrize("name", ["a folder", "a pipe", "nothing"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "a folder").mkdir()
    os.mkfifo(tmp_path / "a pipe")
    assert name in refused(None, str(tmp_path / name))


def test_a_library_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.so").write_bytes(b"own")
    found = loaded_library(None, "own.so")
    sha256 = hashlib.sha256(b"own").hexdigest()
    assert found == Loaded(tmp_path / "own.so", None, "library of the user", sha256)
    assert "missing.so" in refused(None, "missing.so")
    assert str(tmp_path) in refused(None, str(tmp_path))


def test_the_settings_decide_about_the_engine(cache: Path, tmp_path: Path) -> None:
    pytest.importorskip("lsmsim", reason="the driver is not built here")
    (engine,) = put(cache, "8.10.2")  # no library that can be loaded
    for spec in (StudySettings(rocksdb="8.10.2"), StudySettings(library=str(engine.library))):
        with pytest.raises(UserError, match=str(engine.library)):
            engine_of(spec).describe(tmp_path)
    with pytest.raises(UserError, match="missing-db_bench"):
        engine_of(StudySettings(program="missing-db_bench")).describe(tmp_path)
    assert engine_of(StudySettings(engine="simulated")).name == "simulated"


def test_a_library_of_this_machine(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed.parents[1]))
    found = loaded_library(DEFAULT_VERSION, None)
    assert found.path.is_relative_to(installed)
    assert found.version == DEFAULT_VERSION
