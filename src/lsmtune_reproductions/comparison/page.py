"""Page of a comparison of optimizers: those that beat random search, the curves, the numbers."""

from collections.abc import Iterator, Sequence

import numpy as np

from lsmtune.analysis.screened import SHIPPED_VERSION
from lsmtune.report.canvas import Chart, Key, line_keys, line_look, picture, ratio_axis, whiskers
from lsmtune.report.markup import Html, element, items, nowrap, section, table
from lsmtune.report.page import assembled
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.facts import workload_text
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import counted, listed, unbroken
from lsmtune.spec import StudySettings
from lsmtune_reproductions.comparison.race import (
    RANDOM,
    AgainstRandom,
    Outcome,
    Standing,
    against_random,
    at,
)

_HEIGHT_PX = 360
_MARKS = 12
_BAND = (0.25, 0.75)
_NAMED = 3
_FEW_SEARCHES = 5
_TEXTS = PageTexts(__package__)
_AXIS = "cost / baseline, median of all searches; whiskers span the middle half"


def render_comparison(found: Outcome, spec: StudySettings, *, real: bool) -> str:
    """Return the comparison as one HTML page without external requests."""
    compared = against_random(found)
    title, see = headline_text(found, compared), _TEXTS.text("see")
    parts = [
        element(
            "header",
            element("p", _topic(found, spec, real=real), class_="topic"),
            element("h1", unbroken(title)),
            element("p", see),
            picture("curves", curves_plot(found), keys(found), f"{title}. {see}", _AXIS),
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
            _TEXTS.html("alone"),
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
    return line_keys(standing.optimizer for standing in found.standings)


def curves_plot(found: Outcome) -> Chart:
    """Draw the median of the best cost so far; whiskers span the middle half of the searches."""
    chart = Chart(_HEIGHT_PX, bottom=56)
    drawn: list[float] = [1.0]
    for index, standing in enumerate(found.standings):
        places, low, middle, high = _course(found, standing)
        drawn += [*low, *high]
        look, spans = line_look(index), zip(middle, low, high, strict=True)
        chart.line(
            places, middle, look, f"{standing.optimizer}, %{{x}} trials: %{{y:.3f}}",
            size=7, line={"width": 2}, error_y=whiskers(look[0], spans, thickness=1, width=3),
        )  # fmt: skip
    chart.update_xaxes(title="trials")
    chart.update_yaxes(ratio_axis(min(drawn) * 0.98, max(drawn) * 1.02))
    return chart


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
    yield from _TEXTS.paragraphs("method")
    if found.reference is not None:
        yield from _TEXTS.paragraphs(
            "target", target=f"{found.target:.3f}", reference=found.reference,
            trials=counted(found.trials, "trial"),
        )  # fmt: skip
    if found.standings[0].repeats <= _FEW_SEARCHES:
        yield from _TEXTS.paragraphs("few_searches")
    if real:
        yield from workload_text(spec.workload)
        yield from _TEXTS.paragraphs("on_engine")
    else:
        yield from _TEXTS.paragraphs("on_model", version=SHIPPED_VERSION)
