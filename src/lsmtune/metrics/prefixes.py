"""Prefixes of another program in the place of RocksDB's time, or in front of it.

    LOG.old.1695157881178108:2023/09/18-14:07:09.938174 13972 [WARN] [/column_family.cc:948] …
    2022-06-08T10:00:11.950+0000 7fa5ef728700  4 rocksdb: Options.max_background_jobs: 2

A prefix is learned from lines with words that only RocksDB writes: what stands before these words
is a prefix. Numbers, levels and words in brackets may differ from line to line, all else stays.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lsmtune.metrics.anchors import CONTINUED, RECORD, anchor
from lsmtune.metrics.frame_times import last_date, level_of, time_of
from lsmtune.metrics.log_lines import STAMP, STAMP_LENGTH

_LEVELS = r"TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL"
_VARIABLE = re.compile(
    rf"""(?P<brackets>\[[^\[\]]*\])
    | (?P<level>\b(?:{_LEVELS}|{_LEVELS.lower()})\b)
    | (?P<glog>\b[IWEFDV](?=\d{{4,6}}\b))
    | (?P<hex>\b(?:0x)?[0-9a-f]{{8,}}\b)
    | (?P<number>\d+)
    | (?P<space>\s+)""",
    re.VERBOSE,
)
_SPACE = r"\s+"
_CLASSES = {
    "brackets": r"\[([^\[\]]*)\]",
    "level": rf"({_LEVELS}|{_LEVELS.lower()})",
    "glog": "([IWEFDV])",
    "hex": "(?:0x)?[0-9a-f]+",
    "number": r"\d+",
    "space": _SPACE,
}
_OWN_LEVEL = re.compile(r"\[(?:WARN|ERROR|FATAL)\]")
_MOST_HELD = 5000
"""A head of more lines is none."""
_MOST_FRAMES = 64
"""A file with more kinds of prefixes has none."""
_MOST_LEVELS = 1000
"""So many levels of a kind of prefix are kept: words in brackets can be new in each line."""
_LONGEST_PREFIX = 300
_WELL_KNOWN = 500
"""After this number of lines, nothing new is learned from lines with a prefix."""


def without_prefixes(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines as RocksDB itself would have written them; all other lines as they are.

    A message without a time of RocksDB gets the time of its prefix, or of the message before.
    """
    unwrapper = _Unwrapper()
    for line in lines:
        if line[4:5] == "/" and STAMP.match(line):
            if unwrapper.held:
                yield from unwrapper.released()
            yield line
        elif (known := unwrapper.quick(line)) is not None:
            yield known
        else:
            yield from unwrapper.take(line)
    yield from unwrapper.released()


@dataclass(slots=True)
class _Frame:
    """A kind of prefix. `begins`: messages begin behind it; `continues`: they also go on there.

    `lines` counts the lines that have it.
    """

    pattern: re.Pattern[str]
    begins: bool = False
    continues: bool = False
    lines: int = 0
    _levels: dict[tuple[str, ...], str] = field(default_factory=dict)

    def level(self, prefix: re.Match[str]) -> str:
        """Return the level of a prefix. It depends on the words that differ, so it is kept."""
        words = prefix.groups()
        if words not in self._levels:
            if len(self._levels) >= _MOST_LEVELS:
                self._levels.clear()
            self._levels[words] = level_of(prefix[0])
        return self._levels[words]


