"""Studies of a running store: the rate, its runs, and what they refuse."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lsmtune
from fakes.entries import replaced
from fakes.made_home import enter_home
from fakes.remarks import Remarks
from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.api.resolve import Resolved
from lsmtune.api.run_time import expected_run_time, runs
from lsmtune.api.tune import tune
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import EngineFacts, OwnBase
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.catalogue import load
from lsmtune.progress import Event
from lsmtune.report.page import render_page
from lsmtune.report.text.run_text import RunTexts
from lsmtune.spec import StudySettings, make_spec
from lsmtune.spec_defaults import without_effect
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.search import run_search
from lsmtune.study.session import Session
from lsmtune.study.verify import verify, workload_at
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Base, Role, Running, TrialResult, TrialSpec

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
    result = measured(**found)
    if spec.running.rate is not None:
        return result
    assert result.measurement is not None
    only = result.measurement.model_copy(update={"metrics": {"capacity_ops_s": CAPACITY}})
    return result.model_copy(update={"measurement": only})


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


def test_the_run_that_finds_the_rate_is_shown_but_not_judged(home: Home) -> None:
    texts, spec = RunTexts(make()), make()
    events: list[Event] = []
    with open_study(home, spec, ScriptedEngine(script), events.append) as study:
        run_search(study)
    assert all(texts.phase(event) for event in events)
    view = read_study(home, "s")
    assert [trial.value for trial in view.trials if trial.role is Role.RATE] == [None]
    assert render_page(view)
    assert claim_of(view).status == "not verified"
    for command in (["show", "s"], ["trials", "s"], ["trials", "s", "--csv"], ["report", "s"]):
        assert run([*command, "--home", str(home.path)]) == 0, command


def test_a_given_rate_needs_no_run(home: Home) -> None:
    with opened(home, rate=777) as study:
        run_search(study)
        assert rates(study.trials()) == [777.0] * len(study.trials())


def test_a_baseline_without_a_capacity_stops_the_study(home: Home) -> None:
    def slow(spec: TrialSpec) -> TrialResult:
        return measured(capacity_ops_s=0.0)

    with (
        pytest.raises(LsmtuneError, match="write_p99_us <= 20"),
        opened(home, slow, capacity="write_p99_us <= 20") as study,
    ):
        run_search(study)


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


@pytest.mark.parametrize(("percent", "remarks"), [(33.0, 0), (40.0, 1)])
def test_a_driver_that_needs_much_of_the_cores_is_named_once(
    tmp_path: Path,
    own_host: Path,
    monkeypatch: pytest.MonkeyPatch,
    percent: float,
    remarks: int,
) -> None:
    def play(spec: TrialSpec) -> TrialResult:
        """The first run finds the capacity, so its driver is as fast as it can be."""
        assert spec.running is not None
        busy = 90.0 if spec.running.rate is None else percent
        return measured(capacity_ops_s=CAPACITY, overload=0.5, driver_cpu_percent=busy)

    observer = Remarks()
    entry = replaced("rocksdb", lambda _: ScriptedEngine(play))
    monkeypatch.setitem(ENGINES, "rocksdb", entry)
    for _ in range(2):
        tune(Resolved(make(repeats=0, pairs=0)), tmp_path / "home", observer)
    told = [line for line in observer.remarks if "% of the cores" in line]
    assert len(told) == remarks
    assert all("40 %" in line for line in told)


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
        asked, scale = study.spec.workload, study.spec.scale
        best = study.best()
        assert best is not None
        assert verify(study, scale, asked, best.trial.number, rate=500.0).claim != "gain"
        assert verify(study, scale, asked, best.trial.number).claim == "gain"
        assert verify(study, scale, asked, best.trial.number, rate=500.0).claim != "gain"
        first, second = home.verifications(study.stored)
        assert (first.rate, second.rate) == (500.0, None)
        winner = study.best()
        assert winner is not None
        assert winner.trial.number == best.trial.number
        assert set(rates(study.history.runs_of_verification(first))) == {500.0}
    claim = claim_of(read_study(home, "s"))
    assert claim.gain
    assert [(other.rate, other.verdict.claim) for other in claim.others] == [(500.0, "no gain")]
    assert claim.view.shown_pace is not None
    assert claim.view.shown_pace.ops_s == HALF


def test_a_study_of_filled_stores_has_no_other_rate(
    made_home: Path, tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter_home(made_home, tmp_path / "place", monkeypatch)
    with pytest.raises(UserError, match=r"rate = 500.*fills"):
        lsmtune.verify("verified", rate=500)


def test_a_verification_at_another_scale_keeps_the_rate(home: Home) -> None:
    with opened(home) as study:
        run_search(study)
        verify(study, "1/16", workload_at(study.spec, Fraction(1, 16)), pairs=6)
        steps = {trial.spec.running for trial in study.trials() if trial.verification_id}
    assert steps == {Running(rate=HALF, window_s=4 * Running(rate=None).window_s)}


class Fifo(ScriptedEngine):
    """An engine whose baseline has FIFO compaction."""

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """The defaults, with FIFO compaction."""
        base = super().base(facts, own, workdir)
        return base.model_copy(update={"settings": {**base.settings, "compaction_style": 2}})


def test_a_baseline_that_drops_keys_is_filled(home: Home) -> None:
    told: list[str] = []
    engine = Fifo(lambda spec: measured())
    with open_study(home, make(), engine, tell=told.append) as study:
        run_search(study)
        assert study.spec.measure == "filled"
        assert {trial.spec.running for trial in study.trials()} == {None}
    assert any("FIFO" in text for text in told)


def test_the_expected_time_follows_from_the_steps(tmp_path: Path) -> None:
    facts = ScriptedEngine(script).describe(tmp_path)
    found = expected_run_time(make(workload={"num": 400_000}), tmp_path / "home", facts)
    assert found is not None
    assert found.run_s == pytest.approx(10 + 3 + 2 + 6)
    fewest, _ = runs(make(trials=5, base_runs=3), 1)
    assert fewest == 1 + 3 + 5 + 2 * 6
    assert runs(make(trials=5, base_runs=3, rate=500), 1)[0] == fewest - 1


def test_the_plan_names_what_does_not_act_within_seconds() -> None:
    usual = load("rocksdb").defaults(1)
    aged = {**usual, "ttl_seconds": 3600}
    assert without_effect(make(), aged, usual) == ["ttl_seconds = 3600"]
    assert without_effect(make(), usual, usual) == []
    assert without_effect(make(measure="filled"), aged, usual) == []


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
