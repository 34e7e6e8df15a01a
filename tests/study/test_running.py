"""Studies of a running store: the rate, its runs, and what they refuse."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.search import run_search
from lsmtune.study.session import Session
from lsmtune.study.verify import verify
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, Running, TrialResult, TrialSpec

CAPACITY = 24_690.0
HALF = 12_000.0
"""Half of the capacity, with two digits."""
BEST = 0
"""The value of compaction_pri that wins."""


def make(**given: Any) -> StudySettings:
    fast = {
        "study": "s", "rocksdb": "11.8.1", "objective": "write_amp", "optimizer": "random",
        "knobs": "compaction_pri", "trials": 2, "base_runs": 2,
    }  # fmt: skip
    return make_spec({**fast, **given}, "test")


def script(spec: TrialSpec) -> TrialResult:
    assert spec.running is not None
    best = spec.settings["compaction_pri"] == BEST
    found = {"capacity_ops_s": CAPACITY, "overload": 0.5, "write_amp": 0.5 if best else 1.0}
    if spec.running.rate is None:
        found["write_amp"] = 100.0  # no later decision may see it
    return measured(**found)


@contextmanager
def opened(home: Home, play: Script = script, **given: Any) -> Iterator[Session]:
    with open_study(home, make(**given), ScriptedEngine(play)) as study:
        yield study


def rates(trials: list[StoredTrial]) -> list[float | None]:
    return [trial.spec.running.rate for trial in trials if trial.spec.running is not None]


def test_the_first_run_tells_the_rate_of_all_others(home: Home) -> None:
    with opened(home) as study:
        run_search(study)
        trials = study.trials()
        assert [trial.role for trial in trials[:3]] == [Role.RATE, Role.BASE, Role.BASE]
        assert rates(trials) == [None, *[HALF] * (len(trials) - 1)]
        assert study.stored.rate == home.study("s").rate == HALF
        assert study.history.base["write_amp"] == 1.0
        assert len(study.history.complete_base) == 2
        assert [one.config for one in study.history.observations].count(trials[0].config) == 1


def test_a_given_rate_needs_no_run(home: Home) -> None:
    with opened(home, rate=777) as study:
        run_search(study)
        assert rates(study.trials()) == [777.0] * len(study.trials())


def test_a_share(home: Home) -> None:
    with opened(home, rate="10%") as study:
        run_search(study)
        assert study.stored.rate == 2500.0


@pytest.mark.parametrize("killed", [1, 2, 4])
def test_a_killed_study_continues_at_the_same_rate(home: Home, killed: int) -> None:
    calls = 0

    def kill(spec: TrialSpec) -> TrialResult:
        nonlocal calls
        calls += 1
        if calls == killed + 1:
            raise KeyboardInterrupt
        return script(spec)

    with pytest.raises(KeyboardInterrupt), opened(home, kill) as study:
        run_search(study)
    with opened(home) as study:
        run_search(study)
        found = [(t.role, t.config.hash, t.spec.seed, t.spec.running) for t in study.trials()]
    with open_study(home, make(study="whole"), ScriptedEngine(script)) as study:
        run_search(study)
        whole = [(t.role, t.config.hash, t.spec.seed, t.spec.running) for t in study.trials()]
    assert found == whole


def test_a_study_killed_before_its_rate_was_stored(home: Home) -> None:
    with opened(home) as study:
        run_search(study)
    home._db.execute("UPDATE study SET rate = NULL")
    with opened(home) as study:
        run_search(study)
        assert study.stored.rate == HALF
        assert sum(trial.role is Role.RATE for trial in study.trials()) == 1


def test_a_baseline_that_cannot_keep_the_rate_stops_the_study(home: Home) -> None:
    def slow(spec: TrialSpec) -> TrialResult:
        assert spec.running is not None
        over = 0.5 if spec.running.rate is None else 3.0
        return measured(capacity_ops_s=20_000.0, overload=over, behind_s=1.25)

    for _ in range(2):  # the same call says the same again
        with pytest.raises(LsmtuneError) as caught, opened(home, slow, rate="80%") as study:
            run_search(study)
        for part in ("16,000", "1.2 s", "20,000", "rate"):
            assert part in str(caught.value)
    assert [trial.role for trial in home.trials(home.study("s"))] == [Role.RATE, Role.BASE]


def test_the_steps_of_a_trial(home: Home) -> None:
    with opened(home, protocol={"window_s": 20}) as study:
        run_search(study)
        assert study.trials()[1].spec.running == Running(rate=HALF, window_s=20)
        assert study.trials()[0].spec.running == Running(rate=None, window_s=20)


def test_no_trial_is_pruned(home: Home) -> None:
    seen = []
    with open_study(home, make(early_stop=True), ScriptedEngine(script), seen.append) as study:
        run_search(study)
    assert {event.task.prune for event in seen} == {None}


def test_a_verification_at_another_rate_stands_beside(home: Home) -> None:
    def turns(spec: TrialSpec) -> TrialResult:
        """At 500 operations/s, the baseline is better."""
        result = script(spec)
        assert spec.running is not None
        return result if spec.running.rate != 500.0 else measured(write_amp=2.0, overload=0.5)

    with opened(home, turns) as study:
        run_search(study)
        load, scale = study.spec.workload, study.spec.scale
        best = study.best()
        assert best is not None
        assert verify(study, scale, load, best.trial.number, rate=500.0).claim != "gain"
        assert verify(study, scale, load, best.trial.number).claim == "gain"
        assert verify(study, scale, load, best.trial.number, rate=500.0).claim != "gain"
        first, second = home.verifications(study.stored)
        assert (first.rate, second.rate) == (500.0, None)
        winner = study.best()
        assert winner is not None
        assert winner.trial.number == best.trial.number
        assert set(rates(study.history.runs_of_verification(first))) == {500.0}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rate": "0"}, ("rate", "50%")),
        ({"rate": -3}, ("rate", "50%")),
        ({"rate": "150%"}, ("rate", "150%")),
        ({"rate": "abc"}, ("rate", "abc")),
        ({"rate": "50%", "measure": "filled"}, ("rate", "measure")),
        ({"measure": "running", "workload": "fillseq"}, ("measure", "overwrite", "mix")),
        ({"measure": "running", "rocksdb": None}, ("measure", "db_bench", "rocksdb")),
        (
            {"measure": "running", "workload": {"name": "overwrite", "operations": 1000}},
            ("measure", "operations", "filled"),
        ),
        (
            {"measure": "running", "workload": {"name": "readrandomwriterandom", "duration_s": 9}},
            ("measure", "duration_s", "filled"),
        ),
        (
            {"rate": 9, "workload": {"name": "readwhilewriting", "write_rate_bytes_s": 4096}},
            ("rate", "write_rate_bytes_s"),
        ),
        ({"measure": "running", "knobs": "jin2022"}, ("measure", "jin2022")),
        ({"measure": "running", "objective": "jin2022"}, ("measure", "jin2022")),
        ({"objective": "total_s"}, ("objective", "capacity_ops_s", "filled")),
        ({"limits": ["settle_s <= 5"]}, ("limits", "capacity_ops_s", "filled")),
        ({"limits": ["throughput_ops_s>=5"]}, ("limits", "capacity_ops_s", "filled")),
        ({"measure": "filled", "objective": "capacity_ops_s"}, ("objective", "running")),
        ({"measure": "filled", "limits": ["overload <= 1"]}, ("limits", "running")),
    ],
)
def test_settings_that_do_not_fit(given: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(UserError) as caught:
        make(**given)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    ("given", "measure"),
    [
        ({}, "running"),
        ({"library": "librocksdb.so", "rocksdb": None}, "running"),
        ({"workload": {"num": 5000}}, "running"),
        ({"workload": "mix"}, "running"),
        ({"rocksdb": None}, "filled"),
        ({"workload": "fillrandom"}, "filled"),
        ({"workload": "readrandom", "knobs": "reads"}, "filled"),
        ({"workload": {"name": "readrandomwriterandom", "duration_s": 9}}, "filled"),
        ({"knobs": "jin2022"}, "filled"),
        ({"objective": "jin2022"}, "filled"),
        ({"engine": "simulated", "rocksdb": None}, "filled"),
        ({"measure": "filled"}, "filled"),
    ],
)
def test_the_usual_way(given: dict[str, Any], measure: str) -> None:
    spec = make(**given)
    assert spec.measure == measure
    assert spec.rate == ("50%" if measure == "running" else None)
    again = make_spec(spec.model_dump(mode="json"), "test")
    assert again.identity() == spec.identity()


def test_a_study_overwrites_by_default() -> None:
    assert make().workload.name == make(workload={"num": 5000}).workload.name == "overwrite"
    assert make(engine="simulated", rocksdb=None).workload.name == "fillrandom"
