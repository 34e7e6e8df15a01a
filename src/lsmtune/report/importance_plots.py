"""Charts of an importance: knobs in order, the effect of one, the interaction of two."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from lsmtune.analysis.importance import MIN_R2, NOTABLE, KnobImportance, MetricImportance
from lsmtune.learning.effects import Interaction
from lsmtune.report.canvas import (
    Key,
    Shape,
    add_dots,
    add_intervals,
    add_line,
    add_rule,
    canvas,
    line_keys,
    line_look,
    marker,
    row_chart,
    whiskers,
)
from lsmtune.report.words import drawn_unit, label

_ROW_PX = 24
_HEIGHT_PX = 220
_MOST_KNOBS = 12
_OVERVIEW_KNOBS = 8
_SEEN = Shape("circle", "●", "best")
_UNSEEN = Shape("circle-open", "○", "soft")
_MEASURED = Shape("circle", "●", "best")
_MODELLED = Shape("line-ew", "━", "base")
IMPORTANCE_KEYS = (
    Key(_SEEN, "needed for the prediction"),
    Key(_UNSEEN, "not shown to be needed"),
)
EFFECT_KEYS = (
    Key(_MEASURED, "mean of the runs (95 %)"),
    Key(_MODELLED, "prediction if only this knob changes"),
)


def overview_keys(metrics: Sequence[MetricImportance]) -> list[Key]:
    """Return one mark per metric."""
    return line_keys(label(metric.metric) for metric in metrics)


def accuracy_plot(metrics: Sequence[MetricImportance]) -> go.Figure:
    """Draw the held-out R² of each metric, and the least that allows to name knobs."""
    r2s = [metric.accuracy.r2 for metric in metrics]
    figure = row_chart([label(metric.metric) for metric in metrics], _ROW_PX)
    add_intervals(figure, r2s, range(len(r2s)), _SEEN, "R² %{x:.2f}")
    low = min([-0.1, *(r2.low for r2 in r2s)])
    figure.update_xaxes(range=[low * 1.1, 1.0])
    add_rule(figure, x=MIN_R2, dash="dash")
    return figure


def overview_plot(metrics: Sequence[MetricImportance]) -> go.Figure:
    """Draw the first knobs as rows, with one mark per metric."""
    falls = {(m.metric, k.knob): max(0.0, k.permutation.median) for m in metrics for k in m.knobs}
    all_knobs = {knob for _, knob in falls}
    # The runs that have a metric may not vary each knob.
    falls = {(m.metric, k): falls.get((m.metric, k), 0.0) for m in metrics for k in all_knobs}
    seen = {knob.knob for metric in metrics for knob in metric.knobs if knob.is_seen}
    shown = seen or all_knobs
    names = sorted(shown, key=lambda name: -max(falls[m.metric, name] for m in metrics))
    names = names[:_OVERVIEW_KNOBS]
    figure = row_chart([escape(name) for name in names], _ROW_PX)
    for index, metric in enumerate(metrics):
        values = [falls[metric.metric, name] for name in names]
        texts = [
            f"{escape(name)}, {label(metric.metric)}: {value:.3f}"
            for name, value in zip(names, values, strict=True)
        ]
        rows = list(range(len(names)))
        add_dots(figure, values, rows, marker(line_look(index)[0], 10), "%{text}", text=texts)
    most = max((falls[m.metric, name] for m in metrics for name in names), default=0.0) or 1.0
    figure.update_xaxes(range=[-0.04 * most, 1.06 * most])
    return figure


def importance_plot(metric: MetricImportance) -> go.Figure:
    """Draw one dot with its interval per knob, the most important first."""
    knobs = metric.knobs[:_MOST_KNOBS]
    figure = row_chart([escape(knob.knob) for knob in knobs], _ROW_PX)
    for shape, seen in ((_SEEN, True), (_UNSEEN, False)):
        found = [(y, knob) for y, knob in enumerate(knobs) if knob.is_seen is seen]
        add_intervals(
            figure, [knob.permutation for _, knob in found], [y for y, _ in found],
            shape, "%{text}",
            text=[f"{knob.knob}: {knob.permutation.median:.3f}" for _, knob in found],
        )  # fmt: skip
    figure.update_xaxes(rangemode="tozero")
    add_rule(figure, x=NOTABLE, dash="dash")
    return figure


def effect_plot(metric: str, knob: KnobImportance) -> go.Figure:
    """Draw the mean of each group of values with its interval, and the prediction."""
    divisor, unit = drawn_unit(metric)
    figure, groups = canvas(_HEIGHT_PX, bottom=56), knob.effect
    names = [escape(group.group) for group in groups]
    modelled = [group.modelled / divisor for group in groups]
    add_dots(figure, names, modelled, marker(_MODELLED, 22, 3), "predicted %{y:.4g}")
    means = [group.mean for group in groups]
    spans = [(m.median / divisor, m.low / divisor, m.high / divisor) for m in means]
    add_dots(
        figure, names, [middle for middle, _, _ in spans], marker(_MEASURED, 9),
        "%{y:.4g}, %{text}", error_y=whiskers(_MEASURED, spans),
        text=[f"{group.runs} runs" for group in groups],
    )  # fmt: skip
    figure.update_yaxes(title=unit)
    figure.update_xaxes(type="category", title=knob.knob)
    return figure


def interaction_keys(pair: Interaction) -> list[Key]:
    """Return one mark per group of values of the second knob."""
    return line_keys(f"{pair.second}: {group}" for group in pair.columns)


def interaction_plot(metric: str, pair: Interaction) -> go.Figure:
    """Draw one line per group of the second knob over the groups of the first."""
    divisor, unit = drawn_unit(metric)
    figure, rows = canvas(_HEIGHT_PX, bottom=56), [escape(row) for row in pair.rows]
    for place, group in enumerate(pair.columns):
        values = [cells[place] / divisor for cells in pair.cells]
        add_line(figure, rows, values, line_look(place), f"{escape(group)}: %{{y:.4g}}")
    figure.update_yaxes(title=unit)
    figure.update_xaxes(type="category", title=pair.first)
    return figure
