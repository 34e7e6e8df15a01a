"""What the engine of embedded stores makes of libraries that do not work."""

from dataclasses import replace
from pathlib import Path

import pytest

from fakes.libraries import put
from lsmtune.engines.embedded import engine as embedded
from lsmtune.engines.registry import engine_of, make_engine
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.spec import StudySettings

pytest.importorskip("lsmsim", reason="the native core is not built here")


def spec(**fields: object) -> StudySettings:
    return StudySettings.model_validate({"engine": "embedded", **fields})


def catalogue_of(store: str) -> Catalogue:
    """The catalogue without other stores: the first one that this machine lacks is reported."""
    catalogue = load("embedded")
    others = [knob for knob in catalogue.knobs if knob.name != "store"]
    return replace(catalogue, knobs=(catalogue.knob("store").restricted((store,)), *others))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_without_a_rocksdb_the_command_is_named(folder: Path) -> None:
    with pytest.raises(UserError, match="lsmtune engines install rocksdb"):
        make_engine("embedded", "lsmdriver")


def test_a_study_that_another_program_has_measured_does_not_go_on(folder: Path) -> None:
    put(folder, "11.8.1")
    with pytest.raises(UserError, match=r"^program: lsmtune-stores"):
        engine_of(spec(program="lsmtune-stores"))


def test_a_rocksdb_that_does_not_load_is_named(folder: Path) -> None:
    (installed,) = put(folder, "11.8.1")
    with pytest.raises(UserError, match=str(installed.library)):
        engine_of(spec()).describe(folder)


@pytest.mark.parametrize(("store", "package"), [("leveldb", "libleveldb1d"), ("lmdb", "liblmdb0")])
def test_a_library_of_the_system_that_is_missing_is_named_with_its_package(
    store: str, package: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(folder, "11.8.1")
    monkeypatch.setattr(embedded.Embedded, "catalogue", catalogue_of(store))
    monkeypatch.setitem(embedded._OF_THE_SYSTEM, store, "libno.so.1")
    with pytest.raises(UserError, match=rf"libno\.so\.1.*apt-get install {package}"):
        engine_of(spec()).describe(folder)


def test_a_library_of_the_user_is_used(
    installed: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed.parent.parent))
    own = folder / "libleveldb.so"
    own.write_text("no library")
    with pytest.raises(UserError, match=str(own)):
        engine_of(spec(libraries={"leveldb": str(own)})).describe(folder)
