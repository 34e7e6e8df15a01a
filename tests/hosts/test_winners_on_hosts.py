"""What happens to a winner on hosts: its pairs of runs, and fewer changes."""

from collections import Counter
from pathlib import Path

import pytest

from fakes.host_processes import Cluster, joined
from fakes.patience import PATIENCE_S, eventually
from fakes.scripted_tune import settings, simplified, stored, tune, verified
from lsmtune.hosts.commander import Hosts
from lsmtune.store.records import StoredTrial
from lsmtune.trials import Role, Simplified, Status

pytestmark = pytest.mark.slow

TRIALS = 6
NAMES = ("one", "two", "three")


def start(cluster: Cluster, hosts: Hosts, seconds: float, others_percent: float = 0.0) -> None:
    env = {"TEST_SECONDS": str(seconds), "TEST_OTHERS_PERCENT": str(others_percent)}
    joined(hosts, *(cluster.start_worker(name, **env) for name in NAMES))


def whole_pairs(home: Path) -> dict[int, set[str | None]]:
    """The hosts of each pair that has both runs."""
    found: dict[int, list[StoredTrial]] = {}
    for trial in stored(home):
        if trial.pair is not None:
            found.setdefault(trial.pair, []).append(trial)
    whole = {pair: runs for pair, runs in found.items() if len(runs) == 2}
    assert all(len({run.role for run in runs}) == 2 for runs in whole.values())
    return {pair: {run.host for run in runs} for pair, runs in whole.items()}


def test_a_verification_spreads_its_pairs_and_each_stays_on_one_host(
    cluster: Cluster, tmp_path: Path
) -> None:
    home, spec = tmp_path / "home", settings(trials=TRIALS)
    tune(home, None, spec)
    with cluster.connect() as hosts:
        start(cluster, hosts, 0.1)
        verified(home, hosts, spec, pairs=9)
    pairs = whole_pairs(home)
    assert len(pairs) == 9
    assert all(len(of_pair) == 1 for of_pair in pairs.values())
    assert len(set.union(*pairs.values()) - {None}) == 3
    # Without hosts, pairs that hosts have run count.
    verified(home, None, spec, pairs=10)
    assert Counter(frozenset(of) == {None} for of in whole_pairs(home).values()) == {
        True: 1,
        False: 9,
    }


def test_a_killed_verification_goes_on_and_keeps_its_pairs(
    cluster: Cluster, tmp_path: Path
) -> None:
    home, wanted = tmp_path / "home", 12
    tune(home, None, settings(trials=TRIALS))
    with cluster.connect() as hosts:
        start(cluster, hosts, 0.3)
    for number in (2, 5):
        process = cluster.start_tune(home, TRIALS, pairs=wanted)
        assert eventually(lambda: len(whole_pairs(home)) >= number)  # noqa: B023
        process.kill()
    before = whole_pairs(home)
    process = cluster.start_tune(home, TRIALS, pairs=wanted)
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    pairs = whole_pairs(home)
    assert before.items() <= pairs.items()
    assert len(pairs) == wanted
    assert all(len(of_pair) == 1 for of_pair in pairs.values())


def configs_of(home: Path, found: Simplified) -> tuple[object, ...]:
    """What a simplification decided, whatever the numbers of its runs are.

    Hosts run the baseline first, so their runs have other numbers.
    """
    by_number = {trial.number: trial.config for trial in stored(home)}
    needed = {part.names: by_number[part.trial] for part in found.needed}
    return by_number[found.raw], found.simple and by_number[found.simple], needed


def test_simplification_on_hosts_decides_as_without(cluster: Cluster, tmp_path: Path) -> None:
    spec = settings(trials=TRIALS)
    here, there = tmp_path / "here", tmp_path / "there"
    for home in (here, there):
        tune(home, None, spec)
    decided = simplified(here, None, spec)
    with cluster.connect() as hosts:
        start(cluster, hosts, 1.0)
        assert configs_of(there, simplified(there, hosts, spec)) == configs_of(here, decided)
    assert decided.simple is not None

    def runs(home: Path) -> list[StoredTrial]:
        return [trial for trial in stored(home) if trial.role is Role.SIMPLIFY]

    assert {(t.config, t.spec.seed) for t in runs(there)} == {
        (t.config, t.spec.seed) for t in runs(here)
    }
    assert len(runs(there)) == len(runs(here))
    # The two runs of the winner go on at the same time.
    winner = runs(there)[0].config
    assert len({trial.host for trial in runs(there) if trial.config == winner}) == 2


def test_a_killed_simplification_goes_on_with_the_same_runs(
    cluster: Cluster, tmp_path: Path
) -> None:
    spec = settings(trials=TRIALS)
    here, there = tmp_path / "here", tmp_path / "there"
    for home in (here, there):
        tune(home, None, spec)
    decided = simplified(here, None, spec)
    with cluster.connect() as hosts:
        start(cluster, hosts, 0.5)

    def runs(home: Path) -> list[tuple[object, int]]:
        found = [trial for trial in stored(home) if trial.role is Role.SIMPLIFY]
        return sorted((hash(trial.config), trial.spec.seed) for trial in found)

    for number in (1, 3):
        process = cluster.start_simplify(there, TRIALS)
        assert eventually(lambda: len(runs(there)) >= number)  # noqa: B023
        process.kill()
    process = cluster.start_simplify(there, TRIALS)
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    assert runs(there) == runs(here)
    with cluster.connect() as hosts:
        assert configs_of(there, simplified(there, hosts, spec)) == configs_of(here, decided)


def test_at_most_five_runs_are_repeated_because_others_disturb_the_hosts(
    cluster: Cluster, tmp_path: Path
) -> None:
    home, spec = tmp_path / "home", settings(trials=TRIALS)
    tune(home, None, spec)
    with cluster.connect() as hosts:
        start(cluster, hosts, 0.05, others_percent=50.0)
        simplified(home, hosts, spec)
    runs = [trial for trial in stored(home) if trial.role is Role.SIMPLIFY]
    disturbed = [run for run in runs if run.result.status is Status.DISTURBED]
    assert len(disturbed) == 5
    of_run = Counter((hash(run.config), run.spec.seed) for run in disturbed)
    assert sorted(of_run.values()) == [1, 2, 2]
