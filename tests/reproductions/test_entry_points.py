"""lsmtune finds the optimizers and commands of its second package by their entry points."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fakes.guests import install
from lsmtune.cli.commands import COMMANDS
from lsmtune.optimizers.registry import OPTIMIZERS, make_optimizer

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
POINTS = tomllib.loads(PROJECT.read_text())["project"]["entry-points"]
OWN = POINTS["lsmtune.optimizers"]


def test_each_optimizer_is_what_the_project_declares() -> None:
    assert set(OPTIMIZERS) >= set(OWN)
    assert not set(OWN) & set(OPTIMIZERS.built_in)
    for name, place in OWN.items():
        made = make_optimizer(name)
        assert place == f"{type(made).__module__}:{type(made).__name__}"


def test_each_command_without_a_module_is_declared() -> None:
    rows = {name: row for topic in COMMANDS.values() for name, row in topic.items()}
    assert {name for name, (module, _) in rows.items() if module is None} == set(
        POINTS["lsmtune.commands"]
    )


def test_no_other_package_can_take_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered = {"cdbtune": "no_such_module:CdbTune"}
    install(tmp_path, monkeypatch, "lsmtune-other", optimizers=offered)
    assert make_optimizer("cdbtune").name == "cdbtune"
    (guest,) = OPTIMIZERS.guests()
    assert (guest.name, guest.package) == ("cdbtune", "lsmtune-other 1.0")
    assert guest.problem


def test_without_metadata_all_else_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, because the tests of a process share the commands."""
    install(tmp_path, monkeypatch, "lsmtune")
    commands = ["reproduce sst-size", "--help", "tune --help", "optimizers", "workloads"]
    code = f"from lsmtune.cli.main import run\nprint([run(c.split()) for c in {commands}])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, cwd=tmp_path,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[2, 0, 0, 0, 0]"
    assert done.stderr.startswith("lsmtune: reproduce: ")
    assert "gp-ucb-autotikv" not in done.stdout
