"""A study on hosts: each run once, whoever dies, and the same decisions as stored."""

import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.host_processes import Cluster, HostProcess, joined
from fakes.patience import PATIENCE_S, eventually
from fakes.scripted_tune import (
    check_once,
    count,
    looked_at,
    searched,
    settings,
    stored,
    tune,
)
from lsmtune.errors import LsmtuneError
from lsmtune.optimizers.base import with_pending
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.store.home import Home
from lsmtune.study.history import History
from lsmtune.study.record import read_record
from lsmtune.study.session import WorkLeft
from lsmtune.testing.scripted import ScriptedEngine
from lsmtune.trials import Origin, Role

pytestmark = pytest.mark.slow

TRIALS = 12
NAMES = ("one", "two", "three")


def start(cluster: Cluster, seconds: float = 0.0) -> list[HostProcess]:
    workers = [cluster.start_worker(name, TEST_SECONDS=str(seconds)) for name in NAMES]
    with cluster.connect() as hosts:
        joined(hosts, *workers)
    return workers


def ended(workers: list[HostProcess]) -> int:
    """The number of runs that ended on the hosts, those of earlier tests included."""
    return sum(line.startswith("ended") for worker in workers for line in worker.ran)


def test_a_search_on_three_hosts_gives_each_trial_once(cluster: Cluster, tmp_path: Path) -> None:
    start(cluster, 0.1)
    with cluster.connect() as hosts:
        trials = tune(tmp_path / "home", hosts, settings(trials=TRIALS))
        check_once(trials, TRIALS)
        assert eventually(lambda: not any(info.kept for info in hosts.hosts()))
    found = {trial.host for trial in searched(trials)}
    assert len(found) == 3
    # Each host measures its own baseline.
    assert Counter(t.host for t in trials if t.role is Role.BASE) == dict.fromkeys(found, 2)
    with Home(tmp_path / "home", create=False) as home:
        assert "script.txt" in home.evidence_files(trials[-1])


def test_decisions_can_be_replayed_from_what_is_stored(cluster: Cluster, tmp_path: Path) -> None:
    start(cluster, 0.1)
    with cluster.connect() as hosts:
        trials = tune(tmp_path / "home", hosts, settings(trials=TRIALS))
    with Home(tmp_path / "home", create=False) as home:
        record = read_record(home, "s")
    space = record.spaces.at()
    optimizer = make_optimizer(record.spec.optimizer, (), lambda: None)
    assert any(trial.asked and trial.asked.pending for trial in searched(trials))
    for trial in searched(trials):
        assert trial.asked is not None
        then = History(record.spec, record.history.objective, space.default())
        then.add(trials[: trial.asked.runs])
        known = with_pending(list(then.observations), trial.asked.pending)
        assert optimizer.ask(space, known, record.spec.seed) == trial.config


def test_both_runs_of_a_pair_are_on_one_host(cluster: Cluster, tmp_path: Path) -> None:
    start(cluster, 0.05)
    with cluster.connect() as hosts:
        trials = tune(tmp_path / "home", hosts, settings(trials=6, pairs=6))
    pairs: dict[int | None, set[str | None]] = {}
    for trial in trials:
        if trial.verification_id is not None:
            pairs.setdefault(trial.pair, set()).add(trial.host)
    assert len(pairs) == 6
    assert all(len(hosts) == 1 for hosts in pairs.values())
    assert len(set.union(*pairs.values())) == 3


def test_a_host_that_dies_costs_no_trial(cluster: Cluster, tmp_path: Path) -> None:
    workers = start(cluster, 0.5)
    home = tmp_path / "home"
    process = cluster.start_tune(home, TRIALS)
    assert eventually(lambda: count(home) >= 3)
    workers[0].kill()
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    check_once(stored(home), TRIALS)


