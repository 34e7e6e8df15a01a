"""The report page: one HTML file that holds its pictures, its script and its looks."""

import zlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from statistics import fmean
from string import Template
from typing import NamedTuple

from plotly.offline import get_plotlyjs

from lsmtune.analysis.claim import Claim, claim_of
from lsmtune.analysis.hosts_used import HostUse
from lsmtune.analysis.simplification import Simplification
from lsmtune.analysis.study_view import StudyView, Windows
from lsmtune.metrics.measurement import Moment
from lsmtune.report.canvas import Chart, Shape, colour, line_keys, line_look, marker, picture
from lsmtune.report.comparison import Comparison, comparison
from lsmtune.report.figures import convergence, failures, options
from lsmtune.report.front import front_section, pareto
from lsmtune.report.markup import Html, details, element, items, nowrap, section, table
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
from lsmtune.report.study_facts import study_facts
from lsmtune.report.text.claim_text import ClaimText, claim_text
from lsmtune.report.text.hosts_text import (
    HostColumn,
    host_columns,
    host_name,
    host_sentences,
    hosts_title,
)
from lsmtune.report.text.simplification_text import (
    NEEDED_TITLE,
    has_shares,
    needed_lines,
    needed_sentence,
    shares,
    simplification_sentences,
)
from lsmtune.report.text.words import counted, number, unbroken
from lsmtune.report.tree import stalls, trees
from lsmtune.simulator import MODELLED_VERSION
from lsmtune.units import MIB
from lsmtune.workloads.key_values import Fills

_PLOT = 'class="plot"'
_METHOD = PageTexts(__package__, "method")

_HOSTS_TEXTS = PageTexts(__package__, "hosts")

_BAR = Shape("", "■", "best")
_ROW_PX = 36

_WINDOW_TEXTS = PageTexts(__package__, "window")
_CHART_PX = 110
_GAP = 0.09
"""Room for the name of a chart, as a share of the height of all three."""
_MOST_MARKS = 9
_SAME_RATE = 0.02


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


def hosts_section(hosts: Sequence[HostUse]) -> Html:
    """Return the hosts as a table: what each ran and lost; then why a host lost runs or its place.

    Sentences are below the table, because a table with them would not fit a screen.
    """
    columns = [column for column in host_columns(hosts) if not column.is_sentence]
    rows = ([host_name(use), *(_cell(column, use) for column in columns)] for use in hosts)
    heads = ("host", *(column.head for column in columns))
    shown = table("The runs of each host", heads, rows)
    see, why = element("p", _HOSTS_TEXTS.text("see")), map(_paragraph, host_sentences(hosts))
    return section("Hosts", hosts_title(hosts), see, shown, *why)


def _paragraph(sentence: str) -> Html:
    return element("p", sentence)


def _cell(column: HostColumn, use: HostUse) -> str:
    text = column.cell(use)
    return nowrap(text) if column.is_number else text


def simplification_section(found: Simplification) -> Html:
    """Return what was taken back, and a bar for each change that is left."""
    sentences = (element("p", unbroken(text)) for text in simplification_sentences(found))
    chart: tuple[Html, ...] = ()
    if has_shares(found):
        described = f"{_needed_title(found)}. {needed_sentence(found)}"
        chart = (
            picture(
                "needed",
                _needed_plot(found),
                [],
                described,
                "share of the gain that a change brings",
            ),
        )
    rows: tuple[Html, ...] = ()
    if found.needed:
        rows = (
            items(map(unbroken, needed_lines(found))),
            element("p", unbroken(needed_sentence(found)), class_="note"),
        )
    return section(NEEDED_TITLE, _needed_title(found), *sentences, *chart, *rows)


def _needed_title(found: Simplification) -> str:
    if not found.needed:
        return f"{counted(len(found.taken_back), 'change')} taken back"
    first = found.needed[0]
    if first.share is None:
        return f"{counted(len(found.needed), 'change')} left"
    return f"{', '.join(first.names)}: {number(100 * first.share)} % of the gain"


def _needed_plot(found: Simplification) -> Chart:
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


