"""Page of a comparison of optimizers: those that beat random search, the curves, the numbers."""

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go

from lsmtune.analysis.shipped_runs import SHIPPED_VERSION
from lsmtune.comparison.against_random import RANDOM, AgainstRandom, against_random
from lsmtune.comparison.race import Outcome, Standing, at
from lsmtune.report.canvas import LINES, Key, Shape, canvas, colour, marker, ratio_axis
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, element, items, nowrap, table
from lsmtune.report.page import assembled
from lsmtune.report.text.facts import workload_text
from lsmtune.report.text.words import Ratio, counted, listed, unbroken
from lsmtune.spec import StudySettings

_HEIGHT_PX = 360
_MARKS = 12
_BAND = (0.25, 0.75)
_NAMED = 3
_FEW_SEARCHES = 5
_SEE = (
    "The chart shows the cost (value of the objective) of the best config so far, relative to the "
    "baseline. A lower cost is better."
)
_AXIS = "cost / baseline, median of all searches; whiskers span the middle half"


def render_comparison(found: Outcome, spec: StudySettings, *, real: bool) -> str:
    """Return the comparison as one HTML page without external requests."""
    compared = against_random(found)
    title = headline_text(found, compared)
    parts = [
        element(
            "header",
            element("p", _topic(found, spec, real=real), class_="topic"),
            element("h1", unbroken(title)),
            element("p", _SEE),
            picture("curves", curves_plot(found), keys(found), f"{title}. {_SEE}", _AXIS),
        ),
        _against_random(found, compared),
        _numbers(found),
        _method(found, spec, real=real),
    ]
    return assembled(title, parts)


def headline_text(found: Outcome, compared: Sequence[AgainstRandom]) -> str:
    """Return which optimizers beat random search."""
    if not compared:
        first = found.standings[0]
        end = Ratio.of(first.best_at[found.trials])
        if first.optimizer == RANDOM:
            return f"random search reaches {end} of the baseline"
        return f"{first.optimizer} reaches {end} of the baseline; random search was not compared"
    better = [each.optimizer for each in compared if each.beats]
    after = f"random search after {counted(found.trials, 'trial')}"
    if not better:
        return f"No optimizer is shown to beat {after}"
    if len(better) > _NAMED:
        return f"{len(better)} of {len(compared)} optimizers beat {after}"
    return f"{listed(better)} beat{'s' if len(better) == 1 else ''} {after}"


def _topic(found: Outcome, spec: StudySettings, *, real: bool) -> str:
    repeats = found.standings[0].repeats
    model = f"a model of measured runs of RocksDB {SHIPPED_VERSION}"
    where = f"on {spec.engine if real else model}"
    return (
        f"Each optimizer ran {repeats} search{'' if repeats == 1 else 'es'} of "
        f"{counted(found.trials, 'trial')} {where}, with the objective "
        f"“{spec.parsed_objective.name}”."
    )


def _against_random(found: Outcome, compared: Sequence[AgainstRandom]) -> Html:
    if not compared:
        return section(
            "Random search", "Random search was not compared",
            element("p", "Add `random` to the compared optimizers to see which optimizers beat "
                         "random search."),
        )  # fmt: skip
    ends = {standing.optimizer: standing.best_at[found.trials] for standing in found.standings}
    rows = [
        [
            each.optimizer,
            nowrap(str(Ratio.of(ends[each.optimizer]))),
            "unknown" if each.ratio is None else nowrap(str(Ratio.of(each.ratio))),
            _verdict(each),
        ]
        for each in compared
    ]
    rows.append([RANDOM, nowrap(str(Ratio.of(ends[RANDOM]))), "", ""])
    better = sum(each.beats for each in compared)
    return section(
        "Random search",
        f"{better} of {counted(len(compared), 'optimizer')} beat random search",
        table(f"Cost after {counted(found.trials, 'trial')}",
              ("optimizer", "cost / baseline (95 %)", "cost / random search (95 %)", "result"),
              rows),
    )  # fmt: skip


