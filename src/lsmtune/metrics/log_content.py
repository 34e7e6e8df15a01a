"""All that a LOG holds, and what its content lacks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lsmtune.metrics.benchmark_run import BenchmarkRun
from lsmtune.metrics.db_bench import BenchmarkResult
from lsmtune.metrics.job_summaries import JobSummaries
from lsmtune.metrics.log_dump import StatsDump
from lsmtune.metrics.log_events import HIDDEN
from lsmtune.metrics.log_jobs import JobLedger
from lsmtune.metrics.log_notices import NoticeLedger
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.log_recovery import RecoveryLedger
from lsmtune.metrics.log_stalls import LevelZeroLedger, StallLedger
from lsmtune.metrics.options_file import COMMA_NOTE
from lsmtune.metrics.statistics import Statistics

_FLUSHED = re.compile(r"^Flush\(GB\): cumulative (\d{1,9}\.\d{1,9})", re.MULTILINE)
_MOST_NAMED = 3
_COMPACTED = re.compile(r"^Cumulative compaction: +(\d{1,9}\.\d{1,9}) [GT]B write", re.MULTILINE)


@dataclass(slots=True)
class TimedDump:
    """A dump of the statistics and when it was written, in Unix time in µs."""

    micros: int
    dump: StatsDump


@dataclass(slots=True)
class LogContent:
    """All that a LOG holds.

    `first_micros` and `last_micros` (Unix time in µs) are the times of its first and last line.
    `version`, `options` and `dumps` are of the last of its `openings`, and so is `dump_text`: the
    last block of the database and of each column family over all dumps. `statistics` are of the
    last dump, everything else is of the whole LOG. `dropped` are column families that the program
    dropped. `assumed_families` are those whose options RocksDB did not print: `options` has the
    values that all printed families have. `troubles` are the first of `trouble_lines` that tell of
    errors. `incomplete` says what could not be read, among it `cut_events`, of which `first_cut` is
    the first; `read_events` counts those that were parsed. `no_version` is a line with a version
    that is none. `falling_events` happened before the event above them. `is_open` says whether the
    last opening ended, `has_first_line` whether the LOG begins with the head that RocksDB writes
    into each new one, `logs_info` whether it has messages of the level INFO, `names_source` whether
    a line names a place in RocksDB's source. `job_lines` counts messages of jobs, `hidden_events`
    events with values that a mail hides. `is_status`: the numbers are of a status text of another
    program.
    """

    version: str | None = None
    openings: int = 0
    begins_with_opening: bool = False
    is_open: bool = False
    has_first_line: bool = False
    logs_info: bool = False
    names_source: bool = False
    event_lines: int = 0
    read_events: int = 0
    cut_events: int = 0
    first_cut: str = ""
    no_version: str = ""
    falling_events: int = 0
    hidden_events: int = 0
    job_lines: int = 0
    first_micros: int | None = None
    last_micros: int | None = None
    options: LogOptions = field(default_factory=LogOptions)
    ledger: JobLedger = field(default_factory=JobLedger)
    summaries: JobSummaries = field(default_factory=JobSummaries)
    stalls: StallLedger = field(default_factory=StallLedger)
    level_0: LevelZeroLedger = field(default_factory=LevelZeroLedger)
    notices: NoticeLedger = field(default_factory=NoticeLedger)
    recoveries: RecoveryLedger = field(default_factory=RecoveryLedger)
    dumps: list[TimedDump] = field(default_factory=list)
    dump_text: str = ""
    assumed_families: tuple[str, ...] = ()
    dropped: set[str] = field(default_factory=set)
    results: Mapping[str, BenchmarkResult] = field(default_factory=dict)
    runs: tuple[BenchmarkRun, ...] = ()
    statistics: Statistics = field(default_factory=lambda: Statistics({}, {}, ()))
    trouble_lines: int = 0
    troubles: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    is_status: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it holds every event of one opening, from its beginning on."""
        return self.begins_with_opening and self.openings == 1 and not self.cut_events

    @property
    def is_log(self) -> bool:
        """Whether there is anything of a RocksDB LOG in it."""
        return self.first_micros is not None and bool(
            self.version or self.dump_text or self.names_source or self.has_messages
        )

    @property
    def has_messages(self) -> bool:
        """Whether it has a message of RocksDB that says something, with or without a time."""
        return bool(
            self.event_lines
            or self.options.families
            or self.options.database
            or self.stalls.stalls
            or self.level_0.families
            or self.summaries.jobs
        )

    @property
    def lacks_info(self) -> bool:
        """Whether it shows that the program wrote no messages of the level INFO.

        An excerpt that ends within the options or after them does not show this.
        """
        goes_on = self.is_open or bool(self.stalls.stalls) or self.trouble_lines > 0
        is_whole = self.has_first_line and self.options.has_whole_database
        return is_whole and goes_on and not self.logs_info

    @property
    def nothing_ran(self) -> bool:
        """Whether it shows that no flush and no compaction ran since the opening."""
        return (
            self.begins_with_opening
            and self.is_open
            and self.logs_info
            and not (self.cut_events or self.job_lines or self.summaries.jobs)
            and not (self.ledger.jobs or self.ledger.running or self.stalls.stalls)
            and not (self.dump_text and _may_have_written(self.dump_text))
        )


def _may_have_written(dump: str) -> bool:
    """Whether a dump does not show that flushes and compactions wrote nothing."""
    sums = [form.findall(dump) for form in (_FLUSHED, _COMPACTED)]
    return not all(sums) or any(float(gb) for found in sums for gb in found)


def faults_of(content: LogContent) -> list[str]:
    """Return a sentence for each thing that the LOG lacks, and that totals depend on."""
    faults: list[str] = []
    if content.options.has_commas:
        faults.append(COMMA_NOTE)
    if content.assumed_families:
        assumed = content.assumed_families
        faults.append(
            f"RocksDB prints the options of the first ten column families only; for {len(assumed)} "
            f"others ({', '.join(assumed[:_MOST_NAMED])}{', …' if assumed[_MOST_NAMED:] else ''}) "
            "lsmtune assumes the values that all ten have; their own values are in the newest "
            "OPTIONS file in the folder of the database"
        )
    if content.cut_events:
        faults.append(
            f"{content.cut_events} event lines of the LOG are truncated or damaged; lsmtune "
            "ignored these lines"
        )
    if content.options.damaged:
        faults.append(
            f"{len(content.options.damaged)} options of the LOG have characters that no option "
            "has; lsmtune ignored these options"
        )
    if content.hidden_events:
        faults.append(
            f"{content.hidden_events} event lines have values that a mail hides ({HIDDEN}); "
            "these values are unknown"
        )
    if content.summaries.jobs and not content.event_lines:
        faults.append(
            f"the LOG has no events; the numbers of {len(content.summaries.jobs)} flushes and "
            "compactions come from one-line summaries, which RocksDB rounds to 0.1 MB"
        )
    if content.lacks_info:
        faults.append(
            "the LOG has no messages of the level INFO, so the opening, flushes and "
            "compactions are missing"
        )
    elif not content.begins_with_opening:
        faults.append(
            "the LOG does not contain the opening of the database; totals may not include the time "
            "before"
            if content.has_first_line
            else "the LOG starts after the database was opened, or does not contain the opening; "
            "totals may not include the time before"
        )
    if content.openings > 1:
        faults.append(
            f"the database was opened {content.openings} times in this LOG; options and "
            "statistics are from the time after the last opening"
        )
    return faults
