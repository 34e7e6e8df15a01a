"""Charts of a study as plotly figures, for notebooks."""

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from textwrap import wrap

import plotly.graph_objects as go

from lsmtune.analysis.claim import Claim
from lsmtune.errors import UserError, unknown_word
from lsmtune.report.canvas import Key, colour
from lsmtune.report.comparison import comparison
from lsmtune.report.figures import convergence
from lsmtune.report.plots import comparison_keys, comparison_plot
from lsmtune.report.search_plot import convergence_keys, convergence_plot

FIGURES = ("convergence", "comparison")
"""The trials of the search in their order; the metrics of the winner over the baseline."""

_LINE, _LINE_PX = 48, 18
"""Characters and height of a line above a chart."""
_COLOUR = re.compile(r"--([a-z-]+): (#[0-9a-f]{3,6});")
_PLACEHOLDER = re.compile(r"var\(--([a-z-]+)\)")


def figure(claim: Claim, name: str) -> go.Figure:
    """Return a chart of the page in its light colours.

    UserError for an unknown name, or for a comparison of a study without a winner.
    """
    if name not in FIGURES:
        raise UserError(f"figure: {unknown_word('figure', name, FIGURES)}")
    if name == "convergence":
        searched = convergence(claim.view)
        return _alone(
            convergence_plot(searched), searched.title, searched.axis, convergence_keys(searched)
        )
    compared = comparison(claim)
    if compared is None:
        raise UserError(f"figure: study {claim.view.name!r} has no winner to compare")
    rows = compared.key
    return _alone(comparison_plot(rows), compared.title, compared.axis, comparison_keys(rows))


def _alone(chart: go.Figure, title: str, axis: str, keys: Sequence[Key]) -> go.Figure:
    """Return the chart with what the page writes around it, on paper of its own.

    The title is in lines that a narrow notebook shows whole.
    """
    lines = [f"<b>{line}</b>" for line in wrap(title, _LINE)]
    lines += wrap(axis, _LINE)
    lines += [f"{key.shape.glyph} {key.meaning}" for key in keys]
    top = _LINE_PX * len(lines)
    text = {
        "text": "<br>".join(lines), "font": {"size": 13}, "pad": {"t": 12, "l": 12},
        "x": 0, "xref": "container", "xanchor": "left",
        "y": 1, "yref": "container", "yanchor": "top",
    }  # fmt: skip
    layout = chart.layout
    chart.update_layout(
        title=text, height=layout.height + top, paper_bgcolor=colour("paper"),
        margin={"t": layout.margin.t + top},
    )  # fmt: skip
    return _coloured(chart)


def _coloured(chart: go.Figure) -> go.Figure:
    """Return the chart with the colours of the page's style sheet instead of their names."""
    style = (files("lsmtune.report") / "page.css").read_text(encoding="utf-8")
    colours: dict[str, str] = {}
    for name, value in _COLOUR.findall(style):
        colours.setdefault(name, value)  # the first ones are the light ones
    text = _PLACEHOLDER.sub(lambda found: colours[found[1]], chart.to_json())
    return go.Figure(json.loads(text))
