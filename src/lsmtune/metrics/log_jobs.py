"""Flushes and compactions, put together from the event lines of a LOG.

Events are fed one by one, so that a LOG of any size is followed in little memory. Their fields
are those of db/flush_job.cc, db/compaction/compaction_job.cc and db/event_helpers.cc.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from lsmtune.metrics.log_events import Event, counted

_FLUSH, _COMPACTION = "flush_started", "compaction_started"
_FINISHED = {"flush_finished", "compaction_finished"}
_RECOVERY, _RECOVERED = "recovery_started", {"recovery_finished", "recovery_failed"}
Origin = Literal["flush", "recovery", "compaction"]
"""What made a table: recovery writes the records of the write-ahead log into tables."""
_DEFAULT = "default"
_MOST_REWRITTEN = 1000
_INPUT = re.compile(r"files_L(\d{1,3})")
_SIZES = {"table_file_creation": "file_size", "blob_file_creation": "total_blob_bytes"}
"""Events that tell of a new file, and their field with its size."""


@dataclass(frozen=True, slots=True)
class Job:
    """A flush or a compaction; times are Unix times in µs, None is what the LOG does not tell.

    A flush has no input levels and goes to level 0; `user_bytes` are the keys and values of its
    memtables as RocksDB counts them (a sequence number an entry on top), `records_in` their
    entries, `deletes` those of them that are deletions.

    `table_bytes` are of the tables that it made, `blob_bytes` of its blob files. Those of
    compactions are what the ticker `rocksdb.compact.write.bytes` counts; of flushes the ticker
    is higher by about 140 bytes each, for it also counts what is appended to MANIFEST.
    `read_bytes` is the size of the input files; `rocksdb.compact.read.bytes` is lower by about
    one part in a thousand, for not every byte of a file is read.

    A compaction spent `cpu_micros` on the CPU, and had `subcompactions` parts. `made_deletes` are
    the deletions in the tables that a job made. `oldest_snapshot` is the sequence number of the
    oldest snapshot that was open, None if there was none. `repeats` is the number of compactions
    in a row, up to this one, of which each wrote all its records into the level that it read, and
    read only the files that the one before wrote.
    """

    kind: Literal["flush", "compaction"]
    family: str | None
    reason: str | None
    started_micros: int | None
    finished_micros: int | None
    input_levels: tuple[int, ...] = ()
    output_level: int = 0
    read_bytes: int | None = None
    table_bytes: int | None = None
    blob_bytes: int = 0
    records_in: int | None = None
    deletes: int | None = None
    user_bytes: int | None = None
    cpu_micros: int | None = None
    subcompactions: int | None = None
    made_deletes: int = 0
    oldest_snapshot: int | None = None
    repeats: int = 0

    @property
    def written_bytes(self) -> int | None:
        """All that it wrote; None where the LOG does not tell."""
        return None if self.table_bytes is None else self.table_bytes + self.blob_bytes

    @property
    def duration_s(self) -> float | None:
        """How long it ran."""
        if self.started_micros is None or self.finished_micros is None:
            return None
        return (self.finished_micros - self.started_micros) / 1e6


@dataclass(frozen=True, slots=True)
class TreeShape:
    """How many files each level of a column family held, from level 0 down."""

    micros: int
    family: str | None
    files: tuple[int, ...]


@dataclass(slots=True)
class FileExtremes:
    """The largest values of one table file that a LOG tells of."""

    range_deletes: int = 0
    metadata_bytes: int = 0
    """The size of its filter or of its index, whichever is larger."""

    def add(self, properties: dict[str, Any]) -> None:
        """Look at the properties of a table."""
        self.range_deletes = max(self.range_deletes, _whole(properties, "num_range_deletions"))
        sizes = (_whole(properties, name) for name in ("filter_size", "index_size"))
        self.metadata_bytes = max(self.metadata_bytes, *sizes)


@dataclass(slots=True)
class TableTotals:
    """Sums over tables that were made."""

    file_bytes: int = 0
    entries: int = 0
    deletes: int = 0
    range_deletes: int = 0
    key_bytes: int = 0
    value_bytes: int = 0
    filter_bytes: int = 0
    filter_entries: int = 0

    def add(self, size: int, properties: dict[str, Any], deletes: int = 0) -> None:
        """Add a table; properties that it does not have count as none.

        `deletes` is the number of deletions of a table that does not have it.
        """
        self.file_bytes += size
        entries = _whole(properties, "num_entries")
        self.entries += entries
        own = counted(properties.get("num_deletions"))
        self.deletes += deletes if own is None else own
        self.range_deletes += _whole(properties, "num_range_deletions")
        self.key_bytes += _whole(properties, "raw_key_size")
        self.value_bytes += _whole(properties, "raw_value_size")
        if (filter_bytes := _whole(properties, "filter_size")) > 0:
            self.filter_bytes += filter_bytes
            self.filter_entries += _whole(properties, "num_filter_entries") or entries

    def plus(self, other: "TableTotals") -> "TableTotals":
        """Return the sums over the tables of both."""
        names = [field.name for field in fields(self)]
        return TableTotals(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, slots=True)
class TableMetadata:
    """Sizes in one table file: of its index, of its filter, and of the index's top level.

    `top_level_bytes` is 0 unless the index is partitioned.
    """

    index_bytes: int
    filter_bytes: int
    top_level_bytes: int


@dataclass(slots=True)
class _Open:
    """A job that has begun."""

    started: Event
    family: str | None
    table_bytes: int = 0
    blob_bytes: int = 0
    deletes: int = 0
    made: list[int] = field(default_factory=list)
    has_unknown_size: bool = False

    @property
    def origin(self) -> Origin:
        """The kind of the job."""
        return "flush" if self.started.name == _FLUSH else "compaction"


@dataclass(slots=True)
class JobLedger:
    """Takes the events in their order and keeps the jobs, the tree's shapes and table totals."""

    jobs: list[Job] = field(default_factory=list)
    shapes: list[TreeShape] = field(default_factory=list)
    made: dict[Origin, dict[str, TableTotals]] = field(default_factory=dict)
    """Sums over the tables that were made, by what made them and by column family."""
    extremes: FileExtremes = field(default_factory=FileExtremes)
    tables: dict[int, TableMetadata] = field(default_factory=dict)
    """The table files that were made, by their number."""
    _running: dict[int, _Open] = field(default_factory=dict)
    _recovery: int | None = None
    _rewritten: dict[frozenset[object], int] = field(default_factory=dict)
    """The newest files that compactions wrote without a change, with `Job.repeats`."""

    def take(self, event: Event) -> Job | None:
        """Take an event; returns the job that it ends."""
        if event.name in (_FLUSH, _COMPACTION) and event.job is not None:
            self._running[event.job] = _Open(event, event.text("cf_name"))
        elif event.name in _FINISHED:
            return self._finish(event)
        elif event.name == _RECOVERY:
            self._recovery = event.job
        elif event.name in _RECOVERED:
            self._recovery = None
        elif event.job is not None and (opened := self._running.get(event.job)) is not None:
            self._made(opened, event)
        elif event.job is not None and event.job == self._recovery:
            self._table("recovery", event, None)
        return None

    def made_by(self, *origins: Origin, family: str | None = None) -> TableTotals:
        """Return the sums over the tables that these made, of one column family or of all."""
        found = TableTotals()
        for origin in origins:
            for name, totals in self.made.get(origin, {}).items():
                found = found.plus(totals) if family in (None, name) else found
        return found

    def reopened(self) -> None:
        """The database is opened: what ran before was lost."""
        self._running.clear()
        self._recovery = None

    @property
    def running(self) -> list[Job]:
        """The jobs that have begun and not ended."""
        return [_job(opened, None) for opened in self._running.values()]

    @property
    def last_finished_micros(self) -> int | None:
        """The latest end of a job; ends are written late and not always in their order."""
        return max((job.finished_micros or 0 for job in self.jobs), default=None)

    def _made(self, opened: _Open, event: Event) -> None:
        """A running job has made a file."""
        size_name = _SIZES.get(event.name)
        opened.has_unknown_size |= size_name is not None and event.number(size_name) is None
        opened.family = event.text("cf_name") or opened.family
        if event.name == "blob_file_creation":
            opened.blob_bytes += event.number("total_blob_bytes") or 0
        elif event.name == "table_file_creation":
            opened.table_bytes += event.number("file_size") or 0
            number = event.number("file_number")
            opened.made += [] if number is None else [number]
            properties = self._table(opened.origin, event, opened)
            opened.deletes += _whole(properties, "num_deletions")

    def _table(self, origin: Origin, event: Event, opened: _Open | None) -> dict[str, Any]:
        """Add a table that was made; return its properties, none if the LOG lacks them."""
        properties = event.payload.get("table_properties")
        if event.name != "table_file_creation" or not isinstance(properties, dict):
            return {}
        if (number := event.number("file_number")) is not None:
            sizes = ("index_size", "filter_size", "top_level_index_size")
            self.tables[number] = TableMetadata(*(_whole(properties, n) for n in sizes))
        self.extremes.add(properties)
        of_origin = self.made.setdefault(origin, {})
        name = event.text("cf_name") or (opened and opened.family) or _DEFAULT
        deletes = opened.started.number("num_deletes") if opened else None
        totals = of_origin.setdefault(name, TableTotals())
        totals.add(event.number("file_size") or 0, properties, deletes or 0)
        return properties

    def _finish(self, event: Event) -> Job:
        opened = self._running.pop(event.job, None) if event.job is not None else None
        job = _job(opened, event)
        if opened is not None and (repeats := self._repeats(opened, job, event)):
            job = replace(job, repeats=repeats)
        self.jobs.append(job)
        files = event.payload.get("lsm_state")
        if isinstance(files, list) and all(counted(count) is not None for count in files):
            self.shapes.append(TreeShape(event.time_micros, job.family, tuple(files)))
        return job

    def _repeats(self, opened: _Open, job: Job, ended: Event) -> int:
        """Return `Job.repeats` of a compaction that has ended."""
        records = job.records_in
        in_place = job.input_levels == (job.output_level,) and job.kind == "compaction"
        if not in_place or records is None or ended.number("num_output_records") != records:
            return 0
        before, after = _input_files(opened.started), frozenset[object](opened.made)
        if not after:  # an excerpt without the events of files: the same data has the same sizes
            if not job.table_bytes:
                return 0
            before = after = frozenset({job.family, job.output_level, (records, job.table_bytes)})
        repeats = self._rewritten.pop(before, 0) + 1
        if len(self._rewritten) >= _MOST_REWRITTEN:
            del self._rewritten[next(iter(self._rewritten))]
        self._rewritten[after] = repeats
        return repeats