def _verdict(each: AgainstRandom) -> str:
    if each.ratio is None:
        return "too few searches"
    if each.beats:
        return "beats random search"
    return "worse than random search" if each.loses else "no difference shown"


def keys(found: Outcome) -> list[Key]:
    """Return one mark per optimizer, the best first."""
    return [
        Key(shape, standing.optimizer)
        for standing, (shape, _) in zip(found.standings, _lines(found), strict=True)
    ]


def _lines(found: Outcome) -> list[tuple[Shape, str]]:
    return [LINES[place % len(LINES)] for place in range(len(found.standings))]


def curves_plot(found: Outcome) -> go.Figure:
    """Draw the median of the best cost so far; whiskers span the middle half of the searches."""
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
    """Return some numbers of trials with low, middle and high of the best cost after them."""
    own = [curve for curve in found.curves if curve.optimizer == standing.optimizer]
    count = min(_MARKS, found.trials)
    places = sorted({round(p) for p in np.linspace(1, found.trials, count)})
    costs = np.array([[at(curve, place) for place in places] for curve in own])
    low, high = np.quantile(costs, _BAND, axis=0)
    return places, low.tolist(), np.median(costs, axis=0).tolist(), high.tolist()


def _numbers(found: Outcome) -> Html:
    marks = list(found.standings[0].best_at)
    heads = ("optimizer", *(f"after {mark}" for mark in marks),
             f"trials to reach {found.target:.3f}", "searches that reach it")  # fmt: skip
    rows = []
    for standing in found.standings:
        cells = [nowrap(str(Ratio.of(interval))) for interval in standing.best_at.values()]
        middle, low, high = ("never" if n is None else str(n) for n in standing.trials_to_target)
        reached = f"{standing.reached} of {standing.repeats}"
        rows.append([standing.optimizer, *cells, nowrap(f"{middle} ({low} to {high})"), reached])
    return section(
        "Numbers", "Cost of the best config so far, relative to the baseline",
        table("Medians with their 95 % intervals", heads, rows),
    )  # fmt: skip


def _method(found: Outcome, spec: StudySettings, *, real: bool) -> Html:
    return section("Method", "How the optimizers were compared", items(
        _method_lines(found, spec, real=real)
    ))  # fmt: skip


def _method_lines(found: Outcome, spec: StudySettings, *, real: bool) -> Iterator[str]:
    yield (
        "For each optimizer, lsmtune computes the ratio of its cost to the cost of random search. "
        "An optimizer beats random search if the whole interval of this ratio is below 1. All "
        "intervals together are correct with 95 % probability (Bonferroni)."
    )
    if found.reference is not None:
        yield (
            f"The cost {found.target:.3f} in the table is the median cost of the optimizer "
            f"{found.reference} after {counted(found.trials, 'trial')}. The table shows how many "
            "trials each optimizer needs to reach this cost."
        )
    if found.standings[0].repeats <= _FEW_SEARCHES:
        yield (
            "With 5 searches or fewer per optimizer, the interval of a median extends from the "
            "lowest to the highest value."
        )
    if real:
        yield from workload_text(spec.workload)
        yield (
            "For each seed, the optimizers run one after the other. Each cost is the value of one "
            "measured run, so the costs of all optimizers contain chance."
        )
    else:
        yield (
            "In this comparison, the optimizers search on a model instead of a real engine. The "
            "model predicts the metrics of a config. It was trained on the measured runs of "
            f"RocksDB {SHIPPED_VERSION} that ship with lsmtune (method: gradient boosting). Real "
            "runs of the same config give different values, so lsmtune adds random noise of the "
            "same size to each prediction."
        )
        yield (
            "An optimizer sees only values with noise, and chooses its best config from these "
            "values. The chart shows the cost of the chosen config, predicted without noise."
        )
        yield (
            "On a real engine, some configs fail. The model predicts a cost for these configs "
            "too. The model is less accurate for configs that are unlike all measured configs."
        )
