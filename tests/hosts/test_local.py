"""Local hosts, and what lsmtune says about a scheduler of somebody else."""

import importlib.util
from datetime import datetime, timedelta
from pathlib import Path

import psutil
import pytest

from fakes.host_processes import events, finished
from fakes.patience import eventually
from lsmtune.engines.base import Places, Watch
from lsmtune.engines.libraries.installed import DEFAULT_VERSION
from lsmtune.engines.registry import engine_of
from lsmtune.engines.simulated.engine import Simulated
from lsmtune.hosts.commander import Hosts
from lsmtune.hosts.local import local_hosts
from lsmtune.hosts.scheduler import differing_settings
from lsmtune.hosts.task import HostTask
from lsmtune.spec import make_spec
from lsmtune.trials import Protocol, Status, TrialResult, TrialSpec

pytestmark = pytest.mark.slow


def simulated_task(folder: Path) -> tuple[HostTask, TrialResult]:
    """A task for the simulator, and the result that this process gets for it."""
    if importlib.util.find_spec("lsmsim") is None:
        pytest.skip("no simulator: make simulator")
    given = {"workload": {"name": "fillrandom", "num": 20_000}, "engine": "simulated"}
    study = make_spec(given, "test")
    engine = Simulated()
    base = engine.base(engine.describe(folder), None, folder)
    spec = TrialSpec(settings=base.settings, workload=study.workload, protocol=Protocol(), seed=1)
    task = HostTask(
        attempt="l-0", study="l", engine=study.model_dump(mode="json"), base=base,
        base_settings=base.settings, spec=spec,
    )  # fmt: skip
    here = engine.run(task.trial, base, Places(folder, folder), Watch(lambda _: None)).result
    assert here.status is Status.COMPLETE
    return task, here


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


def test_local_hosts_give_what_this_process_would_measure(tmp_path: Path) -> None:
    task, here = simulated_task(tmp_path)
    before = children()  # multiprocessing keeps one after tests with processes of Dask
    with local_hosts(2) as hosts:
        infos = hosts.hosts()
        assert len({info.host for info in infos}) == 2
        for index, info in enumerate(infos):
            hosts.start(info.address, task.model_copy(update={"attempt": f"l-{index}"}))
        found = [finished(event).result.result for event in events(hosts, 2)]
    assert [each.metrics["write_amp"] for each in found] == [here.metrics["write_amp"]] * 2
    assert eventually(lambda: children() <= before)


def test_real_rocksdb_runs_one_trial_at_a_time_on_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installed: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed.parents[1]))
    study = make_spec(
        {"workload": {"name": "fillrandom", "num": 20_000}, "rocksdb": DEFAULT_VERSION,
         "program": "lsmdriver"},
        "test",
    )  # fmt: skip
    engine = engine_of(study)
    base = engine.base(engine.describe(tmp_path), None, tmp_path)
    spec = TrialSpec(settings=base.settings, workload=study.workload, protocol=Protocol(), seed=1)
    task = HostTask(
        attempt="r-0", study="r", engine=study.model_dump(mode="json"), base=base,
        base_settings=base.settings, spec=spec,
    )  # fmt: skip
    with local_hosts(2) as hosts:
        for index, info in enumerate(hosts.hosts()):
            hosts.start(info.address, task.model_copy(update={"attempt": f"r-{index}"}))
        first, second = sorted(
            (finished(event).result for event in events(hosts, 2)), key=lambda each: each.started_at
        )
    assert first.result.status is second.result.status is Status.COMPLETE
    assert {"LOG", "OPTIONS"} <= set(first.evidence)
    # Both workers share the lock of this machine.
    began = datetime.fromisoformat(first.started_at)
    assert datetime.fromisoformat(second.started_at) >= began + timedelta(
        seconds=first.duration_s - 0.1
    )


def test_a_worker_that_lsmtune_did_not_start_is_a_host_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    task, here = simulated_task(tmp_path)
    monkeypatch.setenv("LSMTUNE_WORKER_HOME", str(tmp_path / "worker"))
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", local_directory=str(tmp_path),
        ) as usual,
        distributed.Client(usual, set_as_default=False) as client,
        Hosts(client) as hosts,
    ):  # fmt: skip
        # The first call imports lsmtune in the worker, which takes a while.
        assert eventually(lambda: hosts.hosts()[0].problem is None)
        hosts.start(hosts.hosts()[0].address, task)
        found = finished(events(hosts)[0]).result
        assert found.result.metrics["write_amp"] == here.metrics["write_amp"]
        assert (tmp_path / "worker" / "outbox" / "l-0").is_dir()


def test_settings_of_another_scheduler_that_differ_are_named() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp", host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as usual,
        distributed.Client(usual, set_as_default=False) as client,
    ):  # fmt: skip
        different = differing_settings(client)
    assert len(different) == 3
    assert all("lsmtune" in sentence for sentence in different)
