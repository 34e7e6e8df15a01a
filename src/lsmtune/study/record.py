"""A stored study as it is read: settings, baseline, knob spaces and runs, each read once."""

from dataclasses import dataclass

from lsmtune.experiment import with_versions
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Config
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import Ground, StudySettings, catalogue_of
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.study.history import History, study_objective
from lsmtune.system.host import describe_host


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A stored study: its row, its settings, its runs, and its knob spaces on this host."""

    stored: StoredStudy
    spec: StudySettings
    history: History
    spaces: KnobSpaces

    @property
    def ground(self) -> Ground:
        """The context of the study's knobs."""
        return self.spaces.ground


def read_record(home: Home, name: str) -> StudyRecord:
    """Read a stored study; UserError if it does not exist or is damaged."""
    stored = home.study(name)
    spec = stored.settings
    history = read_history(home, stored, spec)
    return StudyRecord(stored, spec, history, stored_spaces(stored, spec))


def read_history(
    home: Home, stored: StoredStudy, spec: StudySettings, start: Config | None = None
) -> History:
    """Read the runs of a study; a search needs its `start`, the config of the baseline."""
    history = History(spec, study_objective(stored, spec), start)
    history.add(home.trials(stored))
    history.verifications = home.verifications(stored)
    history.simplified = stored.simplified
    return history


def stored_spaces(stored: StoredStudy, spec: StudySettings) -> KnobSpaces:
    """Return the knob spaces of a stored study on this host."""
    files = describe_host().max_open_files
    return KnobSpaces(spec, Ground(study_catalogue(spec), stored.engine.base, files, stored.rule))


def study_catalogue(spec: StudySettings) -> Catalogue:
    """Return the knobs of the study's engine; with several versions, the version is a knob."""
    return with_versions(catalogue_of(spec.engine, spec.workload), spec.versions)