_UNSEEN = Event(0, "", None, {})
"""Stands for the beginning or the end of a job that the LOG does not hold."""


def _job(opened: _Open | None, finished: Event | None) -> Job:
    started, ended = opened.started if opened else _UNSEEN, finished or _UNSEEN
    family = opened.family if opened else None
    times = (_began(started, ended), ended.time_micros or None)
    if (started.name or ended.name).startswith("flush"):
        return Job(
            "flush", family, started.text("flush_reason"), *times,
            table_bytes=opened.table_bytes if opened and not opened.has_unknown_size else None,
            blob_bytes=opened.blob_bytes if opened else 0,
            records_in=_entries(started),
            deletes=started.number("num_deletes"),
            user_bytes=started.number("total_data_size"),
            made_deletes=opened.deletes if opened else 0,
        )  # fmt: skip
    return Job(
        "compaction", family, _reason(started), *times,
        input_levels=_input_levels(started),
        output_level=ended.number("output_level") or 0,
        read_bytes=started.number("input_data_size"),
        table_bytes=ended.number("total_output_size"),
        blob_bytes=ended.number("total_blob_output_size") or 0,
        records_in=ended.number("num_input_records"),
        cpu_micros=ended.number("compaction_time_cpu_micros"),
        subcompactions=ended.number("num_subcompactions"),
        made_deletes=opened.deletes if opened else 0,
        oldest_snapshot=started.number("oldest_snapshot_seqno"),
    )  # fmt: skip


