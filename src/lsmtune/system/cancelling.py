"""Ends the work of one thread at the wish of another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lsmtune.errors import Cancelled

_WISH: ContextVar[threading.Event | None] = ContextVar("lsmtune_cancel", default=None)


class _Cancelling(BaseException):
    """Passes all handlers of errors, as KeyboardInterrupt does, so that no run fails by it."""


@contextmanager
def cancelled_by(wish: threading.Event | None) -> Iterator[None]:
    """End the work of this context when the event is set; then `Cancelled` is raised.

    The work looks at the event whenever it waits for a process or begins a part of a run.
    """
    token = _WISH.set(wish)
    try:
        yield
    except _Cancelling:
        raise Cancelled("cancelled; the same call continues the study") from None
    finally:
        _WISH.reset(token)


def check_cancelled() -> None:
    """End the work if its event is set."""
    wish = _WISH.get()
    if wish is not None and wish.is_set():
        raise _Cancelling
