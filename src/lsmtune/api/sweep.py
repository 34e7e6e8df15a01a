"""Measure every combination of listed knob values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.analysis.experiment_runs import Experiment, finish
from lsmtune.analysis.read_study import view_of
from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Swept
from lsmtune.api.arguments import PATH, check
from lsmtune.api.on_hosts import OnHosts, opened_hosts, session_on
from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError
from lsmtune.experiment import Sweep
from lsmtune.progress import Observer
from lsmtune.report.csv_text import csv_text, markdown_table
from lsmtune.report.swept_page import render_swept
from lsmtune.report.text.baseline_text import baseline_lines
from lsmtune.report.text.swept_words import rows, swept_document
from lsmtune.report.text.words import counted
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.opening import prepare
from lsmtune.study.record import study_catalogue
from lsmtune.study.session import Session
from lsmtune.study.sweep import BASE_EVERY
from lsmtune.system.write import write_file
from lsmtune.trials import Base
from lsmtune.workloads import Workload

__all__ = ["StudyView", "Swept"]


@dataclass(frozen=True, slots=True, repr=False)
class SweepResult:
    """The result of an experiment.

    `swept` has the effects of the factors, and `view` the runs of the study.
    """

    swept: Swept
    view: StudyView

    def __repr__(self) -> str:
        """Return study and number of runs; all effects would be pages of text."""
        return f"<lsmtune.SweepResult of study {self.study!r}: {counted(self.swept.runs, 'run')}>"

    @property
    def study(self) -> str:
        """The name of the study."""
        return self.view.name

    def document(self) -> dict[str, Any]:
        """Return the experiment as `lsmtune sweep --json` prints it."""
        return swept_document(self.swept)

    def csv(self, path: str | Path | None = None) -> str:
        """Return the table of the experiment as CSV; write it to `path`."""
        return _written(csv_text(*rows(self.swept)), path, "table")

    def markdown(self, path: str | Path | None = None) -> str:
        """Return the table of the experiment as Markdown; write it to `path`."""
        return _written(markdown_table(*rows(self.swept)), path, "table")

    def page(self, path: str | Path | None = None) -> str:
        """Return the HTML page of the experiment; write it to `path`."""
        return _written(render_swept(self.swept, self.view), path, "page")


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """An experiment before its first run: its table, the levels of its factors, its runs.

    `base_runs` is the number of runs of the baseline per repeat.
    """

    experiment: Sweep
    levels: Mapping[str, tuple[str, ...]]
    base_runs: int
    workload: Workload

    @property
    def runs(self) -> int:
        """The number of all runs."""
        return self.experiment.repeats * (self.experiment.cell_count + self.base_runs)


def experiment_of(spec: StudySettings) -> Sweep:
    """Return the table [sweep] of the settings; LsmtuneError if there is none."""
    if spec.sweep is None:
        raise LsmtuneError(
            "sweep: the study file has no table [sweep]; add [sweep] to the study file"
        )
    return spec.sweep


def sweep(
    spec: StudySettings,
    home_path: Path,
    observer: Observer | None = None,
    *,
    accept_noise: bool = False,
    hosts: OnHosts | None = None,
) -> SweepResult:
    """Run the missing runs of the experiment; return its result and its stored study.

    With `hosts`, runs go to them.
    """
    observer = observer or Observer()
    prepared = prepare(spec, home_path, observer)
    for remark in version_remarks(prepared.ground.base):
        observer.remark(remark)
    with (
        opened_hosts(hosts, prepared.engine, observer) as used,
        Home(home_path, create=True) as home,
        session_on(used, home, prepared, observer, accept_noise=accept_noise) as study,
    ):
        swept = finished(study, observer).swept
        return SweepResult(swept, view_of(home, study.record))


def write_files(
    found: SweepResult, *, csv: Path | None, markdown: Path | None, page: Path | None
) -> Iterator[tuple[str, Path]]:
    """Write the requested files one by one; yield kind and path of each."""
    if csv is not None:
        found.csv(csv)
        yield "table", csv
    if markdown is not None:
        found.markdown(markdown)
        yield "table", markdown
    if page is not None:
        found.page(page)
        yield "page", page


def _written(text: str, path: str | Path | None, what: str) -> str:
    """Return the text, and write it to the path, if there is one."""
    check(PATH, path=path)
    if path is not None:
        write_file(Path(path), text, what)
    return text


def plan(spec: StudySettings) -> SweepPlan:
    """Return what `sweep` would run; UserError if a version of RocksDB is not installed."""
    engine_of(spec)
    experiment = experiment_of(spec)
    levels = experiment.level_names(study_catalogue(spec))
    base_runs = -(-experiment.cell_count // BASE_EVERY)
    return SweepPlan(experiment, levels, base_runs, spec.workload)


def version_remarks(base: Base) -> Iterator[str]:
    """Give the remarks about the baselines of the versions that an experiment compares."""
    for version, one in base.versions.items():
        yield from (f"RocksDB {version}: {line}" for line in baseline_lines(one, verbose=False))


def finished(study: Session, observer: Observer) -> Experiment:
    """Run what is missing of an experiment and return its results; say if nothing is missing."""
    before = len(study.trials())
    found = finish(study)
    if len(study.trials()) == before:
        observer.remark(f"study {study.spec.name}: all runs are done; this is the result")
    return found
