"""A reader, and what most readers need: files, arguments, command lines.

A reader takes bytes and a folder, writes the bytes into a file there and reads the file as a
command does. Most of them run the command itself.
"""

import io
import json
import random
import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import typer.main

from lsmtune.cli.main import run as run_command
from lsmtune.engines.base import TrialFailedError
from lsmtune.errors import ParseError, UserError
from mutated.mutations import mutated

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
CAPTURED = DATA / "captured"
ENGINES_OUTPUT = (ParseError, TrialFailedError)
"""An output of an engine makes the trial unreadable; the user has no mistake."""
_DONE, _NO_DIAGNOSIS, _WRONG_INPUT = 0, 1, 2
# Typer makes its commands again at each call, which takes as long as most readers.
typer.main.get_command = cache(typer.main.get_command)


class NotReadError(Exception):
    """A command that ended with another exit code than done or wrong input."""


@dataclass(frozen=True)
class Reader:
    """`read` may raise `refuses`; `make` gives a damaged input. `seeds` are valid inputs."""

    read: Callable[[bytes, Path], None]
    seeds: Callable[[], Sequence[bytes]]
    refuses: tuple[type[Exception], ...] = (UserError,)
    make: Callable[[Sequence[bytes], random.Random], bytes] | None = None

    def input(self, seeds: Sequence[bytes], rng: random.Random) -> bytes:
        """Return a damaged input."""
        return self.make(seeds, rng) if self.make else mutated(rng.choice(seeds), rng)


def command(*arguments: str | Path) -> str:
    """Run a command line as the program does and return what it printed.

    Raises UserError when the command refuses its input, NotReadError when it fails.
    """
    out, err = sys.stdout, sys.stderr
    printed = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    told = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True)
    sys.stdout, sys.stderr = printed, told
    try:
        code = run_command([str(argument) for argument in arguments])
    finally:
        sys.stdout, sys.stderr = out, err
    told.seek(0)
    printed.seek(0)
    error, output = told.read(), printed.read()
    if code == _WRONG_INPUT or (code == _NO_DIAGNOSIS and "cannot read" in error):
        raise UserError(error)
    if code != _DONE and not (code == _NO_DIAGNOSIS and arguments[0] == "inspect" and output):
        raise NotReadError(f"exit code {code}: {error[:500]}")
    return output


def commands(*lines: Sequence[str | Path]) -> None:
    """Run all command lines; UserError if one of them refuses its input."""
    refusals = []
    for line in lines:
        try:
            command(*line)
        except UserError as error:
            refusals.append(error)
    if refusals:
        raise refusals[0]


def inspected(data: bytes, page: Path, *arguments: str | Path) -> None:
    """Run `inspect` for the terminal and as JSON; each fourth input also gets a page.

    A page takes longer than both other outputs.
    """
    with_page = ("--page", page) if zlib.crc32(data) % 4 == 0 else ()
    command("inspect", *arguments, *with_page)
    json.loads(command("inspect", *arguments, "--json"))


def write_file(data: bytes, folder: Path, name: str = "input") -> Path:
    """Write the bytes to a file of the folder and return its path."""
    path = folder / name
    path.write_bytes(data)
    return path


def argument(data: bytes) -> str:
    """Return the bytes as Python gives them to a program; an argument has no NUL."""
    return data.replace(b"\0", b"").decode("utf-8", "surrogateescape")


def texts(*values: str) -> Callable[[], list[bytes]]:
    """Return a function that gives the texts as bytes."""
    return lambda: [value.encode() for value in values]
