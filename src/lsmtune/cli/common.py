"""Options and output that the commands share."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.analysis import deploy
from lsmtune.errors import Message
from lsmtune.study_keys import STUDY_KEYS, WORKLOAD_KEYS, flag_help

if TYPE_CHECKING:
    from lsmtune.api.resolve import Resolved
    from lsmtune.spec import StudySettings

Home = Annotated[
    Path,
    typer.Option(
        "--home",
        envvar="LSMTUNE_HOME",
        help="Folder that contains the studies and the files of the studies.",
    ),
]
AcceptNoise = Annotated[
    bool,
    typer.Option(
        "--accept-noise",
        help="Keep and mark runs that other programs disturb; do not run them again.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")]
Program = Annotated[
    str | None,
    typer.Option(
        "--db-bench",
        envvar=deploy.DB_BENCH_VARIABLE,
        help="Path of the program db_bench, or its name on PATH [db_bench].",
    ),
]
DbBench = Annotated[
    str | None,
    typer.Option(
        "--db-bench",
        envvar=deploy.DB_BENCH_VARIABLE,
        # Not the description of `program`, which names the programs of all engines.
        help="Run this db_bench: a path, or a name on PATH [none].",
        rich_help_panel="Engine",
    ),
]
RocksDBVersion = Annotated[
    str | None,
    typer.Option(
        "--rocksdb",
        metavar="VERSION",
        help=flag_help(STUDY_KEYS["rocksdb"]),
        rich_help_panel="Engine",
    ),
]
Library = Annotated[
    str | None,
    typer.Option(
        "--library",
        metavar="FILE",
        help=flag_help(STUDY_KEYS["library"], default="none"),
        rich_help_panel="Engine",
    ),
]
Workload = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["workload"], default="fillrandom"),
        metavar="NAME",
        rich_help_panel="Workload and baseline",
    ),
]
Records = Annotated[
    int | None,
    typer.Option(
        help=flag_help(WORKLOAD_KEYS["num"], default="1000000"),
        metavar="N",
        rich_help_panel="Workload and baseline",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["scale"]),
        metavar="FRACTION",
        rich_help_panel="Workload and baseline",
    ),
]
EngineFlag = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help=flag_help(STUDY_KEYS["engine"]),
        metavar="NAME",
        rich_help_panel="Engine",
    ),
]
Page = Annotated[Path | None, typer.Option(help="Write an HTML page to this file.")]
OtherTrial = Annotated[
    int | None,
    typer.Option("--trial", help="Number of a trial to use instead of the winner [the winner]."),
]
DEFAULT_HOME = deploy.DEFAULT_HOME


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(document, indent=2) + "\n")


def say(text: str) -> None:
    """Print a line for people on standard output."""
    sys.stdout.write(text + "\n")


def say_all(lines: Iterable[str]) -> None:
    """Print lines for people on standard output."""
    for line in lines:
        say(line)


def with_flags(text: str) -> str:
    """Return a message of the library with the flags of its arguments."""
    return text.with_flags() if isinstance(text, Message) else text


def note(text: str) -> None:
    """Print a line on standard error, where no data is printed; a terminal breaks it at spaces."""
    text = with_flags(text)
    if sys.stderr.isatty():
        text = textwrap.fill(
            text, shutil.get_terminal_size().columns, subsequent_indent="  ",
            break_long_words=False, break_on_hyphens=False, drop_whitespace=True,
        )  # fmt: skip
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def settings_of(resolved: "Resolved") -> "StudySettings":
    """Print the remarks about the settings, and return the settings."""
    for remark in resolved.remarks:
        note(remark)
    return resolved.settings


def ask(question: str, *, unasked: str, refused: str) -> None:
    """Ask for consent on the terminal.

    UserError with the text `unasked` if there is no terminal, or `refused` if the answer is no.
    """
    from lsmtune.errors import UserError

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError(unasked)
    if not typer.confirm(with_flags(question), err=True):
        raise UserError(refused)


def write_output(path: Path, text: str, what: str, like: Path | None = None) -> None:
    """Write a file that the user names and print its name; an older file of this name is kept.

    `like` is a file whose permissions the new file gets, see `write_whole`.
    """
    from lsmtune.system.write import write_beside_older

    kept = write_beside_older(path, text, what, like)
    if kept is not None:
        say(f"kept the older {path.name} as {kept}")
    say(f"written: {path}")
