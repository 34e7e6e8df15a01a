"""README.md describes the program: every command, and no other, within its length."""

import re
from pathlib import Path

import typer

from lsmtune.cli.main import app

README = (Path(__file__).parents[1] / "README.md").read_text()
ROWS = [line.split("|")[1] for line in README.splitlines() if line.startswith("| `lsmtune")]
MOST_LINES, MOST_WORDS = 150, 1100


def test_every_command_is_described_and_no_other() -> None:
    described = {word for row in ROWS for word in re.findall(r"`(?:lsmtune )?(\w+)", row)}
    assert described == set(typer.main.get_command(app).commands)


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    assert len(README.split()) <= MOST_WORDS
