"""Hosts that die, leave, freeze or lose their commander: no result is lost or given twice."""

import gzip
import signal
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
from fakes.patience import PATIENCE_S, eventually
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Finished, Lost
from lsmtune.hosts.task import HostResult
from lsmtune.trials import Status

pytestmark = pytest.mark.slow


def works(worker: HostProcess) -> bool:
    return bool(worker.ran) and worker.ran[-1].startswith("began")


def is_empty(folder: Path) -> bool:
    return not folder.exists() or not list(folder.iterdir())


def test_a_result_comes_with_its_evidence_and_a_confirmation_empties_the_outbox(
    cluster: Cluster, tmp_path: Path
) -> None:
    worker = cluster.start_worker("one")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        hosts.start(info.address, host_task("a-1", value=1.5))
        found = finished(events(hosts)[0])
        assert found.result.result.metrics["write_amp"] == 1.5
        assert found.result.host == info.host == worker.host
        kept = found.result.write_evidence(tmp_path)
        assert [(name, path.suffix) for name, path in kept.items()] == [("script.txt", ".gz")]
        assert joined(hosts, worker)[0].kept == {STUDY: ("a-1",)}
        assert hosts.collect(STUDY) == []
        hosts.confirm(["a-1"])
        assert eventually(lambda: is_empty(worker.home / "outbox"))


def test_a_killed_worker_gives_a_loss_and_its_host_is_used_again(cluster: Cluster) -> None:
    first, other = cluster.start_worker("first"), cluster.start_worker("other")
    with cluster.connect() as hosts:
        dying, living = joined(hosts, first, other)
        hosts.start(dying.address, host_task("k-1", seconds=PATIENCE_S))
        hosts.start(living.address, host_task("k-2", seconds=1))
        assert eventually(lambda: works(first))
        first.kill()
        found = {event.attempt: event for event in events(hosts, 2)}
        lost = found["k-1"]
        assert isinstance(lost, Lost)
        assert lost.left
        assert lost.host == dying.host
        assert isinstance(found["k-2"], Finished)
        again = cluster.start_worker("first")
        (info,) = joined(hosts, again)
        assert info.host == dying.host
        assert is_empty(again.home / "work")
        hosts.start(info.address, host_task("k-3"))
        assert finished(events(hosts)[0]).attempt == "k-3"


def test_a_worker_that_leaves_politely_ends_its_trial_and_gives_a_loss(cluster: Cluster) -> None:
    worker = cluster.start_worker("polite")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        hosts.start(info.address, host_task("p-1", seconds=PATIENCE_S))
        assert eventually(lambda: works(worker))
        assert worker.end() == 0
        (lost,) = events(hosts)
        assert isinstance(lost, Lost)
        assert lost.left
    assert is_empty(worker.home / "work")
    assert is_empty(worker.home / "outbox")


def test_a_frozen_worker_gives_a_loss_and_later_its_result(cluster: Cluster) -> None:
    worker = cluster.start_worker("frozen")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        hosts.start(info.address, host_task("f-1", seconds=2))
        assert eventually(lambda: works(worker))
        worker.send(signal.SIGSTOP)
        (lost,) = events(hosts)
        assert isinstance(lost, Lost)
        assert lost.left
        worker.send(signal.SIGCONT)
        (back,) = joined(hosts, worker)
        assert back.address != info.address
        results = []
        assert eventually(lambda: bool(results.extend(hosts.collect(STUDY))) or bool(results))
        assert [result.attempt for result in results] == ["f-1"]
        assert worker.ran == ["began 1", "ended 1"]
        assert hosts.collect(STUDY) == []
        hosts.start(back.address, host_task("f-2"))
        assert finished(events(hosts)[0]).attempt == "f-2"


def test_a_second_commander_gets_what_the_first_one_left(cluster: Cluster) -> None:
    quick, slow = cluster.start_worker("quick"), cluster.start_worker("slow")
    with cluster.connect() as hosts:
        joined(hosts, quick, slow)
    # The hosts are given attempts in the order of their ids.
    quick, slow = sorted((quick, slow), key=lambda worker: worker.host)
    first = cluster.start_commander(3, "c-1", "c-2")
    assert eventually(lambda: works(quick) and works(slow))
    first.kill()
    with cluster.connect() as hosts:
        running = joined(hosts, quick, slow)
        assert [info.running for info in running] == ["c-1", "c-2"]
        hosts.rejoin(running[0].address, "c-1", STUDY)
        assert finished(events(hosts)[0]).attempt == "c-1"
        results = []
        assert eventually(lambda: bool(results.extend(hosts.collect(STUDY))) or bool(results))
        assert [result.attempt for result in results] == ["c-2"]
        assert hosts.collect(STUDY) == []
        hosts.confirm(["c-1", "c-2"])
        outboxes = [worker.home / "outbox" for worker in (quick, slow)]
        assert eventually(lambda: all(map(is_empty, outboxes)))
        assert quick.ran == slow.ran == ["began 1", "ended 1"]


