"""Parts of the statistics dumps in a LOG: the last one of the database and of each family.

RocksDB leaves a column family out of a dump if the family has not changed since the last dump
(InternalStats::HandleCFStatsPeriodic in db/internal_stats.cc). So the last dump alone lacks
families.
"""

import re
from collections.abc import Iterator

from lsmtune.metrics.log_dump import parse_compacted_bytes

_HEADING = re.compile(r"\*\* (?:DB Stats|Compaction Stats \[(?P<family>[^*]{0,500}?)\]) \*\*")
"""The name of a column family may have a line end."""
_A_SUM = re.compile(r"^ *Sum ", re.MULTILINE)
_HISTOGRAMS = re.compile(r"^\*\* (?:File Read Latency|Level \d+ read latency)", re.MULTILINE)
"""Latencies of reads by level; nothing reads them, and they are long."""
_DATABASE = ""
_UPTIME = "Uptime(secs)"
_KNOWN = re.compile(r"olumn family \[(?P<family>.*)\] \(ID (?P<id>\d{1,10})\)")
_DROPPED = re.compile(r"Dropped column family with id (?P<id>\d{1,10})")


class DumpBlocks:
    """Takes whole dumps and keeps only the last block of each column family.

    A block is the table by level with the lines below it. A table that is cut off does not replace
    a whole one.
    """

    def __init__(self) -> None:
        self._database = ""
        self._families: dict[str, str] = {}
        self._compacted: dict[str, float] = {}

    @property
    def compacted_bytes(self) -> float | None:
        """Bytes that flushes and compactions of all families wrote, as rounded as in the dumps."""
        return sum(self._compacted.values()) if self._compacted else None

    @property
    def text(self) -> str:
        """One text with all blocks, as one dump would have them."""
        return "\n".join(filter(None, (self._database, *self._families.values())))

    def take(self, dump: str) -> None:
        """Take the text of a dump."""
        seen: set[str] = set()
        database = []
        for family, block in _blocks(dump):
            if (compacted := parse_compacted_bytes(block)) is not None:
                self._compacted[family] = compacted
            is_whole = _A_SUM.search(block) is not None
            if family == _DATABASE:
                database.append(block)
            elif family in seen and not is_whole:  # by priority, with the lines below both tables
                self._families[family] += f"\n{block}"
            elif is_whole or not _A_SUM.search(self._families.get(family, "")):
                seen.add(family)
                self._families[family] = block
        self._keep("\n".join(database))

    def _keep(self, database: str) -> None:
        """Keep a part on the whole database; a table without a heading is added to the last one."""
        if _UPTIME in database or not self._database:
            self._database = database
        elif database.strip():
            self._database += f"\n{database}"

    def forget(self, family: str) -> None:
        """Leave out a column family that was dropped."""
        self._families.pop(family, None)
        self._compacted.pop(family, None)


def of_family(text: str, family: str) -> str:
    """Return what a text with dumps says of the database and of one column family."""
    return "\n".join(block for name, block in _blocks(text) if name in (_DATABASE, family))


def _blocks(dump: str) -> Iterator[tuple[str, str]]:
    """Give each part of a dump with its family; "" for what is of the whole database."""
    headings = list(_HEADING.finditer(dump))
    ends = [heading.start() for heading in headings[1:]] + [len(dump)]
    if (first := dump[: headings[0].start()] if headings else dump).strip():
        yield _DATABASE, first
    for heading, end in zip(headings, ends, strict=False):
        block = dump[heading.start() : end]
        if (histograms := _HISTOGRAMS.search(block)) is not None:
            block = block[: histograms.start()]
        yield heading["family"] or _DATABASE, block


class FamilyIds:
    """The numbers of the column families, by which a LOG says that a family was dropped."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    @property
    def names(self) -> list[str]:
        """The families that exist, in the order of their lines."""
        return [*self._names.values()]

    def take(self, line: str) -> tuple[str, bool]:
        """Take a line on a column family; return its name, and whether the family was dropped.

        The name is "" if the line does not have it, and the number is unknown.
        """
        if (dropped := _DROPPED.search(line)) is not None:
            return self._names.pop(dropped["id"], ""), True
        if (known := _KNOWN.search(line)) is None:
            return "", False
        self._names[known["id"]] = known["family"]
        return known["family"], False
