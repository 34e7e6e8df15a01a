"""The frames that every section and every chart of a page have in common."""

from collections.abc import Iterable

import plotly.graph_objects as go

from lsmtune.report.canvas import Key
from lsmtune.report.markup import Html, element, items, join
from lsmtune.report.text.words import unbroken
from lsmtune.simulator import MODELLED_VERSION


def section(topic: str, title: str, *content: str) -> Html:
    """Return a section: its topic, its finding as the title, and what shows it."""
    heading = (element("p", topic, class_="topic"), element("h2", unbroken(title)))
    return element("section", *heading, *content)


def simulated_note() -> Html:
    """Return a note that the numbers of a page are predictions."""
    return element(
        "p",
        element("strong", "Simulated, not measured: "),
        "all numbers on this page are predictions of the simulator, which models RocksDB "
        f"{MODELLED_VERSION}.",
        class_="warnings",
    )


def picture(
    name: str, figure: go.Figure, keys: Iterable[Key], described: str, axis: str = ""
) -> Html:
    """Return a chart: its key and its axis as text, its place, and its data for the script."""
    shown = (
        join(
            [
                element("span", key.shape.glyph, class_=key.shape.colour, aria_hidden="true"),
                key.meaning,
            ]
        )
        for key in keys
    )
    listed = items(shown, class_="key")
    data = Html(figure.to_json().replace("<", "\\u003c"))
    height = figure.layout.height
    room = {"style": f"min-height:{height:g}px"} if height else {}
    return element(
        "figure",
        listed if "<li>" in listed else "",
        element("p", axis, class_="axis") if axis else "",
        element("div", id=name, class_="plot", role="img", aria_label=described, **room),
        element("script", data, type="application/json"),
        element(
            "noscript",
            "This chart needs JavaScript. Without JavaScript, read the text and the tables of "
            "this page instead.",
        ),
    )
