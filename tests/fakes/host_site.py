"""A site of hosts whose machines and links fail while a study runs on them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fakes.host_processes import Cluster, HostProcess, joined, new_cluster
from fakes.namespaces import Network, inside, network
from fakes.patience import eventually
from fakes.scripted_tune import check_once, searched, stored
from lsmtune.store.open_runs import run_of

NAMES = ("one", "two", "three")
TTL_S = 5
"""How long a host may be silent until the scheduler gives it up, in seconds."""


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


@contextmanager
def running_site(folder: Path) -> Iterator[Site]:
    """Start a scheduler in the hub and a worker on each host; skip the test if that is refused."""
    with network() as made, inside(made.hub):
        cluster = new_cluster(folder)
        numbers = range(1, made.hosts + 1)
        cluster.prefix = {NAMES[n - 1]: made.prefix(n) for n in numbers}
        site = Site(made, cluster)
        try:
            cluster.start_scheduler(f"tls://{made.hub_address}:0", TEST_TTL_S=str(TTL_S))
            for number in numbers:
                site.start(number)
            yield site
        finally:
            cluster.end()


@dataclass
class Faults:
    """Breaks and repairs the hosts, and the commander of a study on them."""

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


def begin(site: Site, home: Path, trials: int) -> Faults:
    """Start a study when all hosts are there."""
    with site.cluster.connect() as hosts:
        joined(hosts, *site.workers)
    return Faults(site, home, site.cluster.start_tune(home, trials), trials)


def check_all_are_stored_once(site: Site, home: Path, trials: int) -> list[str]:
    """Each trial has one result that counts, and no host has anything left.

    Return the attempts whose results still were on hosts: they are second results of stored runs.
    """
    found = stored(home)
    check_once(found, trials)
    assert all(
        trial.result.metrics["write_amp"] == 1e4 / float(trial.spec.settings["block_size"])
        for trial in searched(found)
    )
    waited: list[str] = []
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
            waited += rest
        assert eventually(lambda: not any(info.kept for info in joined(hosts, *site.workers)))
    assert [path for each in site.workers for path in (each.home / "work").iterdir()] == []
    return waited
