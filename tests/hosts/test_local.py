"""Local hosts, and what lsmtune says about a scheduler of somebody else."""

import importlib.util
from pathlib import Path

import psutil
import pytest

from fakes.host_processes import events, finished, host_task
from fakes.patience import eventually
from lsmtune.engines.base import Places, Watch
from lsmtune.engines.simulated import Simulated
from lsmtune.hosts.local import local_hosts
from lsmtune.hosts.scheduler import differing_settings
from lsmtune.spec import make_spec
from lsmtune.trials import Status

pytestmark = pytest.mark.slow


@pytest.mark.skipif(
    importlib.util.find_spec("lsmsim") is None, reason="no simulator: make simulator"
)
def test_local_hosts_give_what_this_process_would_measure(tmp_path: Path) -> None:
    given = {"workload": {"name": "fillrandom", "num": 20_000}, "engine": "simulated"}
    settings = make_spec(given, "test").model_dump(mode="json")
    engine = Simulated()
    base = engine.base(engine.describe(tmp_path), None, tmp_path)
    task = host_task("l-0").model_copy(update={"engine": settings, "base": base})
    workload = make_spec(given, "test").workload
    spec = task.spec.model_copy(update={"settings": base.settings, "workload": workload})
    task = task.model_copy(update={"spec": spec, "base_settings": base.settings})
    here = engine.run(task.trial, base, Places(tmp_path, tmp_path), Watch(lambda _: None)).result
    assert here.status is Status.COMPLETE
    with local_hosts(2) as hosts:
        infos = hosts.hosts()
        assert len({info.host for info in infos}) == 2
        for index, info in enumerate(infos):
            hosts.start(info.address, task.model_copy(update={"attempt": f"l-{index}"}))
        found = [finished(event).result.result for event in events(hosts, 2)]
    assert [each.metrics["write_amp"] for each in found] == [here.metrics["write_amp"]] * 2
    assert eventually(lambda: not psutil.Process().children(recursive=True))


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
