"""The report page: one HTML file that holds its pictures, its script and its looks."""

from collections.abc import Iterator
from importlib.resources import files
from string import Template

from plotly.offline import get_plotlyjs

from lsmtune.analysis.study_view import StudyView
from lsmtune.report.comparison import comparison
from lsmtune.report.figures import convergence, failures, options
from lsmtune.report.headline import headline
from lsmtune.report.markup import Html, element
from lsmtune.report.sections import (
    comparison_section,
    failures_section,
    header,
    method_section,
    options_section,
    search_section,
    stalls_section,
    trees_section,
)
from lsmtune.report.tree import stalls, trees


def render_page(view: StudyView) -> str:
    """The study as one HTML page that needs nothing but a browser, and no network."""
    head = headline(view)
    return Template(_asset("page.html")).substitute(
        title=element("title", f"{view.name}: {head.claim}"),
        style=_asset("page.css"),
        body="\n".join([header(view.name, head), *_sections(view)]),
        plotly=get_plotlyjs(),
        script=_asset("page.js"),
    )


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _sections(view: StudyView) -> Iterator[Html]:
    yield options_section(options(view))
    yield search_section(convergence(view))
    if (compared := comparison(view)) is not None:
        yield comparison_section(compared)
    if (grown := trees(view)) is not None:
        yield trees_section(grown)
    if (stalled := stalls(view)) is not None:
        yield stalls_section(stalled)
    yield failures_section(failures(view))
    yield method_section(view.verification is not None)
