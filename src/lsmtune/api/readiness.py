"""What can be said before the first run about data, disk and machine."""

from pathlib import Path

from lsmtune.cli.checks import other_programs_percent
from lsmtune.cli.plan import Ready, disk_bytes
from lsmtune.knobs.memory import FEWEST_FLUSHES
from lsmtune.knobs.space import KnobSpace
from lsmtune.spec import StudySpec
from lsmtune.studies import runner
from lsmtune.studies.enough_data import expected_flushes, study_must_flush, too_few
from lsmtune.system.host import free_bytes
from lsmtune.units import format_bytes


def readiness(spec: StudySpec, home: Path, space: KnobSpace) -> list[Ready]:
    """Return what can be said before the first run about data, disk and machine.

    It measures for a second how much CPU time other programs use. The data are left out if their
    number of flushes cannot be known before a run, or if the workload runs without end.
    """
    return [*_data(spec, space), _disk(spec, home), _machine(spec)]


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
        f"{runner.DISTURBED_PERCENT:.0f} %, lsmtune {what} a run. Stop other programs."
    )


def _data(spec: StudySpec, space: KnobSpace) -> list[Ready]:
    flushes = None if spec.online else expected_flushes(spec.workload, space.base)
    if flushes is None:
        return []
    needed, often = spec.parsed_objective.needed, f"its memtables about {flushes:,.0f} times"
    ok, must = flushes >= FEWEST_FLUSHES, study_must_flush(spec, needed)
    if ok:
        text = f"large enough: the baseline flushes {often}"
    elif must:
        text = f"TOO SMALL: {too_few(spec.workload, space.base, needed)}"
    else:
        text = (
            f"large enough for this objective; write amplification is not measurable, because the "
            f"baseline flushes {often}"
        )
    numbers = {"flushes": flushes, "needed_flushes": FEWEST_FLUSHES}
    return [Ready("data", ok or not must, text, numbers)]


def _disk(spec: StudySpec, home: Path) -> Ready:
    needed, free = disk_bytes(spec), free_bytes(home)
    state = "large enough" if free >= needed else "TOO SMALL"
    text = (
        f"{state}: {format_bytes(free)} free, at most {format_bytes(needed)} in use at the same "
        "time"
    )
    return Ready("disk", free >= needed, text, {"free_bytes": free, "needed_bytes": needed})


def _machine(spec: StudySpec) -> Ready:
    others = other_programs_percent()
    ok = others <= runner.DISTURBED_PERCENT
    quiet = f"quiet: other programs use {others:.0f} % of the CPU"
    text = quiet if ok else busy_text(others, is_online=spec.online is not None)
    return Ready("machine", ok, text, {"other_programs_percent": others})
