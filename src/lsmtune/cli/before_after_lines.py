"""The comparison of `lsmtune inspect --compare` as text."""

from collections.abc import Iterator, Sequence

from lsmtune.api.inspect_compared import Compared
from lsmtune.cli.tables import Column, paragraph, table_lines
from lsmtune.report.text.compared_words import (
    METRIC_HEADS,
    Row,
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
from lsmtune.report.text.words import counted

MOST_OPTION_ROWS = 20
_INTERVAL = METRIC_HEADS.index("95 % interval")


def compared_lines(
    compared: Compared, most_options: int | None = MOST_OPTION_ROWS
) -> Iterator[str]:
    """Give the comparison as text: other loads first, then the verdict, the files and the tables.

    At most `most_options` of the options that differ are listed; None lists all.
    """
    for line in difference_lines(compared):
        yield from paragraph(line)
    if compared.has_measurements:
        yield from _verdict(compared)
        yield ""
    for word, side in (("before", compared.before), ("after", compared.after)):
        yield from paragraph(side_text(word, side), hanging=2)
    for line in further_lines(compared):
        yield from paragraph(line)
    for note in compared.notes:
        yield from paragraph(f"note: {note}", hanging=2)
    if compared.has_measurements:
        yield from _measurements(compared)
    yield from _options(compared, most_options)


def _verdict(compared: Compared) -> Iterator[str]:
    if not compared.benchmarks:
        yield from paragraph(f"{headline(compared)}.")
    for benchmark in compared.benchmarks:
        yield from paragraph(benchmark_text(benchmark), hanging=2)
    if (note := spread_note(compared)) is not None:
        yield from paragraph(note)


def _measurements(compared: Compared) -> Iterator[str]:
    rows = [
        (benchmark.name, *row)
        for benchmark in compared.benchmarks
        for row in benchmark_rows(benchmark)
    ]
    if rows:
        yield ""
        yield from _table(rows, "benchmark")
    of_store = [*workload_rows(compared)]
    of_store += [metric_row(name, judged) for name, judged in compared.store_metrics.items()]
    if of_store:
        yield ""
        yield from _table(of_store)
    if any(judged.verdict == "depends_on_program" for judged in compared.metrics.values()):
        yield from paragraph(
            "depends on program: the program may have written less or more, because the share of "
            "stalls did not change in the same way."
        )


def _table(rows: Sequence[Row], first: str = "") -> list[str]:
    """Return a table of metrics, without the interval if no row has one."""
    heads = [first, *METRIC_HEADS] if first else [*METRIC_HEADS]
    at_interval = _INTERVAL + bool(first)
    kept = [at for at in range(len(heads)) if at != at_interval or any(row[at] for row in rows)]
    texts = ("benchmark", "metric", "verdict")
    columns = [Column(heads[at], right=heads[at] not in texts) for at in kept]
    return table_lines(columns, [[row[at] for at in kept] for row in rows])


def _options(compared: Compared, most: int | None) -> Iterator[str]:
    rows, notes = option_rows(compared), list(option_notes(compared))
    if not rows and not notes and compared.has_measurements:
        return
    yield ""
    yield f"{options_title(compared)}{':' if rows else '.'}"
    if rows:
        heads = (Column("option", at_least=24), Column("before"), Column("after"))
        yield from table_lines(heads, rows[:most], indent=2)
    if most is not None and len(rows) > most:
        yield f"{counted(len(rows) - most, 'more option')} differ; --verbose lists all"
    for note in notes:
        yield from paragraph(note)
