"""A whole LOG in one pass and little memory, sorted into what each kind of line tells."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from lsmtune.metrics import untimed_lines as untimed
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.dump_blocks import DumpBlocks, FamilyIds
from lsmtune.metrics.log_content import LogContent, TimedDump, faults_of
from lsmtune.metrics.log_dump import parse_stats_dump
from lsmtune.metrics.log_events import EVENT_MARK, HIDDEN, parse_event
from lsmtune.metrics.log_lines import STAMP, STAMP_LENGTH, LogClock, stamp_of
from lsmtune.metrics.log_notices import NO_NOTICES, NoticeLedger, Notices
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.options_file import dump_with_points
from lsmtune.metrics.statistics import parse_statistics

__all__ = ["LogContent", "TimedDump", "read_log"]

_TROUBLES = ("[ERROR]", "[FATAL]")
_MOST_TROUBLES = 20
_LONGEST_TROUBLE = 300
_MOST_DUMP_LINES = 100_000
_LONGEST_FOLDED = 16_000
_TABLE_OPTIONS = "table_factory options:"
_VERSION = re.compile(r"version: (?:[\d.]{1,20} \()?(\d{1,4}(?:\.\d{1,6})+[\w.+-]*)")
"""RocksDB's version; Speedb writes `2.8.0 (8.6.7)`, its own and RocksDB's."""
_OPEN = "DB pointer "
"""The last line of an opening."""
_OPENED = "Recovering from manifest file"
"""Told by every opening; a LOG that is rolled repeats only the head above it (AutoRollLogger)."""


def read_log(lines: Iterable[str], notices: Notices = NO_NOTICES) -> LogContent:
    """Read the lines of a LOG; damaged lines are left out and counted in `incomplete`.

    `notices` are the lines to count that the caller wants.
    """
    reader = _Reader(notices)
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

    def __init__(self, notices: Notices) -> None:
        self._content = LogContent(notices=NoticeLedger(notices))
        self._clock = LogClock()
        self._first = self._last = self._previous = ""
        self._began = self._told = ""
        self._has_made_times = False
        self._event_micros = 0
        self._head: _Head | None = None
        self._first_head = ""
        self._has_untimed_head = False
        self._outside: Callable[[str], None] = self._untimed
        self._continued: Callable[[str], None] = self._outside
        self._folded = ""
        self._dump: list[str] = []
        self._dump_stamp = ""
        self._blocks, self._ids = DumpBlocks(), FamilyIds()
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
            (_TABLE_OPTIONS, self._table_options),
            ("Options", self._option),
            ("olumn family [", self._family),
            ("Dropped column family", self._family),
            ("RocksDB version: ", self._head_begins),
            ("Speedb version: ", self._head_begins),
            (_OPENED, self._opening),
            *((word, self._trouble) for word in _TROUBLES),
        )

    def take(self, line: str) -> None:
        """Take the next line."""
        if line[4:5] != "/" or STAMP.match(line) is None:
            self._continued(line)
            return
        stamp = line[:STAMP_LENGTH]
        self._previous, self._last = self._last, max(stamp, self._last)
        if not self._first or stamp < self._first:  # lines found by grep can be in any order
            self._first = stamp
        for mark, handle in self._kinds:
            if mark in line:
                handle(line)
                return
        self._other(line)

    def end(self) -> LogContent:
        """Close what is open and return the content."""
        content = self._content
        self._close_dump()
        content.dump_text = self._blocks.text
        self._settle_head()
        if self._first:
            content.has_first_line = self._first_head == self._first
        else:
            content.has_first_line = self._has_untimed_head
        content.stalls.settle()
        if not content.event_lines:
            content.ledger.jobs += content.summaries.jobs
            content.ledger.shapes += content.summaries.shapes
        if self._first:
            content.first_micros = self._clock.micros(self._first)
            content.last_micros = self._clock.micros(self._last)
            content.stalls.end(content.last_micros)
        if content.notices.count("options skipped"):
            stalled = [stall.family for stall in content.stalls.stalls if stall.family]
            names = dict.fromkeys((*self._ids.names, *stalled))
            content.assumed_families = tuple(content.options.assume(names))
        content.incomplete += faults_of(content)
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
        text = dump_with_points("\n".join([*lines, ""]))
        content.statistics = parse_statistics(text, leave_out=True)
        content.incomplete += content.statistics.incomplete

    def _event(self, line: str) -> None:
        content = self._content
        content.event_lines += 1
        self._settle_head()
        if '"table_file_deletion"' in line:
            return
        event = parse_event(line)
        content.hidden_events += HIDDEN in line
        if event is None:
            content.cut_events += 1
            content.first_cut = content.first_cut or line[:_LONGEST_TROUBLE]
            if self._continued is self._outside:
                self._folded, self._continued = line, self._rest_of_event
            return
        content.read_events += 1
        content.falling_events += event.time_micros < self._event_micros
        self._event_micros = event.time_micros
        if wrong_by := self._clock.learn(line[:STAMP_LENGTH], event.time_micros):
            content.stalls.shift(wrong_by)
        content.recoveries.take_event(event)
        if (job := content.ledger.take(event)) is not None:
            content.stalls.looked(job.family, event.time_micros)

    def _stall(self, line: str) -> None:
        """Take a warning of a stall, or its begin if a mail folds it."""
        content, stamp = self._content, line[:STAMP_LENGTH]
        if "level-0" in line:
            content.level_0.take(line, stamp)
        is_whole = content.stalls.warn(line, self._clock.micros(stamp))
        if not is_whole and self._continued is self._outside:
            self._folded, self._continued = line, self._rest_of_warning

    def _speedup(self, line: str) -> None:
        """Take a line that says that more compactions run, or its begin if a mail folds it."""
        is_whole = self._content.level_0.take(line, line[:STAMP_LENGTH])
        if not is_whole and self._continued is self._outside:
            self._folded, self._continued = line, self._rest_of_warning

    def _other(self, line: str) -> None:
        """Take a line with a time that is none of the kinds above."""
        content = self._content
        match content.notices.take(line):
            case "more compactions":
                self._speedup(line)
                content.logs_info = content.logs_info or untimed.is_info(line)
                return
            case "write controller":
                content.stalls.delayed(line, self._clock.micros(line[:STAMP_LENGTH]))
            case "manifest read":
                self._manifest_read(line)
            case "options skipped":
                self._told = line[:STAMP_LENGTH]
            case "recovered WAL" | "skipped WAL" as name:
                content.recoveries.take_wal(name, line)
        if self._options.changing and self._options.take_change(line):
            return
        if not content.is_open:
            content.is_open = _OPEN in line
        if not content.logs_info:
            content.logs_info = untimed.is_info(line)
            content.names_source |= untimed.names_source(line)
        if not content.event_lines:
            content.job_lines += "[JOB " in line
            if content.summaries.concerns(line):
                micros = self._clock.micros(line[:STAMP_LENGTH])
                content.summaries.take(line, micros, content.stalls)
        if "] St" in line and untimed.is_warning(line):
            self._stall(line)
        elif self._continued is not self._outside and not _is_blank(line):
            self._continued = self._outside

    def _untimed(self, line: str) -> None:
        """Take a line without a time that belongs to no block above it."""
        if not untimed.may_matter(line):
            return
        if untimed.begins_block(line):
            if untimed.begins_dump(line):
                self._close_dump()
            self._content.level_0.dumps += 1
            self._dump_stamp = self._last
            self._continued = self._more_of_dump
            self._more_of_dump(line)
        elif untimed.is_ticker(line):
            self._statistics_begin(line)
        elif untimed.is_option(line):
            self._options.take(line)
        elif _TABLE_OPTIONS in line:
            self._table_options(line)
        elif untimed.is_version(line):
            self._head_begins(f"{self._last:{STAMP_LENGTH}} 0 {line}")
        else:
            self._untimed_message(line)

    def _untimed_message(self, line: str) -> None:
        """Take an event or a warning without a time: it has the time of the line above."""
        timed = f"{self._last:{STAMP_LENGTH}} 0 {line}"
        if EVENT_MARK in line:
            event = parse_event(line)
            if event is None or (self._last and not self._has_made_times):
                self._event(timed)
                return
            self._has_made_times = True
            self.take(f"{stamp_of(event.time_micros)} 0 {line}")
        elif untimed.is_warning(line):
            self._stall(timed)
        elif untimed.is_speedup(line):
            self._speedup(timed)
        elif untimed.is_delay(line):
            self._content.stalls.delayed(line, self._clock.micros(self._last))
        elif self._content.summaries.concerns(line) and not self._content.event_lines:
            micros = self._clock.micros(self._last)
            self._content.summaries.take(line, micros, self._content.stalls)

    def _rest_of_warning(self, line: str) -> None:
        """Take the rest of a warning that a mail folds."""
        self._continued = self._outside
        if not line.strip():
            return
        stamp = self._folded[:STAMP_LENGTH]
        whole = f"{self._folded.rstrip()} {line.strip()}"
        names_files = self._content.level_0.take(whole, stamp)
        if not self._content.stalls.warn(whole, self._clock.micros(stamp)) and not names_files:
            self._outside(line)

    def _rest_of_event(self, line: str) -> None:
        """Take a further line of an event that a mail folds."""
        is_own = EVENT_MARK in line or untimed.begins_block(line) or untimed.is_warning(line)
        if is_own or len(self._folded) > _LONGEST_FOLDED:
            self._continued = self._outside
            self._outside(line)
            return
        self._folded = f"{self._folded.rstrip()} {line.strip()}"
        if "}" in line and parse_event(self._folded) is not None:
            self._continued = self._outside
            self._content.cut_events -= 1
            self._content.event_lines -= 1
            self._event(self._folded)

    def _switch(self, line: str) -> None:
        self._content.stalls.switched(line, self._clock.micros(line[:STAMP_LENGTH]))

    def _dump_begins(self, line: str) -> None:
        self._settle_head()
        self._close_dump()
        self._content.level_0.dumps += 1
        self._dump_stamp = line[:STAMP_LENGTH]
        self._continued = self._more_of_dump

    def _more_of_dump(self, line: str) -> None:
        if len(self._dump) < _MOST_DUMP_LINES:
            self._dump.append(line)

    def _statistics_begin(self, line: str) -> None:
        self._earlier_statistics, self._statistics = self._statistics, [line]
        self._continued = self._more_of_statistics

    def _more_of_statistics(self, line: str) -> None:
        if not line.startswith("rocksdb.") and untimed.begins_block(line):
            self._outside(line)
        elif len(self._statistics) < _MOST_DUMP_LINES:
            self._statistics.append(line)

    def _change(self, line: str) -> None:
        self._options.take_change(line)

    def _option(self, line: str) -> None:
        self._told = line[:STAMP_LENGTH]
        self._options.take(line)
        self._content.notices.take(line)

    def _family(self, line: str) -> None:
        """Take a line that says that a family is there, was created or was dropped."""
        self._close_dump()
        name, is_dropped = self._ids.take(line)
        self._content.recoveries.take_family(line)
        if not is_dropped:
            self._content.dropped.discard(name)
            return
        self._content.dropped.add(name)
        self._content.options.families.pop(name, None)
        self._blocks.forget(name)

    def _table_options(self, line: str) -> None:
        self._options.take_table(line)
        self._continued = self._more_of_table

    def _more_of_table(self, line: str) -> None:
        if line[:1] in (" ", "\t", "") and not untimed.is_option(line):
            self._options.take_table(line)
        else:
            self._outside(line)

    def _head_begins(self, line: str) -> None:
        """An opening begins, or a LOG that was rolled repeats the head of the last one."""
        found = _VERSION.search(line)
        version = "" if found is None else found[1]
        if found is None:
            self._content.no_version = line[:_LONGEST_TROUBLE]
        stamp = line[:STAMP_LENGTH].strip()
        self._head, self._began = _Head(stamp, version, LogOptions()), stamp
        self._has_untimed_head |= not stamp
        if stamp and (not self._first_head or stamp < self._first_head):
            self._first_head = stamp

    def _settle_head(self) -> None:
        """The head opened nothing: it repeats what is known, or is all that is known of it."""
        head, content = self._head, self._content
        if head is not None and not content.options.database:
            content.version = head.version or None
            if head.options.database or not content.options.families:
                content.options = head.options
        self._head = None

    def _opening(self, line: str) -> None:
        """The database is opened: what follows counts from here."""
        content, head = self._content, self._head
        content.logs_info, content.is_open = True, False
        self._told = line[:STAMP_LENGTH]
        self._close_dump()
        if self._last:
            content.stalls.end(self._clock.micros(head.stamp if head else self._last))
        content.ledger.reopened()
        content.openings += 1
        if head is not None or content.openings > 1:  # RocksDB 3 names no version above its options
            content.options = head.options if head else LogOptions()
        content.version = (head.version or None) if head else content.version
        content.begins_with_opening |= head is not None and head.stamp == self._first
        content.dumps.clear()
        content.dropped.clear()
        self._blocks, self._ids = DumpBlocks(), FamilyIds()
        self._statistics, self._earlier_statistics = [], []
        self._head = None

    def _manifest_read(self, line: str) -> None:
        """The opening has read MANIFEST; an excerpt may lack the line in which this began.

        Then the time counts from the line before, if it is of the options.
        """
        if self._head is not None:
            self._opening(line)
        now, before = line[:STAMP_LENGTH], self._previous == self._told and self._previous
        micros = self._clock.micros(now) - self._clock.micros(self._began or before or now)
        self._content.recoveries.manifest_read(line, max(0, micros) / 1e6)
        self._began = ""

    def _trouble(self, line: str) -> None:
        self._content.notices.take(line)
        self._content.names_source |= untimed.names_source(line)
        self._content.trouble_lines += 1
        if len(self._content.troubles) < _MOST_TROUBLES:
            self._content.troubles.append(line[:_LONGEST_TROUBLE])

    def _close_dump(self) -> None:
        self._continued = self._outside
        lines, self._dump = self._dump, []
        text = dump_with_points("\n".join([*lines, ""]))
        dump, content = parse_stats_dump(text), self._content
        if dump is not None or (lines and parse_compaction_tables(text)):
            self._blocks.take(text)
        if dump is not None:
            micros = self._clock.micros(self._dump_stamp or self._first)
            dump = replace(dump, compacted_bytes=self._blocks.compacted_bytes)
            content.dumps.append(TimedDump(micros, dump))
        self._messages_among(lines, text)

    def _messages_among(self, lines: list[str], text: str) -> None:
        """Take tickers and messages without a time that follow the tables of a paste."""
        if "rocksdb." in text and any(map(untimed.is_ticker, lines)):
            self._earlier_statistics, self._statistics = self._statistics, lines
        if " writes because " in text or EVENT_MARK in text:
            for line in lines:
                self._untimed_message(line)
            self._continued = self._outside


def _is_blank(line: str) -> bool:
    """RocksDB writes a line of nothing but its time and place above a block."""
    return line.endswith("] ") or line[STAMP_LENGTH:].strip().isalnum()
