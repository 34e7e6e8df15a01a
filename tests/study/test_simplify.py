"""Simplification of a study's winner: its runs, what it stores, and how it is verified."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import exp
from typing import Any

import numpy as np
import pytest

from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.report.study_document import show_document
from lsmtune.report.text.simplification_text import simplification_sentences
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import complete_pairs, complete_trials
from lsmtune.study.fewest_changes import EFFORT
from lsmtune.study.search import run_search
from lsmtune.study.session import Session
from lsmtune.study.simplify import (
    new_winner,
    simplify_new_winner,
    simplify_winner,
    units_of,
    why_not,
    without,
)
from lsmtune.study.verify import verify_contenders
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

GAINS = {"compaction_pri": 0.3, "max_bytes_for_level_multiplier": 0.2}
IDLE = ("bytes_per_sync", "level0_file_num_compaction_trigger", "optimize_filters_for_hits")
KNOBS = ",".join((*GAINS, *IDLE))
DEFAULTS = load("rocksdb").defaults(1)
SIMPLIFY_SEED = 500
"""Runs of a simplification have larger seeds than those of the search."""


class Script:
    """A run gains by each knob of GAINS that is changed, and by no other."""

    def __init__(self, noise: float = 0.0) -> None:
        self.noise = noise
        self.runs = 0
        self.dies_at: int | None = None

    def __call__(self, spec: TrialSpec) -> TrialResult:
        self.runs += 1
        if self.runs == self.dies_at:
            raise KeyboardInterrupt
        changed = [gain for name, gain in GAINS.items() if spec.settings[name] != DEFAULTS[name]]
        rng = np.random.default_rng([spec.seed, len(changed)])
        return measured(write_amp=exp(rng.normal(0, self.noise) - sum(changed)))


@contextmanager
def opened(home: Home, script: Any, **given: Any) -> Iterator[Session]:
    settings = {"study": "s", "objective": "write_amp", "optimizer": "random", "knobs": KNOBS,
                "trials": 16, "base_runs": 3, "repeats": 2}  # fmt: skip
    spec = make_spec({**settings, **given}, "test")
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        yield study


def tune(study: Session) -> None:
    """Do what `lsmtune tune` does."""
    run_search(study)
    simplify_new_winner(study)
    verify_contenders(study)


def changes(study: Session, number: int) -> set[str]:
    trial = next(t for t in study.trials() if t.number == number)
    return set(trial.config.differing(study.space.default()))


def test_only_changes_that_bring_the_gain_are_left(home: Home) -> None:
    with opened(home, Script(noise=0.01)) as study:
        run_search(study)
        raw = new_winner(study)
        assert raw is not None
        before = changes(study, raw.trial.number)
        assert before > set(GAINS)
        simplify_new_winner(study)
        found = study.stored.simplified
        assert found is not None
        assert found.raw == raw.trial.number
        assert found.simple is not None
        assert changes(study, found.simple) == set(GAINS)
        assert {name for part in found.needed for name in part.names} == set(GAINS)
        runs = complete_trials(study.trials(), Role.SIMPLIFY)
        of_raw = [run for run in runs if run.config == raw.trial.config]
        assert len(of_raw) == 2
        assert len(runs) - len(of_raw) <= EFFORT["filled"].most
        count = len(study.trials())
        simplify_new_winner(study)
        assert len(study.trials()) == count


def test_the_simple_config_is_verified_beside_the_raw_winner(home: Home) -> None:
    with opened(home, Script(noise=0.01)) as study:
        tune(study)
        [verification] = home.verifications(study.stored)
        found = study.stored.simplified
        assert found is not None
        assert (verification.best_trial, verification.raw_trial) == (found.simple, found.raw)
        assert len(complete_pairs(study.trials(), verification, Role.VERIFY_RAW)) == 6
        count = len(study.trials())
        tune(study)
        assert len(study.trials()) == count
    view = read_study(home, "s")
    assert view.best_trial is not None
    assert view.best_trial.number == found.simple
    claim = claim_of(view)
    assert claim.gain
    shown = claim.view.simplification
    assert shown is not None
    assert shown.used
    assert shown.kept is not None
    assert shown.kept.median == pytest.approx(1, abs=0.05)
    assert {part.names[0]: part.share for part in shown.needed} == pytest.approx(
        {name: gain / sum(GAINS.values()) for name, gain in GAINS.items()}, abs=0.1
    )
    document = show_document(view)["claim"]["simplified"]
    assert document["simple_trial"] == found.simple
    assert read_study(home, "s", found.raw).verification is not None


def test_a_gain_within_the_noise_has_no_shares(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        again = spec.seed > SIMPLIFY_SEED
        lost = next((n for n in GAINS if spec.settings[n] == DEFAULTS[n]), None)
        rng = np.random.default_rng([spec.seed, len(lost or "")])
        level = 0.02 if again else 0.5
        return measured(write_amp=exp(rng.normal(0, 0.15) - (0 if lost else level)))

    with opened(home, script) as study:
        run_search(study)
        simplify_new_winner(study)
    shown = claim_of(read_study(home, "s")).view.simplification
    assert shown is not None
    assert shown.needed
    assert [part.share for part in shown.needed] == [None] * len(shown.needed)


@pytest.mark.parametrize("lost", ["gain", "most of the gain"])
def test_raw_winner_wins_if_the_simple_config_loses_in_pairs(home: Home, lost: str) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        changed = [name for name in DEFAULTS if spec.settings.get(name) != DEFAULTS[name]]
        is_raw = any(name in changed for name in IDLE)
        in_pairs = spec.seed > 10_000
        result = Script()(spec).metrics
        if set(GAINS) <= set(changed) and not is_raw and in_pairs:
            return measured(write_amp=1.1 if lost == "gain" else 0.75)
        return measured(write_amp=result["write_amp"])

    with opened(home, script) as study:
        tune(study)
        found = study.stored.simplified
        assert found is not None
        assert found.simple is not None
        winner = study.best()
        assert winner is not None
        assert winner.trial.number == found.raw
        raw_runs = complete_trials(study.trials(), Role.VERIFY_RAW)
        assert len(raw_runs) == 6
    claim = claim_of(read_study(home, "s"))
    assert (claim.status, claim.trial) == ("gain", found.raw)
    assert claim.view.simplification is not None
    assert not claim.view.simplification.used


def test_interrupted_simplification_continues_with_the_same_runs(home: Home) -> None:
    with opened(home, Script(noise=0.02), study="whole") as study:
        tune(study)
        whole = [(t.role, t.config, t.spec.seed) for t in study.trials()]
    script = Script(noise=0.02)
    starts = [n for n, (role, _, _) in enumerate(whole, start=1) if role is Role.SIMPLIFY]
    for run in starts:
        script.dies_at = script.runs + 1 if script.runs >= run else run
        with opened(home, script) as study, pytest.raises(KeyboardInterrupt):
            tune(study)
    script.dies_at = None
    with opened(home, script) as study:
        tune(study)
        pairs = (Role.VERIFY_BEST, Role.VERIFY_BASE, Role.VERIFY_RAW)
        found = [(t.role, t.config, t.spec.seed) for t in study.trials()]
    assert [run for run in found if run[0] not in pairs] == [
        run for run in whole if run[0] not in pairs
    ]


def test_fewer_changes_that_break_a_constraint_are_not_taken(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        idle = [name for name in IDLE if spec.settings[name] != DEFAULTS[name]]
        gaining = any(spec.settings[name] != DEFAULTS[name] for name in GAINS)
        space = 20.0 if gaining and not idle else 10.0
        return measured(**{**Script()(spec).metrics, "live_sst_bytes": space})

    with opened(home, script) as study:
        run_search(study)
        simplify_new_winner(study)
        found = study.stored.simplified
        assert found is not None
        assert found.simple is not None
        assert set(GAINS) < changes(study, found.simple)
        assert changes(study, found.simple) < changes(study, found.raw)


@pytest.mark.parametrize("quiet_runs", [0, 2])
def test_at_most_five_runs_are_repeated_because_others_disturb(home: Home, quiet_runs: int) -> None:
    left = quiet_runs

    def script(spec: TrialSpec) -> TrialResult:
        nonlocal left
        left -= spec.seed >= SIMPLIFY_SEED
        others = 50.0 if left < 0 else 0.0
        return measured(**{**Script()(spec).metrics, "others_cpu_percent": others})

    with opened(home, script) as study:
        run_search(study)
        first = len(study.trials())
        simplify_new_winner(study)
        statuses = [trial.result.status for trial in study.trials()[first:]]
        assert statuses.count(Status.DISTURBED) == 5
        found = study.stored.simplified
        assert found is not None
        assert found.ended_early == study.trials()[-1].number
        view = read_study(home, "s")
        assert show_document(view)["claim"]["simplified"]["ended_early"]
        shown = view.simplification
        assert shown is not None
        assert "lsmtune simplify s" in str(shown.command)
        assert any(str(shown.command) in text for text in simplification_sentences(shown))
        left = 1000
        verify_contenders(study)
        simplify_winner(study)
        verify_contenders(study)
        found = study.stored.simplified
        assert found.ended_early is None
        assert found.simple is not None
        assert changes(study, found.simple) == set(GAINS)
        best = study.best()
        assert best is not None
        assert best.trial.number == found.simple


def test_each_change_that_stays_has_its_reason(home: Home) -> None:
    spacious = IDLE[0]

    def script(spec: TrialSpec) -> TrialResult:
        gaining = any(spec.settings[name] != DEFAULTS[name] for name in GAINS)
        space = 20.0 if gaining and spec.settings[spacious] == DEFAULTS[spacious] else 10.0
        return measured(**{**Script(noise=0.01)(spec).metrics, "live_sst_bytes": space})

    with opened(home, script) as study:
        run_search(study)
        simplify_new_winner(study)
        found = study.stored.simplified
        assert found is not None
        left = changes(study, found.simple or found.raw)
    shown = claim_of(read_study(home, "s")).view.simplification
    assert shown is not None
    assert {part.names: (part.loses, part.limits) for part in shown.needed} == {
        **{(name,): (True, ()) for name in GAINS}, (spacious,): (False, ("live_sst_bytes",)),
    }  # fmt: skip
    assert set(shown.untested) == left - {*GAINS, spacious}
    assert not shown.ended_early


def test_published_study_is_not_simplified(home: Home) -> None:
    for knobs, is_simplified in (("core", True), ("jin2022", False)):
        spec = make_spec({"study": knobs, "objective": "write_amp", "knobs": knobs}, "test")
        with open_study(home, spec, ScriptedEngine(Script())) as study:
            assert (why_not(study) is None) == is_simplified


def test_failed_run_keeps_the_change(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        if spec.seed >= SIMPLIFY_SEED:
            return TrialResult(status=Status.CRASHED, reason="signal 6")
        return Script()(spec)

    with opened(home, script) as study:
        run_search(study)
        simplify_new_winner(study)
        assert study.stored.simplified is not None
        assert study.stored.simplified.simple is None


def test_finished_study_can_be_simplified_later(home: Home) -> None:
    with opened(home, Script(noise=0.01)) as study:
        run_search(study)
        verify_contenders(study)
        simplify_new_winner(study)
        assert study.stored.simplified is None
        simplify_winner(study)
        verify_contenders(study)
        found = study.stored.simplified
        assert found is not None
        best = study.best()
        assert best is not None
        assert best.trial.number == found.simple


def test_study_without_a_winner_is_refused(home: Home) -> None:
    with opened(home, lambda _: measured(), trials=3) as study:
        run_search(study)
        simplify_new_winner(study)
        with pytest.raises(UserError, match="nothing to simplify"):
            simplify_winner(study)


def test_several_objectives_are_refused(home: Home) -> None:
    with opened(home, Script(), objective=["write_amp", "total_s"], trials=3) as study:
        run_search(study)
        simplify_new_winner(study)
        assert study.stored.simplified is None
        with pytest.raises(UserError, match="several objectives"):
            simplify_winner(study)


def test_units_can_be_taken_back_alone_and_contain_each_change_once(home: Home) -> None:
    with opened(home, Script(), knobs="core") as study:
        rng = np.random.default_rng(1)
        for _ in range(30):
            config = study.space.sample(rng)
            units = units_of(study.space, config)
            names = [name for unit in units for name in unit]
            assert sorted(names) == sorted(config.differing(study.space.default()))
            alone = [unit for unit in units if without(study.space, config, [unit]) is not None]
            assert len(alone) >= len(units) - 1


def test_limit_that_the_raw_winner_does_not_surely_keep_keeps_no_useless_change(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        rng = np.random.default_rng([spec.seed, 1])
        is_base = all(spec.settings[name] == DEFAULTS[name] for name in KNOBS.split(","))
        space = (1.0 if is_base else 1.11) * exp(rng.normal(0, 0.04))
        return measured(**{**Script(noise=0.01)(spec).metrics, "live_sst_bytes": space})

    with opened(home, script) as study:
        run_search(study)
        raw = new_winner(study)
        assert raw is not None
        assert not raw.can_win
        simplify_new_winner(study)
        found = study.stored.simplified
        assert found is not None
        assert found.simple is not None
        assert changes(study, found.simple) == set(GAINS)


def test_running_study_runs_the_raw_winner_once_more(home: Home) -> None:
    with opened(home, Script(noise=0.01), rocksdb="11.8.1", measure="running") as study:
        run_search(study)
        raw = new_winner(study)
        assert raw is not None
        simplify_new_winner(study)
        runs = complete_trials(study.trials(), Role.SIMPLIFY)
        of_raw = [run for run in runs if run.config == raw.trial.config]
        assert (len(of_raw), len(runs) - len(of_raw) <= 6) == (1, True)
