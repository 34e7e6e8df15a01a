"""Lines of a LOG that name a cause by themselves: how often RocksDB wrote each, and the first."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lsmtune.metrics.log_recovery import LINES

Notices = Mapping[str, str | tuple[str, re.Pattern[str]]]
"""The words of a line, by a short name. A pattern says what else must be in the line."""
NO_NOTICES: Notices = {}

_OF_EACH_LOG: Notices = {
    "files at the opening": " dir, Total Num: ",
    "more compactions": "Increasing compaction threads because",
    **LINES,
    "options skipped": "(skipping printing options)",
    "write controller": "WC setting delay of ",
}
"""Lines that the reader of a LOG needs, or that show what the LOG contains (RocksDB 5 to 11)."""
_LONGEST = 300


@dataclass(slots=True)
class Notice:
    """How often a line was written, the first such line, and the place of the last among all."""

    count: int
    first: str
    last: int = 0


@dataclass(slots=True)
class NoticeLedger:
    """Takes the lines of a LOG and keeps the notices by name.

    It looks for the lines of `wanted`, and for the few lines that every reader of a LOG needs.
    """

    wanted: Notices = field(default_factory=dict)
    notices: dict[str, Notice] = field(default_factory=dict)
    _texts: list[tuple[str, str]] = field(init=False)
    _patterns: dict[str, re.Pattern[str]] = field(init=False)
    _place: int = 0

    def __post_init__(self) -> None:
        """Take texts and patterns apart, because a line is compared with each text."""
        marks = {**_OF_EACH_LOG, **self.wanted}
        self._texts = [(n, m if isinstance(m, str) else m[0]) for n, m in marks.items()]
        self._patterns = {n: m[1] for n, m in marks.items() if not isinstance(m, str)}

    def take(self, line: str) -> str | None:
        """Count the line if it is one of the notices; return the name of the notice."""
        # Some thirty searches for a text take less time than one for a pattern of them all.
        for name, text in self._texts:
            if text in line:
                return self._count(name, line)
        return None

    def _count(self, name: str, line: str) -> str | None:
        if name in self._patterns and not self._patterns[name].search(line):
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
