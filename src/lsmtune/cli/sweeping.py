"""The plan and the result of `lsmtune sweep` as text and as files."""

from collections.abc import Iterator
from pathlib import Path

from lsmtune.analysis.ground import study_catalogue
from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Cell, Swept
from lsmtune.api.sweep import experiment_of
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines
from lsmtune.report.csv_text import csv_text
from lsmtune.report.swept_page import render_swept
from lsmtune.report.text.swept_words import TOO_FEW_FLUSHES, answers, library_lines, mean_word, rows
from lsmtune.report.text.words import Ratio, counted, metric_value
from lsmtune.spec import StudySettings
from lsmtune.store.records import machine_text
from lsmtune.study.sweep import BASE_EVERY
from lsmtune.workloads import Workload


def planned(spec: StudySettings) -> Iterator[str]:
    """Give the lines of the plan."""
    experiment = experiment_of(spec)
    catalogue = study_catalogue(spec)
    rows = [
        (factor, ", ".join(experiment.factors[factor]), ", ".join(levels))
        for factor, levels in experiment.level_names(catalogue).items()
    ]
    yield from table_lines([Column("factor"), Column("knobs"), Column("levels")], rows)
    cells = experiment.cell_count
    bases = -(-cells // BASE_EVERY)
    fixed = ", ".join(f"{k} = {v}" for k, v in experiment.fixed.items()) or "nothing"
    total = experiment.repeats * (cells + bases)
    yield ""
    yield from facts_lines(
        [
            ("fixed", fixed),
            (
                "repeats",
                f"{experiment.repeats}, each with one run per combination ({cells}) and "
                f"{counted(bases, 'run')} of the baseline",
            ),
            ("total", f"{total} runs of {_load(spec.workload)}"),
        ]
    )


def _load(workload: Workload) -> str:
    """Return name and size of the workload."""
    records = f", {workload.num:,} records" if workload.preset.has("num") else ""
    return f"{workload.name}{records}"


def files(
    swept: Swept,
    view: StudyView,
    csv_path: Path | None,
    markdown: Path | None,
    page: Path | None,
) -> Iterator[tuple[Path, str, str]]:
    """Give the requested files: path, text and kind."""
    if csv_path is not None:
        yield csv_path, csv_text(*rows(swept)), "table"
    if markdown is not None:
        yield markdown, _markdown(swept), "table"
    if page is not None:
        yield page, render_swept(swept, view), "page"


def _markdown(swept: Swept) -> str:
    heads, found = rows(swept)
    lines = [heads, ["---"] * len(heads), *found]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def lines(swept: Swept, view: StudyView) -> Iterator[str]:
    """Give the result as text: what ran, then sentences and a table per metric."""
    failed = f", {swept.failed} failed" if swept.failed else ""
    yield f"{swept.name}: {swept.runs} runs, {swept.blocks} repeats{failed}"
    yield f"workload: {_load(view.workload)}, scale {view.scale}"
    yield f"machine: {machine_text(view.host)}"
    yield from (
        library_lines(swept)
        if swept.libraries
        else [f"engine: {view.engine} {view.engine_version}"]
    )
    for warning in swept.warnings:
        yield from paragraph(f"note: {warning}", hanging=2)
    for metric in swept.metrics:
        yield ""
        for sentence in answers(swept, metric):
            yield from paragraph(sentence, hanging=2)
        yield f"  {mean_word(metric)} of the runs:"
        cells = [_row(cell, metric.metric) for cell in (metric.base, *metric.cells)]
        columns = [
            Column(" / ".join(swept.factors), at_least=20), Column(metric.metric, right=True),
            Column("95 % interval", at_least=12, drop=1),
            Column("ratio to baseline", at_least=18),
        ]  # fmt: skip
        yield from table_lines(columns, cells, indent=2)


def _row(cell: Cell, metric: str) -> tuple[str, str, str, str]:
    """The name, the mean with its interval, and the ratio to the baseline with its own."""
    name = " / ".join(cell.levels) or "baseline"
    if cell.few_flushes:
        return name, TOO_FEW_FLUSHES, "", ""
    interval = ratio = ""
    if cell.interval is not None:
        low, high = (metric_value(metric, x) for x in (cell.interval.low, cell.interval.high))
        interval = f"{low} to {high}"
    if cell.ratio is not None:
        ratio = str(Ratio.of(cell.ratio))
    return name, metric_value(metric, cell.mean), interval, ratio
