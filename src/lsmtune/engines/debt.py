"""Compaction debt: the compactions that a store without automatic compactions has postponed.

A load without compactions is fast, because the work remains for later. So the store settles with
compactions on after the load, and the trial gets the costs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_jobs import Job

_KNOB = "disable_auto_compactions"
_MICROS = 1e6
_BYTES = ("write_amp", "wal_inclusive_write_amp")


@dataclass(frozen=True, slots=True)
class Debt:
    """Costs of settling.

    `seconds` is the time from the begin of the first compaction to the end of the last one,
    `jobs_s` the sum of the durations of all compactions.
    """

    seconds: float
    write_bytes: int
    read_bytes: int
    jobs: int
    jobs_s: float


def owing(settings: Settings, knob: str = _KNOB, names: Names = PLAIN) -> frozenset[str]:
    """Return the knobs that turn compactions off; with column families, one per family."""
    return frozenset(n for n, value in settings.items() if names.option(n) == knob and value)


def paying(settings: Settings) -> Settings:
    """Return the settings with compactions on."""
    return {**settings, **dict.fromkeys(owing(settings), False)}


def debt_of(jobs: Iterable[Job]) -> Debt:
    """Return the costs of the compactions among the jobs."""
    done = [job for job in jobs if job.kind == "compaction"]
    begun = [job.started_micros for job in done if job.started_micros is not None]
    ended = [job.finished_micros for job in done if job.finished_micros is not None]
    return Debt(
        seconds=(max(ended) - min(begun)) / _MICROS if begun and ended else 0.0,
        write_bytes=sum(job.written_bytes or 0 for job in done),
        read_bytes=sum(job.read_bytes or 0 for job in done),
        jobs=len(done),
        jobs_s=sum(job.duration_s or 0.0 for job in done),
    )


def charged(metrics: Mapping[str, float], debt: Debt, *, to_build: bool) -> dict[str, float]:
    """Return the metrics of a trial with the costs of its debt.

    With `to_build`, the seconds are added to the building of the database, because the load only
    reads. The speed of the load does not change. The write amplification does not change either if
    nothing was written before the compactions, because then the user's bytes are unknown.
    """
    found = dict(metrics)
    if not debt.jobs:
        return found
    written = metrics["flush_write_bytes"] + metrics["compact_write_bytes"]
    if written and metrics["write_amp"]:
        user_bytes = written / metrics["write_amp"]
        found |= {name: metrics[name] + debt.write_bytes / user_bytes for name in _BYTES}
    more = {
        "compact_write_bytes": debt.write_bytes,
        "compact_read_bytes": debt.read_bytes,
        "background_jobs": debt.jobs,
        "background_s": debt.jobs_s,
    }
    if to_build:
        more["build_s"] = debt.seconds
    else:
        more["settle_s"] = debt.seconds
    return found | {name: found[name] + cost for name, cost in more.items() if name in found}
