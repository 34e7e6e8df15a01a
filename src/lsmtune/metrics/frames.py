"""Lines of RocksDB inside the log of another program, a mail or a terminal, turned back.

Another program puts a prefix in front of each line, for example

    LOG.old.1695157881178108:2023/09/18-14:07:09.938174 13972 [WARN] [/column_family.cc:948] …
    2022-06-08T10:00:11.950+0000 7fa5ef728700  4 rocksdb: Options.max_background_jobs: 2

In the first line the prefix stands in front of RocksDB's own time, in the second line in its place.
The prefix is learned from lines with words that only RocksDB writes: what stands before these words
is a prefix. Numbers, levels and words in brackets may differ from line to line, all else stays.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lsmtune.metrics.log_lines import STAMP, STAMP_LENGTH

_RECORD = re.compile(
    r"""EVENT_LOG_v1\ \{
    | RocksDB\ version:\ \d
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
"""Begin of a message of RocksDB."""
_CONTINUED = re.compile(
    r"\*\* (?:DB|Compaction) Stats |Uptime\(secs\): \d|Cumulative (?:writes|stall): "
    r"|cache_index_and_filter_blocks: |Level +Files +Size|rocksdb\.[a-z0-9.-]+ (?:COUNT|P50) : "
)
"""Begin of a further line of a message."""
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
_DATE = re.compile(
    r"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T -](?P<time>\d\d:\d\d:\d\d)"
    r"(?:[.,](?P<fraction>\d{1,9}))?"
)
_GLOG_DATE = re.compile(
    r"\b[IWEFDV](?P<year>\d\d)?(?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)"
    r"(?:\.(?P<fraction>\d{1,9}))?"
)
_SYSLOG_DATE = re.compile(
    r"\b(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(?P<day>\d\d?) "
    r"(?P<time>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NO_YEAR = "2000"
"""Year of a time without one: a leap year. An event of RocksDB corrects it."""
_LEVEL = re.compile(r"(?<![\w])(?:(?P<word>WARN|ERROR|FATAL)(?:ING)?(?![\w])|(?P<glog>[WEF])\d{4})",
                    re.IGNORECASE)  # fmt: skip
_GLOG_LEVELS = {"W": "WARN", "E": "ERROR", "F": "FATAL"}
_OWN_LEVEL = re.compile(r"\[(?:WARN|ERROR|FATAL)\]")
_DECODER = json.JSONDecoder()
_JSON_HEAD = re.compile(r'\{"log": ?"')
_QUOTED = re.compile(r'((?:[^"\\]|\\.)*)"\]?\s*$')
_PLAIN = 100
"""After this number of lines with times of RocksDB and without a prefix, no prefix is expected."""
_MOST_HELD = 5000
"""A head of more lines is none."""
_MOST_FRAMES = 64
"""A file with more kinds of prefixes has none."""
_MOST_LEVELS = 1000
"""So many levels of a kind of prefix are kept: words in brackets can be new in each line."""
_LONGEST_PREFIX = 300
_WELL_KNOWN = 500
"""After this number of lines, nothing new is learned from lines with a prefix."""


def without_frames(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines as RocksDB itself would have written them; all other lines as they are.

    A message without a time of RocksDB gets the time of its prefix, or of the message before. A
    time in milliseconds gets the last microsecond of its own, so that no warning comes before the
    event that led to it.
    """
    unwrapper, own_times = _Unwrapper(), 0
    for line in lines:
        if line[4:5] == "/" and STAMP.match(line):
            own_times += 1
            if unwrapper.held:
                yield from unwrapper.released()
            yield line
        elif own_times > _PLAIN and not unwrapper.has_frames:
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
    is_quoted: bool
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
            self._levels[words] = _level_of(prefix[0])
        return self._levels[words]


class _Unwrapper:
    """Learns the prefixes of a file while it reads the lines."""

    def __init__(self) -> None:
        self._frames: dict[str, _Frame] = {}
        self._ordered: list[_Frame] = []
        self._stamp = ""
        self.held: list[str] = []
        self._own_times = 0
        self._json_head = ""
        self._date: re.Match[str] | None = None

    @property
    def has_frames(self) -> bool:
        """Whether any prefix was found."""
        return bool(self._frames)

    def quick(self, line: str) -> str | None:
        """Return the line without a prefix that is well known; None if there is more to do."""
        if self.held:
            return None
        if line[:1] == "{":
            return self._quick_json(line)
        frame, match = self._found(line)
        if frame is None or match is None or frame.lines < _WELL_KNOWN or frame.is_quoted:
            return None
        message = line[match.end() :]
        if message[4:5] == "/" and STAMP.match(message):
            self._stamp = message[:STAMP_LENGTH]
            return message
        if frame.begins and (not frame.continues or _RECORD.match(message)):
            return self._quick_record(frame, match, message)
        return f"{self._stamp} 0 {message}" if self._stamp and _RECORD.match(message) else message

    def _time_in(self, prefix: str) -> str:
        """Return the time of a prefix, or of the message before. It mostly has the same place."""
        date = self._date and self._date.re.match(prefix, self._date.start())
        if date is None:
            date = self._date = _last_date(prefix)
        return self._stamp if date is None else _time_of(date)

    def _quick_record(self, frame: _Frame, prefix: re.Match[str], message: str) -> str:
        self._stamp = self._time_in(prefix[0])
        level = "" if _OWN_LEVEL.match(message) else frame.level(prefix)
        return f"{self._stamp} 0 {level}{message}" if self._stamp else message

    def _quick_json(self, line: str) -> str | None:
        """Return the message of a JSON line if messages have times of RocksDB and no prefix."""
        if self._frames or (message := self._json_text(line)) is None:
            return None
        message = message.rstrip("\n")
        if "\n" in message:
            return None
        if message[4:5] == "/" and STAMP.match(message):
            self._own_times += 1
            self._stamp = message[:STAMP_LENGTH]
            return message
        return message if self._own_times > _WELL_KNOWN else None

    def _json_text(self, line: str) -> str | None:
        """Return the message of a JSON line; where it is the first text, the rest is not read."""
        if self._json_head and line.startswith(self._json_head):
            try:
                return str(_DECODER.raw_decode(line, len(self._json_head) - 1)[0])
            except ValueError:
                return None
        logged = _logged(line)
        if logged is not None and (head := _JSON_HEAD.match(line)):
            self._json_head = head[0]
        return logged

    def take(self, line: str) -> Iterator[str]:
        """Yield the line without its prefix. A head without a time waits for the first time."""
        if line.startswith("{") and (logged := _logged(line)) is not None:
            for part in logged.rstrip("\n").split("\n"):
                yield from self._timed(part) if STAMP.match(part) else self.take(part)
            return
        # `mysql -e` escapes the ends of lines.
        if "\t" in line and "\\n" in line and _CONTINUED.search(line):
            yield from line.split("\\n")
            return
        for found in self._unwrapped(line):
            yield from self._timed(found)

    def released(self) -> Iterator[str]:
        """Yield the lines that wait for a time."""
        held, self.held = self.held, []
        for line in held:
            yield f"{self._stamp} 0 {line}" if self._stamp and _RECORD.match(line) else line

    def _timed(self, line: str) -> Iterator[str]:
        if STAMP.match(line):
            self._stamp = line[:STAMP_LENGTH]
            yield from self.released()
            yield line
        elif self._stamp:
            yield f"{self._stamp} 0 {line}" if _RECORD.match(line) else line
        elif self.held or _RECORD.match(line):
            self.held.append(line)
            if len(self.held) > _MOST_HELD:
                yield from self.released()
        else:
            yield line

    def _unwrapped(self, line: str) -> Iterator[str]:
        frame, message = self._matched(line)
        if frame is None or not (frame.begins or STAMP.match(message)):
            self._learn_from(line)
            frame, message = self._matched(line)
        if frame is not None:
            frame.lines += 1
        if frame is None or STAMP.match(message):
            yield message
        elif frame.begins and (not frame.continues or _RECORD.match(message)):
            yield from self._stamped(line[: len(line) - len(message)], message)
        else:
            yield message

    def _matched(self, line: str) -> tuple[_Frame | None, str]:
        """Return the frame of a line and what follows its prefix."""
        frame, match = self._found(line)
        return (None, line) if match is None else (frame, line[match.end() :])

    def _found(self, line: str) -> tuple[_Frame | None, re.Match[str] | None]:
        for frame in self._ordered:
            if match := frame.pattern.match(line):
                return frame, match
        return None, None

    def _learn_from(self, line: str) -> None:
        """Learn the prefix in front of words of RocksDB."""
        head = line[:_LONGEST_PREFIX]
        if own := STAMP.search(head):
            self._learn(head[: own.start()], continues=True)
            return
        record, further = _RECORD.search(head), _CONTINUED.search(head)
        if record and (further is None or record.start() <= further.start()):
            self._learn(head[: record.start()], begins=True)
        elif further and not head[: further.start()].isspace():
            self._learn(head[: further.start()], continues=True)

    def _learn(self, prefix: str, *, begins: bool = False, continues: bool = False) -> None:
        if not prefix:
            return
        shape = _shape(prefix)
        if shape not in self._frames:
            if len(self._frames) >= _MOST_FRAMES:
                return
            self._frames[shape] = _Frame(re.compile(shape), is_quoted=prefix.endswith(("[", '["')))
            # The longest first: the prefix of a further line may be a part of another prefix.
            self._ordered = [self._frames[s] for s in sorted(self._frames, key=len, reverse=True)]
        self._frames[shape].begins |= begins
        self._frames[shape].continues |= continues

    def _stamped(self, prefix: str, message: str) -> Iterator[str]:
        """Yield a message with the time of its prefix, and its level if it does not name one."""
        stamp = self._time_in(prefix)
        if prefix.endswith(("[", '["')):
            message = _unquoted(message)
        first, *rest = message.split("\n")
        level = "" if _OWN_LEVEL.match(first) else _level_of(prefix)
        yield f"{stamp} 0 {level}{first}" if stamp else first
        yield from rest


def _shape(prefix: str) -> str:
    """Return a pattern for prefixes that differ only in numbers, levels and words in brackets."""
    parts, end = [], 0
    for match in _VARIABLE.finditer(prefix):
        parts += [re.escape(prefix[end : match.start()]), _CLASSES[match.lastgroup or ""]]
        end = match.end()
    pattern = "".join([*parts, re.escape(prefix[end:])])
    if prefix.isspace():
        return re.escape(prefix)
    if prefix.endswith('["'):
        return pattern.removesuffix('"') + '"?'  # TiKV does not quote single words
    if pattern.endswith(_SPACE):
        # Further spaces are RocksDB's own, and an empty line has none.
        return pattern.removesuffix(_SPACE) + r"(?:\s|$)"
    return pattern


def _logged(line: str) -> str | None:
    """Return the message of a line that is a JSON object, as a container or journald writes it."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    texts = (record.get(key) for key in ("log", "MESSAGE", "message", "msg"))
    return next((text for text in texts if isinstance(text, str)), None)


def _unquoted(message: str) -> str:
    """Return a message without its quotes and closing bracket; as it is if it is cut."""
    if (quoted := _QUOTED.match(message)) is None:
        return message.removesuffix("]")
    try:
        return str(json.loads(f'"{quoted[1]}"'))
    except ValueError:
        return message


def _last_date(prefix: str) -> re.Match[str] | None:
    """Return the last date of the first kind that the prefix has."""
    for pattern in (_DATE, _GLOG_DATE, _SYSLOG_DATE):
        if found := list(pattern.finditer(prefix)):
            return found[-1]
    return None


def _time_of(date: re.Match[str]) -> str:
    """Return a date as RocksDB writes it."""
    fraction = (date["fraction"] or "").ljust(6, "9")[:6]
    return f"{_day_of(date)}-{date['time']}.{fraction}"


def _day_of(date: re.Match[str]) -> str:
    if date.re is _DATE:
        return f"{date['year']}/{date['month']}/{date['day']}"
    parts = date.groupdict()
    month = parts.get("month") or f"{_MONTHS.index(parts['name']) + 1:02}"
    year = parts.get("year") or _NO_YEAR
    year = f"20{year}" if len(year) == len("26") else year
    return f"{year}/{month}/{int(parts['day']):02}"


def _level_of(prefix: str) -> str:
    level = _LEVEL.search(prefix)
    if level is None:
        return ""
    word = level["word"].upper() if level["word"] else _GLOG_LEVELS[level["glog"].upper()]
    return f"[{word}] "
