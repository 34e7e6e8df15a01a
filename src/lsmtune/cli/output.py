"""What the commands print: data and text on standard output, remarks on standard error."""

import io
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer

from lsmtune.errors import LsmtuneError, Message, UserError

if TYPE_CHECKING:
    from lsmtune.api.export import Written
    from lsmtune.api.resolve import Resolved, StudySettings

_STANDARD_OUTPUT = 1
"""The number of the file descriptor."""


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
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError(unasked)
    if not typer.confirm(with_flags(question), err=True):
        raise UserError(refused)


def say_written(files: "Iterable[Written]") -> None:
    """Print the names of files that were written, and of older files that were kept."""
    for file in files:
        if file.kept is not None:
            say(f"kept the older {file.path.name} as {file.kept}")
        say(f"written: {file.path}")


class Output(io.TextIOWrapper):
    """Standard output; LsmtuneError if a text cannot be written, as on a full disk.

    A pipe without a reader remains a BrokenPipeError.
    """

    def write(self, text: str) -> int:
        """Write a text."""
        if text == "":  # typer writes an empty text to see of what kind the output is
            return 0
        try:
            return super().write(text)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _failure(error) from error

    def flush(self) -> None:
        """Write what is still in memory."""
        try:
            super().flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _failure(error) from error


def check_output() -> None:
    """Let standard output tell its failures."""
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        sys.stdout = Output(
            out.buffer, out.encoding, out.errors,
            line_buffering=out.line_buffering, write_through=out.write_through,
        )  # fmt: skip


def _failure(error: OSError) -> LsmtuneError:
    """Return the failure; what is still in memory is dropped, so that it does not fail again."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, _STANDARD_OUTPUT)
    os.close(null)
    return LsmtuneError(f"standard output: cannot write: {error.strerror}")
