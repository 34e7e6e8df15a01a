"""Lines of a LOG that name a cause by themselves: how often RocksDB wrote each, and the first."""

import re
from dataclasses import dataclass, field

_MARKS = {
    "triggers adjusted": "This condition must be satisfied: level0_stop_writes_trigger",
    "dynamic levels off": "level_compaction_dynamic_level_bytes can't be used together",
    "flush for the WAL": "Flushing all column families with data in WAL number",
    "flush for memory": "Flushing triggered to alleviate write buffer memory usage",
    "deletions off": "File Deletions Disabled",
    "deletions on": "File Deletions Enabled",
    "deletions still off": "File Deletions Enable, but not really enabled",
    "files at the opening": " dir, Total Num: ",
    "one compaction": "compaction slots available 1,",
    "more compactions": "Increasing compaction threads because",
    "manual compaction": "Manual compaction starting",
    "manual compaction waits": "waiting for all other scheduled background compactions",
    "recovered WAL": "Recovering log #",
    "FIFO drops": "FIFO compaction: picking file",
    "trash is large": " immediately, rate_bytes_per_sec ",
    "timers": "Options.statistics stats level: ",
    "no space": "No space left on device",
    "background error": "ErrorHandler: Set regular background error",
    "summary": "DB SUMMARY",
    "manifest size": "MANIFEST file:  ",
    "manifest read": "Recovered from manifest file",
    "merge number ignored": "min_write_buffer_number_to_merge > 1 is not compatible",
    "cache entry size": "Recommend estimated_entry_charge=",
    "levels moved": "Trivially move files down the LSM when open",
    "WAL kept": "Unable to release oldest log due to uncommitted transaction",
    "periodic ignored": "periodic_compaction_seconds does not support FIFO compaction",
    "cache full": "Insert failed due to LRU cache being full",
    "write controller": "WC setting delay of ",
}
"""Words of the line by a short name (RocksDB 5 to 11)."""
_PATTERNS = {
    "FIFO drops": re.compile(r"picking file \d{1,20} with size"),
    # Levels 0 to 3 leave out the timers that cost most (include/rocksdb/statistics.h).
    "timers": re.compile(r"stats level: [45]"),
    # Above the share of trash that is allowed, files are deleted at once in spite of the rate.
    "trash is large": re.compile(r"bytes_per_sec [1-9]\d{0,18}, total_trash_size [1-9]"),
}
"""What else must be in a line."""
_LONGEST = 300


@dataclass(slots=True)
class Notice:
    """How often a line was written, the first such line, and the place of the last among all."""

    count: int
    first: str
    last: int = 0


@dataclass(slots=True)
class NoticeLedger:
    """Takes the lines of a LOG and keeps the notices by name."""

    notices: dict[str, Notice] = field(default_factory=dict)
    _place: int = 0

    def take(self, line: str) -> str | None:
        """Count the line if it is one of the notices; return the name of the notice."""
        # Some thirty searches for a text take less time than one for a pattern of them all.
        for name, text in _MARKS.items():
            if text in line:
                return self._count(name, line)
        return None

    def _count(self, name: str, line: str) -> str | None:
        if name in _PATTERNS and not _PATTERNS[name].search(line):
            return None
        if (known := self.notices.get(name)) is None:
            known = self.notices[name] = Notice(0, line[:_LONGEST])
        known.count += 1
        self._place += 1
        known.last = self._place
        return name

    def count(self, name: str) -> int:
        """How often a notice was written."""
        return self.notices[name].count if name in self.notices else 0
