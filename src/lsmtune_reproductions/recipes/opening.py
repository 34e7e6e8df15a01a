"""First screen of a recipe's page: the result, one sentence, and one chart, often of ratios."""

from collections.abc import Mapping
from html import escape

from lsmtune.report.canvas import Chart, Key, Shape, colour, picture, ratio_axis
from lsmtune.report.markup import Html, element
from lsmtune.report.text.words import sentence_start, unbroken
from lsmtune.stats import Interval

TOO_SMALL = "Too little data to judge the results"
"""Headline of a page without verdicts."""


def opening(topic: str, headline: str, sentence: str, *content: str) -> Html:
    """Return the header of a page; `content` is its chart."""
    return element(
        "header",
        element("p", topic, class_="topic"),
        element("h1", unbroken(sentence_start(headline))),
        element("p", unbroken(sentence)),
        *content,
    )


def too_small_opening(topic: str, reason: str) -> Html:
    """Return the header of a page without verdicts."""
    return opening(
        topic,
        TOO_SMALL,
        f"{sentence_start(reason)}. A run must fill the memtable several times to show how a real "
        "store behaves.",
    )


def too_small_line(reason: str) -> str:
    """Return the line for the terminal when the runs are too small to judge."""
    return f"{TOO_SMALL}: {reason}"


_ROW_PX = 44
_NAME_ABOVE = 0.42
_LOWER = Shape("circle", "●", "best")
_HIGHER = Shape("diamond", "◆", "base")
_UNCLEAR = Shape("circle-open", "○", "soft")
_RATIO_KEYS = (Key(_LOWER, "lower"), Key(_HIGHER, "higher"), Key(_UNCLEAR, "no clear difference"))
_LEAST, _MOST = 0.9, 1.1


def ratio_picture(name: str, rows: Mapping[str, Interval], described: str, axis: str) -> Html:
    """Return the chart of ratios by the names of their rows."""
    return picture(name, _ratio_chart(rows), _RATIO_KEYS, described, axis)


def _ratio_chart(rows: Mapping[str, Interval]) -> Chart:
    """Draw one row per ratio, on a logarithmic axis around 1; the names are above the rows."""
    chart = Chart(_ROW_PX * (len(rows) + 1), top=32, bottom=8)
    for shape in (_LOWER, _HIGHER, _UNCLEAR):
        own = {y: ratio for y, ratio in enumerate(rows.values()) if _shape(ratio) is shape}
        chart.intervals(own.values(), own, shape, "%{x:.3g}")
    chart.rule(x=1)
    low = min([_LEAST, *(ratio.low for ratio in rows.values())])
    high = max([_MOST, *(ratio.high for ratio in rows.values())])
    chart.update_xaxes(side="top", tickangle=0, **ratio_axis(low * 0.95, high * 1.05))
    chart.update_yaxes(showticklabels=False, showgrid=False, range=[len(rows) - 0.5, -0.8])
    for y, name in enumerate(rows):
        chart.add_annotation(
            x=0, xref="paper", xanchor="left", y=y - _NAME_ABOVE, text=escape(name),
            showarrow=False, font={"size": 12, "color": colour("ink")}, bgcolor=colour("paper"),
        )  # fmt: skip
    return chart


def _shape(ratio: Interval) -> Shape:
    if ratio.high < 1:
        return _LOWER
    return _HIGHER if ratio.low > 1 else _UNCLEAR