def test_a_host_without_a_commander_ends_its_trial_and_waits(cluster: Cluster) -> None:
    worker = cluster.start_worker("orphan", TEST_ORPHAN_S="3")
    with cluster.connect() as hosts:
        joined(hosts, worker)
    first = cluster.start_commander(PATIENCE_S, "o-1")
    assert eventually(lambda: works(worker))
    first.kill()
    with cluster.connect() as hosts:
        assert eventually(lambda: joined(hosts, worker)[0].running is None)
        assert is_empty(worker.home / "work")
        assert is_empty(worker.home / "outbox")
        (info,) = joined(hosts, worker)
        # Longer than the limit: the host hears its commander.
        hosts.start(info.address, host_task("o-2", seconds=5))
        assert finished(events(hosts)[0]).attempt == "o-2"


def test_an_attempt_that_is_ended_leaves_nothing(cluster: Cluster) -> None:
    worker = cluster.start_worker("ended")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        hosts.start(info.address, host_task("e-1", seconds=PATIENCE_S))
        assert eventually(lambda: works(worker))
        hosts.end("e-1")
        assert eventually(lambda: joined(hosts, worker)[0].running is None)
        assert hosts.wait(0.5) == []
        hosts.start(info.address, host_task("e-2", seconds=PATIENCE_S))
        assert eventually(lambda: len(worker.ran) == 2)
    assert eventually(lambda: is_empty(worker.home / "work"))
    assert is_empty(worker.home / "outbox")


def test_a_full_disk_is_one_sentence_and_the_host_goes_on(cluster: Cluster) -> None:
    worker = cluster.start_worker("full", TEST_FILE_BYTES="2000")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        hosts.start(info.address, host_task("d-1"))
        (lost,) = events(hosts)
        assert isinstance(lost, Lost)
        assert not lost.left
        assert str(worker.home) in lost.reason
        assert "\n" not in lost.reason
        assert joined(hosts, worker)[0].kept == {}
    assert is_empty(worker.home / "outbox")


def test_large_evidence_is_fetched_whole(cluster: Cluster, tmp_path: Path) -> None:
    worker = cluster.start_worker("large")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        task = host_task("l-1")
        settings = {**task.spec.settings, "evidence_bytes": 3_000_000}
        spec = task.spec.model_copy(update={"settings": settings})
        hosts.start(info.address, task.model_copy(update={"spec": spec}))
        result = finished(events(hosts)[0]).result
        kept = result.write_evidence(tmp_path)
        assert sorted(kept) == ["large.bin", "script.txt"]
        assert len(gzip.decompress(kept["large.bin"].read_bytes())) == 3_000_000


def test_results_of_all_hosts_have_the_status_of_the_engine(cluster: Cluster) -> None:
    workers = [cluster.start_worker(f"n{n}") for n in range(2)]
    with cluster.connect() as hosts:
        infos = joined(hosts, *workers)
        given = 0
        found = []
        for _ in range(3):
            for info in infos:
                hosts.start(info.address, host_task(f"m-{given}", value=given + 1.0))
                given += 1
            found += [finished(event) for event in events(hosts, len(infos))]
        assert {each.result.result.status for each in found} == {Status.COMPLETE}
        values = {each.attempt: each.result.result.metrics["write_amp"] for each in found}
        assert values == {f"m-{n}": n + 1.0 for n in range(given)}


def test_a_scheduler_that_dies_is_one_sentence_and_loses_no_result(tmp_path: Path) -> None:
    cluster = new_cluster(tmp_path)
    try:
        cluster.start_scheduler()
        address = cluster.address
        worker = cluster.start_worker("one")
        with cluster.connect() as hosts:
            (info,) = joined(hosts, worker)
            hosts.start(info.address, host_task("s-1", seconds=2))
            assert eventually(lambda: works(worker))
            assert cluster.scheduler is not None
            cluster.scheduler.kill()
            with pytest.raises(LsmtuneError, match="scheduler") as error:
                events(hosts)
            assert "\n" not in str(error.value)
        cluster.start_scheduler(address)
        with cluster.connect() as hosts:
            joined(hosts, worker)
            results: list[HostResult] = []
            assert eventually(lambda: bool(results.extend(hosts.collect(STUDY))) or bool(results))
        assert [result.attempt for result in results] == ["s-1"]
    finally:
        cluster.end()
