"""The page of a comparison: who is how good after how many trials."""

import numpy as np
import plotly.graph_objects as go

from lsmtune.comparison.race import Outcome, Standing, at
from lsmtune.report.canvas import LINES, Key, Shape, canvas, colour, marker, ratio_axis
from lsmtune.report.facts import workload_text
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, element, items, table
from lsmtune.report.page import assembled
from lsmtune.report.words import counted
from lsmtune.spec import StudySpec

_HEIGHT_PX = 360
_MARKS = 12
_BAND = (0.25, 0.75)


def render_comparison(found: Outcome, spec: StudySpec, *, real: bool) -> str:
    """The outcome as one HTML page that needs nothing but a browser, and no network."""
    title = _answer(found)
    parts = [
        element(
            "header",
            element("p", "Optimizers at equal budgets", class_="topic"),
            element("h1", title),
            element("p", _on_what(found, spec, real=real)),
        ),
        section(
            "The best so far",
            _see(found),
            picture("curves", curves_plot(found), keys(found), _see(found), "cost, of the base"),
        ),
        _numbers(found),
        _method(spec, real=real),
    ]  # fmt: skip
    return assembled(title, parts)


def _answer(found: Outcome) -> str:
    first = found.standings[0]
    taken = first.trials_to_target[0]
    if taken is None or first.optimizer == found.reference:
        return f"{first.optimizer} ends at {first.best_at[found.trials].median:.3f} of the base"
    aim = f"{found.target:.3f} of the base"
    if found.reference is not None:
        aim = f"what {found.reference} has after {found.trials}"
    return f"{first.optimizer} reaches in {counted(taken, 'trial')} {aim}"


def _on_what(found: Outcome, spec: StudySpec, *, real: bool) -> str:
    repeats = found.standings[0].repeats
    where = (
        f"on {spec.engine} itself" if real
        else "on a model of the screening that ships with lsmtune"
    )  # fmt: skip
    return (
        f"{repeats} searches of {found.trials} trials of each optimizer, {where}. A cost is what "
        f"the best config so far comes to, towards {spec.parsed_objective.name}: 1 is the base, "
        "below 1 a gain."
    )


def _see(found: Outcome) -> str:
    first = found.standings[0]
    end = first.best_at[found.trials]
    return f"After {found.trials} trials {first.optimizer} is at {end.median:.3f} of the base"


def keys(found: Outcome) -> list[Key]:
    """A line for each optimizer, the best first."""
    return [
        Key(shape, standing.optimizer)
        for standing, (shape, _) in zip(found.standings, _lines(found), strict=True)
    ]


def _lines(found: Outcome) -> list[tuple[Shape, str]]:
    return [LINES[place % len(LINES)] for place in range(len(found.standings))]


def curves_plot(found: Outcome) -> go.Figure:
    """The median of the best so far over the trials; whiskers hold the middle half of searches."""
    figure = canvas(_HEIGHT_PX, bottom=56)
    drawn: list[float] = [1.0]
    for standing, (shape, dash) in zip(found.standings, _lines(found), strict=True):
        places, low, middle, high = _course(found, standing)
        drawn += [*low, *high]
        figure.add_scatter(
            x=places, y=middle, mode="lines+markers", marker=marker(shape, 7),
            line={"color": colour(shape.colour), "width": 2, "dash": dash},
            error_y={
                "type": "data", "thickness": 1, "width": 3, "color": colour(shape.colour),
                "array": [h - m for h, m in zip(high, middle, strict=True)],
                "arrayminus": [m - lo for m, lo in zip(middle, low, strict=True)],
            },
            hovertemplate=f"{standing.optimizer}, %{{x}} trials: %{{y:.3f}}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title="trials")
    figure.update_yaxes(ratio_axis(min(drawn) * 0.98, max(drawn) * 1.02))
    return figure


def _course(
    found: Outcome, standing: Standing
) -> tuple[list[int], list[float], list[float], list[float]]:
    """Some numbers of trials, with the low, middle and high of the best after so many."""
    own = [curve for curve in found.curves if curve.optimizer == standing.optimizer]
    count = min(_MARKS, found.trials)
    places = sorted({round(p) for p in np.linspace(1, found.trials, count)})
    table = np.array([[at(curve, place) for place in places] for curve in own])
    low, high = np.quantile(table, _BAND, axis=0)
    return places, low.tolist(), np.median(table, axis=0).tolist(), high.tolist()


def _numbers(found: Outcome) -> Html:
    marks = list(found.standings[0].best_at)
    heads = ("optimizer", *(f"after {mark}" for mark in marks),
             f"trials to {found.target:.3f}", "reached it")  # fmt: skip
    rows = []
    for standing in found.standings:
        cells = [
            f"{i.median:.3f} ({i.low:.3f}\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}{i.high:.3f})"
            for i in standing.best_at.values()
        ]
        middle, low, high = ("never" if n is None else str(n) for n in standing.trials_to_target)
        reached = f"{standing.reached} of {standing.repeats}"
        rows.append([standing.optimizer, *cells, f"{middle} ({low} to {high})", reached])
    return section(
        "In numbers", "Medians with their 95 % intervals; of few searches, the least and the most",
        table("Cost of the best so far", heads, rows),
    )  # fmt: skip


def _method(spec: StudySpec, *, real: bool) -> Html:
    if real:
        told = [
            *workload_text(spec.workload),
            "The optimizers ran in turn, seed by seed; a cost is as measured in one run, so that "
            "luck is in it, the same for all.",
        ]
    else:
        told = [
            "Each metric is predicted by gradient boosting on the screened runs, and each run gets "
            "the noise that runs of one config had in the screening; what counts is what the "
            "config that looks best comes to without that noise.",
            "A model knows nothing of configs that fail, and little where few were screened.",
        ]
    return section("Method", "How this was found", items(told))
