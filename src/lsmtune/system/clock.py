"""Whether the wall clock was set while a trial ran."""

import time
from collections.abc import Callable

Reader = Callable[[], float]
"""Reads a clock, in seconds."""

_TOLERANCE_S = 0.1
_SLEW = 500e-6
"""The most by which Linux corrects a clock while it runs, as a share (adjtimex(2), MAXFREQ)."""


class ClockWatch:
    """Compares the wall clock with the monotonic one from its construction on.

    Moments that were read from the wall clock before and after a jump cannot be subtracted from
    each other. A sleep of the machine counts as a jump too: the monotonic clock stands still in it.
    """

    def __init__(self, wall: Reader = time.time, monotonic: Reader = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._wall_start_s = wall()
        self._monotonic_start_s = monotonic()
        self._largest_s = 0.0

    def jump_s(self) -> float:
        """Return by how many seconds the wall clock was set: forward above 0, back below.

        0 while it is no more than 0.1 s, or what slow correction explains. Of several looks
        the largest jump counts, so a clock that was set and set back is found out by who looks
        in between.
        """
        elapsed_s = self._monotonic() - self._monotonic_start_s
        drift_s = self._wall() - self._wall_start_s - elapsed_s
        if abs(drift_s) > max(_TOLERANCE_S, _SLEW * elapsed_s, abs(self._largest_s)):
            self._largest_s = drift_s
        return self._largest_s
