"""The table of `lsmtune doctor`."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.fake_db_bench import install as install_db_bench
from fakes.jars import VERSION, build, pack, serving
from fakes.libraries import put
from lsmtune.api.doctor import Check
from lsmtune.cli.doctor import check_lines
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.checks import CheckContext
from lsmtune.engines.libraries.install import install
from lsmtune.engines.libraries.installed import Installed, engines_folder
from lsmtune.engines.registry import entry_of


def test_only_a_check_without_a_note_is_ok() -> None:
    checks = [
        Check("one", True, "fine"), Check("two", True, "busy", "stop it"),
        Check("three", True, "not available: x", "install x"), Check("four", False, "y", "do z"),
    ]  # fmt: skip
    rows = [line.split() for line in check_lines(checks) if len(line.split()) > 1]
    states = {row[0]: row[1] for row in reversed(rows)}
    assert [states[check.name] for check in checks] == ["ok", "warn", "absent", "FAIL"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without RocksDB and any other engine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LSMTUNE_DB_BENCH", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.fixture
def library(place: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    """An installed library that works."""
    with monkeypatch.context() as patch:
        patch.setenv("PATH", os.defpath)
        if shutil.which("cc") is None:
            pytest.skip("no C compiler")
        sources = serving(pack(place / "a.jar", build()))
    return install(VERSION, engines_folder(), sources, lambda _: None, trust=True).engine


def by_name(text: str) -> dict[str, Check]:
    """The checks of a JSON document by their names."""
    return {each["name"]: Check(**each) for each in json.loads(text)["checks"]}


def checked(capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[Check, Check]:
    """What `lsmtune doctor` finds about RocksDB and db_bench."""
    code = run(["doctor", "--json", *flags])
    found = by_name(capsys.readouterr().out)
    pair = found["RocksDB"], found["db_bench"]
    assert code == 0 or not all(each.ok for each in found.values())
    assert code == 1 or all(each.ok for each in pair)
    return pair


def test_one_way_to_run_rocksdb_is_enough(
    library: Installed, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, db_bench = checked(capsys)
    record = library.record
    named = (record.version, record.source, record.sha256[:12], str(library.library))
    assert all(word in found.detail for word in named)
    assert found.fix is None
    assert (found.ok, db_bench.ok) == (True, True)
    assert db_bench.detail.startswith("not available")
    program = install_db_bench(place / "bin")
    shutil.rmtree(library.folder)
    found, db_bench = checked(capsys, "--db-bench", str(program))
    assert (found.ok, db_bench.ok) == (True, True)
    assert found.detail.startswith("not available")


@pytest.mark.usefixtures("place")
def test_without_rocksdb_doctor_fails_and_tells_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found, db_bench = checked(capsys)
    assert (found.ok, db_bench.ok) == (False, False)
    assert "lsmtune engines install rocksdb" in str(found.fix)


@pytest.mark.usefixtures("library")
def test_without_the_driver_db_bench_is_needed(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "lsmsim", None)  # Python then finds no such package
    found, db_bench = checked(capsys)
    assert (found.ok, db_bench.ok) == (False, False)
    assert "make setup" in str(found.fix)
    program = install_db_bench(place / "bin")
    found, db_bench = checked(capsys, "--db-bench", str(program))
    assert (found.ok, db_bench.ok) == (True, True)
    assert found.detail.startswith("not available")


def test_a_library_that_does_not_work(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = install_db_bench(place / "bin")
    (engine,) = put(place / "cache", "11.8.1")
    assert not checked(capsys, "--db-bench", str(program))[0].ok
    engine.library.write_text("changed")
    found, _ = checked(capsys, "--db-bench", str(program))
    assert str(engine.folder) in found.detail


@pytest.mark.usefixtures("library")
def test_a_named_db_bench_must_work(capsys: pytest.CaptureFixture[str]) -> None:
    found, db_bench = checked(capsys, "--db-bench", "nonesuch")
    assert (found.ok, db_bench.ok) == (True, False)


@pytest.mark.usefixtures("library")
def test_slow_codecs_of_all_libraries_are_a_remark_and_no_warning(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["doctor", "--json"])
    codecs = by_name(capsys.readouterr().out)["codecs"]
    assert (codecs.ok, codecs.fix) == (True, None)
    assert all(word in codecs.detail for word in ("Snappy", "zlib", "--library"))
    shutil.rmtree(place / "cache")
    run(["doctor", "--json"])
    assert "codecs" not in by_name(capsys.readouterr().out)


def _rows(context: CheckContext) -> Iterator[Check]:
    yield Check("toy disk", True, f"{context.home} {context.program}")
    yield Check("toy file", False, "missing", "make it")


def _raising(context: CheckContext) -> Iterator[Check]:
    yield Check("first", True, "fine")
    raise LookupError("two\nlines")


@pytest.mark.usefixtures("place")
def test_rows_of_packages_come_last_and_a_raising_check_is_one_failed_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong: Any = lambda _: ["no check"]  # noqa: E731 - a package may return anything
    for name, checks in (("toy", _rows), ("odd", _raising), ("wrong", wrong)):
        entry = replace(entry_of("embedded"), name=name, checks=checks)
        monkeypatch.setitem(ENGINES, name, entry)
    assert run(["doctor", "--json", "--home", "there", "--db-bench", "nonesuch"]) == 1
    found = by_name(capsys.readouterr().out)
    assert list(found) == [
        "RocksDB", "db_bench", "myrocks", "stores", "go-ycsb", "home", "open files",
        "quiet machine", "toy disk", "toy file", "first", "checks of odd", "checks of wrong",
    ]  # fmt: skip
    assert found["toy disk"].detail == "there nonesuch"
    assert found["toy file"].fix == "make it"
    assert not found["checks of odd"].ok
    assert "LookupError: two lines" in found["checks of odd"].detail
    assert "no check" in found["checks of wrong"].detail
