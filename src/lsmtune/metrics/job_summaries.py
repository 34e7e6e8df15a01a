"""One-line summaries of flushes and compactions, for LOGs without events.

RocksDB before 4.0 writes no events, and a search with grep may leave them out. The lines are those
of WriteLevel0Table and of InstallCompactionResults in db/db_impl.cc, later of
db/compaction/compaction_job.cc. RocksDB rounds their numbers to 0.1 MiB and 0.1 MB/s.
"""

import re
from dataclasses import dataclass, field

from lsmtune.metrics.log_jobs import Job, TreeShape
from lsmtune.metrics.log_stalls import OF_FAMILY, StallLedger
from lsmtune.units import MIB

_NUMBER = r"\d{1,12}(?:\.\d)?"
_COMPACTED = re.compile(
    OF_FAMILY + r"compacted to: .{0,120}?files\[(?P<files>\d{1,9}(?: \d{1,9}){0,99}) ?\].{0,120}?"
    rf"(?:MB/sec: (?P<read_rate>{_NUMBER}) rd, (?P<write_rate>{_NUMBER}) wr"
    rf"|(?P<rate>{_NUMBER}) MB/sec), level (?P<level>\d{{1,3}}), files in\([^)]{{0,80}}\) "
    rf"out\([^)]{{0,80}}\) MB in\((?P<upper>{_NUMBER}), (?P<lower>{_NUMBER})[^)]{{0,80}}\) "
    rf"out\((?P<out>{_NUMBER})"
)
_FLUSHED = re.compile(
    OF_FAMILY + r"(?:\[JOB \d{1,15}\] )?Level-0 flush table #\d{1,18}: (?P<bytes>\d{1,18}) bytes"
)
_WAITS = {
    "wait for fewer level0 files": "level-0 files",
    "wait for memtable ": "immutable memtables",
}
"""Lines of RocksDB before 3.8 on stopped writes, and their causes."""
_LONGEST = 2000
"""A summary is shorter. Longer lines have several, or are not text of RocksDB."""
_MARKS = ("compacted to: ", "Level-0 flush table #", "wait for ")


@dataclass(slots=True)
class JobSummaries:
    """Takes lines without events and keeps the jobs and the shapes of the tree."""

    jobs: list[Job] = field(default_factory=list)
    shapes: list[TreeShape] = field(default_factory=list)

    def concerns(self, line: str) -> bool:
        """Return whether the line may be a summary, or say that a writer waits."""
        return any(mark in line for mark in _MARKS)

    def take(self, line: str, micros: int, stalls: StallLedger) -> None:
        """Take a line with its time; one on a writer that waits goes to the stalls."""
        line = line[:_LONGEST]
        cause = next((cause for words, cause in _WAITS.items() if words in line), None)
        if cause is not None:
            stalls.waited(cause, micros)
        elif compacted := _COMPACTED.search(line):
            stalls.looked(compacted["family"], micros)
            self._compacted(compacted, micros)
        elif flushed := _FLUSHED.search(line):
            stalls.looked(flushed["family"], micros)
            self.jobs.append(
                Job("flush", flushed["family"], None, None, micros or None,
                    table_bytes=int(flushed["bytes"]))
            )  # fmt: skip

    def _compacted(self, told: re.Match[str], micros: int) -> None:
        read, written = (
            sum(float(told[name]) for name in names) * MIB
            for names in (("upper", "lower"), ("out",))
        )
        moved = {"rate": read + written, "read_rate": read, "write_rate": written}
        took_micros = next(
            (moved[name] / float(told[name]) for name in moved if told[name] and float(told[name])),
            None,
        )
        started = round(micros - took_micros) if micros and took_micros is not None else None
        self.jobs.append(
            Job("compaction", told["family"], None, started, micros or None,
                output_level=int(told["level"]), read_bytes=round(read),
                table_bytes=round(written))
        )  # fmt: skip
        if micros:
            files = tuple(int(count) for count in told["files"].split())
            self.shapes.append(TreeShape(micros, told["family"], files))
