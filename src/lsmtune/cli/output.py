"""Standard output, whose failures are told in one sentence."""

import io
import os
import sys

from lsmtune.errors import LsmtuneError

_STANDARD_OUTPUT = 1
"""The number of the file descriptor."""


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
