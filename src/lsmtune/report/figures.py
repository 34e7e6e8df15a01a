"""What there is to see in a study: the data of each picture and table, and the finding in words.

A `title` states the finding, `see` is the one sentence that says how to read the picture.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.study_view import Change, StudyView, TrialView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import JIN2022, Goal
from lsmtune.report.words import (
    TIMES,
    Ratio,
    counted,
    knob_value,
    listed,
    number,
    option_value,
)
from lsmtune.stats import geometric_mean
from lsmtune.trials import Role, Status


@dataclass(frozen=True, slots=True)
class OptionRow:
    """A changed option: values in words, the engine's own values, and what it trades."""

    name: str
    base: str
    best: str
    raw_base: str
    raw_best: str
    apply: Literal["online", "restart"]
    trade: str


@dataclass(frozen=True, slots=True)
class Options:
    """The options in which best differs from base."""

    title: str
    rows: tuple[OptionRow, ...]


Mark = Literal["within limits", "breaks a limit", "base again", "cut"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial with an objective value; `excess` says by how much it breaks a limit, if it does.

    A trial that was cut stands at the value that it could at best still have reached.
    """

    number: int
    mark: Mark
    value: float
    excess: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A trial without an objective value, and what became of it."""

    number: int
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Convergence:
    """The trials in order; `best_so_far` steps down from the base at 1."""

    title: str
    see: str
    axis: str
    measured: tuple[Measured, ...]
    unmeasured: tuple[Unmeasured, ...]
    best_so_far: tuple[tuple[int, float], ...]
    best: tuple[int, float] | None
    verified: Ratio | None


@dataclass(frozen=True, slots=True)
class FailedTrial:
    """A trial that gave no comparable measurement, and how it differed from the base."""

    number: int
    role: str
    status: str
    meaning: str
    reason: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failures:
    """All trials that gave no comparable measurement."""

    title: str
    rows: tuple[FailedTrial, ...]


ROLES = {
    Role.BASE: "base",
    Role.TRIAL: "trial",
    Role.REPEAT: "repeat of a finalist",
    Role.SHARED: "run beside others",
    Role.VERIFY_BASE: "verification of base",
    Role.VERIFY_BEST: "verification of best",
}


def options(view: StudyView) -> Options:
    """The options that changed, in the order of the view."""
    restarts = sum(change.knob.apply == "restart" for change in view.changes)
    how = f"{restarts or 'none'} of them {'needs' if restarts == 1 else 'need'} a restart"
    changed = f"{counted(len(view.changes), 'option')} changed, {how}"
    unchanged = "Best is the base itself" if view.best_trial else "There is no best yet"
    return Options(
        title=changed if view.changes else unchanged,
        rows=tuple(option_row(change) for change in view.changes),
    )


def option_row(change: Change) -> OptionRow:
    """A change in words."""
    knob = change.knob
    return OptionRow(
        name=knob.name,
        base=knob_value(knob, change.base),
        best=knob_value(knob, change.best),
        raw_base=option_value(change.base),
        raw_best=option_value(change.best),
        apply=knob.apply,
        trade=knob.trade,
    )


def convergence(view: StudyView) -> Convergence:
    """How the search went: a mark for each trial of the optimizer and each run of the base."""
    best = view.best_trial
    verdict = view.verification.verdict if view.verification else None
    return Convergence(
        title=_convergence_title(view),
        see=_convergence_see(view),
        axis=_objective_axis(view),
        measured=tuple(_measured(view.trials)),
        unmeasured=tuple(_unmeasured(view.searched)),
        best_so_far=tuple(_best_so_far(view.searched)),
        best=(best.number, best.value) if best and best.value is not None else None,
        verified=Ratio.of(verdict.objective) if verdict else None,
    )


def _measured(trials: Sequence[TrialView]) -> Iterator[Measured]:
    for trial in trials:
        if trial.bound:
            bound = geometric_mean(trial.bound)
            yield Measured(trial.number, "cut", bound, reason=trial.reason or "")
        elif trial.value is None or trial.status is not Status.COMPLETE:
            continue
        elif trial.role is Role.BASE:
            yield Measured(trial.number, "base again", trial.value)
        elif trial.role is Role.TRIAL and trial.feasible:
            yield Measured(trial.number, "within limits", trial.value)
        elif trial.role is Role.TRIAL:
            yield Measured(trial.number, "breaks a limit", trial.value, trial.violation)


def _unmeasured(trials: Sequence[TrialView]) -> Iterator[Unmeasured]:
    for trial in trials:
        if trial.bound:
            continue
        if trial.status is not Status.COMPLETE:
            yield Unmeasured(trial.number, status_text(trial.status), trial.reason or "")
        elif trial.value is None:
            yield Unmeasured(trial.number, "no value", "a metric of the objective is missing")


def _best_so_far(trials: Sequence[TrialView]) -> Iterator[tuple[int, float]]:
    lowest = 1.0
    for trial in trials:
        if trial.feasible and trial.value is not None and trial.status is Status.COMPLETE:
            lowest = min(lowest, trial.value)
        yield trial.number, lowest


def _convergence_title(view: StudyView) -> str:
    trials, best = counted(len(view.searched), "trial"), view.best_trial
    if not view.searched:
        return "No trial has been run yet"
    if best is None or best.value is None:
        return f"None of {trials} beat the base within the limits"
    return f"The best of {trials} (run {best.number}) came to {number(best.value)} {TIMES} the base"


def _convergence_see(view: StudyView) -> str:
    text = (
        "Each mark is one trial, lower is better and 1 is the base; the line is the best so far "
        "within the limits"
    )
    if any(_unmeasured(view.searched)):
        text += ", and trials without a result stand in the rows on top"
    if any(trial.bound for trial in view.searched):
        text += (
            ". A trial that was ended early stands, hollow, where it could at best still have come"
        )
    if repeats := sum(trial.role is Role.REPEAT for trial in view.measured):
        runs = counted(repeats, "more run")
        text += f". The winner was chosen by the medians over {runs} of the finalists"
    if view.verification:
        text += ". The verified mark is what remained of the best when it was measured again"
    return f"{text}."


def _objective_axis(view: StudyView) -> str:
    goals = view.objective.goals
    text = "mean ratio to the base over the goals" if len(goals) > 1 else goal_axis(goals[0])
    return f"{text}, below 1 = gain"


def goal_axis(goal: Goal) -> str:
    """What is drawn for a goal, in words."""
    if goal.name == JIN2022:
        return "e^(-fitness / 4000)"
    if len(goal.metrics) > 1:
        return "mean ratio to the base"
    turned = METRICS[goal.name].better == "higher"
    return f"base / {goal.name}" if turned else f"{goal.name} / base"


def failures(view: StudyView) -> Failures:
    """The trials without a comparable measurement, in the order of their start."""
    ended = tuple(trial for trial in view.trials if trial.status.failed or trial in view.cut)
    return Failures(
        title=_failures_title(view),
        rows=tuple(_failed(trial) for trial in ended),
    )


def _failures_title(view: StudyView) -> str:
    if not view.trials:
        return "Nothing has been run yet"
    total = counted(len(view.trials), "run")
    cut = f"; {len(view.cut)} more cut, because they could no longer win" if view.cut else ""
    if not view.failed:
        return f"None of {total} failed{cut.replace(' more', '')}"
    kinds = Counter(status_text(trial.status) for trial in view.failed)
    words = listed([f"{count} {status}" for status, count in kinds.items()])
    return f"{len(view.failed)} of {total} gave no comparable measurement: {words}{cut}"


def _failed(trial: TrialView) -> FailedTrial:
    return FailedTrial(
        number=trial.number,
        role=ROLES[trial.role],
        status=status_text(trial.status),
        meaning=trial.status.meaning,
        reason=trial.reason or "no reason was recorded",
        differences=tuple(f"{c.knob.name} = {option_value(c.best)}" for c in trial.changes),
    )


def status_text(status: Status) -> str:
    """The status as a word of a sentence."""
    return status.value.replace("_", " ")
