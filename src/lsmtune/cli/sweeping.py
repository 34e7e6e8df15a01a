"""The work of `lsmtune sweep`; a module of its own so that `--help` is quick."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lsmtune.analysis.ground import study_catalogue
from lsmtune.analysis.swept import Cell, Swept
from lsmtune.analysis.swept_words import answers, library_lines, rows
from lsmtune.cli.baseline import baseline_lines
from lsmtune.cli.choosing import name_rocksdb
from lsmtune.cli.common import note
from lsmtune.cli.consent import own_study_file
from lsmtune.cli.tables import Column, csv_text, facts_lines, paragraph, table_lines
from lsmtune.cli.tuning import described, flag_names, opened_for_runs
from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.experiment import Sweep
from lsmtune.recipes.experiment import Experiment, finish
from lsmtune.report.swept_page import render_swept
from lsmtune.report.words import Ratio, metric_value
from lsmtune.spec import StudySpec, make_spec
from lsmtune.spec_defaults import NO_MEMORY_LIMIT, WITHOUT_SEARCH, with_first_version
from lsmtune.store.home import Home
from lsmtune.studies.study import Study
from lsmtune.studies.sweep import BASE_EVERY
from lsmtune.trials import Base

_OF_SEARCHES = (
    "knobs", "objective", "limits", "optimizer", "warm_start", "trials", "budget", "until",
    "early_stop", "base_runs", "finalists", "repeats", "pairs", "max_pairs", "screen",
)  # fmt: skip


def read_experiment(
    path: Path,
    system: Mapping[str, str | None],
    home: Path,
    tell: Callable[[str], None],
) -> StudySpec:
    """Return the settings of an experiment file; UserError for its mistakes.

    `system` has the flags that name a RocksDB, see `name_rocksdb`.
    """
    given = own_study_file(path)
    if not isinstance(given.get("sweep"), dict):
        raise UserError(f"{path}: the table [sweep] is missing; add [sweep] with factors")
    for key in _OF_SEARCHES:
        if key in given:
            raise UserError(
                f"{path}: {key}: not allowed with [sweep], because `lsmtune sweep` measures all "
                f"combinations; remove {key}"
            )
    table = given["sweep"]
    settings = {
        "study": path.stem, "scale": "1", "memory": NO_MEMORY_LIMIT, **given,
        **WITHOUT_SEARCH, "knobs": ",".join(_names(table)),
    }  # fmt: skip
    settings = with_first_version(settings)
    name_rocksdb(settings, system, home, tell)
    return make_spec(settings, str(path), flag_names(system))


def _names(table: dict[str, object]) -> list[str]:
    """The knobs that the table names; mistakes are found later, with the rest."""
    factors, fixed = table.get("factors"), table.get("fixed")
    found = [*fixed] if isinstance(fixed, dict) else []
    if isinstance(factors, dict):
        found += [name for knobs in factors.values() if isinstance(knobs, dict) for name in knobs]
    return list(dict.fromkeys(found))


def _experiment(spec: StudySpec) -> Sweep:
    if spec.sweep is None:
        raise LsmtuneError(
            "sweep: the study file has no table [sweep]; add [sweep] to the study file"
        )
    return spec.sweep


def planned(spec: StudySpec) -> Iterator[str]:
    """Give the lines of the plan."""
    experiment = _experiment(spec)
    catalogue = study_catalogue(spec)
    rows = [
        (factor, ", ".join(experiment.factors[factor]), ", ".join(levels))
        for factor, levels in experiment.level_names(catalogue).items()
    ]
    yield from table_lines([Column("factor"), Column("knobs"), Column("levels")], rows)
    cells = experiment.cell_count
    bases = -(-cells // BASE_EVERY)
    records = f", {spec.workload.num:,} records" if spec.workload.preset.has("num") else ""
    fixed = ", ".join(f"{k} = {v}" for k, v in experiment.fixed.items()) or "nothing"
    total = experiment.repeats * (cells + bases)
    yield ""
    yield from facts_lines(
        [
            ("fixed", fixed),
            (
                "blocks of runs",
                f"{experiment.repeats}, each with one run per combination ({cells}) and {bases} "
                "runs of the baseline",
            ),
            ("total", f"{total} runs of {spec.workload.name}{records}"),
        ]
    )


def remarks(base: Base) -> Iterator[str]:
    """Give the remarks about the baselines of the versions that an experiment compares."""
    for version, one in base.versions.items():
        yield from (f"RocksDB {version}: {line}" for line in baseline_lines(one, verbose=False))


def run_sweep(spec: StudySpec, home_path: Path, *, accept_noise: bool = False) -> Swept:
    """Run the missing runs of the experiment and return its result."""
    engine = engine_of(spec)
    found = described(spec, engine)
    for remark in remarks(found[1].base):
        note(remark)
    with (
        Home(home_path, create=True) as home,
        opened_for_runs(home, spec, engine, found, accept_noise=accept_noise) as study,
    ):
        return finished(study).swept


def finished(study: Study) -> Experiment:
    """Run what is missing of an experiment and return its results; say if nothing is missing."""
    before = len(study.trials())
    found = finish(study)
    if len(study.trials()) == before:
        note(f"study {study.spec.name}: all runs are done; this is the result")
    return found


def files(
    swept: Swept, csv_path: Path | None, markdown: Path | None, page: Path | None
) -> Iterator[tuple[Path, str, str]]:
    """Give the requested files: path, text and kind."""
    if csv_path is not None:
        yield csv_path, csv_text(*rows(swept)), "table"
    if markdown is not None:
        yield markdown, _markdown(swept), "table"
    if page is not None:
        yield page, render_swept(swept), "page"


def _markdown(swept: Swept) -> str:
    heads, found = rows(swept)
    lines = [heads, ["---"] * len(heads), *found]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def lines(swept: Swept) -> Iterator[str]:
    """Give the result as text: sentences and a table per metric."""
    failed = f", {swept.failed} failed" if swept.failed else ""
    yield f"{swept.name}: {swept.runs} runs in {swept.blocks} blocks of runs{failed}"
    yield from library_lines(swept)
    for warning in swept.warnings:
        yield from paragraph(f"note: {warning}", hanging=2)
    for metric in swept.metrics:
        yield ""
        for sentence in answers(swept, metric):
            yield from paragraph(sentence, hanging=2)
        cells = [_row(cell, metric.metric) for cell in (metric.base, *metric.cells)]
        columns = [
            Column("cell", at_least=20), Column(metric.metric, right=True),
            Column("95 % interval", at_least=12, drop=1),
            Column("ratio to baseline", at_least=18),
        ]  # fmt: skip
        yield from table_lines(columns, cells, indent=2)


def _row(cell: Cell, metric: str) -> tuple[str, str, str, str]:
    """The name, the mean with its interval, and the ratio to the baseline with its own."""
    interval = ratio = ""
    if cell.interval is not None:
        low, high = (metric_value(metric, x) for x in (cell.interval.low, cell.interval.high))
        interval = f"{low} to {high}"
    if cell.ratio is not None:
        ratio = str(Ratio.of(cell.ratio))
    return " / ".join(cell.levels) or "baseline", metric_value(metric, cell.mean), interval, ratio