class _Quantity(NamedTuple):
    """What one of the charts shows; `step`: the value stays until it changes."""

    name: str
    unit: str
    value: Callable[[Moment], float]
    from_zero: bool = True
    step: bool = False

    @property
    def title(self) -> str:
        """Name and unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


_RATE = _Quantity("write rate", "MB/s", lambda moment: moment.write_bytes_s / 1e6)
_FILES = _Quantity("files of level 0", "", lambda moment: moment.level0_files, step=True)
_SPACE = _Quantity("live space", "MiB", lambda moment: moment.live_bytes / MIB, from_zero=False)
_QUANTITIES = (_RATE, _FILES, _SPACE)


def window_section(found: Windows) -> Html:
    """Return the course of the window as three charts with one axis of time, and a table."""
    title = _windows_title(found)
    see = _WINDOW_TEXTS.shown(
        {"pair": found.is_pair, "no_pair": not found.is_pair, "see": True},
        best_space=_mean_text(_SPACE, found.best), base_space=_mean_text(_SPACE, found.base),
    )  # fmt: skip
    text = " ".join(see)
    drawn = picture(
        "window", _windows_plot(found), line_keys(("winner", "baseline")), f"{title}. {text}"
    )
    return section(
        "The course of the window", unbroken(title), element("p", unbroken(text)), drawn,
        _numbers(found),
    )  # fmt: skip


def _windows_title(found: Windows) -> str:
    rates = [_mean(_RATE, window) for window in (found.best, found.base)]
    same = abs(rates[0] - rates[1]) <= _SAME_RATE * max(rates)
    return _WINDOW_TEXTS.text(
        "same_rate" if same else "other_rate",
        best_rate=_mean_text(_RATE, found.best), base_rate=_mean_text(_RATE, found.base),
        best_files=_mean_text(_FILES, found.best), base_files=_mean_text(_FILES, found.base),
    )  # fmt: skip


def _mean(quantity: _Quantity, window: Sequence[Moment]) -> float:
    """Return the mean over time. Each moment counts for the time since the one before it."""
    seconds = [moment.second for moment in window]
    lengths = [end - begin for begin, end in zip((0.0, *seconds), seconds, strict=False)]
    return fmean(map(quantity.value, window), lengths)


def _mean_text(quantity: _Quantity, window: Sequence[Moment]) -> str:
    return f"{number(round(_mean(quantity, window), 1))} {quantity.unit}".rstrip()


def _windows_plot(found: Windows) -> Chart:
    """Return the charts one above the other; the axis of the lowest one is `y`."""
    chart = Chart(_CHART_PX * len(_QUANTITIES))
    height = 1 / len(_QUANTITIES)
    for row, quantity in enumerate(reversed(_QUANTITIES)):
        axis, low, high = f"y{row + 1}" if row else "y", row * height, (row + 1) * height - _GAP
        shown = {**chart.layout.yaxis.to_plotly_json(), "domain": [low, high], "nticks": 4}
        if quantity.from_zero:
            shown["rangemode"] = "tozero"
        chart.update_layout({f"yaxis{axis[1:]}": shown})
        chart.add_annotation(
            text=f"<b>{quantity.title}</b>", x=0, y=high, xref="paper", yref="paper",
            xanchor="left", yanchor="bottom", showarrow=False,
        )  # fmt: skip
        for place, window in reversed(list(enumerate((found.best, found.base)))):
            look = line_look(place)
            chart.line(
                [moment.second for moment in window], [quantity.value(one) for one in window],
                look, f"{('winner', 'baseline')[place]}, %{{x:.2f}} s: %{{y:.3g}} {quantity.unit}",
                marker={**marker(look[0], 7), "maxdisplayed": _MOST_MARKS},
                line={"shape": "hv" if quantity.step else "linear"}, yaxis=axis,
                cliponaxis=False,  # a mark at 0 is on the axis
            )  # fmt: skip
    last = max(window[-1].second for window in (found.base, found.best))
    chart.update_xaxes(title="seconds since the start of the window", range=[0, last])
    return chart


def _numbers(found: Windows) -> Html:
    """Return mean and largest value of each quantity, for readers without the charts."""
    heads = ("quantity", "baseline, mean", "winner, mean", "baseline, largest", "winner, largest")
    sides = (found.base, found.best)
    rows = (
        [
            element("span", one.title, class_="prose"),
            *(number(_mean(one, window)) for window in sides),
            *(number(max(map(one.value, window))) for window in sides),
        ]
        for one in _QUANTITIES
    )
    return details("The window as a table", table("Means over the time of the window", heads, rows))
