"""A whole LOG in one pass and little memory, sorted into what each kind of line tells."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from lsmtune.errors import ParseError
from lsmtune.metrics.benchmark_run import BenchmarkRun
from lsmtune.metrics.db_bench import BenchmarkResult
from lsmtune.metrics.decimal_points import COMMA_NOTE, dump_with_points
from lsmtune.metrics.log_dump import StatsDump, parse_stats_dump
from lsmtune.metrics.log_events import EVENT_MARK, parse_event
from lsmtune.metrics.log_jobs import JobLedger
from lsmtune.metrics.log_lines import STAMP, STAMP_LENGTH
from lsmtune.metrics.log_notices import NoticeLedger
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.log_stalls import StallLedger
from lsmtune.metrics.statistics import Statistics, parse_statistics

_HOUR_LENGTH = 13
_STAMP_FORMAT = "%Y/%m/%d-%H:%M:%S.%f"
_QUARTER_HOUR_MICROS = 15 * 60 * 10**6
_TROUBLES = ("[ERROR]", "[FATAL]")
_MOST_TROUBLES = 20
_LONGEST_TROUBLE = 300
_MOST_DUMP_LINES = 20_000
_A_SUM = re.compile(r"^ *Sum ", re.MULTILINE)
_OPENED = "Recovering from manifest file"
"""Told by every opening; a LOG that is rolled repeats only the head above it (AutoRollLogger)."""


@dataclass(slots=True)
class TimedDump:
    """A dump of the statistics and when it was written, in Unix time in µs."""

    micros: int
    dump: StatsDump


@dataclass(slots=True)
class LogContent:
    """All that a LOG holds.

    `first_micros` and `last_micros` (Unix time in µs) are the times of its first and last line.
    `version`, `options` and `dumps` are of the last of its `openings`, `dump_text` (the tables)
    and `statistics` of the last dump, everything else is of the whole LOG. `troubles` are the
    first of `trouble_lines` that tell of errors. `incomplete` says what could not be read, among
    it `cut_events`.
    """

    version: str | None = None
    openings: int = 0
    begins_with_opening: bool = False
    event_lines: int = 0
    cut_events: int = 0
    first_micros: int | None = None
    last_micros: int | None = None
    options: LogOptions = field(default_factory=LogOptions)
    ledger: JobLedger = field(default_factory=JobLedger)
    stalls: StallLedger = field(default_factory=StallLedger)
    notices: NoticeLedger = field(default_factory=NoticeLedger)
    dumps: list[TimedDump] = field(default_factory=list)
    dump_text: str = ""
    results: Mapping[str, BenchmarkResult] = field(default_factory=dict)
    runs: tuple[BenchmarkRun, ...] = ()
    statistics: Statistics = field(default_factory=lambda: Statistics({}, {}, ()))
    trouble_lines: int = 0
    troubles: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether it holds every event of one opening, from its beginning on."""
        return self.begins_with_opening and self.openings == 1 and not self.cut_events

    @property
    def is_log(self) -> bool:
        """Whether there is anything of a RocksDB LOG in it."""
        return self.first_micros is not None and bool(
            self.version
            or self.event_lines
            or self.dump_text
            or self.options.families
            or self.options.database
            or self.stalls.stalls
        )


def read_log(lines: Iterable[str]) -> LogContent:
    """Read the lines of a LOG; damaged lines are left out and counted in `incomplete`."""
    reader = _Reader()
    for line in lines:
        reader.take(line)
    return reader.end()


@dataclass(frozen=True, slots=True)
class _Head:
    """The version and the options above what may be an opening, or only repeats one."""

    stamp: str
    version: str
    options: LogOptions


