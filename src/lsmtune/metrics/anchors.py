"""Words that only RocksDB writes: where its message begins in a line, and where it ends."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsmtune.metrics.log_events import EVENT_MARK
from lsmtune.metrics.log_lines import STAMP

RECORD = re.compile(
    r"""EVENT_LOG_v1\ \{
    | (?:RocksDB|Speedb)\ version:\ \d
    | \ *Options\.[\w.]+(?:\[\d+\]|\ stats\ level)?\ ?:
    | -{2,}\ *(?:Options\ for\ column\ family|DUMPING\ STATS)
    | \ *table_factory\ options:
    | (?:\[(?:WARN|ERROR|FATAL|INFO|DEBUG|HEADER)\]\ )?\[[\w./@+-]*\.(?:cc|h):\d+\]\ ?
    | \[(?:WARN|ERROR|FATAL)\]\ \[
    | (?:\[[^\]\s]+\]\ )?\[JOB\ \d+\]
    | \[[^\]\s]+\]\ (?:New\ memtable\ created|Manual\ compaction|Level\ summary|Moving\ \#
        |(?:Stopping|Stalling)\ writes\ because|Increasing\ compaction\ threads
        |Compaction\ start\ summary|Moved\ \#)
    | DB\ pointer\ 0x | Recovering\ from\ manifest\ file | STATISTICS:$ | DB\ SUMMARY""",
    re.VERBOSE,
)
"""Begin of a message."""
CONTINUED = re.compile(
    r"\*\* (?:DB|Compaction) Stats |Uptime\(secs\): \d|Cumulative (?:writes|stall): "
    r"|cache_index_and_filter_blocks: |Level +Files +Size|rocksdb\.[a-z0-9.-]+ (?:COUNT|P50) : "
)
"""Begin of a further line of a message."""
_ENDED = re.compile(
    r"(?:RocksDB|Speedb) version: \d+(?:\.\d+)+"
    r"|Options\.[\w.]+(?:\[\d+\])? *: -?\d+(?:\.\d+)?(?![\w.,])"
    r"|\*\* (?:DB|Compaction) Stats (?:\[[^\]]*\] )?\*\*|rocksdb\.[\w.-]+ COUNT : \d+"
    r"|Uptime\(secs\): [\d.]+ total, [\d.]+ interval"
)
"""A message whose end is known. An event ends where its braces close."""
_DECODER = json.JSONDecoder()
_LONGEST_LOOK = 4000
_MOSTLY, _NEARLY_ALL = 0.5, 0.8


def anchor(line: str) -> re.Match[str] | None:
    """Return the first words of RocksDB in a line: its time, or the begin of a message or row."""
    head = line[:_LONGEST_LOOK]
    if own := STAMP.search(head):
        return own
    record, further = RECORD.search(head), CONTINUED.search(head)
    if record and (further is None or record.start() <= further.start()):
        return record
    return further


def text_behind(line: str) -> str | None:
    """Return the text after a message; None if the line does not show where the message ends."""
    at = line.find(EVENT_MARK)
    if at < 0:
        ended = _ENDED.search(line)
        return None if ended is None else line[ended.end() :]
    try:
        return line[_DECODER.raw_decode(line, at + len(EVENT_MARK))[1] :]
    except (ValueError, RecursionError):
        return None


@dataclass(frozen=True)
class Sample:
    """The first lines of a file, and the first words of RocksDB in each of them."""

    lines: Sequence[str]
    anchors: Sequence[re.Match[str] | None]

    @classmethod
    def of(cls, lines: Sequence[str]) -> "Sample":
        """Find the words of RocksDB in the lines."""
        return cls(lines, [anchor(line) for line in lines])

    @cached_property
    def anchored(self) -> list[tuple[str, re.Match[str]]]:
        """The lines with words of RocksDB."""
        pairs = zip(self.lines, self.anchors, strict=True)
        return [(line, match) for line, match in pairs if match is not None]

    @cached_property
    def is_plain(self) -> bool:
        """Whether nearly all lines with words of RocksDB begin with its time."""
        begins = [
            match
            for line, match in self.anchored
            if match.re is not CONTINUED or line[: match.start()].strip()
        ]
        plain = sum(match.re is STAMP and match.start() == 0 for match in begins)
        return plain >= len(begins) * _NEARLY_ALL

    def explains(self, count: int) -> bool:
        """Return whether a layer with the number of lines explains most lines with such words."""
        return 0 < count >= len(self.anchored) * _MOSTLY


@dataclass(frozen=True, slots=True)
class Ending:
    """What most texts behind messages begin with, and how often it stands in them."""

    words: str
    times: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Ending | None":
        """Learn it; None if most messages have no text behind them."""
        texts = [text for text in texts if text.strip()]
        if not texts:
            return None
        words = Counter(texts).most_common(1)[0][0]
        while sum(text.startswith(words) for text in texts) < len(texts) * _NEARLY_ALL:
            words = words[:-1]
        if not words.strip():
            return None
        return cls(words, Counter(text.count(words) for text in texts).most_common(1)[0][0])

    def off(self, line: str) -> str:
        """Return the line without it."""
        return line.rsplit(self.words, self.times)[0]
