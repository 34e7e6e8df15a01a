"""The disk space that the trials of a study take."""

from lsmtune.engines.templates import MOST_TEMPLATES
from lsmtune.errors import Argument, UserError
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import ELSEWHERE
from lsmtune.store.home import Home
from lsmtune.system.host import free_bytes
from lsmtune.units import format_bytes

_SPACE_FACTOR = 4
"""Maximum disk space of a trial, as a multiple of the bytes that it writes."""


def disk_bytes(spec: StudySettings) -> int:
    """Return the maximum disk space that trials take at a time."""
    if spec.engine in ELSEWHERE:
        return 0  # the data is elsewhere, or there is none
    kept = MOST_TEMPLATES if spec.workload.preset.prepared and spec.online is None else 0
    return (_SPACE_FACTOR + kept) * spec.workload.user_bytes


def check_space(spec: StudySettings, home: Home) -> None:
    """Raise UserError if the disk of the home may be too small for the trials."""
    needed, free = disk_bytes(spec), free_bytes(home.path)
    if free < needed:
        raise UserError(
            Argument("home", home.path),
            f": the disk has {format_bytes(free)} free, but the trials may need "
            f"{format_bytes(needed)}; name a folder on another disk, or use a smaller ",
            Argument("num"),
        )
