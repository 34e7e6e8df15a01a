"""Pareto front of a study with several objectives: data of its chart and of each trial on it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.deploy import export_command
from lsmtune.analysis.metric_rows import MetricRow, compare
from lsmtune.analysis.study_view import StudyView, TrialView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import COMPOSITES
from lsmtune.report.figures import goal_axis
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.changed_options import OptionRow, option_row
from lsmtune.report.text.words import TIMES, counted, number
from lsmtune.trials import Role

_TEXTS = PageTexts(__package__, "front")
Place = Literal["front", "beaten", "breaks a limit", "cut"]

_FAR = 3.0
"""The chart omits a trial that is worse than baseline and front by this factor."""


@dataclass(frozen=True, slots=True)
class Point:
    """A trial in the chart: its objectives / baseline, below 1 is better."""

    number: int
    place: Place
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Pick:
    """A trial on the front that the user can pick."""

    number: int
    summary: str
    options: tuple[OptionRow, ...]
    metrics: tuple[MetricRow, ...]
    command: str


@dataclass(frozen=True, slots=True)
class Front:
    """The front and all other trials; `chosen` is the trial that is shown first."""

    title: str
    see: str
    axis: str
    axes: tuple[str, ...]
    points: tuple[Point, ...]
    picks: tuple[Pick, ...]
    chosen: int | None


def pareto(view: StudyView) -> Front | None:
    """Return the front of a study, or None if it has a single objective."""
    if not view.objective.pareto:
        return None
    goals = view.objective.goals
    points = tuple(_points(view))
    drawn = tuple(point for point in points if not _far(point, points))
    best, numbers = view.best_trial, [trial.number for trial in view.front]
    chosen = best.number if best and best.number in numbers else next(iter(numbers), None)
    return Front(
        title=_title(view),
        see=_see(view, len(points) - len(drawn)),
        axis="ratios to the baseline, logarithmic; below 1 is better",
        axes=tuple(goal_axis(goal) for goal in goals),
        points=drawn,
        picks=tuple(_pick(view, trial) for trial in view.front),
        chosen=chosen,
    )


def _points(view: StudyView) -> Iterator[Point]:
    """Return the trials that have values; those on the front with medians of their runs."""
    front = {trial.number: trial for trial in view.front}
    for trial in view.trials:
        if trial.number in front:
            yield Point(trial.number, "front", front[trial.number].values)
        elif trial.bound:
            yield Point(trial.number, "cut", trial.bound)
        elif trial.values and trial.role is Role.TRIAL:
            yield Point(
                trial.number, "beaten" if trial.feasible else "breaks a limit", trial.values
            )


def _far(point: Point, points: tuple[Point, ...]) -> bool:
    kept = [(1.0,) * len(point.values), *(p.values for p in points if p.place == "front")]
    worst = [max(values) for values in zip(*kept, strict=True)]
    return any(x > _FAR * most for x, most in zip(point.values, worst, strict=True))


def _title(view: StudyView) -> str:
    if not view.front:
        return "No trial within the limits beats the baseline in any objective"
    trials = counted(len(view.searched), "trial")
    if len(view.front) == 1:
        return f"1 of {trials} is best in every objective"
    return f"{len(view.front)} of {trials} are on the Pareto front"


def _see(view: StudyView, left_out: int) -> str:
    is_plane = len(view.objective.goals) == 2  # noqa: PLR2004 - two goals make a plane
    shown = {
        "plane": is_plane,
        "lines": not is_plane,
        "several": len(view.front) > 1,
        "pick": len(view.front) > 0,
        "left_out": left_out > 0,
    }
    return " ".join(_TEXTS.shown(shown, left_out=counted(left_out, "trial")))


def _pick(view: StudyView, trial: TrialView) -> Pick:
    goals = view.objective.goals
    values = ", ".join(
        f"{goal.name} {number(_ratio(goal.name, value))} {TIMES}"
        for goal, value in zip(goals, trial.values, strict=True)
    )
    return Pick(
        number=trial.number,
        summary=f"trial {trial.number}: {values}",
        options=tuple(option_row(change) for change in trial.changes),
        metrics=tuple(
            row
            for row in compare(view, trial)
            if row.role != "other" and row.baseline is not None and row.winner is not None
        ),
        command=export_command(view.name, view.engine, trial=trial.number) + view.home_flag,
    )


def _ratio(goal: str, value: float) -> float:
    """Return the value as trial / baseline, also if more is better."""
    higher = goal not in COMPOSITES and METRICS[goal].better == "higher"
    return 1 / value if higher else value
