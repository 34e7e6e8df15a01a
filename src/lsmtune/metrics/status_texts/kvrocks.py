"""Kvrocks: INFO, with its section RocksDB.

The lines are those of GetRocksDBInfo and GetServerInfo in src/server/server.cc of apache/kvrocks.
"""

import re

from lsmtune.metrics.status_texts.names import PENDING_BYTES, STALLS, TICKERS
from lsmtune.metrics.status_texts.status import StatusText

KIND = "Kvrocks INFO"
_MORE = "the LOG in the folder db of Kvrocks' data (dir) contains options, events and times too"
_WANTED = "use the whole output of INFO, with the section RocksDB"
_IS_KVROCKS = re.compile(
    r"^[ \t]*(?:level0_file_limit_stop\[\w+\]|num_files_at_level\[\w+\]|block_cache_data_hit"
    r"|estimate_keys\[\w+\]):", re.MULTILINE
)  # fmt: skip
_LINE = re.compile(r"\s*(?P<name>[a-z]\w*)(?:\[(?P<family>[^\]]+)\])?:\s*(?P<value>\S+)\s*")
_FILES = re.compile(r"\[\d{1,9}(?:,\d{1,9})*\]")
_COUNT = re.compile(r"\d{1,20}")
_VERSION = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}")


def read_kvrocks(text: str) -> StatusText | None:
    """Return what the text says; None if it is not INFO of Kvrocks with RocksDB's part."""
    if _IS_KVROCKS.search(text) is None:
        return None
    status = StatusText(KIND, _MORE, _WANTED)
    for found in filter(None, map(_LINE.fullmatch, text.splitlines())):
        name, family, value = found["name"], found["family"] or "", found["value"]
        if name == "num_files_at_level" and _FILES.fullmatch(value):
            for level, count in enumerate(value[1:-1].split(",")):
                status.set_level(family, f"L{level}", "Files", float(count))
        elif name == "rocksdb_version" and _VERSION.fullmatch(value):
            status.version = value
        elif _COUNT.fullmatch(value):
            _take_count(status, name, family, int(value))
    return status


def _take_count(status: StatusText, name: str, family: str, count: int) -> None:
    if name == "uptime_in_seconds":
        status.uptime_s = float(count)
    elif name == PENDING_BYTES.replace("-", "_"):
        status.tickers[PENDING_BYTES] = status.tickers.get(PENDING_BYTES, 0) + count
    elif name in STALLS:
        status.count_stalls(family, STALLS[name], count)
    elif name in TICKERS:
        status.tickers[TICKERS[name]] = count
