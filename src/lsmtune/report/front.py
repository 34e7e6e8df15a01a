"""Pareto front of a study with several objectives: its data, and its section of a page.

The chart is a plane for two objectives, and a line per trial for more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lsmtune.analysis.deploy import export_command
from lsmtune.analysis.metric_rows import MetricRow, compare
from lsmtune.analysis.study_view import StudyView, TrialView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import COMPOSITES
from lsmtune.report.canvas import Chart, Key, Shape, marker, picture, ratio_axis
from lsmtune.report.figures import goal_axis
from lsmtune.report.markup import Html, code, command, element, join, section, table
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.sections import measured_text, options_table
from lsmtune.report.text.changed_options import OptionRow, option_row
from lsmtune.report.text.words import TIMES, counted, number, unit_text
from lsmtune.trials import Role

_TEXTS = PageTexts(__package__, "front")
Place = Literal["front", "beaten", "breaks a limit", "cut"]

_FAR = 3.0
"""The chart omits a trial that is worse than baseline and front by this factor."""

_ALIKE = 0.05
"""Medians of a few runs that differ by less are called similar."""


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


def front_section(record: Front) -> Html:
    """Return the front as a chart, a list to choose from, and a panel per trial.

    The page contains all panels; its script shows the chosen one.
    """
    keys: list[Key] = front_keys(record)
    described = f"{record.title}. {record.see}"
    return section(
        "Several objectives",
        record.title,
        element("p", record.see),
        picture("front", front_plot(record), keys, described, record.axis),
        _list(record) if record.picks else "",
        element("div", *map(_panel, record.picks), id="picks") if record.picks else "",
    )


def _list(record: Front) -> Html:
    choices = (
        element(
            "option", pick.summary, value=str(pick.number),
            **({"selected": ""} if pick.number == record.chosen else {}),
        )
        for pick in record.picks
    )  # fmt: skip
    return element(
        "p",
        element("label", "Show ", for_="pick"),
        element("select", *choices, id="pick", aria_controls="picks"),
        class_="pick",
    )


def _panel(pick: Pick) -> Html:
    changed = options_table(pick.options, f"trial {pick.number}") if pick.options else ""
    heads = ("metric", "unit", "baseline", f"trial {pick.number}", "trial / baseline")
    rows = map(_cells, pick.metrics)
    return element(
        "article",
        element("h3", pick.summary),
        element(
            "p", f"Export the options of trial {pick.number} with this command:", class_="note"
        ),
        command(pick.command),
        changed or element("p", f"Trial {pick.number} has the same options as the baseline."),
        table("Medians of trial and baseline in the search, not verified", heads, rows),
        data_trial=str(pick.number),
    )


def _cells(row: MetricRow) -> list[str]:
    unit = row.metric.unit
    values = (measured_text(value, unit) for value in (row.baseline, row.winner))
    return [code(row.metric.name), unit_text(unit), *values, _ratio_cell(row)]


def _ratio_cell(row: MetricRow) -> Html | str:
    """Return the ratio and its direction in words."""
    if row.ratio is None or row.gain is None:
        return "none"
    way = "better" if row.gain < 1 - _ALIKE else "worse" if row.gain > 1 + _ALIKE else "similar"
    return element("span", join([f"{number(row.ratio)} {TIMES}, {way}"]), class_="number")


_HEIGHT_PX = 400
_PLANE = 2
PLACES: dict[Place, Shape] = {
    "front": Shape("circle", "●", "best"),
    "beaten": Shape("circle-open", "○", "soft"),
    "breaks a limit": Shape("triangle-up-open", "△", "worse"),
    "cut": Shape("diamond-open", "◇", "soft"),
}
_MEANINGS: dict[Place, str] = {
    "front": "on the front",
    "beaten": "another trial or the baseline is at least as good in every objective",
    "breaks a limit": "breaks a limit",
    "cut": "pruned; the best value that the trial could still have reached",
}
BASE = Shape("square", "■", "ink")
PICKED = Shape("circle-open", "◯", "ink")


def front_keys(record: Front) -> list[Key]:
    """Return the legend of the marks that the chart has."""
    places = {point.place for point in record.points}
    keys = [Key(PLACES[place], _MEANINGS[place]) for place in PLACES if place in places]
    picked = [Key(PICKED, "trial shown below")] if record.chosen is not None else []
    return [*keys, *picked, Key(BASE, "baseline")]


def front_plot(record: Front) -> Chart:
    """Return the trials by their values; the page's script moves the trace named `picked`."""
    chart = Chart(_HEIGHT_PX)
    if len(record.axes) == _PLANE:
        _draw_plane(chart, record)
    else:
        _draw_lines(chart, record)
    return chart


def _draw_plane(chart: Chart, record: Front) -> None:
    front = sorted(p.values for p in record.points if p.place == "front")
    chart.best_so_far([x for x, _ in front], [y for _, y in front])
    for place, shape in PLACES.items():
        points = [point for point in record.points if point.place == place]
        chart.dots(
            [point.values[0] for point in points], [point.values[1] for point in points],
            marker(shape, 11 if place == "front" else 8),
            "trial %{customdata}: %{x:.3g} and %{y:.3g}",
            customdata=[point.number for point in points],
        )  # fmt: skip
    chart.dots([1], [1], marker(BASE, 9), "baseline")
    chosen = [p.values for p in record.points if p.number == record.chosen]
    _add_picked(chart, [values[0] for values in chosen], [values[1] for values in chosen])
    chart.rule(x=1, y=1)
    for goal, axis in enumerate(("xaxis", "yaxis")):
        title = {"text": record.axes[goal]}
        chart.update_layout({axis: {**_axis(record, [goal]), "title": title}})


def _draw_lines(chart: Chart, record: Front) -> None:
    """Draw a line per trial over the objectives, those of the front on top."""
    places = list(range(len(record.axes)))
    for point in sorted(record.points, key=lambda point: point.place == "front"):
        shape, on_front = PLACES[point.place], point.place == "front"
        chart.line(
            places, point.values, (shape, "solid"), "trial %{customdata}: %{y:.3g}",
            size=10 if on_front else 6, line={"width": 2.5 if on_front else 0.8},
            customdata=[point.number] * len(places),
        )  # fmt: skip
    chart.dots(places, [1] * len(places), marker(BASE, 9), "baseline")
    chosen = [y for p in record.points if p.number == record.chosen for y in p.values]
    _add_picked(chart, places[: len(chosen)], chosen)
    chart.rule(y=1)
    chart.update_layout(
        xaxis={
            "tickvals": places,
            "ticktext": [name.replace(", ", "<br>") for name in record.axes],
            "range": [-0.2, places[-1] + 0.2],
        },
        yaxis=_axis(record, places),
    )


def _add_picked(chart: Chart, x: Sequence[float], y: Sequence[float]) -> None:
    chart.dots(x, y, marker(PICKED, 19, 2.5), "", name="picked")


def _axis(record: Front, places: Sequence[int]) -> dict[str, Any]:
    values = [1.0, *(point.values[place] for point in record.points for place in places)]
    return ratio_axis(min(values) / 1.08, max(values) * 1.08)