class _Reader:
    """Sorts the lines. A line without a time of its own belongs to the one above that has one."""

    def __init__(self) -> None:
        self._content = LogContent()
        self._clock = _Clock()
        self._first = self._last = ""
        self._head: _Head | None = None
        self._continued: Callable[[str], None] = _ignore
        self._dump: list[str] = []
        self._dump_stamp = ""
        self._statistics: list[str] = []
        self._earlier_statistics: list[str] = []
        self._kinds: tuple[tuple[str, Callable[[str], None]], ...] = (
            (EVENT_MARK, self._event),
            (" writes because ", self._stall),
            ("] New memtable created", self._switch),
            ("DUMPING STATS", self._dump_begins),
            ("STATISTICS:", self._statistics_begin),
            ("Options(), inputs:", self._change),
            ("SetOptions() on ", self._change),
            ("table_factory options:", self._table_options),
            ("Options", self._option),
            ("RocksDB version: ", self._head_begins),
            (_OPENED, self._opening),
            *((word, self._trouble) for word in _TROUBLES),
        )

    def take(self, line: str) -> None:
        """Take the next line."""
        if line[4:5] != "/" or STAMP.match(line) is None:
            self._continued(line)
            return
        stamp = line[:STAMP_LENGTH]
        self._last = max(stamp, self._last)
        if not self._first or stamp < self._first:  # lines found by grep can be in any order
            self._first = stamp
        for mark, handle in self._kinds:
            if mark in line:
                handle(line)
                return
        self._content.notices.take(line)
        if self._options.changing and self._options.take_change(line):
            return
        if self._continued is not _ignore and not _is_blank(line):
            self._continued = _ignore

    def end(self) -> LogContent:
        """Close what is open and return the content."""
        content = self._content
        self._close_dump()
        self._settle_head()
        if self._first:
            content.first_micros = self._clock.micros(self._first)
            content.last_micros = self._clock.micros(self._last)
            content.stalls.end(content.last_micros)
        content.incomplete += self._faults()
        self._read_statistics()
        return content

    @property
    def _options(self) -> LogOptions:
        """The options that are being told."""
        return self._head.options if self._head is not None else self._content.options

    def _read_statistics(self) -> None:
        """Read the last dump of the tickers that is whole."""
        content, lines = self._content, self._statistics
        if len(lines) < len(self._earlier_statistics):
            content.incomplete.append(
                "the last dump of tickers (counters) is truncated; lsmtune uses the previous dump"
            )
            lines = self._earlier_statistics
        try:
            text = dump_with_points("\n".join([*lines, ""]))
            content.statistics = parse_statistics(text)
        except ParseError as error:
            content.incomplete.append(
                f"lsmtune cannot parse the last dump of tickers (counters): {error}"
            )

    def _event(self, line: str) -> None:
        content = self._content
        content.event_lines += 1
        self._settle_head()
        if '"table_file_deletion"' in line:
            return
        event = parse_event(line)
        if event is None:
            content.cut_events += 1
            return
        if wrong_by := self._clock.learn(line[:STAMP_LENGTH], event.time_micros):
            content.stalls.shift(wrong_by)
        if (job := content.ledger.take(event)) is not None:
            content.stalls.looked(job.family, event.time_micros)

    def _stall(self, line: str) -> None:
        self._content.stalls.warn(line, self._clock.micros(line[:STAMP_LENGTH]))

    def _switch(self, line: str) -> None:
        self._content.stalls.switched(line, self._clock.micros(line[:STAMP_LENGTH]))

    def _dump_begins(self, line: str) -> None:
        self._settle_head()
        self._close_dump()
        self._dump_stamp = line[:STAMP_LENGTH]
        self._continued = self._more_of_dump

    def _more_of_dump(self, line: str) -> None:
        if len(self._dump) < _MOST_DUMP_LINES:
            self._dump.append(line)

    def _statistics_begin(self, line: str) -> None:
        self._earlier_statistics, self._statistics = self._statistics, [line]
        self._continued = self._more_of_statistics

    def _more_of_statistics(self, line: str) -> None:
        if len(self._statistics) < _MOST_DUMP_LINES:
            self._statistics.append(line)

    def _change(self, line: str) -> None:
        self._options.take_change(line)

    def _option(self, line: str) -> None:
        self._options.take(line)
        self._content.notices.take(line)

    def _table_options(self, line: str) -> None:
        self._options.take_table(line)
        self._continued = self._options.take_table

    def _head_begins(self, line: str) -> None:
        """An opening begins, or a LOG that was rolled repeats the head of the last one."""
        version = line.rpartition("version: ")[2].strip()
        self._head = _Head(line[:STAMP_LENGTH], version, LogOptions())

    def _settle_head(self) -> None:
        """The head opened nothing: it repeats what is known, or is all that is known of it."""
        if self._head is not None and not self._content.options.database:
            self._content.version, self._content.options = self._head.version, self._head.options
        self._head = None

    def _opening(self, line: str) -> None:
        """The database is opened: what follows counts from here."""
        content, head = self._content, self._head
        self._close_dump()
        if self._last:
            content.stalls.end(self._clock.micros(head.stamp if head else self._last))
        content.ledger.reopened()
        content.openings += 1
        if head is not None or content.openings > 1:  # RocksDB 3 names no version above its options
            content.options = head.options if head else LogOptions()
        content.version = head.version if head else content.version
        content.begins_with_opening |= head is not None and head.stamp == self._first
        content.dumps.clear()
        content.dump_text, self._statistics, self._earlier_statistics = "", [], []
        self._head = None

    def _trouble(self, line: str) -> None:
        self._content.notices.take(line)
        self._content.trouble_lines += 1
        if len(self._content.troubles) < _MOST_TROUBLES:
            self._content.troubles.append(line[:_LONGEST_TROUBLE])

    def _close_dump(self) -> None:
        self._continued = _ignore
        text = dump_with_points("\n".join([*self._dump, ""]))
        self._dump = []
        dump = parse_stats_dump(text)
        if dump is not None:
            self._content.dumps.append(TimedDump(self._clock.micros(self._dump_stamp), dump))
            if _A_SUM.search(text) or not self._content.dump_text:
                self._content.dump_text = text  # else its tables are cut off

    def _faults(self) -> list[str]:
        content, faults = self._content, list[str]()
        if content.options.has_commas:
            faults.append(COMMA_NOTE)
        if content.cut_events:
            faults.append(
                f"{content.cut_events} event lines of the LOG are truncated; lsmtune "
                "ignored these lines"
            )
        if not content.begins_with_opening:
            faults.append(
                "the LOG starts after the database was opened; totals do not include the "
                "time before"
            )
        if content.openings > 1:
            faults.append(
                f"the database was opened {content.openings} times in this LOG; options and "
                "statistics are from the time after the last opening"
            )
        return faults


