"""The configuration of the stand-in for TiKV: its defaults, and what TiKV makes of a change.

TiKV adjusts and checks its whole configuration when it starts and with every change
(tikv/src/config/mod.rs, TikvConfig::validate). The stand-in does so for flow control and memory, as
a real TiKV of 2026 was seen to do.
"""

import json
from pathlib import Path
from typing import Any

MIB = 1 << 20


def column_family(**changes: Any) -> dict[str, Any]:
    """A column family as `/config` tells it (tikv/src/config/mod.rs, cf_config)."""
    return {
        "block-size": "32KiB", "block-cache-size": None, "cache-index-and-filter-blocks": True,
        "pin-l0-filter-and-index-blocks": True, "use-bloom-filter": True,
        "optimize-filters-for-hits": True, "optimize-filters-for-memory": False,
        "whole-key-filtering": True, "bloom-filter-bits-per-key": 10,
        "compression-per-level": ["no", "no", "lz4", "lz4", "lz4", "zstd", "zstd"],
        "write-buffer-size": "128MiB", "max-write-buffer-number": 5,
        "write-buffer-limit": None, "disable-write-stall": False,
        "min-write-buffer-number-to-merge": 1, "max-bytes-for-level-base": "512MiB",
        "target-file-size-base": None, "level0-file-num-compaction-trigger": 4,
        "level0-slowdown-writes-trigger": None, "level0-stop-writes-trigger": None,
        "max-compaction-bytes": "2GiB", "compaction-pri": 3, "dynamic-level-bytes": True,
        "num-levels": 7, "max-bytes-for-level-multiplier": 10, "compaction-style": 0,
        "disable-auto-compactions": False, "soft-pending-compaction-bytes-limit": None,
        "hard-pending-compaction-bytes-limit": None, "enable-compaction-guard": True,
        "compaction-guard-max-output-file-size": "128MiB", "bottommost-level-compression": "zstd",
        "prepopulate-block-cache": "disabled", "format-version": 2,
    } | changes  # fmt: skip


DEFAULTS: dict[str, Any] = {
    "memory-usage-limit": None,
    "server": {"addr": "127.0.0.1:20160", "status-addr": "127.0.0.1:20180"},
    "storage": {
        "data-dir": "data", "engine": "raft-kv", "scheduler-worker-pool-size": 4,
        "flow-control": {
            "enable": True, "soft-pending-compaction-bytes-limit": "192GiB",
            "hard-pending-compaction-bytes-limit": "1TiB", "memtables-threshold": 5,
            "l0-files-threshold": 20,
        },
        "block-cache": {"capacity": "1073741824B", "num-shard-bits": 6},
    },
    "rocksdb": {
        "max-total-wal-size": "4GiB", "max-background-jobs": 3, "max-background-flushes": 1,
        "max-open-files": 40960, "compaction-readahead-size": "2MiB",
        "rate-bytes-per-sec": "10GiB", "rate-limiter-auto-tuned": True, "bytes-per-sync": "1MiB",
        "wal-bytes-per-sync": "512KiB", "max-sub-compactions": 1,
        "writable-file-max-buffer-size": "1MiB", "enable-pipelined-write": False,
        "use-direct-io-for-flush-and-compaction": False, "write-buffer-limit": None,
        "defaultcf": column_family(),
        "writecf": column_family(**{
            "optimize-filters-for-hits": False, "whole-key-filtering": False,
        }),
        "lockcf": column_family(**{"write-buffer-size": "32MiB", "block-size": "16KiB"}),
        "raftcf": column_family(**{"block-size": "16KiB"}),
    },
    "security": {"encryption": {"master-key": {"type": "file", "path": "secret-key"}}},
}  # fmt: skip
"""A TiKV with 4 cores, as of 2026. None stands for what TiKV fills in when it starts."""

FLOW_CONTROL = {
    "level0-slowdown-writes-trigger": "l0-files-threshold",
    "level0-stop-writes-trigger": "l0-files-threshold",
    "soft-pending-compaction-bytes-limit": "soft-pending-compaction-bytes-limit",
    "hard-pending-compaction-bytes-limit": "hard-pending-compaction-bytes-limit",
}
"""Options of a column family, and the thresholds of flow control that limit them."""
LIMITED = ("defaultcf", "writecf", "lockcf")
"""The families that a real TiKV was seen to limit."""
MEMORY_OF_CACHE = 0.75 / 0.45
"""The default of memory-usage-limit, as a multiple of the block cache."""

_MARKS = Path(__file__).parents[1] / "data" / "captured" / "tikv_online.json"
_TABLES = json.loads(_MARKS.read_text())["tables"]
"""What TiKV's source marks, and does not mark, with online_config(skip)."""


def change_of(name: str) -> str | None:
    """How TiKV takes a change of the option: "online" or "restart"; None of one unknown to it."""
    table, _, option = name.rpartition(".")
    marks = _TABLES.get("rocksdb.*cf" if table.endswith("cf") else table, {})
    return next((how for how, options in marks.items() if option in options), None)


def validate(config: dict[str, Any]) -> None:
    """Adjust and check the configuration as TiKV does, when it starts and with every change."""
    rocksdb, flow = config["rocksdb"], config["storage"]["flow-control"]
    on = flow["enable"]
    thresholds = flow if on else DEFAULTS["storage"]["flow-control"]
    for family in (name for name in rocksdb if name.endswith("cf")):
        own, limited = rocksdb[family], on and family in LIMITED
        own["disable-write-stall"] = own["disable-write-stall"] or on
        for option, threshold in FLOW_CONTROL.items():
            most = thresholds[threshold]
            if own[option] is None or (limited and number(own[option]) > number(most)):
                own[option] = most
    cache = number(config["storage"]["block-cache"]["capacity"])
    memtables = number(rocksdb["write-buffer-limit"] or 0)
    config["memory-usage-limit"] = config["memory-usage-limit"] or round(cache * MEMORY_OF_CACHE)
    limit = number(config["memory-usage-limit"])
    if cache + memtables > limit:
        raise ValueError(
            "The sum of `storage.block-cache.capacity` and `rocksdb.write-buffer-limit` is greater "
            f"than memory-usage-limit: {cache} + {memtables} > {limit}"
        )


def value_of(config: dict[str, Any], name: str) -> Any:
    """The value of a dotted name."""
    here: Any = config
    for part in name.split("."):
        here = here[part]
    return here


def number(told: Any) -> float:
    """The number of an option, a size in bytes."""
    return round(mib(told) * MIB) if isinstance(told, str) else told


def merge(into: dict[str, Any], told: dict[str, Any]) -> None:
    """Put the values that a file tells into a configuration."""
    for key, value in told.items():
        if isinstance(value, dict):
            merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


def mib(text: str) -> float:
    """The size of a text such as 64KiB, in MiB."""
    powers = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": float(MIB)}
    number = text.rstrip("KMGTiB")
    return float(number) * powers.get(text.removeprefix(number)[:1], 1 / MIB)
