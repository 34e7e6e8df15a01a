"""Data that rules need, and how a user gets data that a text lacks."""

from collections.abc import Callable
from dataclasses import dataclass

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.notes import HARDLY_FLUSHED, LEAST_INGEST
from lsmtune.knobs.defaults import version_number

_LOG, _DUMP, _BENCH, _MYROCKS = "LOG", "statistics dump", "db_bench output", "MyRocks status"
_OPTIONS_FILE = "OPTIONS file"
_WHOLE_LOG = "use the whole LOG"
_FROM_THE_FIRST = "use the LOG from its first line"
_INFO_LEVEL = "set info_log_level=INFO_LEVEL in the program"
_A_DUMP = "use a LOG with a statistics dump (every stats_dump_period_sec)"
_A_LATER_DUMP = "use a LOG that ends soon after a statistics dump (every stats_dump_period_sec)"
_FROM_OPENING = "use a LOG with tickers, or the LOG from the opening of the database"
_BLOBS_SINCE = version_number("6.18")
_COUNTED = "use a LOG with tickers or a statistics dump, or with more flushes"
_TABLES, _STATS = "** Compaction Stats", "`stats` in --benchmarks"

Way = Callable[[Inspection], str | None]
"""Says how to get data that a text lacks; None if a text of its kind never contains them."""


@dataclass(frozen=True, slots=True)
class Need:
    """A kind of data: its name, whether a text has the data, and how to get the data otherwise.

    `way_here` is for a text that could contain the data, and `name_here` its own name for them.
    """

    name: str
    is_there: Callable[[Inspection], bool]
    way: str
    way_here: Way
    name_here: str | None = None

    @property
    def advice(self) -> str:
        """What is missing, and how to get it."""
        return f"{self.name}: {self.way}"

    def here(self, log: Inspection) -> str | None:
        """Return what this text lacks and how to get it; None if such texts never contain it."""
        way = self.way_here(log)
        return None if way is None else f"{self.name_here or self.name}: {way}"


def _has_options(log: Inspection) -> bool:
    """A LOG that begins after the options of the database lacks them."""
    of_database = log.kind != _LOG or log.extent.has_whole_options
    of_families = log.option("write_buffer_size") is not None or bool(log.assumed_families)
    return of_database and of_families


def _head_of_log(log: Inspection) -> str | None:
    """Return the way to what RocksDB prints at the begin of a LOG."""
    if log.kind != _LOG:
        return None
    return _WHOLE_LOG if log.extent.has_first_line else _FROM_THE_FIRST


def _version_here(log: Inspection) -> str | None:
    if log.kind == _BENCH and any("key_bytes" in run.setup for run in log.runs):
        return "add what db_bench prints to stderr (2>&1)"  # newer versions print it there
    ways = {_BENCH: "use the output from its first line", _OPTIONS_FILE: "keep [Version]"}
    return ways.get(log.kind) or _head_of_log(log)


def _opening_here(log: Inspection) -> str | None:
    if log.kind != _LOG:
        return None
    if not log.extent.has_first_line:
        return _FROM_THE_FIRST
    if log.extent.lacks_info:
        return _INFO_LEVEL
    is_rolled = log.extent.logs_info and log.extent.has_whole_options
    if is_rolled and not log.extent.has_opening:
        return "name the LOG.old files before this LOG too"
    return _WHOLE_LOG


def _has_events(log: Inspection) -> bool:
    return log.extent.has_events


def _events_here(log: Inspection) -> str | None:
    if log.kind != _LOG or log.extent.is_old:
        return None
    return _INFO_LEVEL if log.extent.lacks_info else _WHOLE_LOG


def _dump_here(part: str, flag: str) -> Way:
    """Return the way to what a part of a statistics dump has, and db_bench with a flag."""
    whole_dump = f"use the whole dump, with the part {part}"
    elsewhere = {
        _DUMP: whole_dump, _BENCH: f"run db_bench with {flag}",
        _MYROCKS: f"use the whole status, with the part {part}",
    }  # fmt: skip

    def way(log: Inspection) -> str | None:
        if log.kind != _LOG:
            return elsewhere.get(log.kind)
        if not log.extent.dumps:
            return _A_DUMP
        return whole_dump if log.dumps else _A_LATER_DUMP

    return way


