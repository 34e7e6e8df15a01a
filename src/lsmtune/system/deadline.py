"""Time limits for a child process, asked by the loop that polls it."""

import time
from collections.abc import Callable
from typing import Literal

from lsmtune.errors import LsmtuneError


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
