"""The time and the level that another program writes around a message of RocksDB."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

_DATE = re.compile(
    r"(?P<year>\d{4})[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T -](?P<time>\d\d:\d\d:\d\d)"
    r"(?:[.,](?P<fraction>\d{1,9}))?"
)
_GLOG_DATE = re.compile(
    r"\b[IWEFDV](?P<year>\d\d)?(?P<month>\d\d)(?P<day>\d\d) (?P<time>\d\d:\d\d:\d\d)"
    r"(?:\.(?P<fraction>\d{1,9}))?"
)
_NAMED_DATE = re.compile(
    r"\b(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +(?P<day>\d\d?)"
    r"(?:, (?P<year>\d{4}) @)? (?P<time>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))?"
)
"""Of syslog and of Kibana."""
_UNIX_TIME = re.compile(r"(1\d{9})(?:\.?(\d{1,9}))?")
"""In seconds, milliseconds, microseconds or nanoseconds."""
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NO_YEAR = "2000"
"""Year of a time without one: a leap year. An event of RocksDB corrects it."""
_LEVEL = re.compile(r"(?<![\w])(?:(?P<word>WARN|ERROR|FATAL)(?:ING)?(?![\w])|(?P<glog>[WEF])\d{4})",
                    re.IGNORECASE)  # fmt: skip
_LONGEST_DATE = 40
_GLOG_LEVELS = {"W": "WARN", "E": "ERROR", "F": "FATAL"}


def last_date(text: str) -> re.Match[str] | None:
    """Return the last date of the first kind that the text has."""
    for pattern in (_DATE, _GLOG_DATE, _NAMED_DATE):
        if found := list(pattern.finditer(text)):
            return found[-1]
    return None


def time_of(date: re.Match[str]) -> str:
    """Return a date as RocksDB writes it.

    A time in milliseconds gets the last microsecond of its own, so that no warning comes before
    the event that led to it.
    """
    fraction = (date["fraction"] or "").ljust(6, "9")[:6]
    return f"{_day_of(date)}-{date['time']}.{fraction}"


def _day_of(date: re.Match[str]) -> str:
    parts = date.groupdict()
    month = parts.get("month") or f"{_MONTHS.index(parts['name']) + 1:02}"
    year = parts.get("year") or _NO_YEAR
    year = f"20{year}" if len(year) == len("26") else year
    return f"{year}/{month}/{int(parts['day']):02}"


def level_of(prefix: str) -> str:
    """Return the level that a prefix names as RocksDB writes it, or nothing."""
    level = _LEVEL.search(prefix)
    if level is None:
        return ""
    word = level["word"].upper() if level["word"] else _GLOG_LEVELS[level["glog"].upper()]
    return f"[{word}] "


def prefix_of(fields: Iterable[str]) -> str:
    """Return a prefix with the time and the level in the other fields of a record, or nothing."""
    fields = [text for text in fields if len(text) <= _LONGEST_DATE]
    level = next((level_of(text) for text in fields if _LEVEL.fullmatch(text)), "[INFO] ")
    for text in fields:
        if date := last_date(text):
            return f"{time_of(date).replace('/', '-')} {level}"
        if unix := _UNIX_TIME.fullmatch(text):
            moment = datetime.fromtimestamp(int(unix[1]), UTC)
            return f"{moment:%Y-%m-%d-%H:%M:%S}.{(unix[2] or '0')[:6]:<06} {level}"
    return ""
