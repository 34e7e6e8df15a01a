"""What there is to see in a study: the data of each picture and table, and the finding in words.

A `title` states the finding, `see` is the one sentence that says how to read the picture.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.study_view import Change, StudyView, TrialView
from lsmtune.knobs.types import Value
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.words import TIMES, Ratio, counted, knob_value, listed, number
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


Mark = Literal["within limits", "breaks a limit", "base again"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial with an objective value; `excess` says by how much it breaks a limit, if it does."""

    number: int
    mark: Mark
    value: float
    excess: float | None


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
        rows=tuple(_option_row(change) for change in view.changes),
    )


def _option_row(change: Change) -> OptionRow:
    knob = change.knob
    return OptionRow(
        name=knob.name,
        base=knob_value(knob, change.base),
        best=knob_value(knob, change.best),
        raw_base=_raw(change.base),
        raw_best=_raw(change.best),
        apply=knob.apply,
        trade=knob.trade,
    )


def _raw(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
        if trial.value is None or trial.status is not Status.COMPLETE:
            continue
        if trial.role is Role.BASE:
            yield Measured(trial.number, "base again", trial.value, None)
        elif trial.role is Role.TRIAL and trial.feasible:
            yield Measured(trial.number, "within limits", trial.value, None)
        elif trial.role is Role.TRIAL:
            yield Measured(trial.number, "breaks a limit", trial.value, trial.violation)


def _unmeasured(trials: Sequence[TrialView]) -> Iterator[Unmeasured]:
    for trial in trials:
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
    if any(trial.status is not Status.COMPLETE for trial in view.searched):
        text += ", and trials without a result stand in the rows on top"
    if repeats := sum(trial.role is Role.REPEAT for trial in view.measured):
        runs = counted(repeats, "more run")
        text += f". The winner was chosen by the medians over {runs} of the finalists"
    if view.verification:
        text += ". The verified mark is what remained of the best when it was measured again"
    return f"{text}."


def _objective_axis(view: StudyView) -> str:
    metrics = view.objective.metrics
    if len(metrics) > 1:
        return "mean ratio to the base, below 1 = gain"
    turned = METRICS[metrics[0]].better == "higher"
    ratio = f"base / {metrics[0]}" if turned else f"{metrics[0]} / base"
    return f"{ratio}, below 1 = gain"


def failures(view: StudyView) -> Failures:
    """The trials without a comparable measurement, in the order of their start."""
    base = next((trial.config for trial in view.trials if trial.role is Role.BASE), {})
    kinds = Counter(status_text(trial.status) for trial in view.failed)
    words = listed([f"{count} {status}" for status, count in kinds.items()])
    total = counted(len(view.trials), "run")
    return Failures(
        title=f"{len(view.failed)} of {total} gave no comparable measurement: {words}"
        if view.failed
        else f"None of {total} failed"
        if view.trials
        else "Nothing has been run yet",
        rows=tuple(_failed(trial, base) for trial in view.failed),
    )


def _failed(trial: TrialView, base: Mapping[str, Value]) -> FailedTrial:
    differing = {name: value for name, value in trial.config.items() if base.get(name) != value}
    return FailedTrial(
        number=trial.number,
        role=ROLES[trial.role],
        status=status_text(trial.status),
        meaning=trial.status.meaning,
        reason=trial.reason or "no reason was recorded",
        differences=tuple(f"{name} = {_raw(value)}" for name, value in differing.items()),
    )


def status_text(status: Status) -> str:
    """The status as a word of a sentence."""
    return status.value.replace("_", " ")
