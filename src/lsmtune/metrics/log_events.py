"""Event lines of a RocksDB LOG: `… EVENT_LOG_v1 {json}` (logging/event_logger.cc)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EVENT_MARK = "EVENT_LOG_v1 "
"""Stands before the JSON of an event."""
HIDDEN = "***@***.***"
"""What GitHub puts in place of anything in a mail that looks like an address, such as `1@3`."""
_HIDDEN_VALUE = re.compile(r"(?:(?<=: )|(?<=, )|(?<=\[))" + re.escape(HIDDEN) + r"(?=[,}\]])")
"""A hidden number; a hidden text stands between quotation marks."""
_NEVER_UNKNOWN = ("output_level", "total_blob_output_size")
"""Fields that count as 0 where an event lacks them, so that a hidden value spoils the event."""
_DECODER = json.JSONDecoder()
_END_MICROS = 1 << 53
"""A time of no LOG: the year 2255."""
_FOLLOWED = re.compile(
    rb'EVENT_LOG_v1 \{"time_micros": (\d{1,20}), [^{]*?"job": (\d{1,20}), '
    rb'"event": "(?:flush|compaction)_(started|finished)"'
)
_OPENED = b"DB pointer "
"""Stands in the last line of the opening (DBImpl::Open, db/db_impl/db_impl_open.cc)."""
_TABLE_MADE = re.compile(
    rb'EVENT_LOG_v1 \{[^{]*?"event": "table_file_creation", [^{]*?"file_size": (\d{1,20})'
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event: when (Unix time in µs), what, of which background job, and all that it says.

    `job` is None for events that belong to none. `payload` holds every field under RocksDB's
    name.
    """

    time_micros: int
    name: str
    job: int | None
    payload: Mapping[str, Any]

    def number(self, field: str) -> int | None:
        """The value of a field that counts something, None where the event does not have it."""
        return counted(self.payload.get(field))

    def text(self, field: str) -> str | None:
        """The value of a field that is a text, None where the event does not have it."""
        value = self.payload.get(field)
        return value if isinstance(value, str) else None


def parse_event(line: str) -> Event | None:
    """Read a line that holds EVENT_MARK. Values that a mail hides are None.

    An event ends where its braces close; text behind it does not matter.

    None for one that is cut: the last of a LOG that was copied while it grew, or a long one that
    RocksDB itself cut. None also for one with text of another program inside a name.
    """
    if HIDDEN in line:
        line = _HIDDEN_VALUE.sub("null", line)
    try:
        payload = _DECODER.raw_decode(line, line.find(EVENT_MARK) + len(EVENT_MARK))[0]
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict) or not all(map(str.isidentifier, payload)):
        return None
    if None in (payload.get(name, 0) for name in _NEVER_UNKNOWN):
        return None
    micros, name, job = (payload.get(field) for field in ("time_micros", "event", "job"))
    if not isinstance(micros, int) or not 0 <= micros < _END_MICROS or not isinstance(name, str):
        return None
    return Event(micros, name, counted(job), payload)


def counted(value: object) -> int | None:
    """Return a value of an event if it is an integer that RocksDB can have, from 0 to 64 bits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64:
        return value
    return None


class LogFollower:
    """Judges from a growing LOG whether the tree has settled: fed with what was appended.

    `running_jobs` are the flushes and compactions begun and not ended, `last_finished_micros`
    (Unix time in µs) is the end of the latest, `finished_count` how many have ended,
    `table_bytes` the size of all tables made so far, and `opened` tells that the DB has been
    opened. The fields needed stand at the beginning of
    an event line, so that a line which RocksDB cut counts as well.
    """

    def __init__(self) -> None:
        self.running_jobs: set[int] = set()
        self.last_finished_micros: int | None = None
        self.finished_count = 0
        self.table_bytes = 0
        self.opened = False
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the LOG, split anywhere; a line counts once it is whole."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            event = _FOLLOWED.search(line)
            if event:
                self._count(int(event[1]), int(event[2]), event[3])
            elif made := _TABLE_MADE.search(line):
                self.table_bytes += int(made[1])
            elif _OPENED in line:
                self.opened = True

    def _count(self, micros: int, job: int, what: bytes) -> None:
        if what == b"started":
            self.running_jobs.add(job)
            return
        self.running_jobs.discard(job)
        self.finished_count += 1
        self.last_finished_micros = max(micros, self.last_finished_micros or micros)
