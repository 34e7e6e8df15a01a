"""Checks of this host before the first run: enough disk space, and no busy programs."""

import time
from collections.abc import Callable

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.templates import MOST_TEMPLATES
from lsmtune.errors import Argument, UserError
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.runner import DISTURBED_PERCENT
from lsmtune.system.host import CpuMeter, free_bytes
from lsmtune.units import format_bytes

_QUIET_S = 1.0
_SPACE_FACTOR = 4
"""Maximum disk space of a trial, as a multiple of the bytes that it writes."""


def disk_bytes(spec: StudySettings) -> int:
    """Return the maximum disk space that trials take at a time."""
    if not ENGINES[spec.engine].runs_here:
        return 0  # the data is elsewhere, or there is none
    kept, load = kept_templates(spec) if spec.online is None else 0, spec.workload
    # Each key of a running store is there before the first write, so writes add only garbage.
    stored = load.num * load.record_bytes if spec.is_running else load.user_bytes
    return (_SPACE_FACTOR + kept) * stored


def kept_templates(spec: StudySettings) -> int:
    """Return how many built stores a study keeps at a time."""
    if spec.is_running:
        return 2  # that of the search, and that of the present pair
    return MOST_TEMPLATES if spec.workload.definition.prepared else 0


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


def other_programs_percent() -> float:
    """Measure for a second the share of the CPU time that other programs use, in percent."""
    meter = CpuMeter()
    time.sleep(_QUIET_S)
    return meter.stop().others_cpu_percent(0.0)


def remark_busy(
    spec: StudySettings,
    observer: Observer,
    *,
    accept_noise: bool = False,
    percent: Callable[[], float] = other_programs_percent,
) -> None:
    """Warn the observer before the first run if other programs would disturb the runs.

    `percent` measures the share of the CPU time that other programs use.
    """
    if not ENGINES[spec.engine].runs_here:
        return
    others = percent()
    if others > DISTURBED_PERCENT:
        is_online = spec.online is not None
        observer.remark(busy_text(others, accept_noise=accept_noise, is_online=is_online))


def busy_text(others_percent: float, *, accept_noise: bool = False, is_online: bool = False) -> str:
    """Return the warning that other programs use that share of the CPU time."""
    if is_online:
        return (
            f"BUSY: other programs use {others_percent:.0f} % of the CPU. The windows then differ "
            "more, and lsmtune can prove fewer gains. Stop other programs."
        )
    what = "keeps and marks" if accept_noise else "repeats"
    return (
        f"BUSY: other programs use {others_percent:.0f} % of the CPU. Above "
        f"{DISTURBED_PERCENT:.0f} %, lsmtune {what} a run. Stop other programs."
    )
