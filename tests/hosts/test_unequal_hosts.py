"""Hosts that differ: runs are compared with their own host's baseline, or do not count at all."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from fakes.host_processes import Cluster, host_task, joined
from fakes.scripted_tune import searched, settings, tune
from fakes.studies import open_study
from lsmtune.errors import Cancelled
from lsmtune.knobs.types import Config
from lsmtune.store.home import Home
from lsmtune.study.history import History
from lsmtune.study.record import read_record
from lsmtune.study.search import run_search
from lsmtune.system.cancelling import cancelled_by
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role

pytestmark = pytest.mark.slow

KNOBS = "block_size,write_buffer_size,target_file_size_base,max_background_jobs"


def history_of(home: Path) -> History:
    with Home(home, create=False) as opened:
        return read_record(opened, "s").history


def values(history: History) -> dict[Config, float]:
    """The objective that each config has to be judged by."""
    return {c.trial.config: c.values[0] for c in history.candidates}


def test_the_same_config_is_judged_the_same_on_unequal_hosts(
    cluster: Cluster, tmp_path: Path
) -> None:
    levels = {"one": "0.9", "two": "1.1"}
    workers = [cluster.start_worker(name, TEST_LEVEL=level) for name, level in levels.items()]
    with cluster.connect() as hosts:
        joined(hosts, *workers)
        trials = tune(tmp_path / "home", hosts, settings(trials=8))
    history = history_of(tmp_path / "home")
    assert len({trial.host for trial in searched(trials)}) == 2
    base = float(history.complete_base[0].spec.settings["block_size"])
    for config, value in values(history).items():
        assert value == pytest.approx(base / float(config["block_size"]))


def test_a_host_of_another_kind_gets_no_runs_and_its_runs_do_not_count(
    cluster: Cluster, tmp_path: Path
) -> None:
    names = ("one", "two", "three")
    workers = [
        cluster.start_worker(name, TEST_SECONDS="0.05", TEST_LEVEL="2" if name == "two" else "1")
        for name in names
    ]
    with cluster.connect() as hosts:
        infos = joined(hosts, *workers)
        trials = tune(tmp_path / "home", hosts, settings(trials=12))
    slow = next(t.host for t in trials if t.host is not None and infos[1].host in t.host)
    history = history_of(tmp_path / "home")
    assert history.standings[slow].kind == "differs"
    assert history.searched == 12
    counted = Counter(t.host for t in searched(trials) if history.counts(t))
    assert slow not in counted
    # It was busy with a trial at most, when the others had measured their baselines.
    assert sum(t.host == slow for t in searched(trials)) <= 1


def test_a_host_that_joins_during_a_search_runs_the_baseline_first(
    cluster: Cluster, tmp_path: Path
) -> None:
    first = cluster.start_worker("one", TEST_SECONDS="0.5")
    with cluster.connect() as hosts:
        joined(hosts, first)
        cluster.start_worker("two", TEST_SECONDS="0.1")
        trials = tune(tmp_path / "home", hosts, settings(trials=30, knobs=KNOBS))
    second = [t.role for t in trials if first.host not in (t.host or "")]
    assert second[:3] == [Role.BASE, Role.BASE, Role.TRIAL]


def test_a_host_that_becomes_slow_is_set_aside_and_its_trials_run_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    workers = [
        cluster.start_worker("steady"),
        # The baseline and some trials are right. No other test has used its home.
        cluster.start_worker("slowing", TEST_LEVEL="1.8", TEST_LEVEL_AFTER="6"),
    ]
    wanted = 60
    with cluster.connect() as hosts:
        joined(hosts, *workers)
        trials = tune(tmp_path / "home", hosts, settings(trials=wanted, knobs=KNOBS))
    history = history_of(tmp_path / "home")
    drifted = [host for host, found in history.standings.items() if found.kind == "drifts"]
    assert len(drifted) == 1
    last = history.standings[drifted[0]].last
    assert last is not None
    found = searched(trials)
    assert all(t.number <= last for t in found if t.host == drifted[0] and history.counts(t))
    assert history.searched == wanted < len(found)
    base = float(history.complete_base[0].spec.settings["block_size"])
    for config, value in values(history).items():
        assert value == pytest.approx(base / float(config["block_size"]))


def test_this_machine_runs_the_baseline_before_it_goes_on_with_a_study_of_hosts(
    cluster: Cluster, tmp_path: Path
) -> None:
    worker = cluster.start_worker("one")
    with cluster.connect() as hosts:
        joined(hosts, worker)
        tune(tmp_path / "home", hosts, settings(trials=4))
    trials = tune(tmp_path / "home", None, settings(trials=8))
    here = [trial.role for trial in trials if trial.host is None]
    assert here == [Role.BASE, Role.BASE, *[Role.TRIAL] * 4]


def test_a_study_says_that_it_waits_for_hosts(cluster: Cluster, tmp_path: Path) -> None:
    worker = cluster.start_worker("one", TEST_SECONDS="60")
    told: list[str] = []
    with cluster.connect() as hosts, cluster.connect() as others:
        (info,) = joined(others, worker)
        others.start(info.address, host_task("other-1", seconds=60))
        joined(hosts, worker)
        with (
            pytest.raises(Cancelled),
            cancelled_by(stop := threading.Event()),
            Home(tmp_path / "home", create=True) as home,
            open_study(
                home, settings(), ScriptedEngine(lambda _: measured()), hosts=hosts,
                tell=lambda text: (told.append(text), stop.set()),
            ) as study,
        ):  # fmt: skip
            run_search(study)
    assert len(told) == 1
    assert "waiting" in told[0]
