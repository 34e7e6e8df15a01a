"""Canvas of all charts: their look, their marks, lines and bars, and logarithmic ratio axes.

A colour is the name of a variable of the style sheet, such as `var(--best)`. The script of the
page replaces it, so that light, dark and print share one drawing. No meaning is in a colour
alone: shapes, patterns and the words of a `Key` carry it too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

import plotly.graph_objects as go

from lsmtune.report.markup import Html, element, items, join
from lsmtune.report.text.metric_words import Ratio
from lsmtune.stats import Interval

_TICKS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1)
_RATIO_TICKS = (*_TICKS, 1.05, 1.1, 1.2, 1.35, 1.5, 1.75, 2, 3, 5, 10, 20, 50, 100)
_TICKS_WANTED = 8
_NO_SCRIPT = (
    "This chart needs JavaScript. Without JavaScript, read the text and the tables of this page "
    "instead."
)


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


def line_look(place: int) -> tuple[Shape, str]:
    """Return the mark and the dash of a line, counted from 0."""
    return LINES[place % len(LINES)]


def line_keys(meanings: Iterable[str]) -> list[Key]:
    """Return the key of lines in their order."""
    return [Key(line_look(place)[0], meaning) for place, meaning in enumerate(meanings)]


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


class Chart(go.Figure):  # type: ignore[misc]  # plotly has no types
    """A figure of plotly in the look of the page, with the marks and lines that charts have.

    `hover` is always plotly's template of the text at a mark; without it there is no such text.
    """

    def __init__(self, height: int, top: int = 12, bottom: int = 48) -> None:
        """Make an empty chart; `height`, in pixels, excludes the margins."""
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
        super().__init__(layout=layout)
        self.layout.template = go.layout.Template()  # the default template sets colours

    @classmethod
    def rows(cls, names: Sequence[str], row_px: int) -> "Chart":
        """Return an empty chart with a row per name, and its axis at the top."""
        chart = cls(row_px * (len(names) + 1), top=32, bottom=8)
        chart.update_xaxes(side="top")
        chart.name_rows(names)
        return chart

    def name_rows(self, names: Sequence[str]) -> None:
        """Name the rows from top to bottom; row 0 is the first."""
        self.update_yaxes(
            tickvals=list(range(len(names))),
            ticktext=list(names),
            range=[len(names) - 0.4, -0.6],
            showgrid=False,
        )

    def dots(
        self, x: Sequence[Any], y: Sequence[Any], mark: Mapping[str, Any], hover: str, **more: Any
    ) -> None:
        """Add marks without a line between them."""
        self.add_scatter(x=x, y=y, mode="markers", marker=mark, **_hover(hover), **more)

    def line(
        self,
        x: Sequence[Any],
        y: Sequence[Any],
        look: tuple[Shape, str],
        hover: str,
        *,
        size: int = 9,
        **more: Any,
    ) -> None:
        """Add marks with a line between them; `look` is the mark and the dash of the line."""
        shape, dash = look
        line = {"color": colour(shape.colour), "width": 1.5, "dash": dash, **more.pop("line", {})}
        shown = {"mode": "lines+markers", "marker": marker(shape, size), **more}
        self.add_scatter(x=x, y=y, line=line, **_hover(hover), **shown)

    def best_so_far(self, x: Sequence[float], y: Sequence[float]) -> None:
        """Add a line of steps through the best values so far."""
        line = {"shape": "hv", "width": 2, "color": colour("best")}
        self.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")

    def intervals(
        self,
        found: Iterable[Interval | Ratio],
        rows: Iterable[float],
        shape: Shape,
        hover: str,
        *,
        size: int = 10,
        thickness: float = 2,
        text: Sequence[str] | None = None,
    ) -> None:
        """Add a dot per row, with its interval as a horizontal line."""
        spans = [_span(each) for each in found]
        x, ends = [middle for middle, _, _ in spans], whiskers(shape, spans, thickness=thickness)
        self.dots(x, list(rows), marker(shape, size), hover, error_x=ends, text=text)

    def rule(self, *, x: float | None = None, y: float | None = None, dash: str = "") -> None:
        """Add a line through the whole chart at one value: below the marks, or dashed above."""
        look: dict[str, Any] = {"line": {"color": colour("ink"), "width": 1.2}, "layer": "below"}
        if dash:
            look = {"line": {"color": colour("ink"), "width": 1, "dash": dash}}
        if x is not None:
            self.add_vline(x=x, **look)
        if y is not None:
            self.add_hline(y=y, **look)

    def ratio_axis(self, values: Sequence[float]) -> None:
        """Give the chart a logarithmic axis at the top, with room for the values around 1."""
        low, high = min([*values, 0.95]) / 1.05, max([*values, 1.05]) * 1.05
        self.update_xaxes(side="top", **ratio_axis(low, high))
        self.rule(x=1)

    def row_bars(
        self,
        names: Sequence[str],
        values: Sequence[float | None],
        texts: Iterable[str],
        **more: Any,
    ) -> None:
        """Add a named row per value with a plain bar, and a text at its end; None has no bar."""
        self.add_bar(
            orientation="h", y=list(range(len(names))), x=values, text=list(texts),
            marker={"color": colour("best")}, textposition="outside", cliponaxis=False,
            **_hover("%{text}"), **more,
        )  # fmt: skip
        self.name_rows(names)


def _span(found: Interval | Ratio) -> tuple[float, float, float]:
    """Return middle, low and high; a ratio without an interval has its value three times."""
    middle = found.value if isinstance(found, Ratio) else found.median
    low, high = (middle if end is None else end for end in (found.low, found.high))
    return middle, low, high


def whiskers(
    shape: Shape,
    spans: Iterable[tuple[float, float, float]],
    *,
    thickness: float = 2,
    width: int = 0,
) -> dict[str, Any]:
    """Return the lines through marks; `spans` are the middle, the low and the high end of each."""
    ends = [(high - middle, middle - low) for middle, low, high in spans]
    return {
        "type": "data",
        "array": [above for above, _ in ends],
        "arrayminus": [below for _, below in ends],
        "color": colour(shape.colour),
        "thickness": thickness,
        "width": width,
    }


def _hover(text: str) -> dict[str, str]:
    return {"hovertemplate": f"{text}<extra></extra>"} if text else {"hoverinfo": "skip"}


def picture(name: str, figure: Chart, keys: Iterable[Key], described: str, axis: str = "") -> Html:
    """Return a chart: its key and its axis as text, its place, and its data for the script."""
    glyphs = (
        (element("span", k.shape.glyph, class_=k.shape.colour, aria_hidden="true"), k.meaning)
        for k in keys
    )
    listed = items(map(join, glyphs), class_="key")
    data = Html(figure.to_json().replace("<", "\\u003c"))
    height = figure.layout.height
    room = {"style": f"min-height:{height:g}px"} if height else {}
    return element(
        "figure",
        listed if "<li>" in listed else "",
        element("p", axis, class_="axis") if axis else "",
        element("div", id=name, class_="plot", role="img", aria_label=described, **room),
        element("script", data, type="application/json"),
        element("noscript", _NO_SCRIPT),
    )