def _has_blobs(log: Inspection) -> bool:
    """A store without blob files has no garbage in them."""
    if log.version and version_number(log.version) < _BLOBS_SINCE:
        return True
    used = any(log.family_option(f, "enable_blob_files") in ("1", "true") for f in log.families)
    return bool(log.blobs) or (_has_options(log) and not used)


def _blobs_here(log: Inspection) -> str | None:
    """Whether the store has blob files at all is a matter of its options."""
    return _dump_here(_TABLES, _STATS)(log) if log.families else None


def _has_stalls(log: Inspection) -> bool:
    """Without warnings, a LOG with events proves that no write stalled."""
    return log.totals.stall_percent is not None or _has_events(log)


def _tickers_here(log: Inspection) -> str | None:
    way = "set Options.statistics in the program"
    if log.kind == _LOG:
        return way if log.extent.dumps else f"{way}, and {_A_DUMP}"
    return {
        _DUMP: f"{way}, and use the whole dump, with the part STATISTICS",
        _BENCH: "run db_bench with --statistics",
        _MYROCKS: "use the whole status, with the part STATISTICS",
    }.get(log.kind)  # fmt: skip


def _has_write_amp(log: Inspection) -> bool:
    """Before the first flush, there is no write amplification."""
    return log.totals.write_amp is not None or log.extent.nothing_ran


def _write_amp_here(log: Inspection) -> str | None:
    totals = log.totals
    ingest = totals.ingest_below_bytes if totals.ingest_bytes is None else totals.ingest_bytes
    if ingest is not None:
        flushed = ingest if totals.flush_write_bytes is None else totals.flush_write_bytes
        if ingest < LEAST_INGEST or flushed < HARDLY_FLUSHED * ingest:
            return f"use a {log.kind} of a longer time, with more writes"
        return _dump_here(_TABLES, _STATS)(log)
    if log.kind == _LOG:
        return _COUNTED if log.extent.has_opening else _FROM_OPENING
    return _dump_here("** DB Stats **", _STATS)(log)


def _has_shapes(log: Inspection) -> bool:
    """A table without rows is that of an empty tree; a new store that flushed nothing is empty."""
    tables = any(table.sum is not None for table in log.tables.values())
    listed = log.notices.get("files at the opening")
    is_new = log.extent.nothing_ran and listed is not None and "Total Num: 0," in listed.first
    return bool(log.shapes or log.levels) or tables or is_new


OPTIONS = Need("all options", _has_options, _FROM_THE_FIRST, _head_of_log)
VERSION = Need(
    "the version of RocksDB", lambda log: log.version is not None, _FROM_THE_FIRST, _version_here
)
OPENING = Need(
    "the opening of the database",
    lambda log: "manifest read" in log.notices,
    f"{_FROM_THE_FIRST}, with LOG.old files before it",
    _opening_here,
)
EVENTS = Need(
    "the events of flushes and compactions",
    _has_events,
    f"set info_log_level=INFO_LEVEL, and {_WHOLE_LOG}",
    _events_here,
)
BLOBS = Need("the garbage in blob files", _has_blobs, _A_DUMP, _blobs_here)
STALLS = Need(
    "the times of write stalls", _has_stalls, _A_DUMP, _dump_here("** DB Stats **", _STATS)
)
TICKERS = Need(
    "the tickers (counters)",
    lambda log: bool(log.tickers),
    f"set Options.statistics in the program, and {_A_DUMP}",
    _tickers_here,
)
WRITE_AMP = Need(
    "the number of bytes that clients wrote",
    _has_write_amp,
    _FROM_OPENING,
    _write_amp_here,
    name_here="the write amplification",
)
SHAPES = Need(
    "the number of files in each level", _has_shapes, _A_DUMP, _dump_here(_TABLES, _STATS)
)
