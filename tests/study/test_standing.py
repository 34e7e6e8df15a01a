"""Which hosts a study can use, by their runs of the baseline."""

import math
from dataclasses import replace

import numpy as np
import pytest

from fakes.studies import open_study
from lsmtune.knobs.types import Config
from lsmtune.objective import parse_objective
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.history import History
from lsmtune.study.standing import standings
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult

BASE_RUNS = 3
TOTAL = parse_objective("total_s", [])
FAILED = TrialResult(status=Status.CRASHED, reason="signal 6")


@pytest.fixture
def first(home: Home) -> StoredTrial:
    """A run of the baseline."""
    with open_study(
        home, make_spec({"study": "s"}, "test"), ScriptedEngine(lambda _: measured())
    ) as study:
        measure_baseline(study)
        return study.trials()[0]


def base_of(first: StoredTrial, *runs: tuple[str, float | TrialResult]) -> list[StoredTrial]:
    """Runs of the baseline: each on a host, with a time or a result."""
    return [
        replace(
            first, number=number, host=host,
            result=given if isinstance(given, TrialResult) else measured(total_s=given),
        )
        for number, (host, given) in enumerate(runs)
    ]  # fmt: skip


def noisy(seed: int, noise: float = 0.03, **levels: float) -> list[tuple[str, float]]:
    """Times of `BASE_RUNS` runs on each host, round by round."""
    rng = np.random.default_rng(seed)
    return [
        (host, level * math.exp(rng.normal(0, noise)))
        for _ in range(BASE_RUNS)
        for host, level in levels.items()
    ]


def kinds(runs: list[StoredTrial]) -> dict[str, str]:
    return {host: found.kind for host, found in standings(runs, TOTAL, BASE_RUNS).items()}


def test_a_host_that_is_far_from_the_others_is_set_aside(first: StoredTrial) -> None:
    runs = base_of(first, *noisy(1, a=1.0, b=1.1, c=2.0))
    assert kinds(runs) == {"a": "used", "b": "used", "c": "differs"}
    found = standings(runs, TOTAL, BASE_RUNS)["c"]
    assert found.ratio == pytest.approx(2 / 1.05, rel=0.1)
    assert not found.counts(0)


def test_of_two_hosts_or_two_groups_nobody_knows_which_is_wrong(first: StoredTrial) -> None:
    for levels in ({"a": 1.0, "b": 2.0}, {"a": 1.0, "b": 2.0, "c": 1.0, "d": 2.0}):
        assert set(kinds(base_of(first, *noisy(1, **levels))).values()) == {"used"}


def test_equal_hosts_that_are_noisy_are_rarely_set_aside(first: StoredTrial) -> None:
    found = [
        kinds(base_of(first, *noisy(seed, 0.15, a=1.0, b=1.0, c=1.0, d=1.0))) for seed in range(100)
    ]
    assert sum(kind != "used" for each in found for kind in each.values()) <= 4


def test_one_far_run_is_checked_and_two_in_a_row_are_a_drift(first: StoredTrial) -> None:
    before = noisy(1, a=1.0, b=1.0)
    assert kinds(base_of(first, *before, ("a", 1.6))) == {"a": "checked", "b": "used"}
    assert kinds(base_of(first, *before, ("a", 1.6), ("a", 1.0))) == {"a": "used", "b": "used"}
    drifted = base_of(first, *before, ("a", 1.0), ("b", 1.0), ("a", 1.6), ("a", 1.6))
    found = standings(drifted, TOTAL, BASE_RUNS)["a"]
    assert found.kind == "drifts"
    assert found.ratio == pytest.approx(1.6, rel=0.1)
    # Its last run that agreed counts, and what it ran after that does not.
    assert [found.counts(run.number) for run in drifted[-4:]] == [True, False, False, False]


def test_a_host_that_cannot_run_the_baseline_any_more_is_set_aside(first: StoredTrial) -> None:
    assert kinds(base_of(first, ("a", 1.0), ("a", FAILED), ("b", 1.0))) == {
        "a": "fails", "b": "used",
    }  # fmt: skip
    assert kinds(base_of(first, ("a", 1.0), ("a", FAILED), ("a", 1.0))) == {"a": "used"}


def test_runs_of_a_host_that_is_set_aside_do_not_count_for_the_study(first: StoredTrial) -> None:
    spec = make_spec({"study": "s", "objective": "total_s"}, "test")
    base = base_of(first, *noisy(1, a=1.0, b=1.0, c=3.0))
    trials = [
        replace(
            first, number=len(base) + place, role=Role.TRIAL, host=host,
            config=Config({**first.config, "write_buffer_size": 2**20 * (place + 1)}),
            result=measured(total_s=0.5 * level),
        )
        for place, (host, level) in enumerate([("a", 1.0), ("b", 1.0), ("c", 3.0)])
    ]  # fmt: skip
    history = History(spec, TOTAL, first.config)
    history.add([*base, *trials])
    assert {candidate.trial.host for candidate in history.candidates} == {"a", "b"}
    assert history.searched == 2
    assert {run.host for run in history.complete_base} == {"a", "b"}
    assert len(history.runs) == len(base) + len(trials)
