"""What the commands share: options, output, and the way errors end the program."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

Home = Annotated[
    Path,
    typer.Option("--home", envvar="LSMTUNE_HOME", help="folder that holds studies and evidence"),
]
Json = Annotated[bool, typer.Option("--json", help="print one JSON document, nothing else")]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="name of the study")]
Program = Annotated[
    str | None,
    typer.Option("--db-bench", envvar="LSMTUNE_DB_BENCH", help="the db_bench to use [db_bench]"),
]
DEFAULT_HOME = Path("lsmtune-data")


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def say(text: str) -> None:
    """Print a line for people on standard output."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Print a line beside the data, on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def write_file(path: Path, text: str, what: str) -> None:
    """Write a file whole or not at all; UserError naming it when it cannot be written."""
    from lsmtune.errors import UserError

    partial = path.with_name(path.name + ".partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UserError(f"{what} {path}: cannot be written: {error.strerror}") from error
