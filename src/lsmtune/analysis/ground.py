"""The context of a stored study's knobs: its catalogue, its baseline and this host."""

from lsmtune.errors import LsmtuneError
from lsmtune.experiment import with_versions
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.rule import SizeRule
from lsmtune.spec import Ground, StudySettings, catalogue_of
from lsmtune.store.home import Home
from lsmtune.system.host import describe_host
from lsmtune.trials import Base


def study_catalogue(spec: StudySettings) -> Catalogue:
    """Return the knobs of the study's engine; with several versions, the version is a knob."""
    return with_versions(catalogue_of(spec.engine, spec.workload), spec.versions)


def ground_of(spec: StudySettings, base: Base, rule: SizeRule | None) -> Ground:
    """Return the context of a study's knobs on this host."""
    return Ground(study_catalogue(spec), base, describe_host().max_open_files, rule)


def stored_ground(home: Home, name: str) -> tuple[StudySettings, Ground]:
    """Return the settings and the context of a stored study."""
    stored = home.study(name)
    if stored.base is None:
        raise LsmtuneError(
            f"study {name!r}: an older version of lsmtune made this study and stored no baseline. "
            "Run the `lsmtune tune` command of the study again"
        )
    spec = stored.settings
    return spec, ground_of(spec, stored.base, stored.rule)