class _Unwrapper:
    """Learns the prefixes of a file while it reads the lines."""

    def __init__(self) -> None:
        self._frames: dict[str, _Frame] = {}
        self._ordered: list[_Frame] = []
        self._stamp = ""
        self.held: list[str] = []
        self._date: re.Match[str] | None = None

    def quick(self, line: str) -> str | None:
        """Return the line without a prefix that is well known; None if there is more to do."""
        if self.held:
            return None
        frame, match = self._found(line)
        if frame is None or match is None or frame.lines < _WELL_KNOWN:
            return None
        message = line[match.end() :]
        if message[4:5] == "/" and STAMP.match(message):
            self._stamp = message[:STAMP_LENGTH]
            return message
        if frame.begins and (not frame.continues or RECORD.match(message)):
            return self._stamped(frame, match, message)
        return f"{self._stamp} 0 {message}" if self._stamp and RECORD.match(message) else message

    def take(self, line: str) -> Iterator[str]:
        """Yield the line without its prefix. A head without a time waits for the first time."""
        # `mysql -e` escapes the ends of lines.
        if "\t" in line and "\\n" in line and CONTINUED.search(line):
            yield from line.split("\\n")
        else:
            yield from self._timed(self._unwrapped(line))

    def released(self) -> Iterator[str]:
        """Yield the lines that wait for a time."""
        held, self.held = self.held, []
        for line in held:
            yield f"{self._stamp} 0 {line}" if self._stamp and RECORD.match(line) else line

    def _timed(self, line: str) -> Iterator[str]:
        if STAMP.match(line):
            self._stamp = line[:STAMP_LENGTH]
            yield from self.released()
            yield line
        elif self._stamp:
            yield f"{self._stamp} 0 {line}" if RECORD.match(line) else line
        elif self.held or RECORD.match(line):
            self.held.append(line)
            if len(self.held) > _MOST_HELD:
                yield from self.released()
        else:
            yield line

    def _unwrapped(self, line: str) -> str:
        frame, match = self._found(line)
        message = line if match is None else line[match.end() :]
        if frame is None or not (frame.begins or STAMP.match(message)):
            self._learn_from(line)
            frame, match = self._found(line)
            message = line if match is None else line[match.end() :]
        if frame is None or match is None:
            return line
        frame.lines += 1
        is_begin = frame.begins and (not frame.continues or RECORD.match(message))
        if STAMP.match(message) or not is_begin:
            return message
        return self._stamped(frame, match, message)

    def _found(self, line: str) -> tuple[_Frame | None, re.Match[str] | None]:
        for frame in self._ordered:
            if match := frame.pattern.match(line):
                return frame, match
        return None, None

    def _learn_from(self, line: str) -> None:
        """Learn the prefix in front of words of RocksDB."""
        found = anchor(line[:_LONGEST_PREFIX])
        if found is None or found.start() == 0:
            return
        prefix, begins = line[: found.start()], found.re is RECORD
        if found.re is CONTINUED and prefix.isspace():
            return
        pattern = shape(prefix)
        if pattern not in self._frames:
            if len(self._frames) >= _MOST_FRAMES:
                return
            self._frames[pattern] = _Frame(re.compile(pattern))
            # The longest first: the prefix of a further line may be a part of another prefix.
            self._ordered = [self._frames[s] for s in sorted(self._frames, key=len, reverse=True)]
        self._frames[pattern].begins |= begins
        self._frames[pattern].continues |= not begins

    def _stamped(self, frame: _Frame, prefix: re.Match[str], message: str) -> str:
        """Return a message with the time of its prefix, and its level if it does not name one."""
        self._stamp = self._time_in(prefix[0])
        level = "" if _OWN_LEVEL.match(message) else frame.level(prefix)
        return f"{self._stamp} 0 {level}{message}" if self._stamp else message

    def _time_in(self, prefix: str) -> str:
        """Return the time of a prefix, or of the message before. It mostly has the same place."""
        date = self._date and self._date.re.match(prefix, self._date.start())
        if date is None:
            date = self._date = last_date(prefix)
        return self._stamp if date is None else time_of(date)


def shape(prefix: str) -> str:
    """Return a pattern for prefixes that differ only in numbers, levels and words in brackets."""
    parts, end = [], 0
    for match in _VARIABLE.finditer(prefix):
        parts += [re.escape(prefix[end : match.start()]), _CLASSES[match.lastgroup or ""]]
        end = match.end()
    pattern = "".join([*parts, re.escape(prefix[end:])])
    if prefix.isspace():
        return re.escape(prefix)
    if pattern.endswith(_SPACE):
        # Further spaces are RocksDB's own, and an empty line has none.
        return pattern.removesuffix(_SPACE) + r"(?:\s|$)"
    return pattern
