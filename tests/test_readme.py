"""What the README says can be checked: its figures are those recorded, its commands exist."""

import re
import sys
from pathlib import Path

import pytest

from lsmtune.cli.main import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_figures_are_those_that_were_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from table import table  # noqa: PLC0415 - it lies beside the package

    sys.modules.pop("table")
    assert table() in README


def test_every_command_is_described_and_no_other() -> None:
    commands = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
    described = set(re.findall(r"`(?:lsmtune )?(\w+)", "".join(_rows()))) & _words(commands)
    assert described == commands


def _rows() -> list[str]:
    return [line.split("|")[1] for line in README.splitlines() if line.startswith("| `lsmtune")]


def _words(commands: set[str]) -> set[str]:
    named = {word for row in _rows() for word in re.findall(r"`(?:lsmtune )?(\w+)", row)}
    return commands | named
