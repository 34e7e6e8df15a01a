"""A RocksDB LOG: its event lines, a summary of them, and a follower of a LOG that grows.

Event lines are `… EVENT_LOG_v1 {json}` (logging/event_logger.cc); the events are written in
db/flush_job.cc, db/compaction/compaction_job.cc and db/event_helpers.cc, the write stall
warnings in db/column_family.cc.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_MARK = "EVENT_LOG_v1 "
_VERSION = re.compile(r"RocksDB version: (\d+(?:\.\d+)*)")
_BLOCK_CACHE = re.compile(r"block_cache_options:\s+capacity : (\d{1,20})")
_STALL = re.compile(
    r"\[WARN\].* (Stalling|Stopping) writes because "
    r"(?:we have \d+ |of )(level-0 files|immutable memtables|estimated pending compaction bytes)"
)
_FILE_SIZE_FIELDS = {"table_file_creation": "file_size", "blob_file_creation": "total_blob_bytes"}
_FOLLOWED = re.compile(
    rb'EVENT_LOG_v1 \{"time_micros": (\d{1,20}), [^{]*?"job": (\d{1,20}), '
    rb'"event": "(?:flush|compaction)_(started|finished)"'
)
_OPENED = b"DB pointer "
"""Stands in the last line of the opening (DBImpl::Open, db/db_impl/db_impl_open.cc)."""
_TABLE_MADE = re.compile(
    rb'EVENT_LOG_v1 \{[^{]*?"event": "table_file_creation", [^{]*?"file_size": (\d{1,20})'
)
_MICROS_PER_S = 1e6


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
        value = self.payload.get(field)
        return value if isinstance(value, int) else None


@dataclass(frozen=True, slots=True)
class EventLog:
    """The events in the order of the LOG, and a sentence on those that could not be read."""

    events: tuple[Event, ...]
    incomplete: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What a LOG says of the work done while it was written.

    Flush and compaction figures are None when it holds no events at all. `flush_write_bytes`
    sums the files that flush jobs made, blob files included. The ticker
    `rocksdb.flush.write.bytes` is higher by about 140 bytes a flush, for it also counts what
    the flushing thread appends to MANIFEST. `compaction_write_bytes` (of finished compactions,
    blob files included) equals the ticker `rocksdb.compact.write.bytes`.
    `compaction_read_bytes` sums the sizes of the input files of started compactions; the ticker
    `rocksdb.compact.read.bytes` is lower by about one part in a thousand, for not every byte of
    a file is read. `compaction_s` adds up the time of all compactions, parallel ones as well.

    `running_jobs` have begun and not ended. `last_finished_micros` (Unix time in µs) is the end
    of the last flush or compaction, `manual_flush_started_micros` the beginning of the last
    flush that was asked for. `stalls` counts the write stall warnings by kind and cause, such as
    `stalling: level-0 files`. `block_cache_capacity_bytes` is None when column families differ.
    `events` are what all of that was counted from.
    """

    version: str | None
    flush_count: int | None
    flush_write_bytes: int | None
    compaction_count: int | None
    compaction_write_bytes: int | None
    compaction_read_bytes: int | None
    compaction_s: float | None
    running_jobs: tuple[int, ...]
    last_finished_micros: int | None
    manual_flush_started_micros: int | None
    stalls: Mapping[str, int]
    block_cache_capacity_bytes: int | None
    events: tuple[Event, ...]
    incomplete: tuple[str, ...]


def parse_events(lines: Iterable[str]) -> EventLog:
    """Read the event lines among the lines.

    One that is cut (the last of a LOG that was copied while it grew, or a long one that RocksDB
    itself cut) is left out and counted in `incomplete`.
    """
    marked = [line for line in lines if _MARK in line]
    read = [_event(line) for line in marked]
    events = tuple(event for event in read if event)
    cut = len(marked) - len(events)
    return EventLog(events, (f"{cut} event lines are cut off and not counted",) if cut else ())


