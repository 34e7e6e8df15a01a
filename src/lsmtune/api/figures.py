"""Charts of a study as plotly figures, for notebooks."""

import json
import re
from importlib.resources import files

import plotly.graph_objects as go

from lsmtune.analysis.study_view import StudyView
from lsmtune.errors import UserError, unknown_word
from lsmtune.report.comparison import comparison
from lsmtune.report.figures import convergence
from lsmtune.report.plots import comparison_plot
from lsmtune.report.search_plot import convergence_plot

FIGURES = ("convergence", "comparison")
"""The trials of the search in their order; the metrics of the winner over the baseline."""

_COLOUR = re.compile(r"--([a-z-]+): (#[0-9a-f]{3,6});")
_PLACEHOLDER = re.compile(r"var\(--([a-z-]+)\)")


def figure(view: StudyView, name: str) -> go.Figure:
    """Return a chart of the page in its light colours.

    UserError for an unknown name, or for a comparison of a study without a winner.
    """
    if name not in FIGURES:
        raise UserError(f"figure: {unknown_word('figure', name, FIGURES)}")
    if name == "convergence":
        return _coloured(convergence_plot(convergence(view)))
    compared = comparison(view)
    if compared is None:
        raise UserError(f"figure: study {view.name!r} has no winner to compare")
    return _coloured(comparison_plot(compared.key))


def _coloured(chart: go.Figure) -> go.Figure:
    """Return the chart with the colours of the page's style sheet instead of their names."""
    style = (files("lsmtune.report") / "page.css").read_text(encoding="utf-8")
    colours: dict[str, str] = {}
    for name, value in _COLOUR.findall(style):
        colours.setdefault(name, value)  # the first ones are the light ones
    text = _PLACEHOLDER.sub(lambda found: colours[found[1]], chart.to_json())
    return go.Figure(json.loads(text))
