"""Settings of a tikv.toml that TiKV replaces by its own."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPTIONS
from lsmtune.analysis.inspect.rules.rule import Rule
from lsmtune.units import format_bytes

_CACHE = "storage.block-cache.capacity"
_FLOW = "storage.flow-control."
_THRESHOLDS = {
    "level0_slowdown_writes_trigger": f"{_FLOW}l0-files-threshold",
    "soft_pending_compaction_bytes_limit": f"{_FLOW}soft-pending-compaction-bytes-limit",
    "hard_pending_compaction_bytes_limit": f"{_FLOW}hard-pending-compaction-bytes-limit",
}
"""The option of a family, and the threshold of flow control that acts before it."""


def _is_on(log: Inspection, name: str) -> bool:
    return log.kind == "tikv.toml" and log.option(name) != "0"


def _family_caches(log: Inspection) -> Iterator[Finding]:
    """Since TiKV 3.0, all column families share one block cache unless that is switched off."""
    if not _is_on(log, "storage.block-cache.shared"):
        return
    for family in log.families:
        if size := log.family_number(family, "block_cache_size"):
            yield Finding(
                "tikv-family-cache", "block-cache-size of a column family has no effect",
                f"block-cache-size is {format_bytes(size)}. From TiKV 3.0 on, the column families "
                f"share one block cache, and {_CACHE} sets its size.",
                (_CACHE,), 0.5, family=family,
            )  # fmt: skip


def _flow_control(log: Inspection) -> Iterator[Finding]:
    """Since TiKV 5.2, flow control acts before the stalls of RocksDB unless it is switched off."""
    if not _is_on(log, f"{_FLOW}enable"):
        return
    for family in log.families:
        given = {name: told for name in _THRESHOLDS if (told := log.family_option(family, name))}
        if given:
            options = ", ".join(name.replace("_", "-") for name in given)
            yield Finding(
                "tikv-flow-control", "Flow control slows down writes before these options can",
                f"The file sets {options}. From TiKV 5.2 on, flow control is on by default, and "
                "its own thresholds slow down writes.",
                tuple(_THRESHOLDS[name] for name in given), 0.4, family=family,
            )  # fmt: skip


RULES = (Rule(_family_caches, (OPTIONS,)), Rule(_flow_control, (OPTIONS,)))
