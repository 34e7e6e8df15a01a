"""Winner and baseline on several versions of RocksDB."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import check_searches, view_of
from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Swept
from lsmtune.analysis.upgrade import Upgrade, compare_versions
from lsmtune.analysis.upgrade_plan import upgrade_spec
from lsmtune.api.consent import Consent, ask_for_home, nobody_to_ask
from lsmtune.api.sweep import experiment_of, finished, version_remarks
from lsmtune.engines.base import EngineFacts
from lsmtune.errors import UserError
from lsmtune.progress import Observer
from lsmtune.report.swept_page import render_swept, upgrade_section
from lsmtune.report.text.swept_words import swept_document, upgrade_document
from lsmtune.report.text.words import listed
from lsmtune.spec import Ground, StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.study.host_checks import check_space, remark_busy
from lsmtune.study.opening import open_session, prepare
from lsmtune.study.record import read_record
from lsmtune.study.same_system import check_same_system
from lsmtune.study.verify import no_winner
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.system.write import write_file


@dataclass(frozen=True, slots=True)
class Upgraded:
    """The winner of the study `of` (a trial number) compared on several versions.

    `view` is the stored study of the comparison, and `page` the file of its page.
    """

    of: str
    trial: int
    upgrade: Upgrade
    swept: Swept
    view: StudyView
    page: Path

    def document(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        own = {"study": self.of, "trial": self.trial}
        return {**own, **upgrade_document(self.upgrade), "experiment": swept_document(self.swept)}


def compare_winner(
    home_path: Path,
    study: str,
    versions: Sequence[str],
    observer: Observer | None = None,
    *,
    trial: int | None = None,
    consent: Consent = nobody_to_ask,
    accept_noise: bool = False,
) -> Upgraded:
    """Run what is missing of the experiment NAME-versions, write its page, return its result.

    `trial` is the number of a trial to use instead of the winner. UserError before the first run
    if a version is not installed or lacks a knob of the winner, or if the study has no winner.
    """
    observer = observer or Observer()
    with Home(home_path, create=False) as home:
        ask_for_home(home.path, home.study(study).settings.model_dump(), consent)
        return _compared(home, study, versions, observer, trial, accept_noise=accept_noise)


def _compared(
    home: Home,
    name: str,
    versions: Sequence[str],
    observer: Observer,
    trial: int | None,
    *,
    accept_noise: bool,
) -> Upgraded:
    spec, winner = _planned(home, name, trial, versions)
    table = experiment_of(spec)
    _check_is_the_same(home, spec)
    prepared = prepare(spec, home.path, observer, source_rule=name)
    _check_same_baseline(home.study(name), spec, home, prepared.facts, prepared.ground)
    for remark in version_remarks(prepared.ground.base):
        observer.remark(remark)
    check_space(spec, home)
    with open_session(home, prepared, observer, accept_noise=accept_noise) as session:
        remark_busy(spec, observer, accept_noise=accept_noise)
        result = finished(session, observer)
        view = view_of(home, session.record)
    upgrade = compare_versions(table, result.outcome.runs)
    page = home.path / "results" / spec.name / "report.html"
    title = f"Study {name}: winner and baseline on RocksDB {listed(list(table.versions))}"
    text = render_swept(result.swept, view, title, upgrade_section(upgrade))
    write_file(page, text, "page", home.path)
    return Upgraded(name, winner, upgrade, result.swept, view, page)


def _planned(
    home: Home, name: str, trial: int | None, versions: Sequence[str]
) -> tuple[StudySettings, int]:
    """Return the settings of the experiment, and the number of the winner's trial."""
    record = read_record(home, name)
    check_searches(record.spec)
    view = view_of(home, record, trial)
    if view.best_trial is None:
        raise no_winner(name)
    number = view.best_trial.number
    config = next(t.config for t in record.history.runs if t.number == number)
    rate = record.stored.rate
    return upgrade_spec(record.spaces, config, versions, view.objective, rate), number


def _check_is_the_same(home: Home, spec: StudySettings) -> None:
    """Raise UserError if an earlier call compared other versions or another winner."""
    stored = home.find_study(spec.name)
    if stored is not None and spec.changed_since(stored.settings):
        raise UserError(
            f"study {spec.name!r} exists and compares other versions or another winner; rename it "
            f"with `lsmtune rename {spec.name} NEW`, or delete it with `lsmtune delete "
            f"{spec.name}`"
        )


def _check_same_baseline(
    stored: StoredStudy, spec: StudySettings, home: Home, facts: EngineFacts, ground: Ground
) -> None:
    """Raise UserError if the study ran on another system, or on another baseline."""
    check_same_system(stored, spec, facts, describe_host(), describe_storage(home.path))
    before = stored.engine.base.settings
    now = ground.base.settings
    changed = [name for name, value in before.items() if now.get(name) != value]
    if changed:
        restore = "" if spec.base is None else f"; restore the file {spec.base}"
        raise UserError(
            f"base: {changed[0]} was {before[changed[0]]} when study {stored.name!r} began and is "
            f"now {now.get(changed[0])}{restore}"
        )
