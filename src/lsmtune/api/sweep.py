"""Measure every combination of listed knob values."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsmtune.analysis.experiment_runs import Experiment, finish
from lsmtune.analysis.read_study import view_of
from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Swept
from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError
from lsmtune.experiment import Sweep
from lsmtune.report.baseline_text import baseline_lines
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.host_checks import check_space, remark_busy
from lsmtune.study.observer import Observer
from lsmtune.study.opening import open_session, prepare
from lsmtune.study.session import Session
from lsmtune.trials import Base


@dataclass(frozen=True, slots=True)
class SweptStudy:
    """The result of an experiment, and its stored study."""

    swept: Swept
    view: StudyView


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
) -> SweptStudy:
    """Run the missing runs of the experiment; return its result and its stored study."""
    observer = observer or Observer()
    prepared = prepare(spec, home_path, observer)
    for remark in version_remarks(prepared.ground.base):
        observer.remark(remark)
    with Home(home_path, create=True) as home:
        check_space(prepared.spec, home)
        with open_session(home, prepared, observer, accept_noise=accept_noise) as study:
            remark_busy(study.spec, observer, accept_noise=accept_noise)
            swept = finished(study, observer).swept
            return SweptStudy(swept, view_of(home, study.record))


def check_installed(spec: StudySettings) -> None:
    """Raise UserError if a version of RocksDB in the experiment is not installed."""
    engine_of(spec)


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
