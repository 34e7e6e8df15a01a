"""A stored study as it is read: settings, baseline, knob spaces and runs, each read once."""

from dataclasses import dataclass

from lsmtune.errors import LsmtuneError
from lsmtune.experiment import with_versions
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import Ground, StudySettings, catalogue_of
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.study.history import History, study_objective
from lsmtune.system.host import describe_host


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """A stored study: its row, its settings, its runs, and its knob spaces on this host.

    `spaces` is None if an older version of lsmtune stored no baseline.
    """

    stored: StoredStudy
    spec: StudySettings
    history: History
    spaces: KnobSpaces | None

    @property
    def ground(self) -> Ground:
        """The context of the study's knobs; LsmtuneError if the study has no baseline."""
        return self.known_spaces.ground

    @property
    def known_spaces(self) -> KnobSpaces:
        """The knob spaces; LsmtuneError if the study has no baseline."""
        if self.spaces is None:
            raise LsmtuneError(
                f"study {self.stored.name!r}: an older version of lsmtune made this study and "
                "stored no baseline. Run the `lsmtune tune` command of the study again"
            )
        return self.spaces


def read_record(home: Home, name: str) -> StudyRecord:
    """Read a stored study; UserError if it does not exist or is damaged."""
    stored = home.study(name)
    spec = stored.settings
    history = History(spec, study_objective(stored, spec))
    history.add(home.trials(stored))
    history.verifications = home.verifications(stored)
    history.simplified = stored.simplified
    return StudyRecord(stored, spec, history, stored_spaces(stored, spec))


def stored_spaces(stored: StoredStudy, spec: StudySettings) -> KnobSpaces | None:
    """Return the knob spaces of a stored study on this host; None if it has no baseline."""
    if (base := stored.base) is None:
        return None
    files = describe_host().max_open_files
    return KnobSpaces(spec, Ground(study_catalogue(spec), base, files, stored.rule))


def study_catalogue(spec: StudySettings) -> Catalogue:
    """Return the knobs of the study's engine; with several versions, the version is a knob."""
    return with_versions(catalogue_of(spec.engine, spec.workload), spec.versions)
