"""Data that rules need, and how a user gets data that a text lacks."""

from collections.abc import Callable
from dataclasses import dataclass

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.notes import LEAST_INGEST

_LOG, _DUMP, _BENCH, _MYROCKS = "LOG", "statistics dump", "db_bench output", "MyRocks status"
_OPTIONS_FILE = "OPTIONS file"
Advice = Callable[[Inspection], str | None]
"""Names what a text lacks and how to get it; None if a text of this kind never contains it."""


@dataclass(frozen=True, slots=True)
class Need:
    """A kind of data: whether a text has the data, and how to get the data otherwise.

    `here` names what a text of the same kind could contain and this text lacks; None if such a
    text never contains the data.
    """

    is_there: Callable[[Inspection], bool]
    advice: str
    here: Advice


_FIRST_AND_LAST = {"error_if_exists", "max_open_files"}
"""Options of a database that every RocksDB prints near the beginning and the end of them."""
_WHOLE_LOG = "use the whole LOG"
_FROM_THE_FIRST = "use the LOG from its first line"
_INFO_LEVEL = "set info_log_level=INFO_LEVEL in the program"
_A_DUMP = "use a LOG with a statistics dump (every stats_dump_period_sec)"
_A_LATER_DUMP = "use a LOG that ends soon after a statistics dump (every stats_dump_period_sec)"


def _has_options(log: Inspection) -> bool:
    """A LOG that begins after the options of the database lacks them."""
    of_database = log.kind != "LOG" or log.options.get("", {}).keys() >= _FIRST_AND_LAST
    return of_database and log.option("write_buffer_size") is not None


def _head_of_log(what: str) -> Advice:
    """Return the advice for what RocksDB prints at the begin of a LOG."""

    def advice(log: Inspection) -> str | None:
        if log.kind != _LOG:
            return None
        return f"{what}: {_WHOLE_LOG if log.extent.has_first_line else _FROM_THE_FIRST}"

    return advice


OPTIONS = Need(
    _has_options, "all options: use the LOG from its first line", _head_of_log("all options")
)


def _version_here(log: Inspection) -> str | None:
    if log.kind == _LOG:
        return _head_of_log("the version of RocksDB")(log)
    how = {_BENCH: "use the output from its first line", _OPTIONS_FILE: "keep [Version]"}
    return None if log.kind not in how else f"the version of RocksDB: {how[log.kind]}"


VERSION = Need(
    lambda log: log.version is not None,
    "the version of RocksDB: use the LOG from its first line",
    _version_here,
)


def _has_opening(log: Inspection) -> bool:
    return {"summary", "manifest read"} <= log.notices.keys()


def _opening_here(log: Inspection) -> str | None:
    if log.kind != _LOG:
        return None
    extent = log.extent
    if not extent.has_first_line:
        return f"the opening of the database: {_FROM_THE_FIRST}"
    if not extent.logs_info:
        return f"the opening of the database: {_INFO_LEVEL}"
    if not extent.has_opening:
        return "the opening of the database: name the LOG.old files before this LOG too"
    return f"the opening of the database: {_WHOLE_LOG}"


OPENING = Need(
    _has_opening,
    "the opening of the database: use the LOG from its first line, with LOG.old files before it",
    _opening_here,
)


def _has_events(log: Inspection) -> bool:
    return log.extent.has_events


def _events_here(log: Inspection) -> str | None:
    if log.kind != _LOG or log.extent.is_old:
        return None
    if log.extent.logs_info:
        how = _WHOLE_LOG
    else:
        how = _INFO_LEVEL + ("" if log.extent.has_first_line else f", and {_WHOLE_LOG}")
    return f"the events of flushes and compactions: {how}"


EVENTS = Need(
    _has_events,
    "the events of flushes and compactions: set info_log_level=INFO_LEVEL, and use the whole LOG",
    _events_here,
)


