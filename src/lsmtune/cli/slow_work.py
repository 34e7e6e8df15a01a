"""Slow work on standard error: one line that changes on a terminal, plain lines in a pipe."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lsmtune.cli.output import note
from lsmtune.progress import SOON_S, Observer

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text


class _Display:
    """The line of slow work, which another thread opens after the delay."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lock = threading.Lock()
        self._status: Status | None = None
        self._is_open = self._is_closed = False

    def open(self) -> None:
        from rich.console import Console

        with self._lock:
            if self._is_closed:
                return
            self._is_open = True
            console = Console(stderr=True, highlight=False)
            if console.is_terminal:
                self._status = console.status(one_line(self._text))
                self._status.start()
            else:
                note(self._text)

    def update(self, text: str) -> None:
        with self._lock:
            is_new, self._text = text != self._text, text
            if not self._is_open or not is_new:
                return
            if self._status is not None:
                self._status.update(one_line(text))
            else:
                note(text)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._status is not None:
                self._status.stop()


def one_line(text: str) -> "Text":
    """Return a text that a narrow terminal cuts."""
    from rich.text import Text

    return Text(text, no_wrap=True, overflow="ellipsis")


class TerminalProgress(Observer):
    """Shows remarks and slow work on standard error."""

    def remark(self, text: str) -> None:
        """Print a line."""
        note(text)

    @contextmanager
    def working(self, text: str, delay_s: float = SOON_S) -> Iterator[Callable[[str], None]]:
        """Show what is being done if it takes longer than the delay.

        Gives a function that replaces the text. A terminal has one line with the latest text. A
        pipe gets one line per text, from the end of the delay on.
        """
        display = _Display(text)
        timer = threading.Timer(delay_s, display.open)
        timer.daemon = True
        timer.start()
        try:
            yield display.update
        finally:
            timer.cancel()
            display.close()
