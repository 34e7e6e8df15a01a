"""Processes that compute side by side, and end with whoever waits for them."""

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of so many processes; what they compute is dropped when the context is left by force.

    A Ctrl-C reaches a terminal's whole group; the caller alone tells of it, and ends the workers.
    """
    pool = ProcessPoolExecutor(jobs, initializer=_leave_signals_to_caller)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    pool.shutdown()


def _leave_signals_to_caller() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