def summarise_log(text: str) -> LogSummary:
    """Sum up a LOG, of any size and cut anywhere; what could not be read is in `incomplete`."""
    lines = text.split("\n")
    log = parse_events(lines)
    versions = _VERSION.findall(text)
    caches = {int(capacity) for capacity in _BLOCK_CACHE.findall(text)}
    started = _named(log.events, "compaction_started")
    flushes = _named(log.events, "flush_finished")
    compactions = _named(log.events, "compaction_finished")
    ends = [event.time_micros for event in flushes + compactions]
    return LogSummary(
        version=versions[-1] if versions else None,
        flush_count=len(flushes) if log.events else None,
        flush_write_bytes=_flush_bytes(log.events) if log.events else None,
        compaction_count=len(compactions) if log.events else None,
        compaction_write_bytes=_written(compactions) if log.events else None,
        compaction_read_bytes=_total(started, "input_data_size") if log.events else None,
        compaction_s=_seconds(compactions) if log.events else None,
        running_jobs=_running(log.events),
        last_finished_micros=max(ends, default=None),
        manual_flush_started_micros=_manual_flush(log.events),
        stalls=_stalls(lines),
        block_cache_capacity_bytes=caches.pop() if len(caches) == 1 else None,
        events=log.events,
        incomplete=(*log.incomplete, *_faults(versions, caches)),
    )


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


def _event(line: str) -> Event | None:
    try:
        payload = json.loads(line.partition(_MARK)[2])
    except (ValueError, RecursionError):
        return None
    if not isinstance(payload, dict):
        return None
    micros, name, job = (payload.get(field) for field in ("time_micros", "event", "job"))
    if not isinstance(micros, int) or not isinstance(name, str):
        return None
    return Event(micros, name, job if isinstance(job, int) else None, payload)


def _named(events: Iterable[Event], name: str) -> list[Event]:
    return [event for event in events if event.name == name]


def _flush_bytes(events: Iterable[Event]) -> int:
    """Sum the files made by jobs that began as flushes; job numbers restart with the DB."""
    flushing = set[int | None]()
    total = 0
    for event in events:
        if event.name == "flush_started":
            flushing.add(event.job)
        elif event.name == "compaction_started":
            flushing.discard(event.job)
        elif event.job in flushing and event.name in _FILE_SIZE_FIELDS:
            total += event.number(_FILE_SIZE_FIELDS[event.name]) or 0
    return total


def _total(events: Iterable[Event], field: str) -> int | None:
    """Sum a field; None when an event does not state it."""
    values = [event.number(field) for event in events]
    return None if None in values else sum(value for value in values if value)


def _written(compactions: Iterable[Event]) -> int | None:
    tables = _total(compactions, "total_output_size")
    blobs = sum(event.number("total_blob_output_size") or 0 for event in compactions)
    return None if tables is None else tables + blobs


def _seconds(compactions: Iterable[Event]) -> float | None:
    micros = _total(compactions, "compaction_time_micros")
    return None if micros is None else micros / _MICROS_PER_S


def _running(events: Iterable[Event]) -> tuple[int, ...]:
    running = set[int]()
    for event in events:
        if event.job is None:
            continue
        if event.name in {"flush_started", "compaction_started"}:
            running.add(event.job)
        elif event.name in {"flush_finished", "compaction_finished"}:
            running.discard(event.job)
    return tuple(sorted(running))


def _manual_flush(events: Iterable[Event]) -> int | None:
    manual = (
        event.time_micros
        for event in _named(events, "flush_started")
        if event.payload.get("flush_reason") == "Manual Flush"
    )
    return max(manual, default=None)


def _stalls(lines: Iterable[str]) -> dict[str, int]:
    matches = (_STALL.search(line) for line in lines if " writes because " in line)
    return dict(Counter(f"{match[1].lower()}: {match[2]}" for match in matches if match))


def _faults(versions: list[str], caches: set[int]) -> list[str]:
    faults = []
    if not versions:
        faults.append("the LOG does not begin where the DB was opened: totals are of a part")
    if len(caches) > 1:
        faults.append("the column families have block caches of different capacity")
    return faults
