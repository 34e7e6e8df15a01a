"""The work behind `lsmtune sweep`, apart from its flags so that `--help` stays quick."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from lsmtune.analysis.swept import Cell, Swept
from lsmtune.analysis.swept_words import answers, rows
from lsmtune.cli.progress import progress
from lsmtune.cli.tuning import check_space, described, name_program
from lsmtune.engines.registry import make_engine
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.experiment import Sweep
from lsmtune.recipes.experiment import finish
from lsmtune.report.swept_page import render_swept
from lsmtune.report.words import metric_value
from lsmtune.spec import StudySpec, catalogue_of, make_spec, read_study_file
from lsmtune.store.home import Home
from lsmtune.studies.study import open_study
from lsmtune.studies.sweep import BASE_EVERY

_OF_SEARCHES = (
    "knobs", "objective", "limits", "optimizer", "warm_start", "trials", "budget", "until",
    "early_stop", "base_runs", "finalists", "repeats", "pairs", "max_pairs", "screen",
)  # fmt: skip
_NO_LIMIT = "1024TiB"
"""The memory that a cell may ask for: what the experiment says is run as it stands."""


def read_experiment(path: Path, program: str | None) -> StudySpec:
    """The settings of an experiment file; UserError for what is wrong with it."""
    given = read_study_file(path)
    if not isinstance(given.get("sweep"), dict):
        raise UserError(f"{path}: an experiment needs a table [sweep] with factors")
    for key in _OF_SEARCHES:
        if key in given:
            raise UserError(f"{path}: {key} is of a search; an experiment runs all its cells")
    table = given["sweep"]
    settings = {
        "study": path.stem, "scale": "1", "memory": _NO_LIMIT, **given,
        "early_stop": False, "repeats": 0, "pairs": 0, "knobs": ",".join(_names(table)),
    }  # fmt: skip
    name_program(settings, program)
    return make_spec(settings, str(path))


def _names(table: dict[str, object]) -> list[str]:
    """The knobs that the table names; what is not as it should be is refused with the rest."""
    factors, fixed = table.get("factors"), table.get("fixed")
    found = [*fixed] if isinstance(fixed, dict) else []
    if isinstance(factors, dict):
        found += [name for knobs in factors.values() if isinstance(knobs, dict) for name in knobs]
    return list(dict.fromkeys(found))


def _experiment(spec: StudySpec) -> Sweep:
    if spec.sweep is None:
        raise LsmtuneError("this study is no controlled experiment")
    return spec.sweep


def planned(spec: StudySpec) -> Iterator[str]:
    """What would run."""
    experiment = _experiment(spec)
    catalogue = catalogue_of(spec.engine, spec.workload)
    for factor, levels in experiment.level_names(catalogue).items():
        yield f"factor {factor}: {', '.join(experiment.factors[factor])} at {', '.join(levels)}"
    cells = experiment.cell_count
    bases = -(-cells // BASE_EVERY)
    records = f", {spec.workload.num:,} records" if spec.workload.preset.has("num") else ""
    yield f"fixed: {', '.join(f'{k} = {v}' for k, v in experiment.fixed.items()) or 'nothing'}"
    yield (
        f"{experiment.repeats} blocks of {cells} cells and {bases} runs of the base: "
        f"{experiment.repeats * (cells + bases)} runs of {spec.workload.name}{records}"
    )


def run_sweep(spec: StudySpec, home_path: Path) -> Swept:
    """Run what is missing of the experiment, and say what it shows."""
    engine = make_engine(spec.engine, spec.program, spec.tikv)
    found = described(spec, engine)
    with Home(home_path, create=True) as home:
        check_space(spec, home)
        with progress(spec) as listener, open_study(home, spec, engine, listener, found) as study:
            return finish(study).swept


def files(
    swept: Swept, csv_path: Path | None, markdown: Path | None, page: Path | None
) -> Iterator[tuple[Path, str, str]]:
    """The files that were asked for: where, the text, and what it is."""
    if csv_path is not None:
        yield csv_path, _csv(swept), "table"
    if markdown is not None:
        yield markdown, _markdown(swept), "table"
    if page is not None:
        yield page, render_swept(swept), "page"


def _csv(swept: Swept) -> str:
    text = io.StringIO()
    heads, found = rows(swept)
    csv.writer(text, lineterminator="\n").writerows([heads, *found])
    return text.getvalue()


def _markdown(swept: Swept) -> str:
    heads, found = rows(swept)
    lines = [heads, ["---"] * len(heads), *found]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def lines(swept: Swept) -> Iterator[str]:
    """The experiment as text."""
    failed = f", {swept.failed} failed" if swept.failed else ""
    yield f"{swept.name}: {swept.runs} runs in {swept.blocks} blocks{failed}"
    for warning in swept.warnings:
        yield f"note: {warning}"
    for metric in swept.metrics:
        yield ""
        yield from answers(swept, metric)
        width = max((len(_name(cell)) for cell in metric.cells), default=len("base"))
        for cell in (metric.base, *metric.cells):
            yield f"  {_name(cell):{width}}  {_measured(cell, metric.metric)}"


def _name(cell: Cell) -> str:
    return " / ".join(cell.levels) or "base"


def _measured(cell: Cell, metric: str) -> str:
    """The mean with its interval, and the ratio to the base with its own."""
    text = metric_value(metric, cell.mean)
    if cell.interval is not None:
        low, high = (metric_value(metric, x) for x in (cell.interval.low, cell.interval.high))
        text += f" ({low} to {high})"
    if cell.ratio is not None:
        ratio = cell.ratio
        text += f"  {ratio.median:.3g} x ({ratio.low:.3g} to {ratio.high:.3g}) base"
    return text
