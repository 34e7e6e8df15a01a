"""The report page: one HTML file that holds its pictures, its script and its looks."""

from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from string import Template

from plotly.offline import get_plotlyjs

from lsmtune.analysis.study_view import StudyView
from lsmtune.report.comparison import Comparison, comparison
from lsmtune.report.figures import convergence, failures, options
from lsmtune.report.front import pareto
from lsmtune.report.front_section import front_section
from lsmtune.report.headline import Headline, headline
from lsmtune.report.markup import Html, element
from lsmtune.report.sections import (
    comparison_section,
    facts_section,
    failures_section,
    header,
    method_section,
    next_section,
    options_section,
    search_section,
    stalls_section,
    trees_section,
)
from lsmtune.report.tree import stalls, trees


def render_page(view: StudyView) -> str:
    """Return the study as one HTML page that needs no network."""
    head = headline(view)
    compared = comparison(view)
    first = header(view, head, compared)
    return assembled(f"{view.name}: {head.claim}", [first, *_sections(view, head, compared)])


def assembled(title: str, parts: Iterable[Html], scripts: Sequence[str] | None = None) -> str:
    """A whole page with that title, made of its header and its sections.

    By default its scripts are those that draw the pictures of plotly.
    """
    used = (get_plotlyjs(), asset("page.js")) if scripts is None else scripts
    return Template(asset("page.html")).substitute(
        title=element("title", title),
        style=asset("page.css"),
        body="\n".join(parts),
        scripts="\n".join(f"<script>{script}</script>" for script in used),
    )


def asset(name: str) -> str:
    """A file that pages are made of."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def _sections(view: StudyView, head: Headline, compared: Comparison | None) -> Iterator[Html]:
    if view.changes:
        yield options_section(options(view))
    yield next_section(head)
    if (found := pareto(view)) is not None and found.points:
        yield front_section(found)
    yield search_section(convergence(view))
    if compared is not None:
        yield comparison_section(compared)
    if (grown := trees(view)) is not None:
        yield trees_section(grown)
    if (stalled := stalls(view)) is not None:
        yield stalls_section(stalled)
    yield failures_section(failures(view))
    yield facts_section(head)
    yield method_section(view)
