"""Rehearsals of a study: what is stored, which config comes next, and what may be claimed."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.api.results import write_results
from lsmtune.api.study_result import read_result
from lsmtune.engines.base import Deployed, Places, TrialFailedError, Watch
from lsmtune.errors import UserError
from lsmtune.progress import Observer
from lsmtune.rehearsal import Rehearsal
from lsmtune.report.study_document import show_document
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.rehearse import MOST_NEXT, verify_deployable
from lsmtune.study.search import run_search
from lsmtune.study.session import Session, WorkLeft
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, Status, TrialResult, TrialSpec

BASE, LEVELS = 3, 7
KNOB = "compaction_pri"
REFUSED = Rehearsal(
    version="0", failed="exported", step="open", message="Invalid argument: no", options=(KNOB,)
)
OPENED = Rehearsal(version="0", families=("default",), records=10)
NO_FILES = Deployed(exported="", undo="", changed=(), only=lambda _: "", family="default")


class Rehearser(ScriptedEngine):
    """An engine whose store refuses some values of the knob; it counts the rehearsals."""

    def __init__(self, outcome: Callable[[int], Rehearsal]) -> None:
        super().__init__(in_order)
        self.outcome = outcome
        self.done: list[int] = []
        self.study: Session | None = None

    def rehearse(
        self, spec: TrialSpec, base: Base, files: Deployed, places: Places, watch: Watch
    ) -> Rehearsal:
        """Return the outcome of the winner, as it is before the rehearsal."""
        assert spec.settings[KNOB] == BASE
        assert places.workdir.is_dir()
        assert self.study is not None
        winner = self.study.best()
        assert winner is not None
        self.done.append(int(winner.trial.config[KNOB]))
        return self.outcome(self.done[-1])


def in_order(spec: TrialSpec) -> TrialResult:
    """Each value below the baseline's is better than the next one."""
    return measured(write_amp=0.5 + int(spec.settings[KNOB]) / 10 if is_better(spec) else 1.0)


def is_better(spec: TrialSpec) -> bool:
    return spec.settings[KNOB] != BASE


def opened(home: Home, engine: ScriptedEngine, **given: Any) -> AbstractContextManager[Session]:
    fast = {"study": "s", "objective": "write_amp", "optimizer": "random", "repeats": 0,
            "base_runs": 1, "knobs": KNOB, "trials": 5}  # fmt: skip
    return open_study(home, make_spec({**fast, **given}, "test"), engine, lambda _: None)


def run(home: Home, outcome: Callable[[int], Rehearsal], **given: Any) -> Rehearser:
    engine = Rehearser(outcome)
    with opened(home, engine, **given) as study:
        engine.study = study
        run_search(study)
        verify_deployable(study, lambda _: NO_FILES, Observer())
    return engine


def winner_of(home: Home) -> int:
    best = read_study(home, "s").best_trial
    assert best is not None
    return int(dict(best.config)[KNOB])


def test_the_winner_is_rehearsed_once(home: Home) -> None:
    assert run(home, lambda _: OPENED).done == [0]
    assert run(home, lambda _: OPENED).done == []
    view = read_study(home, "s")
    claim = claim_of(view)
    assert claim.view.rehearsal is not None
    assert claim.view.rehearsal.seconds > 0
    assert claim.view.rehearsal.model_copy(update={"seconds": 0.0}) == OPENED
    assert claim.status == "gain"
    document = show_document(view, claim)["claim"]["rehearsal"]
    assert document["passed"] is True
    assert document["records"] == OPENED.records


def test_after_a_refused_config_the_next_best_is_verified(home: Home) -> None:
    engine = run(home, lambda value: OPENED if value == 1 else REFUSED)
    assert engine.done == [0, 1]
    assert winner_of(home) == 1
    assert claim_of(read_study(home, "s")).status == "gain"


def test_without_a_config_that_opens_the_store_there_is_no_file(home: Home) -> None:
    engine = run(home, lambda _: REFUSED)
    assert len(engine.done) == len(set(engine.done)) == 1 + MOST_NEXT
    count = len(home.trials(home.study("s")))
    assert run(home, lambda _: REFUSED).done == []
    assert len(home.trials(home.study("s"))) == count
    result = read_result(home, "s")
    assert result.claim.status == "cannot be deployed"
    assert not result.claim.gain
    assert result.claim.undo is None
    assert result.claim.steps[0].kind == "keep_baseline"
    with pytest.raises(UserError, match="Invalid argument: no"):
        result.export()
    files = write_results(home, result, Observer())
    assert (files.deploy, files.undo) == (None, None)
    assert not list(files.page.parent.glob("OPTIONS*"))


def test_nothing_left_includes_the_rehearsal(home: Home) -> None:
    engine = Rehearser(lambda _: OPENED)
    with opened(home, engine) as study:
        engine.study = study
        run_search(study)
        verify_deployable(study, lambda _: NO_FILES, Observer())
        study.only_look()
        verify_deployable(study, lambda _: NO_FILES, Observer())
        for verification in study.home.verifications(study.stored):
            study.home.update_rehearsals(verification, {})
    with opened(home, engine) as study:
        study.only_look()
        with pytest.raises(WorkLeft):
            verify_deployable(study, lambda _: NO_FILES, Observer())


class Remarks(Observer):
    """Keeps the remarks."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def remark(self, text: str) -> None:
        """Keep a sentence."""
        self.texts.append(text)


def test_a_baseline_that_fails_is_a_remark_and_no_verdict(home: Home) -> None:
    def fail(_: int) -> Rehearsal:
        raise TrialFailedError(Status.CRASHED, "signal 6")

    engine, remarks = Rehearser(fail), Remarks()
    with opened(home, engine) as study:
        engine.study = study
        run_search(study)
        verify_deployable(study, lambda _: NO_FILES, remarks)
    assert any("signal 6" in text for text in remarks.texts)
    claim = claim_of(read_study(home, "s"))
    assert (claim.status, claim.view.rehearsal) == ("gain", None)


@pytest.mark.parametrize(("one_way", "status"), [(True, "gain"), (None, "cannot be deployed")])
def test_a_change_that_needs_a_migration_needs_a_word_of_the_user(
    home: Home, one_way: bool | None, status: str
) -> None:
    refused = REFUSED.model_copy(update={"options": ("num_levels",)})

    class Levels(ScriptedEngine):
        def rehearse(self, *_: object) -> Rehearsal:
            return refused

    def script(spec: TrialSpec) -> TrialResult:
        return measured(write_amp=0.5 if int(spec.settings["num_levels"]) < LEVELS else 1.0)

    # The search tries such a value only with a word of the user, which is taken back here.
    with opened(home, Levels(script), knobs="num_levels", one_way=True, trials=8) as study:
        run_search(study)
        assert study.best() is not None
        study.spec = study.spec.model_copy(update={"one_way": one_way})
        verify_deployable(study, lambda _: NO_FILES, Observer())
    claim = claim_of(read_study(home, "s"))
    assert claim.status == status
    assert claim.view.rehearsal is not None
    assert bool(claim.view.rehearsal.needs) == bool(one_way)


def test_a_damaged_row_is_named(home: Home, tmp_path: Path) -> None:
    run(home, lambda _: OPENED)
    home._db.execute("UPDATE verification SET rehearsals = '{\"1\": {}}'")
    with pytest.raises(UserError, match="verification"):
        home.verifications(home.study("s"))
