"""The pictures of an importance: knobs in order, what one does, what two do together."""

from html import escape

import plotly.graph_objects as go

from lsmtune.analysis.importance import NOTABLE, KnobImportance, MetricImportance
from lsmtune.learning.effects import Interaction
from lsmtune.report.canvas import LINES, Key, Shape, canvas, colour, marker, name_rows
from lsmtune.report.words import drawn_unit

_ROW_PX = 24
_HEIGHT_PX = 220
_MOST_KNOBS = 12
_SEEN = Shape("circle", "●", "best")
_UNSEEN = Shape("circle-open", "○", "soft")
_MEASURED = Shape("circle", "●", "best")
_MODELLED = Shape("line-ew", "━", "base")
IMPORTANCE_KEYS = (
    Key(_SEEN, "needed by the model"),
    Key(_UNSEEN, "useless, or hardly of use"),
)
EFFECT_KEYS = (
    Key(_MEASURED, "mean of the measured runs (95 %)"),
    Key(_MODELLED, "what the model expects if this knob alone moved"),
)


def importance_plot(metric: MetricImportance) -> go.Figure:
    """A dot with its interval a knob, the most important first."""
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
    """The mean of each group of values with its interval, and what the model expects there."""
    divisor, unit = drawn_unit(metric)
    groups = knob.effect
    figure = canvas(_HEIGHT_PX, bottom=56)
    names = [escape(group.group) for group in groups]
    figure.add_scatter(
        x=names,
        y=[group.modelled / divisor for group in groups],
        mode="markers",
        marker=marker(_MODELLED, 22, 3),
        hovertemplate="modelled %{y:.4g}<extra></extra>",
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
    """A line a group of the second knob."""
    return [
        Key(LINES[place % len(LINES)][0], f"{pair.second}: {group}")
        for place, group in enumerate(pair.columns)
    ]


def interaction_plot(metric: str, pair: Interaction) -> go.Figure:
    """A line a group of the second knob over the groups of the first."""
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
