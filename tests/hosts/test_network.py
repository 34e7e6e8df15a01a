"""Hosts with addresses of their own whose links break; skipped where that is not allowed."""

import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes.host_processes import (
    STUDY,
    Cluster,
    HostProcess,
    events,
    finished,
    host_task,
    joined,
    new_cluster,
)
from fakes.namespaces import Network, inside, network
from fakes.patience import PATIENCE_S, eventually
from lsmtune.hosts.commander import Finished, Hosts, Lost
from lsmtune.hosts.task import HostResult

pytestmark = pytest.mark.slow

NAMES = ("one", "two", "three")
TRIALS = 20


@dataclass
class Site:
    """Three hosts in namespaces, and the cluster on them."""

    network: Network
    cluster: Cluster
    workers: list[HostProcess] = field(default_factory=list)

    def start(self, number: int) -> None:
        """Start the worker of a host, from 1, or start it again."""
        worker = self.cluster.start_worker(NAMES[number - 1])
        self.workers[number - 1 : number] = [worker]

    def worker(self, number: int) -> HostProcess:
        return self.workers[number - 1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with network() as made, inside(made.hub):
        cluster = new_cluster(tmp_path_factory.mktemp("site"))
        numbers = range(1, made.hosts + 1)
        cluster.prefix = {NAMES[n - 1]: made.prefix(n) for n in numbers}
        found = Site(made, cluster)
        try:
            cluster.start_scheduler(f"tls://{made.hub_address}:0", TEST_TTL_S="5")
            for number in numbers:
                found.start(number)
            yield found
        finally:
            cluster.end()


def test_a_host_that_is_cut_off_gives_a_loss_and_its_result_when_it_is_back(site: Site) -> None:
    with site.cluster.connect() as hosts:
        infos = joined(hosts, *site.workers)
        assert len({info.address.rpartition(":")[0] for info in infos}) == 3
        for number, info in enumerate(infos):
            hosts.start(info.address, host_task(f"w-{number}", seconds=2, seed=7))
        assert eventually(lambda: all("began 7" in worker.ran for worker in site.workers))
        site.network.cut(1)
        found = {event.attempt: event for event in events(hosts, 3)}
        lost = found["w-0"]
        assert isinstance(lost, Lost)
        assert lost.left
        assert {finished(found[name]).attempt for name in ("w-1", "w-2")} == {"w-1", "w-2"}
        assert eventually(lambda: "ended 7" in site.worker(1).ran)
        site.network.reconnect(1)
        results: list[HostResult] = []
        assert eventually(lambda: bool(results.extend(hosts.collect(STUDY))) or bool(results))
        assert [result.attempt for result in results] == ["w-0"]
        hosts.confirm(["w-0", "w-1", "w-2"])
        assert eventually(lambda: all(not info.kept for info in joined(hosts, *site.workers)))
        assert [worker.ran.count("began 7") for worker in site.workers] == [1, 1, 1]


class Pool:
    """The simplest way to give out trials: each free host gets the next one, a lost one again.

    `stored` has the first result of each trial, `late` further results of the same trial.
    """

    def __init__(self, hosts: Hosts, trials: int) -> None:
        self._hosts = hosts
        self._open = deque(range(trials))
        self._running: dict[str, tuple[int, str]] = {}
        self._given = 0
        self.stored: dict[int, str] = {}
        self.late: list[str] = []
        self.losses = 0

    def step(self) -> None:
        """Give out what is open, and take what has ended."""
        infos = self._hosts.hosts()
        busy = {host for _, host in self._running.values()}
        for info in infos:
            if (
                info.problem is None
                and info.running is None
                and info.host not in busy
                and self._open
            ):
                trial = self._open.popleft()
                self._given += 1
                attempt = f"t-{trial}-{self._given}"
                task = host_task(attempt, value=trial + 1.0, seconds=2, seed=trial + 100)
                self._hosts.start(info.address, task)
                self._running[attempt] = (trial, info.host)
        for event in self._hosts.wait(1):
            if isinstance(event, Finished):
                self._store(event.result)
            else:
                self.losses += 1
                self._open.append(self._running[event.attempt][0])
            del self._running[event.attempt]
        if any(info.kept.get(STUDY) for info in infos):
            for result in self._hosts.collect(STUDY):
                self._store(result)

    def _store(self, result: HostResult) -> None:
        trial = int(result.attempt.split("-")[1])
        assert result.result.metrics["write_amp"] == trial + 1.0
        if trial in self.stored:
            self.late.append(result.attempt)
        else:
            self.stored[trial] = result.attempt
            if trial in self._open:
                self._open.remove(trial)
        self._hosts.confirm([result.attempt])

    @property
    def is_done(self) -> bool:
        return not self._open and not self._running


def test_no_trial_is_lost_or_counted_twice_while_hosts_fail(site: Site) -> None:
    def cut() -> None:
        site.network.cut(1)

    def reconnect() -> None:
        site.network.reconnect(1)

    def freeze() -> None:
        site.worker(2).send(signal.SIGSTOP)

    def thaw() -> None:
        site.worker(2).send(signal.SIGCONT)

    def kill() -> None:
        site.worker(3).kill()
        site.start(3)

    def end() -> None:
        site.worker(3).end()
        site.start(3)

    faults: list[tuple[int, Callable[[], None]]] = [
        (1, kill), (3, cut), (7, reconnect), (8, freeze), (11, thaw), (14, end),
    ]  # fmt: skip
    limit_s = time.monotonic() + 6 * PATIENCE_S
    with site.cluster.connect() as hosts:
        joined(hosts, *site.workers)
        pool = Pool(hosts, TRIALS)
        while not pool.is_done:
            assert time.monotonic() < limit_s, (pool.stored, [w.text for w in site.workers])
            while faults and len(pool.stored) >= faults[0][0]:
                faults.pop(0)[1]()
            pool.step()
        assert not faults
        assert sorted(pool.stored) == list(range(TRIALS))
        assert pool.losses >= 1
        # Whatever a host that was gone still brings is a second result of a stored trial.
        joined(hosts, *site.workers)
        for result in hosts.collect(STUDY):
            assert int(result.attempt.split("-")[1]) in pool.stored
            hosts.confirm([result.attempt])
        everything = [*pool.stored.values(), *pool.late]
        assert len(everything) == len(set(everything))
        assert eventually(
            lambda: all(
                info.running is None and not info.kept for info in joined(hosts, *site.workers)
            )
        )
    works: list[Path] = [path for w in site.workers for path in (w.home / "work").iterdir()]
    assert works == []
