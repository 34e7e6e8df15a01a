"""Hosts with addresses of their own whose links break; skipped where that is not allowed."""

import signal
import time
from collections.abc import Iterator
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
from fakes.scripted_tune import check_once, count, searched, stored
from lsmtune.hosts.commander import Lost
from lsmtune.hosts.task import HostResult
from lsmtune.store.open_runs import run_of

pytestmark = pytest.mark.slow

NAMES = ("one", "two", "three")


@dataclass
class Site:
    """Three hosts in namespaces, and the cluster on them."""

    network: Network
    cluster: Cluster
    workers: list[HostProcess] = field(default_factory=list)

    def start(self, number: int) -> None:
        """Start the worker of a host, from 1, or start it again."""
        worker = self.cluster.start_worker(NAMES[number - 1], TEST_SECONDS="2")
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


@dataclass
class Faults:
    """What breaks when a number of trials is stored."""

    site: Site
    home: Path
    tune: HostProcess
    trials: int

    def do(self, fault: str, number: int) -> None:
        """Break or repair a host, or the commander."""
        worker = self.site.worker(number)
        match fault:
            case "kill tune":
                self.tune.kill()
                self.tune = self.site.cluster.start_tune(self.home, self.trials)
            case "kill":
                worker.kill()
                self.site.start(number)
            case "end":
                worker.end()
                self.site.start(number)
            case "freeze":
                worker.send(signal.SIGSTOP)
            case "thaw":
                worker.send(signal.SIGCONT)
            case "cut":
                self.site.network.cut(number)
            case "reconnect":
                self.site.network.reconnect(number)


SHORT = [
    (1, "kill", 3), (3, "cut", 1), (5, "kill tune", 1), (7, "reconnect", 1), (9, "freeze", 2),
    (12, "thaw", 2), (14, "end", 3), (16, "kill tune", 1),
]  # fmt: skip
"""Six faults and two repairs: the number of stored trials, what happens, and on which host."""


def check_all_are_stored_once(site: Site, home: Path, trials: int) -> None:
    """Each trial has one result that counts, and no host has anything left."""
    found = stored(home)
    check_once(found, trials)
    assert all(
        trial.result.metrics["write_amp"] == 1e4 / float(trial.spec.settings["block_size"])
        for trial in searched(found)
    )
    with site.cluster.connect() as hosts:
        # What a host that was gone still has is a second result of a stored trial.
        assert eventually(
            lambda: all(info.running is None for info in joined(hosts, *site.workers))
        )
        runs = {run_of(trial.attempt or "") for trial in found}
        for study in {name for info in hosts.hosts() for name in info.kept}:
            rest = [result.attempt for result in hosts.collect(study)]
            assert {run_of(attempt) for attempt in rest} <= runs
            hosts.confirm(rest)
        assert eventually(lambda: not any(info.kept for info in joined(hosts, *site.workers)))
    assert [path for each in site.workers for path in (each.home / "work").iterdir()] == []


def test_no_trial_is_lost_or_counted_twice_while_hosts_and_command_fail(
    site: Site, tmp_path: Path
) -> None:
    home, trials = tmp_path / "home", 20
    with site.cluster.connect() as hosts:
        joined(hosts, *site.workers)
    faults = Faults(site, home, site.cluster.start_tune(home, trials), trials)
    coming = list(SHORT)
    limit_s = time.monotonic() + 6 * PATIENCE_S
    while faults.tune.popen.poll() is None or coming:
        assert time.monotonic() < limit_s, [count(home), faults.tune.text]
        if coming and count(home) >= coming[0][0]:
            _, fault, number = coming.pop(0)
            faults.do(fault, number)
        time.sleep(0.05)
    assert faults.tune.popen.returncode == 0, faults.tune.text
    check_all_are_stored_once(site, home, trials)
