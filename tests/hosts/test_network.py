"""Hosts with addresses of their own whose links break; skipped where that is not allowed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.host_processes import STUDY, events, finished, host_task, joined
from fakes.host_site import Site, begin, check_all_are_stored_once, running_site
from fakes.patience import PATIENCE_S, eventually
from fakes.scripted_tune import count
from lsmtune.hosts.commander import Lost
from lsmtune.hosts.task import HostResult

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as found:
        yield found


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


SHORT = [
    (1, "kill", 3), (3, "cut", 1), (5, "kill tune", 1), (7, "reconnect", 1), (9, "freeze", 2),
    (12, "thaw", 2), (14, "end", 3), (16, "kill tune", 1),
]  # fmt: skip
"""Six faults and two repairs: the number of stored trials, what happens, and on which host."""


def test_no_trial_is_lost_or_counted_twice_while_hosts_and_command_fail(
    site: Site, tmp_path: Path
) -> None:
    home, trials = tmp_path / "home", 20
    faults = begin(site, home, trials)
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
