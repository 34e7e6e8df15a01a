"""Metrics of RocksDB in Prometheus' text format, by the names of their exporters.

The names are from the sources of the exporters: components/engine_rocks/src/rocks_metrics.rs of
TiKV, collector/global_status.go and collector/info_schema_rocksdb_perf_context.go of
mysqld_exporter, collector/mongod/rocksdb.go of Percona's mongodb_exporter 0.1 to 0.11, and
exporter/info.go of kvrocks_exporter. Metrics that end with the name of a ticker after `rocksdb_`,
as other programs write them, are read too.
"""

import re
from collections.abc import Mapping

from lsmtune.errors import ParseError
from lsmtune.metrics.prometheus import Labels, parse_metrics
from lsmtune.metrics.status_texts.names import (
    MONGODB,
    MONGODB_COLUMNS,
    STALLS,
    TICKERS,
)
from lsmtune.metrics.status_texts.perf_context import tickers_of
from lsmtune.metrics.status_texts.status import StatusText
from lsmtune.units import GIB

KIND = "Prometheus text"
_MORE = "the LOG of RocksDB contains options, events and times too"
_INSTEAD = (
    "use the whole text of TiKV's /metrics, mysqld_exporter, mongodb_exporter 0.1 to 0.11 or "
    "kvrocks_exporter, or the LOG of RocksDB"
)
_EXPORTERS = {
    "tikv_": " of TiKV", "mysql_": " of mysqld_exporter", "mongodb_": " of mongodb_exporter",
    "kvrocks_": " of kvrocks_exporter",
}  # fmt: skip
"""Who writes metrics that begin so."""
_SAMPLE = re.compile(
    r"[a-zA-Z_:][\w:]*(?:\{[^\n]*\})? +(?:[-+]?[\d.]+(?:e[-+]?\d+)?|[-+]?Inf|NaN)(?: +\d+)?",
    re.IGNORECASE,
)
"""A line with a value; a name and a number with a tab between them are a row of a table."""
_LABELLED = re.compile(r"^(?:# (?:TYPE|HELP) \w|\w+\{\w+=\")", re.MULTILINE)
_WANTED = re.compile(r"tikv_engine_|mysql_|mongodb_|kvrocks_|\w*rocksdb_")
_ANY_TICKER = re.compile(r"(?:\w+_)?rocksdb_(\w+?)(?:_count)?")
_TIKV_FLOW = {"bytes_read": "compact.read.bytes", "bytes_written": "compact.write.bytes"}
_TIKV_ALONE = {
    "tikv_engine_stall_micro_seconds": "stall.micros",
    "tikv_engine_wal_file_synced": "wal.synced",
}
_TIKV_BY_TYPE = {
    f"tikv_engine_{name}"
    for name in (
        "cache_efficiency", "memtable_efficiency", "get_served", "write_served",
        "bloom_efficiency", "flow_bytes", "locate", "file_status",
    )
}  # fmt: skip
_UPTIMES = (
    "mysql_global_status_uptime", "kvrocks_uptime_in_seconds",
    "mongodb_mongod_instance_uptime_seconds", "mongodb_instance_uptime_seconds",
)  # fmt: skip
_MONGODB = re.compile(r"mongodb_(?:mongod_)?rocksdb_(\w+?)(?:_total)?")
_PERF = re.compile(r"mysql_info_schema_rocksdb_perf_context_(\w+)")
_KVROCKS = re.compile(r"kvrocks_(\w+)")
_LEVEL = re.compile(r"L\d{1,2}|Sum")
_OWN = ("type", "level", "cf", "column_family", "db", "schema", "table", "part")
"""Labels that name a part of one server."""


