"""Data of the charts and tables of a study, with their texts.

`title` is the finding. `see` says how to read the chart.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.deploy import format_to_deploy
from lsmtune.analysis.study_view import StudyView, TrialView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import JIN2022, Goal
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.changed_options import OptionRow, option_row
from lsmtune.report.text.headline_text import percent
from lsmtune.report.text.memory_text import small_tree_text
from lsmtune.report.text.metric_words import Ratio, status_text
from lsmtune.report.text.words import counted, listed, option_value
from lsmtune.stats import geometric_mean
from lsmtune.trials import Role, Status


@dataclass(frozen=True, slots=True)
class Options:
    """The options that differ between winner and baseline."""

    title: str
    rows: tuple[OptionRow, ...]
    see: str = ""


_SEARCH = PageTexts(__package__, "search")
Mark = Literal["within limits", "breaks a limit", "base again", "cut"]
MARK_WORDS: dict[Mark, str] = {
    "within limits": "keeps all limits",
    "breaks a limit": "breaks or may break a limit",
    "base again": "baseline run",
    "cut": "pruned; the best value that the trial could still have reached",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A trial with a value, the median of all `runs` of its config.

    `excess` is how far a single run is beyond a limit. A pruned trial has the best value that
    it could still have reached. `reason` says why it was pruned, or what disturbed a trial that was
    kept.
    """

    number: int
    mark: Mark
    value: float
    excess: float | None = None
    reason: str = ""
    runs: int = 1


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A trial without a value, and why."""

    number: int
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Convergence:
    """The trials in order. `best_so_far` starts at the baseline, 1, and never rises."""

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
    """A failed or pruned run, and how it differs from the baseline."""

    number: int
    role: str
    status: str
    meaning: str
    reason: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failures:
    """All failed and pruned runs."""

    title: str
    rows: tuple[FailedTrial, ...]


ROLES = {
    Role.RATE: "capacity of the baseline",
    Role.BASE: "baseline",
    Role.TRIAL: "trial",
    Role.REPEAT: "repeat of a finalist",
    Role.SHARED: "run next to others",
    Role.VERIFY_BASE: "verification, baseline",
    Role.VERIFY_BEST: "verification, winner",
    Role.VERIFY_RAW: "verification, winner with all changes",
    Role.SIMPLIFY: "with fewer changes",
}


def options(view: StudyView) -> Options:
    """Return the options that the exported file changes, in the order of the view."""
    changes = [change for change in view.changes if change.is_deployed]
    restarts = sum(change.knob.apply == "restart" for change in changes)
    needs = f"{restarts or 'none'} {'needs' if restarts == 1 else 'need'} a restart"
    if (file := format_to_deploy(view.engine)).read_at_start:
        needs = f"{file.file_name} needs a restart"
    changed = f"{counted(len(changes), 'option')} changed; {needs}"
    unchanged = "The winner is the baseline" if view.best_trial else "There is no winner yet"
    if view.changes:
        unchanged = "At full size, the winner is the baseline"
    return Options(
        title=changed if changes else unchanged,
        rows=tuple(map(option_row, changes)),
        see=_scale_note(view) if changes and view.scale != "1" else "",
    )


def _scale_note(view: StudyView) -> str:
    return (
        f"The file has the values for scale 1, a full-size tree. The trials ran at scale "
        f"{view.scale}, {small_tree_text(all_sizes_scale=view.all_sizes_scale)}. Do not deploy the "
        "values of the trials."
    )


def convergence(view: StudyView) -> Convergence:
    """Return the search: a mark for each of its trials and each baseline run."""
    best = view.best_trial
    verdict = view.verification.verdict if view.verification else None
    return Convergence(
        title=_convergence_title(view),
        see=_convergence_see(view),
        axis=_objective_axis(view),
        measured=tuple(_measured(view.trials)),
        unmeasured=tuple(_unmeasured(view.searched)),
        best_so_far=tuple(_best_so_far(view.searched)),
        best=(best.number, best.judged) if best and best.judged is not None else None,
        verified=Ratio.of(verdict.objective) if verdict else None,
    )


def _measured(trials: Sequence[TrialView]) -> Iterator[Measured]:
    for trial in trials:
        kept = trial.remark if trial.disturbance else ""
        if trial.bound:
            bound = geometric_mean(trial.bound)
            yield Measured(trial.number, "cut", bound, reason=trial.reason or "")
        elif trial.value is None or trial.status is not Status.COMPLETE:
            continue
        elif trial.role is Role.BASE:
            yield Measured(trial.number, "base again", trial.value, reason=kept)
        elif trial.role is Role.TRIAL:
            mark: Mark = "within limits" if trial.feasible else "breaks a limit"
            single = not trial.feasible and trial.runs == 1
            excess = max(trial.violation or 0.0, 0.0) if single else None
            value = trial.value if trial.judged is None else trial.judged
            yield Measured(trial.number, mark, value, excess, kept, trial.runs)


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
    for trial in sorted(trials, key=lambda trial: trial.number):
        if trial.feasible and trial.judged is not None and trial.status is Status.COMPLETE:
            lowest = min(lowest, trial.judged)
        yield trial.number, lowest


def _convergence_title(view: StudyView) -> str:
    trials, best = counted(len(view.searched), "trial"), view.best_trial
    if not view.searched:
        return "No trial has run yet"
    if best is None or best.judged is None:
        return f"{trials}, no winner within the limits"
    side = "better" if best.judged < 1 else "worse"
    return (
        f"{trials}; the config of trial {best.number} looked {percent(best.judged)} {side} than "
        "the baseline"
    )


def _convergence_see(view: StudyView) -> str:
    repeats = sum(trial.role is Role.REPEAT for trial in view.measured)
    shown = {
        "marks": True,
        "unmeasured": any(_unmeasured(view.searched)),
        "repeats": repeats > 0,
        "verified": view.verification is not None,
    }
    return " ".join(_SEARCH.shown(shown, repeats=counted(repeats, "repeat")))


def _objective_axis(view: StudyView) -> str:
    goals = view.objective.goals
    text = "mean of the objectives / baseline" if len(goals) > 1 else goal_axis(goals[0])
    return f"{text}, logarithmic; below 1 is a gain"


def goal_axis(goal: Goal) -> str:
    """Return the name of an objective's axis."""
    if goal.name == JIN2022:
        return "e^(-fitness / 4000)"
    if len(goal.metrics) > 1:
        return f"{goal.name}, trial / baseline"
    turned = METRICS[goal.name].better == "higher"
    return f"{goal.name}, {'baseline / trial' if turned else 'trial / baseline'}"


def failures(view: StudyView) -> Failures:
    """Return the failed and pruned runs in their order."""
    ended = tuple(trial for trial in view.trials if trial.status.failed or trial in view.cut)
    return Failures(title=_failures_title(view), rows=tuple(_failed(trial) for trial in ended))


def _failures_title(view: StudyView) -> str:
    if not view.trials:
        return "No run yet"
    total, pruned = counted(len(view.trials), "run"), len(view.cut)
    cut = f"; lsmtune pruned {counted(pruned, 'run')} that could no longer win" if pruned else ""
    if not view.failed:
        return f"None of {total} failed{cut}"
    kinds = Counter(status_text(trial.status) for trial in view.failed)
    words = listed([f"{count} {status}" for status, count in kinds.items()])
    return f"{len(view.failed)} of {total} failed: {words}{cut}"


def _failed(trial: TrialView) -> FailedTrial:
    return FailedTrial(
        number=trial.number,
        role=ROLES[trial.role],
        status=status_text(trial.status),
        meaning=trial.status.meaning,
        reason=trial.reason or "no reason recorded",
        differences=tuple(f"{c.knob.name} = {option_value(c.best)}" for c in trial.changes),
    )
