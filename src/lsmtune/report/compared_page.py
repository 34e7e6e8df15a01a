"""Page of a comparison before and after a change: the verdicts first, then the files."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsmtune.analysis.inspect.before_after import Compared
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.report.frame import section
from lsmtune.report.inspect_page import folded_logs
from lsmtune.report.markup import Html, code, element, items, table
from lsmtune.report.page import assembled
from lsmtune.report.text.compared_words import (
    METRIC_HEADS,
    benchmark_rows,
    benchmark_text,
    difference_lines,
    further_lines,
    headline,
    metric_row,
    option_notes,
    option_rows,
    options_title,
    side_text,
    spread_note,
    workload_rows,
)
from lsmtune.report.text.inspect_words import short_names
from lsmtune.report.text.words import unbroken


def render_compared(compared: Compared, logs: Sequence[Inspection]) -> str:
    """Return the comparison as one HTML page without external requests."""
    parts = [_header(compared), *_tables(compared), *_options(compared)]
    logs = [replace(log, name=name) for log, name in zip(logs, short_names(logs), strict=True)]
    return assembled(headline(compared), [*parts, *folded_logs(logs)])


def _header(compared: Compared) -> Html:
    sides = (("before", compared.before), ("after", compared.after))
    texts = [benchmark_text(benchmark) for benchmark in compared.benchmarks]
    notes = [*difference_lines(compared), *further_lines(compared), *compared.notes]
    if (spread := spread_note(compared)) is not None:
        notes.append(spread)
    return element(
        "header",
        *(element("p", side_text(word, side), class_="topic") for word, side in sides),
        element("h1", unbroken(headline(compared))),
        *(element("p", note) for note in notes),
        items(texts) if len(texts) > 1 else "",
    )


def _tables(compared: Compared) -> Iterator[Html]:
    for benchmark in compared.benchmarks:
        yield section(
            f"Benchmark {benchmark.name}",
            benchmark_text(benchmark),
            table(benchmark.name, METRIC_HEADS, benchmark_rows(benchmark), fold=False),
        )
    rows = [*workload_rows(compared)]
    rows += [metric_row(name, judged) for name, judged in compared.store_metrics.items()]
    if rows:
        title = "Workload and totals"
        yield section("Store", title, table(title, METRIC_HEADS, rows, fold=False))


def _options(compared: Compared) -> Iterator[Html]:
    rows, notes = option_rows(compared), list(option_notes(compared))
    if not rows and not notes:
        return
    heads = ("option", "before", "after")
    shown = [(code(name), before, after) for name, before, after in rows]
    yield section(
        "Options",
        options_title(compared),
        table("Options that differ", heads, shown) if shown else "",
        *(element("p", note) for note in notes),
    )
