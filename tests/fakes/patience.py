"""Waiting for what another process does, for as long as it takes on a busy machine."""

import time
from collections.abc import Callable

PATIENCE_S = 60.0
"""How long a test waits before it fails; never reached unless something hangs."""

_LOOK_S = 0.01


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true in time; once is enough, it may turn false again."""
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(_LOOK_S)
    return False
