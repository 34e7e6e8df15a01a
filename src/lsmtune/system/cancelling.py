"""What ends work early: the wish of another thread, and time limits of a child process."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from lsmtune.errors import Cancelled, LsmtuneError

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


class ProcessTimeout(LsmtuneError):  # noqa: N818 - a time-out is told apart from errors
    """A process broke its limit: `kind` tells which one, `seconds` how much it allowed."""

    def __init__(self, kind: Literal["wall", "silence"], seconds: float) -> None:
        wall = f"time limit of {seconds:g} s exceeded"
        super().__init__(wall if kind == "wall" else f"no activity for {seconds:g} s")
        self.kind = kind
        self.seconds = seconds


class Deadline:
    """A limit on the whole time and one on the time without a sign of life, both in seconds.

    Both times start with the object, on a clock that is monotonic; `math.inf` means no limit.
    """

    def __init__(
        self, *, wall_s: float, silence_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._wall_s = wall_s
        self._silence_s = silence_s
        self._started = self._heard = self._clock()

    def heard(self) -> None:
        """Note a sign of life: the silence starts anew."""
        self._heard = self._clock()

    def check(self) -> None:
        """Raise ProcessTimeout when a limit has passed; the whole time goes first."""
        now = self._clock()
        if now - self._started > self._wall_s:
            raise ProcessTimeout("wall", self._wall_s)
        if now - self._heard > self._silence_s:
            raise ProcessTimeout("silence", self._silence_s)
