"""The frames that every section and every picture of a page have in common."""

from collections.abc import Iterable

import plotly.graph_objects as go

from lsmtune.report.canvas import Key
from lsmtune.report.markup import Html, element, items, join
from lsmtune.report.words import unbroken


def section(topic: str, title: str, *content: str) -> Html:
    """A section: its topic, its finding as the title, and what shows it."""
    heading = (element("p", topic, class_="topic"), element("h2", unbroken(title)))
    return element("section", *heading, *content)


def picture(
    name: str, figure: go.Figure, keys: Iterable[Key], described: str, axis: str = ""
) -> Html:
    """A figure: its key and what its axis shows as text, its place, its data for the script."""
    shown = (
        join(
            [
                element("span", key.shape.glyph, class_=key.shape.colour, aria_hidden="true"),
                key.meaning,
            ]
        )
        for key in keys
    )
    data = Html(figure.to_json().replace("<", "\\u003c"))
    return element(
        "figure",
        items(shown, class_="key"),
        element("p", axis, class_="axis") if axis else "",
        element("div", id=name, class_="plot", role="img", aria_label=described),
        element("script", data, type="application/json"),
        element("noscript", "The picture needs JavaScript; the tables hold its numbers."),
    )
