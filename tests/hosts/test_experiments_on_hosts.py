"""Screenings and experiments on hosts: each run once, whoever dies, and hosts that can be told."""

from collections import Counter
from pathlib import Path

import pytest

from fakes.host_processes import Cluster, HostProcess, joined
from fakes.patience import PATIENCE_S, eventually
from fakes.scripted_experiments import experiment, measure, screening, start_measuring
from fakes.scripted_tune import count, searched, stored
from lsmtune.analysis.screened import screened_lines
from lsmtune.store.home import Home
from lsmtune.store.open_runs import run_of
from lsmtune.store.records import StoredTrial
from lsmtune.trials import Role, workload_seed

pytestmark = pytest.mark.slow

CONFIGS, CELLS, BLOCKS = 12, 9, 2
NAMES = ("one", "two", "three")


def start(cluster: Cluster, seconds: float, *names: str, **env: str) -> list[HostProcess]:
    given = {"TEST_SECONDS": str(seconds), **env}
    workers = [cluster.start_worker(name, **given) for name in names or NAMES]
    with cluster.connect() as hosts:
        joined(hosts, *workers)
    return workers


def ended(workers: list[HostProcess]) -> int:
    """The number of runs that ended on the hosts, those of earlier tests included."""
    return sum(line.startswith("ended") for worker in workers for line in worker.ran)


def of(trials: list[StoredTrial], role: Role) -> list[StoredTrial]:
    return [trial for trial in trials if trial.role is role]


def check_runs(trials: list[StoredTrial]) -> None:
    runs = [run_of(trial.attempt or "") for trial in trials]
    assert len(set(runs)) == len(runs)


def check_screening(trials: list[StoredTrial]) -> None:
    """Each config has run once, each replicated one again."""
    points, again = searched(trials), of(trials, Role.REPEAT)
    assert len({trial.config for trial in points}) == len(points) == CONFIGS
    assert len({trial.config for trial in again}) == len(again) == 3
    assert len({trial.spec.seed for trial in points + again}) == CONFIGS + 3
    check_runs(trials)


def check_experiment(trials: list[StoredTrial]) -> None:
    """Each cell has run once in each block, and the base twice."""
    cells = Counter((trial.config, trial.spec.seed) for trial in searched(trials))
    assert set(cells.values()) == {1}
    assert len(cells) == CELLS * BLOCKS
    assert set(Counter(t.spec.seed for t in of(trials, Role.BASE)).values()) == {2}
    check_runs(trials)


def test_a_screening_on_three_hosts_gives_each_config_once(
    cluster: Cluster, tmp_path: Path
) -> None:
    start(cluster, 0.1)
    with cluster.connect() as hosts:
        trials = measure(tmp_path / "home", hosts, screening())
    check_screening(trials)
    names = {trial.host for trial in searched(trials)}
    assert len(names) == 3
    assert Counter(t.host for t in of(trials, Role.BASE)) == dict.fromkeys(names, 2)
    with Home(tmp_path / "home", create=False) as home:
        assert {line.host for line in screened_lines(home, "s")} == names


def test_hosts_take_the_configs_of_a_screening_in_a_random_order(
    cluster: Cluster, tmp_path: Path
) -> None:
    start(cluster, 0.0, "one")
    with cluster.connect() as hosts:
        there = measure(tmp_path / "there", hosts, screening())
    here = measure(tmp_path / "here", None, screening())
    check_screening(there)
    seeds = [trial.spec.seed for trial in searched(here)]
    assert seeds == [workload_seed(1, "screen", place, 0) for place in range(CONFIGS)]
    assert [trial.spec.seed for trial in searched(there)] != seeds
    # A config has its seed whatever the order is.
    assert {(t.config, t.spec.seed) for t in searched(there)} == {
        (t.config, t.spec.seed) for t in searched(here)
    }
    with Home(tmp_path / "there", create=False) as home:
        assert {line.host for line in screened_lines(home, "s")} == {None}


def test_a_config_that_failed_on_a_host_is_not_tried_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    start(cluster, 0.0, "one", "two", TEST_LARGEST="10000")
    with cluster.connect() as hosts:
        trials = measure(tmp_path / "home", hosts, screening())
        assert len(measure(tmp_path / "home", hosts, screening())) == len(trials)
    failed = {t.config for t in searched(trials) if t.result.status.failed}
    assert 0 < len(failed) < CONFIGS - 3
    assert len(searched(trials)) == CONFIGS
    again = {trial.config for trial in of(trials, Role.REPEAT)}
    assert len(again) == 3
    assert not again & failed


@pytest.mark.parametrize("kind", ["screen", "sweep"])
def test_a_host_that_dies_costs_no_run(cluster: Cluster, tmp_path: Path, kind: str) -> None:
    workers = start(cluster, 0.3)
    home = tmp_path / "home"
    process = start_measuring(cluster, home, kind)
    assert eventually(lambda: count(home) >= 3)
    workers[0].kill()
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    (check_screening if kind == "screen" else check_experiment)(stored(home))


@pytest.mark.parametrize("kind", ["screen", "sweep"])
def test_a_killed_command_goes_on_with_what_the_hosts_have_finished(
    cluster: Cluster, tmp_path: Path, kind: str
) -> None:
    workers = start(cluster, 0.3)
    ended_before = ended(workers)
    home = tmp_path / "home"
    for number in (2, 6):
        process = start_measuring(cluster, home, kind)
        assert eventually(lambda: count(home) >= number)  # noqa: B023
        process.kill()
    process = start_measuring(cluster, home, kind)
    assert process.popen.wait(PATIENCE_S) == 0, process.text
    trials = stored(home)
    (check_screening if kind == "screen" else check_experiment)(trials)
    # What ran when the command was killed was not thrown away.
    assert ended(workers) - ended_before == len(trials)


def test_each_cell_of_an_experiment_has_a_baseline_of_its_block_on_its_host(
    cluster: Cluster, tmp_path: Path
) -> None:
    start(cluster, 0.1)
    with cluster.connect() as hosts:
        trials = measure(tmp_path / "home", hosts, experiment())
    check_experiment(trials)
    bases = {(trial.host, trial.spec.seed) for trial in of(trials, Role.BASE)}
    cells = {(trial.host, trial.spec.seed) for trial in searched(trials)}
    assert cells <= bases
    # There are four parts, so all hosts are used although there are two blocks.
    assert len({trial.host for trial in trials}) == 3


def test_an_experiment_on_one_host_runs_in_the_usual_order(
    cluster: Cluster, tmp_path: Path
) -> None:
    start(cluster, 0.0, "one")
    with cluster.connect() as hosts:
        there = measure(tmp_path / "there", hosts, experiment())
    here = measure(tmp_path / "here", None, experiment())
    # The time limits may differ: all tasks of a part are made before its baseline has run.
    ran = [
        [(t.role, t.config, t.spec.settings, t.spec.seed) for t in each] for each in (there, here)
    ]
    assert ran[0] == ran[1]
