"""The end of a process group."""

import os
import time

import psutil

_POLL_S = 0.01
_GROUP_END_S = 5.0


def await_group_end(group: int) -> None:
    """Wait until a process group that was sent SIGKILL has ended, 5 s at most.

    The signal takes a moment to act, and who deletes the work directory next must not meet a
    writer in it. A member that is stuck in the kernel is not waited for beyond the limit.
    """
    limit = time.monotonic() + _GROUP_END_S
    while _has_living_member(group) and time.monotonic() < limit:
        time.sleep(_POLL_S)


def _has_living_member(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    # Ended members stay in the group until their new parent reaps them, which may be never.
    return any(_is_living_member(process, group) for process in psutil.process_iter())


def _is_living_member(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False
