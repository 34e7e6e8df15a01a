"""Recipe sst-size: its studies, its page, and its JSON document."""

from collections.abc import Iterator, Sequence

from lsmtune.report.canvas import Chart, Key, Shape, marker, picture
from lsmtune.report.markup import Html, items, section, table
from lsmtune.report.page import assembled
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.swept_page import cell_keys, cell_picture, cell_plot, numbers_section
from lsmtune.report.text.facts import workload_text
from lsmtune.report.text.metric_words import metric_value
from lsmtune.report.text.swept_words import swept_document
from lsmtune.report.text.words import TIMES, counted, number, quantity, sentence_start
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.opening import opening, too_small_line, too_small_opening
from lsmtune_reproductions.recipes.published import change_text, claims_section, planned, times
from lsmtune_reproductions.recipes.sst_size.numbers import (
    WRITTEN,
    against_least,
    claims,
    diagonal,
    largest,
    paper,
    swept_metric,
)
from lsmtune_reproductions.recipes.sst_size.study import FILES, MEMTABLES, Results, run, spec

_TOPIC = "SST file size of RocksDB (2021), run again"
_TEXTS = PageTexts(__package__)
_HEIGHT_PX = 240
_HERE, _PUBLISHED = Shape("circle", "●", "best"), Shape("x-thin", "✕", "ink")
_KEYS = (Key(_HERE, "here"), Key(_PUBLISHED, "published"))
_FIGURES = (
    ("w_amp_table", "Figure 1: write amplification", "W-Amp of RocksDB's table"),
    (WRITTEN, "Figure 2: bytes written", "bytes of flushes and compactions"),
    ("compact_read_bytes", "Figure 2: bytes read", "bytes read by compactions"),
    ("background_s", "Figure 4: time of compactions", "time of flushes and compactions"),
    ("background_jobs", "Figure 5: number of compactions", "number of flushes and compactions"),
)
"""Published figures: metric, topic, and what the chart shows. 4 and 5 have no published numbers."""


def _studies(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the one experiment."""
    return (spec(asked),)


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(asked, home, opener)
    found, reason = list(claims(results)), results.experiment.too_small()
    document = {
        "recipe": "sst-size",
        "published": paper(),
        "claims": [claim.document() for claim in found],
        "too_small": reason,
        "experiment": swept_document(results.experiment.swept),
    }
    lines = (answer(results), *map(str, found)) if reason is None else (too_small_line(reason),)
    return Reproduction(render_sst_size(results), document, lines)


SST_SIZE = Recipe("sst-size", frozenset({"num", "repeats", "full"}), _studies, _run)
"""Effect of larger files and of larger memtables, each alone."""


def render_sst_size(results: Results) -> str:
    """Return the results as one HTML page without external requests."""
    found = list(claims(results))
    reason = results.experiment.too_small()
    if reason is not None:
        parts = [too_small_opening(_TOPIC, reason), claims_section(found)]
    else:
        parts = [
            _opening(results),
            claims_section(found),
            *(_figure(results, *figure) for figure in _FIGURES),
            _hits(results),
        ]
    parts += [numbers_section(results.experiment.swept), _method(results)]
    return assembled("SST file size, run again", parts)


def answer(results: Results) -> str:
    """Return the effect of each factor on write amplification in a few words."""
    parts = [
        f"larger {factor}: {change_text(change, 'write amplification')}"
        for factor in (MEMTABLES, FILES)
        if (change := largest(results, "write_amp", factor)) is not None
    ]
    return "; ".join(parts) or "too few runs to compare memtables and files"


def _sizes() -> list[str]:
    return [str(size) for size in paper()["sizes"]]


def _opening(results: Results) -> Html:
    experiment, found = results.experiment, swept_metric(results, "write_amp")
    sentence = _TEXTS.text("opening", largest=_sizes()[-1], smallest=_sizes()[0])
    return opening(
        _TOPIC, answer(results), sentence,
        cell_picture("which", experiment.swept, found, answer(results)),
        _TEXTS.html("compare", version=experiment.version, machine=experiment.machine),
    )  # fmt: skip


def _figure(results: Results, metric: str, topic: str, what: str) -> Html:
    ours = diagonal(results, metric)
    theirs = paper()["metrics"].get(metric)
    ratio = against_least(results, metric, len(ours) - 1)
    change = change_text(ratio, topic.partition(": ")[2])
    title = f"Sizes of {_sizes()[-1]} instead of {_sizes()[0]}: {change}"
    return section(
        topic,
        title,
        picture(
            f"figure-{metric}",
            _relative_plot(ours, theirs),
            _KEYS if theirs else _KEYS[:1],
            title,
            f"{what}, divided by the value at {_sizes()[0]}; memtables and files are equally large",
        ),
        table(
            sentence_start(what),
            ("memtables and files", "here", "ratio (95 %)", "published", "published ratio"),
            _rows(results, metric, ours, theirs),
        ),
    )


def _relative_plot(ours: Sequence[float | None], theirs: Sequence[float] | None) -> Chart:
    chart = Chart(_HEIGHT_PX, bottom=40)
    for shape, values in ((_HERE, ours), (_PUBLISHED, theirs)):
        if values is None or not values[0]:
            continue
        shown = [None if v is None else v / values[0] for v in values]
        look = shape, "dot" if shape is _PUBLISHED else "solid"
        chart.line(_sizes(), shown, look, "%{y:.2f}", size=10, marker=marker(shape, 10, 2))
    chart.update_yaxes(rangemode="tozero")
    chart.update_xaxes(type="category")
    return chart


def _rows(
    results: Results, metric: str, ours: Sequence[float | None], theirs: Sequence[float] | None
) -> Iterator[list[str]]:
    for level, (size, mean) in enumerate(zip(_sizes(), ours, strict=True)):
        ratio = against_least(results, metric, level) if level else None
        yield [
            size,
            "not measured" if mean is None else _amount(metric, mean),
            times(ratio) if ratio else "",
            _amount(metric, theirs[level]) if theirs else "no number",
            f"{theirs[level] / theirs[0]:.2f} {TIMES}" if theirs and level else "",
        ]


def _amount(metric: str, mean: float) -> str:
    return quantity(mean, "bytes") if metric == WRITTEN else metric_value(metric, mean)


def _hits(results: Results) -> Html:
    swept, found = results.experiment.swept, swept_metric(results, "memtable_hit")
    change = largest(results, "memtable_hit", MEMTABLES)
    title = f"Larger memtables: {change_text(change, 'gets answered by a memtable')}"
    return section(
        "The explanation: hits in the memtable", title,
        _TEXTS.html("hits"),
        picture("hits", cell_plot(swept, found), cell_keys(swept, found), title,
                "share of gets answered by a memtable"),
    )  # fmt: skip


def _method(results: Results) -> Html:
    swept = results.experiment.swept
    fixed = planned(__package__, "sst-size", None).fixed
    texts = [
        *workload_text(results.experiment.load),
        *(f"In all runs: {name} = {value}" for name, value in fixed.items()),
        f"The experiment has {number(swept.runs)} runs. {swept.failed} runs failed.",
        *_TEXTS.paragraphs("method", times=counted(swept.blocks, "time")),
        *swept.warnings,
    ]
    if not results.full:
        texts += _TEXTS.paragraphs("not_full")
    return section("Method", "How lsmtune compared memtable and file sizes", items(texts))
