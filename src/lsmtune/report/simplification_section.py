"""Section of a study's page: which changes of the winner bring the gain."""

from lsmtune.analysis.simplification import Simplification
from lsmtune.report.canvas import Chart, Shape, colour, picture
from lsmtune.report.markup import Html, element, items, section
from lsmtune.report.text.simplification_text import (
    NEEDED_TITLE,
    has_shares,
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
    if has_shares(found):
        described = f"{_title(found)}. {needed_sentence(found)}"
        chart = (
            picture(
                "needed", _plot(found), [], described, "share of the gain that a change brings"
            ),
        )
    rows: tuple[Html, ...] = ()
    if found.needed:
        rows = (
            items(map(unbroken, needed_lines(found))),
            element("p", unbroken(needed_sentence(found)), class_="note"),
        )
    return section(NEEDED_TITLE, _title(found), *sentences, *chart, *rows)


def _title(found: Simplification) -> str:
    if not found.needed:
        return f"{counted(len(found.taken_back), 'change')} taken back"
    first = found.needed[0]
    if first.share is None:
        return f"{counted(len(found.needed), 'change')} left"
    return f"{', '.join(first.names)}: {number(100 * first.share)} % of the gain"


def _plot(found: Simplification) -> Chart:
    """Return a bar per change with its 95 % interval, the largest share first."""
    rows = [shares(found, part) for part in found.needed]
    chart = Chart(_ROW_PX * (len(rows) + 1))
    ink = colour(_BAR.colour)
    chart.add_bar(
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
    chart.update_xaxes(ticksuffix=" %")
    chart.update_yaxes(autorange="reversed", type="category", showgrid=False, ticklabelstandoff=6)
    return chart
