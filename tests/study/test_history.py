"""The history of a study: run by run it says what all runs at once say, at a cost that stays."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

from fakes.studies import open_study
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.objective import Objective, front
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.pruning import value_noise
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, trial_of, undisturbed
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.history import History
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

RUNS = 80


def result_of(role: Role, rng: np.random.Generator) -> TrialResult:
    """What a run may come to; the baseline always has a value."""
    metrics = {name: float(rng.lognormal(0, 0.3)) for name in ("write_amp", "total_s")}
    fate = "complete" if role is Role.BASE else rng.choice(["complete"] * 5 + ["failed", "cut"])
    if fate == "failed":
        return TrialResult(status=Status.CRASHED, reason="signal 6")
    if fate == "cut":
        return TrialResult(status=Status.CUT, reason="hopeless", bounds=metrics)
    found = measured(**metrics, get_data_blocks=float(rng.lognormal(0, 0.3)))
    is_disturbed = role is not Role.BASE and rng.random() < 0.1
    return found.model_copy(update={"status": Status.DISTURBED}) if is_disturbed else found


Given = tuple[StudySettings, Objective, Config]
"""Settings, objective and baseline, with which a history begins."""


def some_runs(
    home: Home, goals: list[str], seed: int, hosts: Sequence[str | None] = (None,)
) -> tuple[Given, list[StoredTrial]]:
    """Runs of all kinds in any order, on any of the hosts; the first is of the baseline."""
    rng = np.random.default_rng(seed)
    spec = make_spec({"study": "s", "objective": goals, "trials": 1}, "test")
    with open_study(home, spec, ScriptedEngine(lambda _: measured()), lambda _: None) as study:
        measure_baseline(study)
        first, start = study.trials()[0], study.space.default()
        configs = [study.space.sample(rng) for _ in range(RUNS // 2)]
    roles = [
        Role.BASE,
        *rng.choice([*[Role.TRIAL] * 12, Role.REPEAT, Role.BASE, Role.VERIFY_BEST], RUNS),
    ]
    found = []
    for number, role in enumerate(map(Role, roles)):
        config = start if role is Role.BASE else configs[int(rng.integers(len(configs)))]
        found.append(
            StoredTrial(number, role, config, first.spec, result_of(role, rng), first.started_at,
                        float(number), None, None, f"s/{number:05d}",
                        host=hosts[int(rng.integers(len(hosts)))])
        )  # fmt: skip
    return (spec, study.objective, start), found


@pytest.mark.parametrize("goals", [["write_amp"], ["write_amp", "total_s"]])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("hosts", [(None,), ("one", "two", "three")])
def test_run_by_run_it_says_what_all_runs_at_once_say(
    home: Home, goals: list[str], seed: int, hosts: Sequence[str | None]
) -> None:
    given, runs = some_runs(home, goals, seed, hosts)
    _, objective, start = given
    grown = History(*given)
    for count, run in enumerate(runs, start=1):
        grown.add([run])
        known = grown.observations  # so that the next run is added to it
        if (len(runs) - count) % 4:
            continue  # all of so many runs at once would take long
        whole = History(*given)
        whole.add(runs[:count])
        assert list(known) == list(whole.observations)
        assert grown.to_beat == whole.to_beat
        assert grown.value_noise == whole.value_noise
    within = [c.values for c in grown.candidates if c.excess <= 0]
    assert set(grown.to_beat) == {within[place] for place in front(within)}
    assert grown.value_noise == value_noise(objective, grown.base, grown.repeated)
    searched = [run for run in runs if run.role is Role.TRIAL]
    counted = [run for run in undisturbed(searched, Role.TRIAL) if grown.counts(run)]
    assert [o.config for o in grown.observations] == [start, *(run.config for run in counted)]
    assert grown.searched == len(grown.observations) - 1
    assert grown.used_s == sum(run.duration_s for run in searched)
    assert all(grown.tried(run.config) for run in counted)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_as_searched_it_is_without_what_ran_after_the_last_trial(home: Home, seed: int) -> None:
    given, runs = some_runs(home, ["write_amp"], seed)
    last = max(run.number for run in runs if run.role is Role.TRIAL)
    searched, repeated = History(*given), History(*given)
    searched.add(runs[: last + 1])
    repeated.add(runs)
    repeated.add(
        [
            StoredTrial(
                RUNS + 1,
                Role.REPEAT,
                runs[last].config,
                runs[last].spec,
                measured(write_amp=9.0),
                runs[last].started_at,
                1.0,
                None,
                None,
                "s/00099",
            )
        ]
    )
    left = repeated.as_searched()
    assert left.runs == searched.runs
    assert list(left.observations) == list(searched.observations)
    assert searched.as_searched() is searched


class Prepared:
    """An optimizer whose suggestions cost nothing."""

    name = summary = "prepared"

    def __init__(self, configs: Iterator[Config]) -> None:
        self._configs = configs

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next config."""
        return next(self._configs)


@pytest.mark.slow
def test_a_trial_costs_the_same_after_few_trials_and_after_many(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is counted, not timed: the functions that run from one trial to the next."""
    calls: Counter[CodeType] = Counter()
    each: list[Counter[CodeType]] = []

    def count(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            calls[frame.f_code] += 1

    def script(_: TrialSpec) -> TrialResult:
        each.append(calls.copy())
        calls.clear()
        return measured(write_amp=1.0 + len(each) % 7)

    spec = make_spec(
        {
            "study": "s",
            "objective": "write_amp",
            "optimizer": "random",
            "trials": 150,
            "repeats": 0,
        },
        "test",
    )
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        rng = np.random.default_rng(1)
        configs = dict.fromkeys(study.space.sample(rng) for _ in range(160))
        prepared = Prepared(iter(configs))
        monkeypatch.setitem(OPTIMIZERS, "random", lambda: prepared)
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            run_search(study)
        finally:
            sys.setprofile(before)
    few, many = each[20:30], each[-10:]
    assert max(found[trial_of.__code__] for found in few + many) == 1  # rows that are read
    assert max(found.total() for found in many) < 1.05 * max(found.total() for found in few)