def _reason(started: Event) -> str | None:
    """Return the reason of a compaction.

    Old versions print none. A compaction of CompactRange has the score -1: no level asked for it
    (Compaction in db/compaction.h).
    """
    told = started.text("compaction_reason")
    return "ManualCompaction" if told is None and started.payload.get("score") == -1 else told


def _began(started: Event, ended: Event) -> int | None:
    """The time of the beginning; without its event by the duration that the end of one tells."""
    if started.time_micros:
        return started.time_micros
    took_micros = ended.number("compaction_time_micros")
    return None if took_micros is None else max(ended.time_micros - took_micros, 0) or None


def _entries(started: Event) -> int | None:
    """Newer versions have another name for it."""
    old = started.number("num_entries")
    return started.number("total_num_input_entries") if old is None else old


def _input_levels(started: Event) -> tuple[int, ...]:
    found = ((_INPUT.fullmatch(key), files) for key, files in started.payload.items())
    return tuple(sorted(int(match[1]) for match, files in found if match and files))


def _input_files(started: Event) -> frozenset[object]:
    lists = (files for key, files in started.payload.items() if _INPUT.fullmatch(key))
    return frozenset(
        number
        for files in lists
        if isinstance(files, list)
        for number in files
        if isinstance(number, int)
    )


def _whole(properties: dict[str, Any], name: str) -> int:
    return counted(properties.get(name)) or 0


@dataclass(frozen=True, slots=True)
class LevelBytes:
    """Bytes of input files that went into a level, and bytes of tables written into it."""

    read: int = 0
    written: int = 0

    def plus(self, job: Job) -> "LevelBytes":
        """The sum with a further job."""
        read, written = job.read_bytes or 0, job.table_bytes or 0
        return LevelBytes(self.read + read, self.written + written)


def bytes_by_level(jobs: Iterable[Job]) -> dict[int, LevelBytes]:
    """The bytes by output level."""
    levels: dict[int, LevelBytes] = {}
    for job in jobs:
        levels[job.output_level] = levels.get(job.output_level, LevelBytes()).plus(job)
    return levels
