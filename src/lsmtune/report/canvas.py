"""Canvas of all charts: their look, their marks and logarithmic ratio axes.

A colour is the name of a variable of the style sheet, such as `var(--best)`. The script of the
page replaces it, so that light, dark and print share one drawing. No meaning is in a colour
alone: shapes, patterns and the words of a `Key` carry it too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

import plotly.graph_objects as go

_TICKS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)
_RATIO_TICKS = (*_TICKS, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 3, 5, 10, 20, 50, 100)
_TICKS_WANTED = 8


class Shape(NamedTuple):
    """Mark of a chart: its symbol in plotly, its glyph in text, and its colour."""

    symbol: str
    glyph: str
    colour: str


LINES = (
    (Shape("circle", "●", "best"), "solid"),
    (Shape("diamond", "◆", "base"), "dash"),
    (Shape("square-open", "□", "soft"), "dot"),
    (Shape("triangle-up-open", "△", "ink"), "dashdot"),
    (Shape("x-thin", "✕", "best"), "longdash"),
    (Shape("star-open", "☆", "base"), "solid"),
    (Shape("hexagon-open", "⬡", "soft"), "dash"),
    (Shape("cross-thin", "+", "ink"), "dot"),
    (Shape("triangle-down-open", "▽", "best"), "dashdot"),
    (Shape("bowtie-open", "⋈", "base"), "longdash"),
)
"""Marks and dashes of the lines of a chart; they differ without their colours too."""


@dataclass(frozen=True, slots=True)
class Key:
    """Entry of the key of a chart, which is text of the page."""

    shape: Shape
    meaning: str


def _ratio_ticks(low: float, high: float) -> list[float]:
    """Return round ratios around 1, far enough apart to be read on a logarithmic axis."""
    low, high = min(low, 1.0), max(high, 1.0)
    gap = log10(high / low) / _TICKS_WANTED
    kept = [1.0]
    for tick in sorted(_RATIO_TICKS, key=lambda tick: abs(log10(tick))):
        if low <= tick <= high and all(abs(log10(tick / other)) >= gap for other in kept):
            kept.append(tick)
    return sorted(kept)


def ratio_axis(low: float, high: float) -> dict[str, Any]:
    """Return a logarithmic axis with round ticks around 1."""
    ticks = _ratio_ticks(low, high)
    return {
        "type": "log",
        "range": [log10(low), log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }


def marker(shape: Shape, size: int, line: float = 1.5) -> dict[str, Any]:
    """Return the mark of a shape for a scatter trace."""
    ink = colour(shape.colour)
    return {
        "symbol": shape.symbol,
        "size": size,
        "color": ink,
        "line": {"color": ink, "width": line},
    }


def colour(name: str) -> str:
    """Return the colour with that name in the style sheet."""
    return f"var(--{name})"


def canvas(height: int, top: int = 12, bottom: int = 48) -> go.Figure:
    """Return an empty figure in the look of the page; `height` excludes the margins."""
    axis = {
        "fixedrange": True,
        "automargin": True,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "gridcolor": colour("grid"),
        "title": {"font": {"size": 12}, "standoff": 12},
    }
    layout = {
        "height": height + top + bottom,
        "margin": {"l": 8, "r": 12, "t": top, "b": bottom},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": colour("ink")},
        "showlegend": False,
        "dragmode": False,
        "bargap": 0.25,
        "hoverlabel": {"bgcolor": colour("paper"), "font": {"color": colour("ink")}},
        "xaxis": axis,
        "yaxis": axis,
    }
    figure = go.Figure(layout=layout)
    figure.layout.template = go.layout.Template()  # the default template sets colours
    return figure


def name_rows(figure: go.Figure, names: Sequence[str]) -> None:
    """Name the rows of a chart from top to bottom; row 0 is the first."""
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=list(names),
        range=[len(names) - 0.4, -0.6],
        showgrid=False,
    )
