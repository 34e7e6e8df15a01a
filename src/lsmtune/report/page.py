"""The report page: one HTML file that holds its pictures, its script and its looks."""

import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from string import Template

from plotly.offline import get_plotlyjs

from lsmtune.analysis.claim import Claim, claim_of
from lsmtune.analysis.study_view import StudyView
from lsmtune.report.comparison import Comparison, comparison
from lsmtune.report.figures import convergence, failures, options
from lsmtune.report.front import pareto
from lsmtune.report.front_section import front_section
from lsmtune.report.hosts_section import hosts_section
from lsmtune.report.markup import Html, element, section
from lsmtune.report.online_section import online_sections
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.sections import (
    comparison_section,
    facts_section,
    failures_section,
    header,
    options_section,
    search_section,
    stalls_section,
    trades_section,
    trees_section,
)
from lsmtune.report.simplification_section import simplification_section
from lsmtune.report.study_facts import study_facts
from lsmtune.report.text.claim_text import ClaimText, claim_text
from lsmtune.report.tree import stalls, trees
from lsmtune.report.window_section import window_section
from lsmtune.simulator import MODELLED_VERSION
from lsmtune.workloads.key_values import Fills

_PLOT = 'class="plot"'
_METHOD = PageTexts(__package__, "method")


def render_page(view: StudyView, claim: Claim | None = None) -> str:
    """Return the study as one HTML page that needs no network.

    `claim` is that of the view, if it is known.
    """
    claim = claim or claim_of(view)
    text, compared = claim_text(claim), comparison(claim)
    parts = [header(view, claim, text, compared), *_sections(view, claim, text, compared)]
    return assembled(f"{view.name}: {text.headline}", parts)


def assembled(title: str, parts: Iterable[Html], scripts: Sequence[str] | None = None) -> str:
    """Return a whole page with that title, made of its header and its sections.

    A page with charts holds plotly.js, compressed. `scripts` are run in addition.
    """
    body = "\n".join(parts)
    used = [element("script", Html(text)) for text in (asset("page.js"), *(scripts or ()))]
    if _PLOT in body:
        used += [
            element("script", Html(packed_plotly()), id="plotly", type="text/plain"),
            element("script", Html(asset("plots.js"))),
        ]
    return Template(asset("page.html")).substitute(
        title=element("title", title), style=asset("page.css"), body=body, scripts="\n".join(used)
    )


def simulated_note() -> Html:
    """Return a note that the numbers of a page are predictions."""
    return element(
        "p",
        element("strong", "Simulated, not measured: "),
        "all numbers on this page are predictions of the simulator, which models RocksDB "
        f"{MODELLED_VERSION}.",
        class_="warnings",
    )


@cache
def packed_plotly() -> str:
    """Return plotly.js as base64 of zlib; the browser unpacks it."""
    return b64encode(zlib.compress(get_plotlyjs().encode(), 9)).decode()


def asset(name: str) -> str:
    """Return a file that pages are made of."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def _sections(
    view: StudyView, claim: Claim, text: ClaimText, compared: Comparison | None
) -> Iterator[Html]:
    if view.online is not None:
        yield from online_sections(view, view.online)
    if view.changes:
        yield options_section(options(view))
    if view.simplification is not None:
        yield simplification_section(view.simplification)
    if text.trades:
        yield trades_section(text)
    if (found := pareto(view)) is not None and found.points:
        yield front_section(found)
    if view.no_search is None:
        yield search_section(convergence(view))
    if compared is not None:
        yield comparison_section(compared)
    yield from _trees(view)
    if view.online is None:
        yield failures_section(failures(view))
    if len(view.hosts) > 1:
        yield hosts_section(view.hosts)
    yield facts_section(study_facts(view, claim))
    if view.no_search is None:
        yield _method_section(view)


def _trees(view: StudyView) -> Iterator[Html]:
    """Yield what happened in the trees of baseline and winner."""
    if view.windows is not None:
        yield window_section(view.windows)
    if (grown := trees(view)) is not None:
        yield trees_section(grown)
    if (stalled := stalls(view)) is not None:
        yield stalls_section(stalled)


def _method_section(view: StudyView) -> Html:
    """Return how the study measures, in a few sentences that are true of its engine."""
    load = view.workload
    settles, reads = view.measures("settle_s"), view.measures("get_p99_us")
    prepared = load.definition.prepared and not view.objective.is_running
    loads = isinstance(load.definition, Fills) and settles
    verified, running = view.verification is not None, view.objective.is_running
    groups: tuple[dict[str, bool], ...] = (
        {"running": running, "prepared": prepared},
        {"loaded": loads, "read_after": loads and reads},
        {"probed": prepared and load.kind == "write" and settles and reads},
        {"direct_reads": bool(load.direct_reads)},
        {"only_reads": load.kind == "read" and view.measures("write_amp")},
        {
            "write_amp": view.measures("write_amp") and not running,
            "w_amp_table": view.measures("w_amp_table"),
        },
        {
            "memory": view.has_memory and view.all_sizes_scale,
            "memory_of_trials": view.has_memory and not view.all_sizes_scale,
        },
        {"pruned": bool(view.cut)},
        {"pairs": verified},
        {"unverified": view.best_trial is not None and not verified},
        {"objectives": view.objective.pareto and verified},
    )
    texts = (" ".join(_METHOD.shown(group)) for group in groups)
    paragraphs = [element("p", text) for text in texts if text]
    return section("Method", "How the trials were measured", *paragraphs)
