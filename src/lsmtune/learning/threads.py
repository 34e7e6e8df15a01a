"""How many threads linear algebra takes."""

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """A context of one thread: products of some hundred rows take ten times as long on several."""
    limited: AbstractContextManager[object] = _linear_algebra().limit(limits=1, user_api="blas")
    return limited


@cache
def _linear_algebra() -> ThreadpoolController:
    """The libraries of this process, looked up once: that takes longer than a small product."""
    return ThreadpoolController()
