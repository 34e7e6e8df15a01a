"""The options in a tikv.toml, the file of a TiKV server, as one level of dotted names."""

import re
from collections.abc import Mapping
from math import inf, isfinite
from typing import Any

from lsmtune.reading import parse_toml

Flat = dict[str, Any]
"""Values by dotted names."""

UNITS = ("", "K", "M", "G", "T", "P")
"""Units of sizes, each 1024 times the one before."""

_SIZE = re.compile(r"(\d+(?:\.\d+)?) *([KMGTP]?)(?:i?B)?")
_OWN_TABLE = re.compile(
    r"^\s*(?:\[(?:raftdb|raft-engine|raftstore|storage|coprocessor|readpool|rocksdb\.\w+)[.\]]"
    r"|(?:raftdb|raftstore|storage|rocksdb\.\w+cf)\.[\w.-]+\s*=)",
    re.MULTILINE,
)
_ROCKSDB_TABLE = re.compile(r"^\s*\[rocksdb\](?P<body>[^\[]*)", re.MULTILINE)
_KEY = re.compile(r"^\s*([a-z][a-z0-9-]*)\s*=", re.MULTILINE)
_KEYS = frozenset({
    "allow-concurrent-memtable-write", "auto-tuned", "bytes-per-sync", "compaction-readahead-size",
    "create-if-missing", "enable-multi-batch-write", "enable-pipelined-write", "enable-statistics",
    "enable-unordered-write", "info-log-dir", "info-log-keep-log-file-num", "info-log-level",
    "info-log-max-size", "info-log-roll-time", "max-background-compactions",
    "max-background-flushes", "max-background-jobs", "max-manifest-file-size", "max-open-files",
    "max-sub-compactions", "max-total-wal-size", "paranoid-checks", "rate-bytes-per-sec",
    "rate-limiter-auto-tuned", "rate-limiter-mode", "rate-limiter-refill-period",
    "stats-dump-period", "track-and-verify-wals-in-manifest",
    "use-direct-io-for-flush-and-compaction", "wal-bytes-per-sync", "wal-dir", "wal-recovery-mode",
    "wal-size-limit", "wal-ttl-seconds", "writable-file-max-buffer-size", "write-buffer-limit",
    "write-buffer-flush-oldest-first", "write-buffer-stall-ratio",
})  # fmt: skip
"""Keys of TiKV's table [rocksdb] (src/config/mod.rs, DbConfig); its other tables have own names."""

FLOW_CONTROL = "storage.flow-control.enable"
THRESHOLDS = {
    "level0_slowdown_writes_trigger": "storage.flow-control.l0-files-threshold",
    "level0_stop_writes_trigger": "storage.flow-control.l0-files-threshold",
    "soft_pending_compaction_bytes_limit":
        "storage.flow-control.soft-pending-compaction-bytes-limit",
    "hard_pending_compaction_bytes_limit":
        "storage.flow-control.hard-pending-compaction-bytes-limit",
}  # fmt: skip
"""RocksDB's thresholds, and those of flow control that limit them while it is on."""


def is_tikv_toml(text: str) -> bool:
    """Return whether a text has TiKV's own tables, or a table [rocksdb] with its keys alone."""
    if _OWN_TABLE.search(text) is not None:
        return True
    table = _ROCKSDB_TABLE.search(text)
    return table is not None and set(_KEY.findall(table["body"])) <= _KEYS


def flat(document: Mapping[str, Any], above: str = "") -> Flat:
    """The values of a document by their dotted names."""
    found: Flat = {}
    for key, value in document.items():
        found |= flat(value, f"{above}{key}.") if isinstance(value, dict) else {above + key: value}
    return found


def parse_file(text: str, where: str) -> Flat:
    """What a file of TiKV says; UserError where it is no TOML."""
    return flat(parse_toml(text, where))


def size_of(told: Any) -> int | None:
    """The number that TiKV told of an option, a size in bytes; None where it told none."""
    if isinstance(told, str):
        return _bytes(told)
    return told if isinstance(told, int) and not isinstance(told, bool) else None


def _bytes(text: str) -> int | None:
    """The bytes of a text such as 64MiB; TiKV takes 64MB as the same."""
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * 1024 ** UNITS.index(match[2]) if match else inf
    return round(size) if isfinite(size) else None
