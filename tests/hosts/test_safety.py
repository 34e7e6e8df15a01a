"""Who may connect: certificates, versions, and what a log must not contain."""

import re
import socket
from pathlib import Path

import pytest

import lsmtune
from fakes.clocks import NEEDS_LIBFAKETIME, off_by
from fakes.host_processes import (
    Cluster,
    HostProcess,
    events,
    finished,
    host_task,
    joined,
    new_cluster,
)
from fakes.patience import PATIENCE_S, eventually
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.hosts.commander import Lost
from lsmtune.hosts.connect import connect
from lsmtune.hosts.task import CLOCK_S
from lsmtune.trials import Base

pytestmark = pytest.mark.slow

PRIVATE = "only-the-study-may-have-this"


def sentence(worker: HostProcess) -> str:
    """The only line that a worker prints before it ends with an error."""
    assert worker.popen.wait(PATIENCE_S) != 0
    (line,) = worker.text.splitlines()
    return line


def test_certificates_of_another_ca_are_refused_in_one_sentence(
    cluster: Cluster, tmp_path: Path
) -> None:
    other = new_cluster(tmp_path)
    worker = cluster.start_worker("stranger", keys=other.keys)
    assert cluster.address in sentence(worker)
    with (
        pytest.raises(UserError, match="lsmtune hosts init") as refused,
        connect(cluster.address, other.keys),
    ):
        pass
    assert "\n" not in str(refused.value)


def test_a_certificate_that_the_scheduler_refuses_is_one_sentence(
    cluster: Cluster, tmp_path: Path
) -> None:
    # The stranger has the CA of the scheduler, but a certificate of another one.
    other = new_cluster(tmp_path)
    for name in ("client.pem", "client-key.pem"):
        (tmp_path / name).write_bytes((other.keys / name).read_bytes())
        (tmp_path / name).chmod(0o600)
    (tmp_path / "ca.pem").write_bytes((cluster.keys / "ca.pem").read_bytes())
    with (
        pytest.raises(UserError, match=r"not signed by ca\.pem"),
        connect(cluster.address, tmp_path),
    ):
        pass


def test_the_address_of_a_worker_is_not_that_of_a_scheduler(cluster: Cluster) -> None:
    worker = cluster.start_worker("usual")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
    with (
        pytest.raises(UserError, match="worker") as refused,
        connect(info.address, cluster.keys),
    ):
        pass
    assert info.address in str(refused.value)
    other = cluster.start_worker("other", address=info.address)
    assert info.address in sentence(other)


def test_a_client_without_certificates_is_refused(cluster: Cluster) -> None:
    with pytest.raises(UserError, match="certificates"), connect(cluster.address):
        pass
    plain = cluster.address.replace("tls", "tcp")
    with pytest.raises(LsmtuneError, match="tls://"), connect(plain):
        pass


def test_the_certificate_of_a_client_cannot_be_a_scheduler(
    cluster: Cluster, tmp_path: Path
) -> None:
    posing = tmp_path / "posing"
    posing.mkdir()
    copies = {
        "ca.pem": "ca.pem",
        "client.pem": "scheduler.pem",
        "client-key.pem": "scheduler-key.pem",
    }
    for source, target in copies.items():
        (posing / target).write_bytes((cluster.keys / source).read_bytes())
        (posing / target).chmod(0o600)
    false = Cluster(tmp_path, posing)
    try:
        false.start_scheduler()
        with pytest.raises(UserError), connect(false.address, cluster.keys):
            pass
    finally:
        false.end()


def test_nothing_listens_is_one_sentence(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (
        pytest.raises(LsmtuneError, match="lsmtune hosts start"),
        connect(f"tls://127.0.0.1:{port}", cluster.keys),
    ):
        pass


def test_a_worker_waits_for_its_scheduler(tmp_path: Path) -> None:
    late = new_cluster(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tls://127.0.0.1:{free.getsockname()[1]}"
    try:
        worker = late.start_worker("early", address=address)
        assert eventually(lambda: address in worker.text)
        late.start_scheduler(address)
        with late.connect() as hosts:
            joined(hosts, worker)
        assert len(worker.text.splitlines()) == 2
    finally:
        late.end()


def test_another_version_of_lsmtune_cannot_be_used(cluster: Cluster) -> None:
    worker = cluster.start_worker("older", TEST_VERSION="0.0.1")
    with cluster.connect() as hosts:
        assert eventually(lambda: any(info.lsmtune == "0.0.1" for info in hosts.hosts()))
        (info,) = [info for info in hosts.hosts() if info.lsmtune == "0.0.1"]
        assert info.problem is not None
        assert "0.0.1" in info.problem
        assert lsmtune.__version__ in info.problem
        with pytest.raises(UserError, match=r"0\.0\.1"):
            hosts.start(info.address, host_task("v-1"))
    assert worker.ran == []


def test_a_clock_that_is_off_is_one_sentence(cluster: Cluster) -> None:
    worker = cluster.start_worker("early-clock", TEST_CLOCK_S="300")
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        assert info.remark is not None
        assert info.host in info.remark
        assert re.search(r"\b(29\d|30\d) s ahead", info.remark)
        hosts.start(info.address, host_task("t-1"))
        assert finished(events(hosts)[0]).result.clock_jump_s == 0


@NEEDS_LIBFAKETIME
@pytest.mark.parametrize("off_s", [300, -300])
def test_a_process_whose_clock_is_off_is_used_with_a_remark(
    cluster: Cluster, tmp_path: Path, off_s: int
) -> None:
    worker = cluster.start_worker(f"clock{off_s}", **off_by(off_s, tmp_path))
    with cluster.connect() as hosts:
        (info,) = joined(hosts, worker)
        assert abs(info.clock_offset_s - off_s) < CLOCK_S
        assert info.remark is not None
        for number in range(3):
            hosts.start(info.address, host_task(f"f{off_s}-{number}", seconds=0.5))
            result = finished(events(hosts)[0]).result
            assert result.clock_jump_s == 0
            assert result.duration_s >= 0.5
            hosts.confirm([result.attempt])
        assert eventually(lambda: not any(each.kept for each in hosts.hosts()))


def test_a_second_worker_with_the_same_home_is_refused(cluster: Cluster) -> None:
    first = cluster.start_worker("shared")
    with cluster.connect() as hosts:
        joined(hosts, first)
    second = cluster.start_worker("shared")
    assert second.popen.wait(PATIENCE_S) != 0
    assert "in use by another lsmtune process" in second.text


def test_secrets_of_a_study_reach_no_log(tmp_path: Path) -> None:
    loud = new_cluster(tmp_path)
    logging = {"DASK_LOGGING__DISTRIBUTED": "debug"}
    base = Base(options=f"private={PRIVATE}", settings={})
    try:
        loud.start_scheduler(**logging)
        worker = loud.start_worker("loud", TEST_FILE_BYTES="20000", **logging)
        with loud.connect() as hosts:
            (info,) = joined(hosts, worker)
            broken = host_task("s-1").model_copy(update={"base": base, "engine": {"key": PRIVATE}})
            hosts.start(info.address, broken)
            (lost,) = events(hosts)
            assert isinstance(lost, Lost)
            assert PRIVATE not in lost.reason
            task = host_task("s-2", seconds=PATIENCE_S).model_copy(update={"base": base})
            hosts.start(info.address, task)
            assert eventually(lambda: bool(worker.ran))
            worker.end()
            events(hosts)
    finally:
        loud.end()
    assert loud.scheduler is not None
    for text in (worker.text, loud.scheduler.text):
        assert "s-2" in text
        assert PRIVATE not in text
