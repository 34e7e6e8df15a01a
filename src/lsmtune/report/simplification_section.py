"""Section of a study's page: which changes of the winner bring the gain."""

import plotly.graph_objects as go

from lsmtune.analysis.simplification import Simplification
from lsmtune.report.canvas import Shape, canvas, colour
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, element, items
from lsmtune.report.text.simplification_text import (
    NEEDED_TITLE,
    needed_lines,
    needed_sentence,
    shares,
    simplification_sentences,
)
from lsmtune.report.text.words import counted, number, unbroken

_BAR = Shape("", "■", "best")
_ROW_PX = 36


def simplification_section(found: Simplification) -> Html:
    """Return what was taken back, and a bar for each change that is left."""
    sentences = (element("p", unbroken(text)) for text in simplification_sentences(found))
    chart: tuple[Html, ...] = ()
    if found.needed:
        described = f"{_title(found)}. {needed_sentence(found)}"
        chart = (
            picture(
                "needed", _plot(found), [], described, "share of the gain that a change brings"
            ),
            items(map(unbroken, needed_lines(found))),
            element("p", unbroken(needed_sentence(found)), class_="note"),
        )
    return section(NEEDED_TITLE, _title(found), *sentences, *chart)


def _title(found: Simplification) -> str:
    if not found.needed:
        return f"{counted(len(found.taken_back), 'change')} taken back"
    first = found.needed[0]
    return f"{', '.join(first.names)}: {number(100 * first.share)} % of the gain"


def _plot(found: Simplification) -> go.Figure:
    """Return a bar per change with its 95 % interval, the largest share first."""
    rows = [shares(found, part) for part in found.needed]
    figure = canvas(_ROW_PX * (len(rows) + 1))
    ink = colour(_BAR.colour)
    figure.add_bar(
        y=[",<br>".join(part.names) for part in found.needed],
        x=[share for share, _, _ in rows],
        orientation="h",
        marker={"color": ink},
        error_x={
            "type": "data",
            "array": [high - share for share, _, high in rows],
            "arrayminus": [share - low for share, low, _ in rows],
            "color": colour("ink"),
            "thickness": 1.5,
            "width": 4,
        },
        hoverinfo="skip",
    )
    figure.update_xaxes(ticksuffix=" %")
    figure.update_yaxes(autorange="reversed", type="category", showgrid=False, ticklabelstandoff=6)
    return figure