def _dump_here(what: str, part: str, flag: str) -> Advice:
    """Return the advice for what a part of a statistics dump has, and db_bench with a flag."""
    elsewhere = {
        _DUMP: f"use the whole dump, with the part {part}", _BENCH: f"run db_bench with {flag}",
        _MYROCKS: f"use the whole status, with the part {part}",
    }  # fmt: skip

    def advice(log: Inspection) -> str | None:
        if log.kind != _LOG:
            return f"{what}: {elsewhere[log.kind]}" if log.kind in elsewhere else None
        if not log.extent.dumps:
            return f"{what}: {_A_DUMP}"
        how = f"use the whole dump, with the part {part}" if log.dumps else _A_LATER_DUMP
        return f"{what}: {how}"

    return advice


_TABLES, _STATS = "** Compaction Stats", "`stats` in --benchmarks"


def _has_blobs(log: Inspection) -> bool:
    """A store without blob files has no garbage in them."""
    used = any(log.family_option(f, "enable_blob_files") in ("1", "true") for f in log.families)
    return bool(log.blobs) or (_has_options(log) and not used)


def _blobs_here(log: Inspection) -> str | None:
    """Whether the store has blob files at all is a matter of its options."""
    return _dump_here("the garbage in blob files", _TABLES, _STATS)(log) if log.families else None


BLOBS = Need(
    _has_blobs,
    "the garbage in blob files: use a LOG with a statistics dump (every stats_dump_period_sec)",
    _blobs_here,
)


def _has_stalls(log: Inspection) -> bool:
    """Without warnings, a LOG with events proves that no write stalled."""
    return log.totals.stall_percent is not None or _has_events(log)


STALLS = Need(
    _has_stalls,
    "the times of write stalls: use a LOG with a statistics dump (every stats_dump_period_sec)",
    _dump_here("the times of write stalls", "** DB Stats **", _STATS),
)


def _tickers_here(log: Inspection) -> str | None:
    what, how = "the tickers (counters)", "set Options.statistics in the program"
    if log.kind == _LOG:
        return f"{what}: {how}" + ("" if log.extent.dumps else f", and {_A_DUMP}")
    elsewhere = {
        _DUMP: f"{how}, and use the whole dump, with the part STATISTICS",
        _BENCH: "run db_bench with --statistics",
        _MYROCKS: "use the whole status, with the part STATISTICS",
    }  # fmt: skip
    return f"{what}: {elsewhere[log.kind]}" if log.kind in elsewhere else None


TICKERS = Need(
    lambda log: bool(log.tickers),
    "the tickers (counters): set Options.statistics in the program, and use a LOG with a "
    "statistics dump (every stats_dump_period_sec)",
    _tickers_here,
)


def _has_write_amp(log: Inspection) -> bool:
    """Before the first flush, there is no write amplification."""
    return log.totals.write_amp is not None or log.extent.nothing_ran


def _write_amp_here(log: Inspection) -> str | None:
    what = "the write amplification"
    if log.totals.ingest_bytes is not None:
        if log.totals.ingest_bytes < LEAST_INGEST:
            return f"{what}: use a {log.kind} of a longer time, with more writes"
        return _dump_here(what, _TABLES, _STATS)(log)
    if log.kind == _LOG:
        return f"{what}: use a LOG with tickers, or the LOG from the opening of the database"
    return _dump_here(what, "** DB Stats **", _STATS)(log)


WRITE_AMP = Need(
    _has_write_amp,
    "the number of bytes that clients wrote: use a LOG with tickers, or the LOG from the opening "
    "of the database",
    _write_amp_here,
)


def _has_shapes(log: Inspection) -> bool:
    """A table without rows is that of an empty tree; a new store that flushed nothing is empty."""
    tables = any(table.sum is not None for table in log.tables.values())
    listed = log.notices.get("files at the opening")
    is_new = log.extent.nothing_ran and listed is not None and "Total Num: 0," in listed.first
    return bool(log.shapes or log.levels) or tables or is_new


SHAPES = Need(
    _has_shapes,
    "the number of files in each level: use a LOG with a statistics dump (every "
    "stats_dump_period_sec)",
    _dump_here("the number of files in each level", _TABLES, _STATS),
)
