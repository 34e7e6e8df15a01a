"""Several goals at once: the trials that no other beats in all of them, for the user to pick one.

The record behind the picture and behind what each pick shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import Literal

from lsmtune.analysis.study_view import StudyView, TrialView
from lsmtune.metrics.definitions import METRICS, Metric
from lsmtune.objective import Metrics, gain_ratio, median_metrics
from lsmtune.report.comparison import metric_groups
from lsmtune.report.figures import OptionRow, goal_axis, option_row
from lsmtune.report.words import TIMES, counted, number
from lsmtune.trials import Role

Place = Literal["front", "beaten", "breaks a limit", "cut"]

_FAR = 3.0
"""A trial this many times worse than the base and all of the front is not drawn."""


@dataclass(frozen=True, slots=True)
class Point:
    """A trial in the picture: its values for the goals, below 1 better than the base."""

    number: int
    place: Place
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PickedMetric:
    """A metric of a trial on the front beside the base's; `gain` is turned, below 1 better."""

    metric: Metric
    base: float
    trial: float
    gain: float | None


@dataclass(frozen=True, slots=True)
class Pick:
    """What there is to know of a trial on the front before it is taken."""

    number: int
    summary: str
    options: tuple[OptionRow, ...]
    metrics: tuple[PickedMetric, ...]
    command: str


@dataclass(frozen=True, slots=True)
class Front:
    """The front and all other trials; `chosen` is the pick that is shown first."""

    title: str
    see: str
    axis: str
    axes: tuple[str, ...]
    points: tuple[Point, ...]
    picks: tuple[Pick, ...]
    chosen: int | None


def pareto(view: StudyView) -> Front | None:
    """The front of a study with several goals; None for one that has a single goal."""
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
        axis="each axis is a ratio to the base, logarithmic: below 1 is better",
        axes=tuple(goal_axis(goal) for goal in goals),
        points=drawn,
        picks=tuple(_pick(view, trial) for trial in view.front),
        chosen=chosen,
    )


def _points(view: StudyView) -> Iterator[Point]:
    """Every trial of the search that has values; those on the front by all their runs."""
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
        return "No trial within the limits is better than the base in any goal"
    trials = counted(len(view.searched), "trial")
    if len(view.front) == 1:
        return f"One of {trials} beats all others in every goal"
    return f"{len(view.front)} of {trials} are beaten by no other: each trades one goal for another"


def _see(view: StudyView, left_out: int) -> str:
    several = len(view.objective.goals) > 2  # noqa: PLR2004 - two goals make a plane
    text = (
        "Each line is a trial on the front, lower is better in every goal and 1 is the base; "
        "thin lines are other trials"
        if several
        else "Each mark is a trial, left and below is better and the base stands at 1; the line "
        "joins the trials that no other beats in both goals"
    )
    verb = "is" if left_out == 1 else "are"
    far = f". {counted(left_out, 'trial')} far worse than the base {verb} not drawn"
    pick = ". Pick one, by its mark or in the list, to see what it changes" if view.front else ""
    return f"{text}{far if left_out else ''}{pick}."


def _pick(view: StudyView, trial: TrialView) -> Pick:
    goals = view.objective.goals
    values = ", ".join(
        f"{goal.name} {number(_ratio(goal.name, value))} {TIMES}"
        for goal, value in zip(goals, trial.values, strict=True)
    )
    study, base = quote(view.name), median_metrics(view.base_runs)
    return Pick(
        number=trial.number,
        summary=f"trial {trial.number}: {values}",
        options=tuple(option_row(change) for change in trial.changes),
        metrics=tuple(_metrics(view, base, trial.metrics)),
        command=f"lsmtune export {study} --trial {trial.number} --format options",
    )


def _ratio(goal: str, value: float) -> float:
    """The value turned back to trial / base, as the reader thinks of a metric."""
    known = METRICS.get(goal)
    return 1 / value if known and known.better == "higher" else value


def _metrics(view: StudyView, base: Metrics, trial: Metrics) -> Iterator[PickedMetric]:
    groups = metric_groups(view)
    for name in (*groups["objective"], *groups["limit"], *groups["main"]):
        if name in base and name in trial:
            measured = base[name] > 0 and trial[name] > 0
            gain = gain_ratio(name, trial[name], base[name]) if measured else None
            yield PickedMetric(METRICS[name], base[name], trial[name], gain)
