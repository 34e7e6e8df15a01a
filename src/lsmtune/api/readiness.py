"""What can be said before the first run about data, disk and machine."""

from dataclasses import dataclass
from pathlib import Path

from lsmtune.knobs.memory import FEWEST_FLUSHES
from lsmtune.knobs.space import KnobSpace
from lsmtune.spec import StudySettings
from lsmtune.study import runner
from lsmtune.study.enough_data import (
    expected_flushes,
    per_flush,
    study_must_flush,
    too_few,
    turned_over,
)
from lsmtune.study.host_checks import busy_text, disk_bytes
from lsmtune.system.host import free_bytes
from lsmtune.units import format_bytes


@dataclass(frozen=True, slots=True)
class Ready:
    """What was found about data, disk or machine: whether it is ready, in words and in numbers."""

    name: str
    ok: bool
    text: str
    numbers: dict[str, float]

    def document(self) -> dict[str, bool | float]:
        """The finding as JSON."""
        return {"ok": self.ok, **self.numbers}


def readiness(
    spec: StudySettings, home: Path, space: KnobSpace, others_percent: float
) -> list[Ready]:
    """Return what can be said before the first run about data, disk and machine.

    `others_percent` is the share of the CPU time that other programs use. The data are
    left out if their number of flushes cannot be known before a run, or if the workload runs
    without end.
    """
    return [*_data(spec, space), _disk(spec, home), _machine(spec, others_percent)]


def _data(spec: StudySettings, space: KnobSpace) -> list[Ready]:
    flushed = per_flush(spec.engine, space.base)
    load = turned_over(spec, spec.workload)
    flushes = None if spec.online else expected_flushes(load, flushed)
    if flushes is None:
        return []
    needed, often = spec.parsed_objective.needed, f"its memtables about {flushes:,.0f} times"
    ok, must = flushes >= FEWEST_FLUSHES, study_must_flush(spec, needed)
    if ok:
        text = f"large enough: the baseline flushes {often}"
    elif must:
        text = f"TOO SMALL: {too_few(load, flushed, needed).with_flags()}"
    else:
        text = (
            f"large enough for this objective; write amplification is not measurable, because the "
            f"baseline flushes {often}"
        )
    numbers = {"flushes": flushes, "needed_flushes": FEWEST_FLUSHES}
    return [Ready("data", ok or not must, text, numbers)]


def _disk(spec: StudySettings, home: Path) -> Ready:
    needed, free = disk_bytes(spec), free_bytes(home)
    state = "large enough" if free >= needed else "TOO SMALL"
    text = (
        f"{state}: {format_bytes(free)} free, at most {format_bytes(needed)} in use at the same "
        "time"
    )
    return Ready("disk", free >= needed, text, {"free_bytes": free, "needed_bytes": needed})


def _machine(spec: StudySettings, others: float) -> Ready:
    ok = others <= runner.DISTURBED_PERCENT
    quiet = f"quiet: other programs use {others:.0f} % of the CPU"
    text = quiet if ok else busy_text(others, is_online=spec.online is not None)
    return Ready("machine", ok, text, {"other_programs_percent": others})
