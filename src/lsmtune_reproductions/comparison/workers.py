"""Processes that compute at the same time, and end with the process that waits for them."""

import multiprocessing
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager


@contextmanager
def worker_pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool of `jobs` processes; an exception in the context drops their work.

    A Ctrl-C reaches a terminal's whole group: only the caller reports it, and ends the workers.
    """
    pool = ProcessPoolExecutor(jobs, initializer=_leave_signals_to_caller)
    try:
        yield pool
    except BaseException:
        for worker in multiprocessing.active_children():
            worker.terminate()
        # Waiting ends the pool's own thread; at exit it would use pipes that are closed.
        pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()


def _leave_signals_to_caller() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