def test_a_frozen_host_costs_no_trial_and_what_it_measured_too_late_does_not_count(
    cluster: Cluster, tmp_path: Path
) -> None:
    workers = start(cluster, 0.5)
    home = tmp_path / "home"
    process = cluster.start_tune(home, TRIALS)
    assert eventually(lambda: count(home) >= 3)
    workers[0].send(signal.SIGSTOP)
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    workers[0].send(signal.SIGCONT)
    check_once(stored(home), TRIALS)


def test_a_killed_command_goes_on_and_stores_what_the_hosts_have_finished(
    cluster: Cluster, tmp_path: Path
) -> None:
    workers = start(cluster, 0.5)
    ended_before = ended(workers)
    home = tmp_path / "home"
    for number in (2, 5):
        process = cluster.start_tune(home, TRIALS)
        assert eventually(lambda: count(home) >= number)  # noqa: B023
        process.kill()
    process = cluster.start_tune(home, TRIALS)
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    trials = stored(home)
    check_once(trials, TRIALS)
    # What ran when the command was killed was not thrown away.
    assert ended(workers) - ended_before == len(trials)


def test_a_look_at_a_study_of_hosts_shows_whether_a_run_is_left(
    cluster: Cluster, tmp_path: Path
) -> None:
    start(cluster, 0.0)
    home = tmp_path / "home"
    with cluster.connect() as hosts:
        tune(home, hosts, settings(trials=TRIALS))
    before = len(stored(home))
    looked_at(home, settings(trials=TRIALS))
    for more in ({"trials": TRIALS + 1}, {"trials": TRIALS, "repeats": 1}):
        with pytest.raises(WorkLeft):
            looked_at(home, settings(**more))
    assert len(stored(home)) == before


def test_hosts_that_cannot_run_the_study_end_it_with_their_reason(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start_worker("one", TEST_FILE_BYTES="1000")
    with cluster.connect() as hosts:
        joined(hosts, *cluster.workers)
        with pytest.raises(LsmtuneError, match="no host can run"):
            tune(tmp_path / "home", hosts, settings(trials=2))


def test_one_host_asks_for_the_configs_of_a_call_without_hosts(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.start_worker("one")
    with cluster.connect() as hosts:
        joined(hosts, *cluster.workers)
        there = tune(tmp_path / "there", hosts, settings(trials=5, repeats=1))
    here = tune(tmp_path / "here", None, settings(trials=5, repeats=1))
    assert [(t.role, t.config, t.spec) for t in there] == [(t.role, t.config, t.spec) for t in here]
    assert {trial.host for trial in here} == {None}


def test_a_host_with_another_version_of_the_engine_gets_no_more_runs(
    cluster: Cluster, tmp_path: Path
) -> None:
    other = cluster.start_worker("one", TEST_ENGINE="9.9.9")
    usual = cluster.start_worker("two")
    with cluster.connect() as hosts:
        joined(hosts, other, usual)
        trials = tune(tmp_path / "home", hosts, settings(trials=4))
        check_once(trials, 4)
        assert len({trial.host for trial in trials}) == 1
        usual.end()
        with pytest.raises(LsmtuneError, match=r"9\.9\.9"):
            tune(tmp_path / "home", hosts, settings(trials=5))


def test_a_host_with_another_library_gets_no_more_runs(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = Origin(source="test", sha256="a" * 64)
    own_facts = ScriptedEngine.describe
    monkeypatch.setattr(
        ScriptedEngine,
        "describe",
        lambda engine, workdir: replace(own_facts(engine, workdir), origin=origin),
    )
    other = cluster.start_worker("one", TEST_LIBRARY="b" * 64)
    usual = cluster.start_worker("two", TEST_LIBRARY="a" * 64)
    with cluster.connect() as hosts:
        joined(hosts, other, usual)
        trials = tune(tmp_path / "home", hosts, settings(trials=4))
        check_once(trials, 4)
        assert {str(trial.host)[-8:] for trial in trials} == {usual.host}
        usual.end()
        with pytest.raises(LsmtuneError, match=r"bbbbbbbb\b.*aaaaaaaa\b"):
            tune(tmp_path / "home", hosts, settings(trials=5))