class _Clock:
    """Turns local times of lines into Unix times, once an event has told both of one moment."""

    def __init__(self) -> None:
        self._offset_micros: int | None = None
        self._latest = 0
        self._learnt = ""

    def learn(self, stamp: str, micros: int) -> int:
        """An event tells its Unix time in a line that tells its local time.

        Returns by how much earlier times were wrong: by the whole difference to UTC, which was
        not known before the first event. A change to or from summer time wrongs none.
        """
        if stamp[:_HOUR_LENGTH] == self._learnt or (local := _local_micros(stamp)) is None:
            return 0
        self._learnt = stamp[:_HOUR_LENGTH]
        offset = round((micros - local) / _QUARTER_HOUR_MICROS) * _QUARTER_HOUR_MICROS
        wrong_by = offset if self._offset_micros is None else 0
        self._offset_micros = offset
        return wrong_by

    def micros(self, stamp: str) -> int:
        """The Unix time of a line in µs; without any event the local time counts as UTC.

        Of a time that there is not, such as the 99th of a month, the last one that there was.
        """
        if (local := _local_micros(stamp)) is not None:
            self._latest = local + (self._offset_micros or 0)
        return self._latest


def _local_micros(stamp: str) -> int | None:
    try:
        moment = datetime.strptime(stamp, _STAMP_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(moment.timestamp() * 1e6)


def _is_blank(line: str) -> bool:
    """RocksDB writes a line of nothing but its time and place above a block."""
    return line.endswith("] ") or line[STAMP_LENGTH:].strip().isalnum()


def _ignore(_: str) -> None:
    """What follows a line that is not continued."""
