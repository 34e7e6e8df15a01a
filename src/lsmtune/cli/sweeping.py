"""The work of `lsmtune sweep`; a module of its own so that `--help` is quick."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lsmtune.analysis.ground import study_catalogue
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Cell, Swept
from lsmtune.analysis.swept_words import TOO_FEW_FLUSHES, answers, library_lines, mean_word, rows
from lsmtune.api.consent import own_study_file
from lsmtune.api.rocksdb_version import name_rocksdb
from lsmtune.cli.common import note
from lsmtune.cli.describing import described, fitted, rule_of
from lsmtune.cli.tables import Column, csv_text, facts_lines, paragraph, table_lines
from lsmtune.cli.tuning import flag_names, opened_for_runs
from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.experiment import Sweep
from lsmtune.recipes.experiment import Experiment, finish
from lsmtune.report.baseline_text import baseline_lines
from lsmtune.report.swept_page import render_swept
from lsmtune.report.words import Ratio, counted, metric_value
from lsmtune.spec import StudySpec, make_spec
from lsmtune.spec_defaults import NO_MEMORY_LIMIT, WITHOUT_SEARCH, with_first_version
from lsmtune.store.home import Home
from lsmtune.store.records import machine_text
from lsmtune.studies.study import Study
from lsmtune.studies.sweep import BASE_EVERY
from lsmtune.trials import Base
from lsmtune.workloads import Workload

_OF_SEARCHES = (
    "knobs", "objective", "limits", "optimizer", "warm_start", "trials", "budget", "until",
    "early_stop", "base_runs", "finalists", "repeats", "simplify", "pairs", "max_pairs", "screen",
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


def remarks(base: Base) -> Iterator[str]:
    """Give the remarks about the baselines of the versions that an experiment compares."""
    for version, one in base.versions.items():
        yield from (f"RocksDB {version}: {line}" for line in baseline_lines(one, verbose=False))


def run_sweep(
    spec: StudySpec, home_path: Path, *, accept_noise: bool = False
) -> tuple[Swept, StudyView]:
    """Run the missing runs of the experiment; return its result and its stored study."""
    engine = engine_of(spec)
    found = described(spec, engine, rule_of(spec, home_path))
    spec = fitted(spec, found[1], note)
    for remark in remarks(found[1].base):
        note(remark)
    with (
        Home(home_path, create=True) as home,
        opened_for_runs(home, spec, engine, found, accept_noise=accept_noise) as study,
    ):
        return finished(study).swept, read_study(home, spec.name)


def finished(study: Study) -> Experiment:
    """Run what is missing of an experiment and return its results; say if nothing is missing."""
    before = len(study.trials())
    found = finish(study)
    if len(study.trials()) == before:
        note(f"study {study.spec.name}: all runs are done; this is the result")
    return found


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
