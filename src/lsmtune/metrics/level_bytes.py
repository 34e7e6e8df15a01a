"""How many bytes flushes and compactions read and wrote for each level, from a LOG's jobs.

The table of compaction statistics says it too, but rounded to a tenth of a GB.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lsmtune.metrics.log_jobs import Job


@dataclass(frozen=True, slots=True)
class LevelBytes:
    """Bytes of input files that went into a level, and bytes of tables written into it."""

    read: int = 0
    written: int = 0

    def plus(self, job: Job) -> "LevelBytes":
        """The sum with a further job."""
        read, written = job.read_bytes or 0, job.table_bytes or 0
        return LevelBytes(self.read + read, self.written + written)


def bytes_by_level(jobs: Iterable[Job]) -> dict[int, LevelBytes]:
    """The bytes by output level."""
    levels: dict[int, LevelBytes] = {}
    for job in jobs:
        levels[job.output_level] = levels.get(job.output_level, LevelBytes()).plus(job)
    return levels
