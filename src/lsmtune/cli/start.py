"""The entry point of the program; it imports little, so that it catches an early Ctrl-C."""

import os
import signal
from types import FrameType
from typing import NoReturn

_STANDARD_ERROR = 2
"""The number of the file descriptor."""
_FAILED = 1
"""The exit code of any other Ctrl-C too."""


def main() -> NoReturn:
    """Run the program; a Ctrl-C while Python still imports it ends it without a traceback."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_usual:  # a shell may start the program with SIGINT ignored
        signal.signal(signal.SIGINT, _end)
    from lsmtune.cli.main import main as run_program

    if is_usual:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run_program()


def _end(signum: int, frame: FrameType | None) -> NoReturn:
    """End at once: Python would ignore an exception in a callback of an import, and print it."""
    os.write(_STANDARD_ERROR, b"lsmtune: interrupted\n")
    os._exit(_FAILED)
