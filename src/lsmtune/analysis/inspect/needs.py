"""Data that rules need, and how a user gets data that a LOG lacks."""

from collections.abc import Callable
from dataclasses import dataclass

from lsmtune.analysis.inspect.inspection import Inspection


@dataclass(frozen=True, slots=True)
class Need:
    """A kind of data: whether a LOG has the data, and how to get the data otherwise."""

    is_there: Callable[[Inspection], bool]
    advice: str


_FIRST_AND_LAST = {"error_if_exists", "max_open_files"}
"""Options of a database that every RocksDB prints near the beginning and the end of them."""


def _has_options(log: Inspection) -> bool:
    """A LOG that begins after the options of the database lacks them."""
    of_database = log.kind != "LOG" or log.options.get("", {}).keys() >= _FIRST_AND_LAST
    return of_database and log.option("write_buffer_size") is not None


def _has_events(log: Inspection) -> bool:
    return log.totals.compactions is not None


def _has_stalls(log: Inspection) -> bool:
    """Without warnings, a LOG with events proves that no write stalled."""
    return log.totals.stall_percent is not None or _has_events(log)


OPTIONS = Need(_has_options, "all options: use the LOG from its first line")
VERSION = Need(
    lambda log: log.version is not None,
    "the version of RocksDB: use the LOG from its first line",
)
OPENING = Need(
    lambda log: {"summary", "manifest read"} <= log.notices.keys(),
    "the opening of the database: use the LOG from its first line, with LOG.old files before it",
)
EVENTS = Need(
    _has_events,
    "the events of flushes and compactions: set info_log_level=INFO_LEVEL, and use the whole LOG",
)


def _has_blobs(log: Inspection) -> bool:
    """A store without blob files has no garbage in them."""
    used = any(log.family_option(f, "enable_blob_files") in ("1", "true") for f in log.families)
    return bool(log.blobs) or (_has_options(log) and not used)


BLOBS = Need(
    _has_blobs,
    "the garbage in blob files: use a LOG with a statistics dump (every stats_dump_period_sec)",
)
STALLS = Need(
    _has_stalls,
    "the times of write stalls: use a LOG with a statistics dump (every stats_dump_period_sec)",
)
TICKERS = Need(
    lambda log: bool(log.tickers),
    "the tickers (counters): set Options.statistics in the program, and use a LOG with a "
    "statistics dump (every stats_dump_period_sec)",
)
WRITE_AMP = Need(
    lambda log: log.totals.write_amp is not None,
    "the number of bytes that clients wrote: use a LOG with tickers, or the LOG from the opening "
    "of the database",
)
SHAPES = Need(
    lambda log: bool(log.shapes or log.levels),
    "the number of files in each level: use a LOG with a statistics dump (every "
    "stats_dump_period_sec)",
)
