"""A scheduler that the tests of a file share; each test starts the workers that it needs."""

from collections.abc import Iterator

import pytest

from fakes.host_processes import Cluster, new_cluster


@pytest.fixture(scope="module")
def _scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = new_cluster(tmp_path_factory.mktemp("hosts"))
    try:
        made.start_scheduler()
        yield made
    finally:
        made.end()


@pytest.fixture
def cluster(_scheduler: Cluster) -> Iterator[Cluster]:
    """A scheduler without workers; its certificates and the processes of the test are in it."""
    try:
        yield _scheduler
    finally:
        _scheduler.end_workers()
