"""What a study shows of its hosts while it runs, and after one of them died."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.host_processes import Cluster, joined
from fakes.patience import PATIENCE_S, eventually
from fakes.scripted_tune import check_once, count, stored
from lsmtune.analysis.hosts_used import HostUse
from lsmtune.analysis.read_study import read_study
from lsmtune.cli.main import run
from lsmtune.store.home import Home
from lsmtune.trials import Role

pytestmark = pytest.mark.slow

TRIALS = 12
NAMES = ("one", "two", "three")


def uses(home: Path) -> tuple[HostUse, ...]:
    with Home(home, create=False) as opened:
        return read_study(opened, "s").hosts


def test_a_killed_worker_is_one_lost_attempt_with_its_time(
    cluster: Cluster, tmp_path: Path
) -> None:
    workers = [cluster.start_worker(name, TEST_SECONDS="1") for name in NAMES]
    with cluster.connect() as hosts:
        joined(hosts, *workers)
    victim, home = workers[0], tmp_path / "home"
    process = cluster.start_tune(home, TRIALS)
    assert eventually(lambda: count(home) >= 3)
    assert eventually(lambda: len([use for use in uses(home) if use.under_way]) == 3)
    began = len(victim.ran)
    assert eventually(lambda: len(victim.ran) > began and victim.ran[-1].startswith("began"))
    victim.kill()
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    check_once(stored(home), TRIALS)
    found = {(use.name or "").rpartition("-")[2]: use for use in uses(home)}
    assert set(found) == {worker.host for worker in workers}
    killed = found.pop(victim.host)
    assert killed.lost == 1
    assert killed.lost_s > 0
    assert killed.last_reason
    assert [(use.lost, use.lost_s) for use in found.values()] == [(0, 0.0)] * 2
    assert sum(use.runs.get(Role.TRIAL, 0) for use in uses(home)) == TRIALS
    assert [use.under_way for use in uses(home)] == [None] * 3


def test_a_host_with_another_engine_is_kept_with_its_reason(
    cluster: Cluster, tmp_path: Path
) -> None:
    other = cluster.start_worker("other", TEST_ENGINE="9.9.9")
    usual = cluster.start_worker("usual")
    with cluster.connect() as hosts:
        joined(hosts, other, usual)
    process = cluster.start_tune(tmp_path / "home", 4)
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    (found,) = (use for use in uses(tmp_path / "home") if (use.name or "").endswith(other.host))
    assert "9.9.9" in (found.last_reason or "")
    assert found.runs == {}


def test_the_list_of_hosts_names_study_and_run_as_show_does(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worker, home = cluster.start_worker("listed", TEST_SECONDS="60"), tmp_path / "home"
    with cluster.connect() as hosts:
        joined(hosts, worker)
    listed = ["hosts", "list", cluster.address, "--certificates", str(cluster.keys)]

    def info() -> dict[str, Any]:
        assert run([*listed, "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["hosts"]
        return dict(found)

    assert (info()["running"], info()["title"]) == (None, None)
    process = cluster.start_tune(home, TRIALS)
    assert eventually(lambda: info()["running"] is not None), process.text
    attempt, title = info()["running"], info()["title"]
    (use,) = uses(home)
    assert title == f"study s: {use.under_way}"
    assert run(listed) == 0
    table = " ".join(capsys.readouterr().out.split())
    assert str(use.under_way) in table
    assert attempt not in table
    process.kill()
