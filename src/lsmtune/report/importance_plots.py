"""Charts of an importance: knobs in order, the effect of one, the interaction of two."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from lsmtune.analysis.importance import MIN_R2, NOTABLE, KnobImportance, MetricImportance
from lsmtune.learning.effects import Interaction
from lsmtune.report.canvas import LINES, Key, Shape, canvas, colour, marker, name_rows
from lsmtune.report.text.words import drawn_unit, label

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
    return [
        Key(LINES[index % len(LINES)][0], label(metric.metric))
        for index, metric in enumerate(metrics)
    ]


def accuracy_plot(metrics: Sequence[MetricImportance]) -> go.Figure:
    """Draw the held-out R² of each metric, and the least that allows to name knobs."""
    r2s = [metric.accuracy.r2 for metric in metrics]
    figure = canvas(_ROW_PX * (len(metrics) + 1), top=32, bottom=8)
    figure.add_scatter(
        x=[r2.median for r2 in r2s],
        y=list(range(len(r2s))),
        mode="markers",
        marker=marker(_SEEN, 10),
        error_x={
            "type": "data", "thickness": 2, "width": 0, "color": colour(_SEEN.colour),
            "array": [r2.high - r2.median for r2 in r2s],
            "arrayminus": [r2.median - r2.low for r2 in r2s],
        },
        hovertemplate="R² %{x:.2f}<extra></extra>",
    )  # fmt: skip
    low = min([-0.1, *(r2.low for r2 in r2s)])
    figure.update_xaxes(side="top", range=[low * 1.1, 1.0])
    figure.add_vline(x=MIN_R2, line={"color": colour("ink"), "width": 1, "dash": "dash"})
    name_rows(figure, [label(metric.metric) for metric in metrics])
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
    figure = canvas(_ROW_PX * (len(names) + 1), top=32, bottom=8)
    for index, metric in enumerate(metrics):
        shape, _ = LINES[index % len(LINES)]
        figure.add_scatter(
            x=[falls[metric.metric, name] for name in names],
            y=list(range(len(names))),
            mode="markers",
            marker=marker(shape, 10),
            text=[
                f"{escape(name)}, {label(metric.metric)}: {falls[metric.metric, name]:.3f}"
                for name in names
            ],
            hovertemplate="%{text}<extra></extra>",
        )
    most = max((falls[m.metric, name] for m in metrics for name in names), default=0.0) or 1.0
    figure.update_xaxes(side="top", range=[-0.04 * most, 1.06 * most])
    name_rows(figure, [escape(name) for name in names])
    return figure


def importance_plot(metric: MetricImportance) -> go.Figure:
    """Draw one dot with its interval per knob, the most important first."""
    knobs = metric.knobs[:_MOST_KNOBS]
    figure = canvas(_ROW_PX * (len(knobs) + 1), top=32, bottom=8)
    for shape, seen in ((_SEEN, True), (_UNSEEN, False)):
        found = [(y, knob) for y, knob in enumerate(knobs) if knob.is_seen is seen]
        falls = [knob.permutation for _, knob in found]
        figure.add_scatter(
            x=[fall.median for fall in falls],
            y=[y for y, _ in found],
            mode="markers",
            marker=marker(shape, 10),
            error_x={
                "type": "data", "thickness": 2, "width": 0, "color": colour(shape.colour),
                "array": [fall.high - fall.median for fall in falls],
                "arrayminus": [fall.median - fall.low for fall in falls],
            },
            text=[f"{knob.knob}: {knob.permutation.median:.3f}" for _, knob in found],
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(side="top", rangemode="tozero")
    figure.add_vline(x=NOTABLE, line={"color": colour("ink"), "width": 1, "dash": "dash"})
    name_rows(figure, [escape(knob.knob) for knob in knobs])
    return figure


def effect_plot(metric: str, knob: KnobImportance) -> go.Figure:
    """Draw the mean of each group of values with its interval, and the prediction."""
    divisor, unit = drawn_unit(metric)
    groups = knob.effect
    figure = canvas(_HEIGHT_PX, bottom=56)
    names = [escape(group.group) for group in groups]
    figure.add_scatter(
        x=names,
        y=[group.modelled / divisor for group in groups],
        mode="markers",
        marker=marker(_MODELLED, 22, 3),
        hovertemplate="predicted %{y:.4g}<extra></extra>",
    )
    figure.add_scatter(
        x=names,
        y=[group.mean.median / divisor for group in groups],
        mode="markers",
        marker=marker(_MEASURED, 9),
        error_y={
            "type": "data", "thickness": 2, "width": 0, "color": colour(_MEASURED.colour),
            "array": [(group.mean.high - group.mean.median) / divisor for group in groups],
            "arrayminus": [(group.mean.median - group.mean.low) / divisor for group in groups],
        },
        text=[f"{group.runs} runs" for group in groups],
        hovertemplate="%{y:.4g}, %{text}<extra></extra>",
    )  # fmt: skip
    figure.update_yaxes(title=unit)
    figure.update_xaxes(type="category", title=knob.knob)
    return figure


def interaction_keys(pair: Interaction) -> list[Key]:
    """Return one mark per group of values of the second knob."""
    return [
        Key(LINES[place % len(LINES)][0], f"{pair.second}: {group}")
        for place, group in enumerate(pair.columns)
    ]


def interaction_plot(metric: str, pair: Interaction) -> go.Figure:
    """Draw one line per group of the second knob over the groups of the first."""
    divisor, unit = drawn_unit(metric)
    figure = canvas(_HEIGHT_PX, bottom=56)
    for place, group in enumerate(pair.columns):
        shape, dash = LINES[place % len(LINES)]
        figure.add_scatter(
            x=[escape(row) for row in pair.rows],
            y=[cells[place] / divisor for cells in pair.cells],
            mode="lines+markers",
            marker=marker(shape, 9),
            line={"color": colour(shape.colour), "width": 1.5, "dash": dash},
            hovertemplate=f"{escape(group)}: %{{y:.4g}}<extra></extra>",
        )
    figure.update_yaxes(title=unit)
    figure.update_xaxes(type="category", title=pair.first)
    return figure
