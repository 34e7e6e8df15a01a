"""A pool that runs nothing: it shows whether a study has anything left to run."""

from collections.abc import Callable, Iterable

from lsmtune.study.runner import REPEATS, Done, NextJob, ignore


class WorkLeft(Exception):  # noqa: N818 - what was found, not a mistake
    """A run is left."""


class LookingPool:
    """Raises WorkLeft where another pool would begin a run.

    `hosts` returns the hosts that have measured the baseline; None is this machine, or any host if
    all measure the same.
    """

    def __init__(self, hosts: Callable[[], Iterable[str | None]]) -> None:
        self._hosts = hosts

    def feed(self, next_job: NextJob, done: Done = ignore, most_repeats: int = REPEATS) -> None:
        """Return if `next_job` has nothing for any host; raise WorkLeft otherwise."""
        hosts = list(self._hosts())
        if not hosts or any(next_job(host, ()) for host in hosts):
            raise WorkLeft