def is_metrics(text: str) -> bool:
    """Return whether most lines are samples in Prometheus' text format."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    samples = sum(_SAMPLE.fullmatch(line.strip()) is not None for line in lines)
    return 2 * samples > len(lines) and ("_" in text) and (
        _LABELLED.search(text) is not None or _WANTED.search(text) is not None
    )  # fmt: skip


def read_metrics(text: str) -> StatusText | None:
    """Return what the metrics say of RocksDB; None if the text is no metrics.

    ParseError for damaged metrics, and for those of several servers.
    """
    if not is_metrics(text):
        return None
    lines = (line.strip() for line in text.splitlines())
    wanted = [line for line in lines if _WANTED.match(line) and _SAMPLE.fullmatch(line)]
    status, perf = StatusText(KIND, _MORE, _INSTEAD), dict[str, int]()
    metrics = parse_metrics("\n".join([*wanted, ""])).values
    prefixes = (prefix for prefix in _EXPORTERS if any(m.startswith(prefix) for m in metrics))
    status.source = _EXPORTERS.get(next(prefixes, ""), "")
    for name, samples in metrics.items():
        _check_one_server(name, samples)
        for labels, value in samples.items():
            if value >= 0:  # mongodb_exporter writes -1 for what it cannot read
                _take(status, perf, name, dict(labels), value)
    status.tickers = {**tickers_of(perf), **status.tickers}
    if status.stall_s and not status.uptime_s:
        status.tickers.setdefault("stall.micros", round(status.stall_s * 1e6))
    return status


def _check_one_server(name: str, samples: Mapping[Labels, float]) -> None:
    own = [
        frozenset((label, value) for label, value in labels if label in (*_OWN, value))
        for labels in samples
    ]
    if len(set(own)) < len(own):
        raise ParseError(
            f"the text has the metrics of several servers, for example of {name}; give the "
            "metrics of one server"
        )


def _take(
    status: StatusText, perf: dict[str, int], name: str, labels: dict[str, str], value: float
) -> None:
    """Take a sample by the first table that has its name."""
    kind = labels.get("type", "")
    if name.startswith("tikv_engine_"):
        if labels.get("db", "kv") == "kv":
            _take_tikv(status, name, kind, labels, value)
    elif name in _UPTIMES:
        status.uptime_s = value
    elif (match := _PERF.fullmatch(name)) is not None:
        perf[match[1]] = perf.get(match[1], 0) + round(value)
    elif (match := _MONGODB.fullmatch(name)) is not None:
        _take_mongodb(status, (match[1], kind), labels.get("level"), value)
    elif (match := _KVROCKS.fullmatch(name)) is not None and match[1] in STALLS:
        family = labels.get("column_family") or next((k for k, v in labels.items() if k == v), "")
        status.count_stalls(family, STALLS[match[1]], round(value))
    elif (match := _ANY_TICKER.fullmatch(name)) is not None:
        if match[1] in TICKERS:
            _add(status, TICKERS[match[1]], value)
        elif match[1] in STALLS:
            status.count_stalls("", STALLS[match[1]], round(value))


def _take_tikv(
    status: StatusText, name: str, kind: str, labels: dict[str, str], value: float
) -> None:
    if name in _TIKV_BY_TYPE and kind in TICKERS:
        _add(status, TICKERS[kind], value)
    elif name in _TIKV_ALONE:
        _add(status, _TIKV_ALONE[name], value)
    elif name == "tikv_engine_compaction_flow_bytes" and kind in _TIKV_FLOW:
        _add(status, _TIKV_FLOW[kind], value)
    elif name == "tikv_engine_write_stall_reason" and kind in STALLS:
        status.count_stalls("", STALLS[kind], round(value))
    elif name == "tikv_engine_num_files_at_level":
        level = f"L{labels.get('level')}"
        if _LEVEL.fullmatch(level):
            status.set_level(labels.get("cf", "default"), level, "Files", value)


def _take_mongodb(
    status: StatusText, key: tuple[str, str], level: str | None, value: float
) -> None:
    name, kind = key
    if key in MONGODB:
        _add(status, MONGODB[key], value)
    elif level is not None and key in MONGODB_COLUMNS:
        column = MONGODB_COLUMNS[key]
        place = "Sum" if level in ("total", "Sum") else level
        if _LEVEL.fullmatch(place):
            scaled = value / GIB if column.endswith("(GB)") else value
            status.set_level("default", place, column, scaled)
    elif name == "stalls" and kind in STALLS:
        status.count_stalls("default", STALLS[kind], round(value))
    elif name == "stalled_seconds":
        status.stall_s = value
    elif name == "stall_percent":
        status.stall_percent = value


def _add(status: StatusText, ticker: str, value: float) -> None:
    status.tickers[ticker] = status.tickers.get(ticker, 0) + round(value)
