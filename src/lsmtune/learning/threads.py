"""How many threads linear algebra takes."""

from threadpoolctl import threadpool_limits


def one_thread() -> threadpool_limits:
    """A context of one thread: products of some hundred rows take ten times as long on several."""
    return threadpool_limits(limits=1, user_api="blas")
