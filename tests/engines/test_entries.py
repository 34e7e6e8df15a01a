"""Engines and optimizers are found by name, and a package that cannot be used breaks nothing."""

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.guests import ENTRY, install, install_broken
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES, engines_of, runs, usual_engine
from lsmtune.engines.checks import Check
from lsmtune.engines.entry import checked_entry
from lsmtune.engines.exports import TOML, Toml
from lsmtune.engines.registry import add_engine, entry_of
from lsmtune.errors import UserError
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spec import StudySettings, make_spec
from lsmtune.workloads import WORKLOADS

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
OWN = ["rocksdb", "myrocks", "embedded", "tikv", "simulated"]


def test_the_project_declares_the_entries_of_lsmtune() -> None:
    declared = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]
    assert declared["lsmtune.engines"] == ENGINES.built_in


@pytest.mark.parametrize("name", OWN)
def test_an_entry_of_lsmtune_is_complete(name: str) -> None:
    entry = entry_of(name)
    assert entry.name == name
    assert entry.summary
    assert all(load in WORKLOADS.built_in for load in entry.workload_names)
    assert StudySettings(engine=name).workload.name == entry.workload_names[0]
    assert StudySettings(engine=name).program == entry.program
    assert entry.catalogue().engine == name


def test_the_file_to_deploy_is_of_the_first_format() -> None:
    found = {name: [form.name for form in entry_of(name).exports] for name in OWN}
    assert found == {
        "rocksdb": ["options", "db_bench"], "myrocks": ["my.cnf"], "embedded": ["toml"],
        "tikv": ["tikv-toml"], "simulated": ["db_bench", "options"],
    }  # fmt: skip


class Escaping(Toml):
    file_name = "../settings.toml"


@pytest.mark.parametrize("exports", [(), [TOML], (Toml,), ("toml",), (TOML, Toml()), (Escaping(),)])
def test_exports_are_formats_with_names_of_their_own(exports: Any) -> None:
    entry = replace(entry_of("embedded"), exports=exports)
    with pytest.raises(ValueError, match=r"^its exports "):
        checked_entry("embedded", entry)


@pytest.mark.parametrize("files", [["my.cnf"], ("my.cnf",), None], ids=str)
def test_base_files_are_kinds_of_files(files: Any) -> None:
    entry = replace(entry_of("embedded"), base_files=files)
    with pytest.raises(ValueError, match=r"^its base_files "):
        checked_entry("embedded", entry)


def test_each_workload_is_run_by_its_engine_first() -> None:
    for engine in ("rocksdb", "myrocks", "tikv"):
        assert any(usual_engine(name) == engine for name in entry_of(engine).workload_names)
    for name in WORKLOADS.built_in.keys() - {"benchmark"}:
        assert engines_of(name)[0] == usual_engine(name)
        assert all(runs(engine, name) for engine in engines_of(name))
    assert engines_of("fillrandom") == ("rocksdb", "myrocks", "embedded", "simulated")
    assert engines_of("benchmark") == ()
    with pytest.raises(UserError, match="benchmark"):
        make_spec({"workload": "benchmark"}, "")


def test_names_are_read_without_an_import() -> None:
    code = (
        "import sys\nfrom lsmtune.engine_traits import ENGINES\nnames = list(ENGINES)\n"
        "'no engine' in ENGINES\n"
        "print(names, [m for m in sys.modules if m.startswith('lsmtune.engines')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == f"{OWN} []"


def test_an_engine_of_a_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {"guest_module": ENTRY}
    engines = {"guest": "guest_module:GUEST"}
    install(tmp_path, monkeypatch, "lsmtune-guest", engines=engines, modules=modules)
    assert list(ENGINES) == [*OWN, "guest"]
    assert "guest_module" not in sys.modules
    spec = make_spec({"engine": "guest"}, "")
    assert (spec.program, spec.scale) == ("guest", "1")
    assert engines_of("fillrandom")[-1] == "guest"
    (guest,) = ENGINES.guests()
    assert (guest.name, guest.package, guest.problem) == ("guest", "lsmtune-guest 1.0", None)


def test_a_study_of_another_engine_does_not_import_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules = {"silent_module": ENTRY}
    engines = {"silent": "silent_module:GUEST"}
    install(tmp_path / "site", monkeypatch, "lsmtune-silent", engines=engines, modules=modules)
    monkeypatch.chdir(tmp_path)
    keys = "--engine simulated --num 20000 --trials 2 --study s"
    for command in (
        f"tune {keys} --dry-run", f"tune {keys}", "show s", "trials s", "studies",
        "report s -o report.html",
    ):  # fmt: skip
        assert run([*command.split(), "--home", "home"]) == 0
        assert "silent_module" not in sys.modules, command


def test_a_package_that_cannot_be_used_is_one_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = install_broken(tmp_path, monkeypatch)
    code = run(["doctor", "--json", "--home", str(tmp_path / "home")])
    told = json.loads(capsys.readouterr().out)
    found = [check for check in told["checks"] if "package lsmtune-" in check["detail"]]
    assert sorted(check["name"] for check in found) == sorted(
        [*(f"engine {name}" for name in names), "optimizer lost", "optimizer tpe"]
    )
    assert all(check["ok"] and "\n" not in check["detail"] for check in found)
    assert {Check(**check).state for check in found} == {"warn"}
    assert code == (0 if told["ok"] else 1)
    causes = {check["name"]: check["detail"] for check in found}
    assert "ModuleNotFoundError" in causes["engine gone"]
    assert "SystemExit" in causes["engine quits"]
    assert "contract 2" in causes["engine future"]
    assert "int" in causes["engine nothing"]
    assert "other" in causes["engine renamed"]
    assert "lsmtune itself" in causes["engine myrocks"]
    assert "'speed'" in causes["engine odd"]
    assert "ZeroDivisionError" in causes["engine bare"]
    assert "no ExportFormat" in causes["engine formless"]
    assert "TypeError" in causes["engine unreadable"]
    assert "the workload fillrandom" in causes["engine taken"]
    assert "'both'" in causes["engine kindless"]
    assert "the parameter num" in causes["engine shadow"]
    assert "3" in causes["engine untyped"]


def test_a_package_that_cannot_be_used_breaks_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = install_broken(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    for command in (
        "workloads", "workloads fillrandom", "knobs rocksdb", "knobs myrocks", "schema",
        "optimizers", "--help", "tune --help", "engines",
    ):  # fmt: skip
        assert run(command.split()) == 0
        assert capsys.readouterr().err == ""
    assert entry_of("myrocks").program == "mariadbd"
    assert make_optimizer("tpe").name == "tpe"
    for name in {*names} - {"myrocks"}:
        with pytest.raises(UserError, match=f"engine: '{name}' .*lsmtune-"):
            make_spec({"engine": name}, "study.toml")
    with pytest.raises(UserError, match=r"^optimizer: 'lost' .*lsmtune-broken 1\.0"):
        make_optimizer("lost")


def test_a_name_that_nobody_has_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UserError, match=r"unknown engine 'roxdb'.*'rocksdb'.*tikv"):
        make_spec({"engine": "roxdb"}, "")


def test_an_engine_is_added_under_its_own_name_only() -> None:
    add_engine(entry_of("tikv"))  # it is there already
    with pytest.raises(UserError, match="name of another engine"):
        add_engine(replace(entry_of("tikv"), summary="another one"))
