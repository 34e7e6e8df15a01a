"""Numbers of files in level 0, from the lines in which RocksDB gives its reasons to stall."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from lsmtune.metrics.log_stalls import OF_FAMILY

_LINE = re.compile(
    OF_FAMILY + r"(?:(?:Stalling|Stopping) writes|Increasing compaction threads) because we have "
    r"(?P<count>\d{1,9}) level-0 files"
)


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
