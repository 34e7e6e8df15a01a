"""The work of `lsmtune verify --rocksdb`: winner and baseline on several versions of RocksDB."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsmtune.analysis.ground import stored_ground
from lsmtune.analysis.read_study import check_searches, read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Swept
from lsmtune.analysis.swept_words import swept_document
from lsmtune.analysis.upgrade import Upgrade, compare_versions, upgrade_answers, upgrade_document
from lsmtune.analysis.upgrade_plan import upgrade_spec
from lsmtune.cli import sweeping
from lsmtune.cli.common import note
from lsmtune.cli.describing import described
from lsmtune.cli.tables import paragraph
from lsmtune.cli.tuning import opened_for_runs
from lsmtune.engines.base import EngineFacts
from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.report.swept_page import render_swept, upgrade_section
from lsmtune.report.words import listed
from lsmtune.spec import Ground, StudySpec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.studies.same_system import check_same_system
from lsmtune.studies.verify import no_winner
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.system.write import write_file


@dataclass(frozen=True, slots=True)
class Upgraded:
    """The winner of the study `of` (a trial number) compared on several versions.

    `view` is the stored study of the comparison.
    """

    of: str
    trial: int
    upgrade: Upgrade
    swept: Swept
    view: StudyView

    def document(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        own = {"study": self.of, "trial": self.trial}
        return {**own, **upgrade_document(self.upgrade), "experiment": swept_document(self.swept)}

    def lines(self) -> Iterator[str]:
        """Give the answers, then the experiment as text."""
        for metric in self.upgrade.metrics:
            for sentence in upgrade_answers(self.upgrade, metric):
                yield from paragraph(sentence, hanging=2)
        yield ""
        yield from sweeping.lines(self.swept, self.view)


def run_upgrade(
    home: Home,
    name: str,
    trial: int | None,
    versions: Sequence[str],
    tell: Callable[[str], None],
    *,
    accept_noise: bool,
) -> Upgraded:
    """Run what is missing of the experiment NAME-versions, write its page, return its result.

    `trial` is the number of a trial to use instead of the winner. UserError before the first run
    if a version is not installed or lacks a knob of the winner, or if the study has no winner.
    """
    spec, winner = _planned(home, name, trial, versions)
    table = spec.sweep
    if table is None:
        raise LsmtuneError(f"study {spec.name}: the table [sweep] is missing")
    _check_is_the_same(home, spec)
    engine = engine_of(spec)
    found = described(spec, engine, home.study(name).rule)
    _check_same_baseline(home.study(name), spec, home, *found)
    for remark in sweeping.remarks(found[1].base):
        note(remark)
    with opened_for_runs(home, spec, engine, found, accept_noise=accept_noise) as study:
        result = sweeping.finished(study)
        view = read_study(home, spec.name)
    upgrade = compare_versions(table, result.outcome.runs)
    page = home.path / "results" / spec.name / "report.html"
    title = f"Study {name}: winner and baseline on RocksDB {listed(list(table.versions))}"
    text = render_swept(result.swept, view, title, upgrade_section(upgrade))
    write_file(page, text, "page", home.path)
    tell(f"page:            {page}")
    return Upgraded(name, winner, upgrade, result.swept, view)


def _planned(
    home: Home, name: str, trial: int | None, versions: Sequence[str]
) -> tuple[StudySpec, int]:
    """Return the settings of the experiment, and the number of the winner's trial."""
    check_searches(home.study(name).settings)
    view = read_study(home, name, trial)
    if view.best_trial is None:
        raise no_winner(name)
    number = view.best_trial.number
    spec, ground = stored_ground(home, name)
    config = next(t.config for t in home.trials(home.study(name)) if t.number == number)
    return upgrade_spec(spec, ground, config, versions, view.objective), number


def _check_is_the_same(home: Home, spec: StudySpec) -> None:
    """Raise UserError if an earlier call compared other versions or another winner."""
    stored = home.find_study(spec.name)
    if stored is not None and spec.changed_since(stored.settings):
        raise UserError(
            f"study {spec.name!r} exists and compares other versions or another winner; rename it "
            f"with `lsmtune rename {spec.name} NEW`, or delete it with `lsmtune delete "
            f"{spec.name}`"
        )


def _check_same_baseline(
    stored: StoredStudy, spec: StudySpec, home: Home, facts: EngineFacts, ground: Ground
) -> None:
    """Raise UserError if the study ran on another system, or on another baseline."""
    check_same_system(stored, spec, facts, describe_host(), describe_storage(home.path))
    before = stored.base.settings if stored.base is not None else {}
    now = ground.base.settings
    changed = [name for name, value in before.items() if now.get(name) != value]
    if changed:
        restore = "" if spec.base is None else f"; restore the file {spec.base}"
        raise UserError(
            f"base: {changed[0]} was {before[changed[0]]} when study {stored.name!r} began and is "
            f"now {now.get(changed[0])}{restore}"
        )
