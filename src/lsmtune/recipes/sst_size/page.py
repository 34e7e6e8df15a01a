"""The page that sets the published figures beside what was measured, and answers the question."""

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from lsmtune.analysis.swept_words import answers
from lsmtune.recipes.published import claims_section, times
from lsmtune.recipes.sst_size.numbers import (
    WRITTEN,
    against_least,
    claims,
    diagonal,
    largest,
    paper,
    told,
)
from lsmtune.recipes.sst_size.study import FILES, FIXED, MEMTABLES, Results
from lsmtune.report.canvas import Key, Shape, canvas, colour, marker
from lsmtune.report.facts import workload_text
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, element, items, table
from lsmtune.report.page import assembled
from lsmtune.report.swept_page import cell_keys, cell_plot, numbers_section
from lsmtune.report.words import (
    TIMES,
    label,
    listed,
    metric_value,
    number,
    quantity,
    sentence_start,
)

_HEIGHT_PX = 240
_HERE, _PUBLISHED = Shape("circle", "●", "best"), Shape("x-thin", "✕", "ink")
_KEYS = (Key(_HERE, "here"), Key(_PUBLISHED, "published"))
_FIGURES = (
    ("w_amp_table", "Figure 1: write amplification", "W-Amp of RocksDB's table"),
    (WRITTEN, "Figure 2: bytes written", "bytes flushed and compacted"),
    ("compact_read_bytes", "Figure 2: bytes read", "bytes read by compactions"),
    ("background_s", "Figure 4: time of compactions", "time of flushes and compactions"),
    ("background_jobs", "Figure 5: number of compactions", "flushes and compactions"),
)
"""The published figures: metric, title, and what is drawn. Of 4 and 5 no numbers are published."""


def render_sst_size(results: Results) -> str:
    """The results as one HTML page that needs nothing but a browser, and no network."""
    parts = [
        _header(results),
        claims_section("The published claims", "What holds of what was said", claims(results)),
        _which(results),
        *(_figure(results, *figure) for figure in _FIGURES),
        _hits(results),
        numbers_section(results.experiment.swept),
        _method(results),
    ]
    return assembled("SST file size, run again", parts)


def answer(results: Results) -> str:
    """Which of the two did it, in a sentence."""
    parts = [
        f"{factor} of {_sizes()[-1]} instead of {_sizes()[0]} have {times(change)} the write "
        "amplification"
        for factor in (MEMTABLES, FILES)
        if (change := largest(results, "write_amp", factor)) is not None
    ]
    return "; ".join(parts) or "too few runs to tell which of the two did it"


def _sizes() -> list[str]:
    return [str(size) for size in paper()["sizes"]]


def _header(results: Results) -> Html:
    return element(
        "header",
        element("p", "SST file size of RocksDB (2021), run again", class_="topic"),
        element("h1", sentence_start(answer(results))),
        element(
            "p",
            "The published experiment made files and memtables larger together, and found less "
            "write amplification where theory had promised more. Here every size of one runs "
            "with every size of the other. "
            f"RocksDB {results.experiment.version}, {results.experiment.machine}: compare "
            "directions and ratios with the published ones, not bytes.",
        ),
    )


def _which(results: Results) -> Html:
    swept, found = results.experiment.swept, told(results, "write_amp")
    sentences = [sentence_start(text) for text in answers(swept, found)]
    return section(
        "Which of the two", sentences[0],
        items(sentences[1:]),
        picture("which", cell_plot(swept, found), cell_keys(swept, found), sentences[0],
                "exact write amplification, mean and 95 % interval"),
    )  # fmt: skip


def _figure(results: Results, metric: str, topic: str, drawn: str) -> Html:
    ours = diagonal(results, metric)
    theirs = paper()["metrics"].get(metric)
    ratio = against_least(results, metric, len(ours) - 1)
    title = (
        "too few runs to compare"
        if ratio is None
        else f"{times(ratio)} at {_sizes()[-1]} what it is at {_sizes()[0]}"
    )
    return section(
        topic,
        sentence_start(title),
        picture(
            f"figure-{metric}",
            _relative_plot(ours, theirs),
            _KEYS if theirs else _KEYS[:1],
            title,
            f"{drawn}, as a share of those at {_sizes()[0]}; memtables as large as files",
        ),
        table(
            drawn,
            ("files and memtables of", "here", f"of {_sizes()[0]}", "published", "of the first"),
            _rows(results, metric, ours, theirs),
        ),
    )


def _relative_plot(ours: Sequence[float | None], theirs: Sequence[float] | None) -> go.Figure:
    figure = canvas(_HEIGHT_PX, bottom=40)
    for shape, values in ((_HERE, ours), (_PUBLISHED, theirs)):
        if values is None or not values[0]:
            continue
        shown = [None if v is None else v / values[0] for v in values]
        figure.add_scatter(
            x=_sizes(),
            y=shown,
            mode="lines+markers",
            marker=marker(shape, 10, 2),
            line={"color": colour(shape.colour), "width": 1.5,
                  "dash": "dot" if shape is _PUBLISHED else "solid"},
            hovertemplate="%{y:.2f}<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(type="category")
    return figure


def _rows(
    results: Results, metric: str, ours: Sequence[float | None], theirs: Sequence[float] | None
) -> Iterator[list[str]]:
    for level, (size, mean) in enumerate(zip(_sizes(), ours, strict=True)):
        ratio = against_least(results, metric, level) if level else None
        yield [
            size,
            "not measured" if mean is None else _told(metric, mean),
            times(ratio) if ratio else "",
            _told(metric, theirs[level]) if theirs else "no number",
            f"{theirs[level] / theirs[0]:.2f} {TIMES}" if theirs and level else "",
        ]


def _told(metric: str, mean: float) -> str:
    return quantity(mean, "bytes") if metric == WRITTEN else metric_value(metric, mean)


def _hits(results: Results) -> Html:
    swept, found = results.experiment.swept, told(results, "memtable_hit")
    sentences = [sentence_start(text) for text in answers(swept, found)]
    note = (
        "The published report supposes these hits and takes less reading as their sign. Here they "
        "are counted: RocksDB tells how many gets a memtable answered. The same holds for "
        "overwrites: a memtable that holds more keys meets more of them again, but drops the "
        "older value only when it is flushed."
    )
    return section(
        "The explanation: hits in the memtable", sentences[0],
        element("p", note),
        picture("hits", cell_plot(swept, found), cell_keys(swept, found), sentences[0],
                "share of the gets that a memtable answered"),
    )  # fmt: skip


def _method(results: Results) -> Html:
    swept = results.experiment.swept
    texts = [
        *workload_text(results.experiment.load),
        f"held everywhere: {listed([f'{name} = {value}' for name, value in FIXED.items()])}",
        f"{number(swept.runs)} runs in {swept.blocks} blocks, {swept.failed} failed; each block "
        "runs every cell in a random order under one workload seed, RocksDB's defaults with the "
        "held settings among them as the base",
        "the store is built and has settled before each run; the published one began empty",
        f"{label('w_amp_table')} divides by compressed bytes; the exact write amplification by the "
        "user's",
        *swept.warnings,
    ]
    if not results.full:
        texts.append(
            "gets and overwrites in turn for a fixed number of operations, records of 1 kB: in a "
            "minute the published share of 10 % writes of 100 bytes would fill no memtable of "
            "16 MiB twice. `--full` runs it as published, an hour a run"
        )
    return section("Method", "How this was run", items(texts))
