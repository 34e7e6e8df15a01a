"""A follower of a LOG that grows: whether the tree has settled."""

import re

_FOLLOWED = re.compile(
    rb'EVENT_LOG_v1 \{"time_micros": (\d{1,20}), [^{]*?"job": (\d{1,20}), '
    rb'"event": "(?:flush|compaction)_(started|finished)"'
)
_OPENED = b"DB pointer "
"""Stands in the last line of the opening (DBImpl::Open, db/db_impl/db_impl_open.cc)."""
_TABLE_MADE = re.compile(
    rb'EVENT_LOG_v1 \{[^{]*?"event": "table_file_creation", [^{]*?"file_size": (\d{1,20})'
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
