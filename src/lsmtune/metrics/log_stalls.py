"""Write stalls of a LOG as stretches of time: when writes were delayed or stopped, and why.

RocksDB tells a stall in a warning whenever it looks at its reasons: after each flush, each
compaction and each switch of a memtable (RecalculateWriteStallConditions in db/column_family.cc).
So a stall lasts from its warning to the next of these moments that is not followed by another
warning of its kind; a warning is such a moment too. It is the longest time in which writers, had
they written, were held.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

OF_FAMILY = (
    r"(?:\[(?!(?:DEBUG|INFO|WARN|ERROR)\]|[^\]]{0,400}\.cc:\d)(?P<family>[^\[\]]{0,400})\] )?"
)
"""The column family in front of a message, which a paste may lack; not the level, not the place."""
_WARNING = re.compile(
    OF_FAMILY + r"(?P<kind>Stalling|Stopping) writes because "
    r"(?:we have (?P<count>\d{1,15}) |of )"
    r"(?P<cause>level-0 files|immutable memtables|estimated pending compaction bytes)"
    r"(?: (?P<bytes>\d{1,18}))?(?:.{0,80}? rate (?P<rate>\d{1,18}))?"
)
_OF_SPEEDB = re.compile(r"(?P<kind>WC setting delay) of (?P<rate>\d{1,18})")
"""The write controller of Speedb sets the rate of all writes, mostly next to a warning."""
SPEEDB_CAUSE = "delay of the write controller"
_SWITCH = re.compile(r"\[(?P<family>[^\[\]]*)\] New memtable created")
_KINDS: dict[str, Literal["delay", "stop"]] = {
    "Stalling": "delay", "Stopping": "stop", "WC setting delay": "delay",
}  # fmt: skip
_SAME_MOMENT_MICROS = 5_000
"""A warning comes at most so long after the end of the job that led to it."""
_CRAWL_BYTES_S = 64 << 10
_LINE = re.compile(
    OF_FAMILY + r"(?:(?:Stalling|Stopping) writes|Increasing compaction threads) because we have "
    r"(?P<count>\d{1,9}) level-0 files"
)


@dataclass(slots=True)
class Stall:
    """A stretch of time (Unix times in µs) in which a cause delayed or stopped the writes.

    `warnings` counts the lines that tell of it; `most` is the largest number in them: files,
    memtables or bytes. `least_rate` is the lowest rate in them, in bytes a second, and `crawls`
    counts those with at most 64 KiB a second. `family` is "" if the lines name none.
    """

    family: str
    kind: Literal["delay", "stop"]
    cause: str
    begin_micros: int
    end_micros: int
    warnings: int = 0
    most: int = 0
    least_rate: int | None = None
    crawls: int = 0

    @property
    def duration_s(self) -> float:
        """How long it lasted."""
        return (self.end_micros - self.begin_micros) / 1e6


@dataclass(slots=True)
class StallLedger:
    """Takes warnings and the moments at which RocksDB looks again; keeps the stalls in order."""

    stalls: list[Stall] = field(default_factory=list)
    _lasting: dict[tuple[str, str, str], Stall] = field(default_factory=dict)
    _latest: dict[tuple[str, str, str], Stall] = field(default_factory=dict)

    def warn(self, line: str, micros: int) -> bool:
        """Take a line that says that writes are delayed or stopped; return whether it does."""
        match = _WARNING.search(line)
        if match is not None:
            self._add(match.groupdict(), micros)
        return match is not None

    def delayed(self, line: str, micros: int) -> None:
        """Take a line of Speedb's write controller."""
        if (match := _OF_SPEEDB.search(line)) is not None:
            self._add({**match.groupdict(), "cause": SPEEDB_CAUSE}, micros)

    def waited(self, cause: str, micros: int) -> None:
        """Take a line of an old version, which says that a writer waits."""
        self._add({"kind": "Stopping", "cause": cause, "rate": None}, micros)

    def _add(self, told: dict[str, Any], micros: int) -> None:
        key = (told.get("family") or "", told["kind"], told["cause"])
        for other, stall in list(self._lasting.items()):
            if other != key and other[0] == key[0]:  # RocksDB warns of one cause at a time
                stall.end_micros = max(stall.end_micros, micros)
                del self._lasting[other]
        latest = self._latest.get(key)
        lasts = key in self._lasting
        if latest is None or (not lasts and micros - latest.end_micros > _SAME_MOMENT_MICROS):
            latest = Stall(key[0], _KINDS[key[1]], key[2], micros, micros)
            self._latest[key] = latest
            self.stalls.append(latest)
        latest.end_micros = max(latest.end_micros, micros)
        latest.warnings += 1
        latest.most = max(latest.most, int(told.get("count") or told.get("bytes") or 0))
        if told["rate"]:
            rate = int(told["rate"])
            latest.least_rate = min(rate, latest.least_rate or rate)
            latest.crawls += rate <= _CRAWL_BYTES_S
        self._lasting[key] = latest

    def switched(self, line: str, micros: int) -> None:
        """Take a line that says that a memtable was switched."""
        match = _SWITCH.search(line)
        if match is not None:
            self.looked(match["family"], micros)

    def looked(self, family: str | None, micros: int) -> None:
        """RocksDB looks again: the family's stalls (None: all) end, unless warned of once more."""
        for key, stall in list(self._lasting.items()):
            if (family is None or key[0] in (family, "")) and micros > stall.end_micros:
                stall.end_micros = micros
                del self._lasting[key]

    def end(self, micros: int) -> None:
        """The LOG, or an opening of the database, ends: what lasts, lasts until then."""
        self.looked(None, micros)
        self._lasting.clear()
        self._latest.clear()

    def settle(self) -> None:
        """Leave out the lines of Speedb's write controller that repeat a warning."""
        warned = [stall for stall in self.stalls if stall.cause != SPEEDB_CAUSE]
        self.stalls = warned or self.stalls

    def shift(self, micros: int) -> None:
        """What was taken so far was told in a time that is so much behind."""
        for stall in self.stalls:
            stall.begin_micros += micros
            stall.end_micros += micros


@dataclass(slots=True)
class SeenFiles:
    """The newest number of files in level 0 and the largest one, in so many lines."""

    last: int
    most: int
    lines: int
    stamp: str
    """The time of the newest line; lines that grep found can be in any order."""
    after_dumps: int = 0
    """How many statistics dumps began before the newest line."""


@dataclass(slots=True)
class LevelZeroLedger:
    """Takes the lines and keeps the numbers by column family, "" if a line names none."""

    families: dict[str, SeenFiles] = field(default_factory=dict)
    dumps: int = 0
    """How many statistics dumps began."""

    def newer_than(self, in_dump: Collection[str]) -> dict[str, SeenFiles]:
        """Return the numbers that no later dump replaces: it has the levels of these families."""
        return {
            family: seen
            for family, seen in self.families.items()
            if seen.after_dumps == self.dumps or family not in in_dump
        }

    def take(self, line: str, stamp: str) -> bool:
        """Take a line with its time; return whether it names a number of files."""
        match = _LINE.search(line)
        if match is None:
            return False
        family, count = match["family"] or "", int(match["count"])
        known = self.families.get(family)
        if known is None:
            self.families[family] = SeenFiles(count, count, 1, stamp, self.dumps)
            return True
        known.most = max(known.most, count)
        known.lines += 1
        if stamp >= known.stamp:
            known.last, known.stamp, known.after_dumps = count, stamp, self.dumps
        return True
