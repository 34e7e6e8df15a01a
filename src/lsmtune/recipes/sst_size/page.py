"""Page of the recipe sst-size: the answer, the published claims, and each published figure."""

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from lsmtune.recipes.opening import opening, too_small_opening
from lsmtune.recipes.published import change_text, claims_section, times
from lsmtune.recipes.sst_size.numbers import (
    WRITTEN,
    against_least,
    claims,
    diagonal,
    largest,
    paper,
    swept_metric,
)
from lsmtune.recipes.sst_size.study import FILES, FIXED, MEMTABLES, Results
from lsmtune.report.canvas import Key, Shape, canvas, colour, marker
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, element, items, table
from lsmtune.report.page import assembled
from lsmtune.report.swept_page import cell_axis, cell_keys, cell_plot, numbers_section
from lsmtune.report.text.facts import workload_text
from lsmtune.report.text.words import TIMES, counted, metric_value, number, quantity, sentence_start

_TOPIC = "SST file size of RocksDB (2021), run again"
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
    swept, found = results.experiment.swept, swept_metric(results, "write_amp")
    sentence = (
        f"The headline compares two sizes of memtables and of files: {_sizes()[-1]} and "
        f"{_sizes()[0]}. Each line in the chart is a memtable size. The file sizes grow from left "
        "to right. The published report changed memtable size and file size together. lsmtune "
        "measures every combination of a memtable size and a file size."
    )
    return opening(
        _TOPIC, answer(results), sentence,
        picture("which", cell_plot(swept, found), cell_keys(swept, found), answer(results),
                cell_axis(found)),
        element("p", f"The runs of lsmtune used RocksDB {results.experiment.version} on "
                     f"{results.experiment.machine}. Compare directions and ratios with the "
                     "published report, not absolute sizes or times."),
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
    note = (
        "The published report assumes that larger memtables answer more gets, because the report "
        "measured fewer reads with larger memtables. In the runs of lsmtune, RocksDB counts the "
        "gets that a memtable answers. A larger memtable contains more overwritten values, "
        "which RocksDB drops during the flush of the memtable."
    )
    return section(
        "The explanation: hits in the memtable", title,
        element("p", note),
        picture("hits", cell_plot(swept, found), cell_keys(swept, found), title,
                "share of gets answered by a memtable"),
    )  # fmt: skip


def _method(results: Results) -> Html:
    swept = results.experiment.swept
    texts = [
        *workload_text(results.experiment.load),
        *(f"In all runs: {name} = {value}" for name, value in FIXED.items()),
        f"The experiment has {number(swept.runs)} runs. {swept.failed} runs failed.",
        "lsmtune combines each memtable size with each file size, and runs each combination "
        f"{counted(swept.blocks, 'time')}. In each repetition, all combinations and the baseline "
        "run in random order with the same workload seed. The baseline has RocksDB's default "
        "sizes of memtables and files.",
        "Before each run, lsmtune builds the store and waits for all compactions. The published "
        "run began with an empty store.",
        "The metric w_amp_table is W-Amp in RocksDB's table “Compaction Stats”. W-Amp divides "
        "the bytes that flushes and compactions write by the compressed bytes that flushes "
        "write. Exact write amplification divides the bytes that flushes and compactions write "
        "by the bytes that the clients write.",
        *swept.warnings,
    ]
    if not results.full:
        texts.append(
            "lsmtune runs a fixed number of operations, half gets and half overwrites, with "
            "records of 1 kB. The published workload has 10 % writes, with records of 100 bytes. "
            "In one minute, the published workload cannot fill a memtable of 16 MiB twice. With "
            "the flag --full, lsmtune runs the published workload for one hour per run."
        )
    return section("Method", "How lsmtune compared memtable and file sizes", items(texts))
