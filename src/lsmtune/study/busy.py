"""Whether other programs use so much CPU time that they disturb runs."""

import time
from collections.abc import Callable

from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import ELSEWHERE
from lsmtune.study.runner import DISTURBED_PERCENT
from lsmtune.system.host import CpuMeter

_QUIET_S = 1.0


def other_programs_percent() -> float:
    """Measure for a second the share of the CPU time that other programs use, in percent."""
    meter = CpuMeter()
    time.sleep(_QUIET_S)
    return meter.stop().others_cpu_percent(0.0)


def busy_remark(
    spec: StudySettings,
    *,
    accept_noise: bool,
    percent: Callable[[], float] = other_programs_percent,
) -> str | None:
    """Return a warning before the first run if other programs would disturb the runs.

    `percent` measures the share of the CPU time that other programs use.
    """
    if spec.engine in ELSEWHERE:
        return None
    others = percent()
    if others <= DISTURBED_PERCENT:
        return None
    return busy_text(others, accept_noise=accept_noise, is_online=spec.online is not None)


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
