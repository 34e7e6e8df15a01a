"""Causes of write stalls: how RocksDB counts them, and the options that matter for each."""

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.rule import jobs_option
from lsmtune.metrics.families import listed

L0, MEMTABLES, PENDING = (
    "level-0 files", "immutable memtables", "estimated pending compaction bytes",
)  # fmt: skip
_COUNTED = {
    L0: ("level0_slowdown", "level0_numfiles", "l0-file-count-limit-delays",
         "l0-file-count-limit-stops"),
    MEMTABLES: ("memtable_compaction", "memtable_slowdown", "memtable-limit-delays",
                "memtable-limit-stops"),
    PENDING: ("stop for pending_compaction_bytes", "slowdown for pending_compaction_bytes",
              "pending-compaction-bytes-delays", "pending-compaction-bytes-stops"),
    "memory limit of the write buffer manager": ("write-buffer-manager-limit-stops",),
}  # fmt: skip
"""Names of the counts of a cause: up to RocksDB 8.0, and from 8.1 on."""
LOOK_AT = {
    L0: ("max_background_jobs", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
         "write_buffer_size"),
    MEMTABLES: ("max_write_buffer_number", "write_buffer_size", "max_background_jobs"),
    PENDING: ("max_background_jobs", "soft_pending_compaction_bytes_limit",
              "hard_pending_compaction_bytes_limit", "compression"),
}  # fmt: skip
"""The options that matter for a cause."""


def options_of_cause(log: Inspection, cause: str) -> tuple[str, ...]:
    """Return the options for a cause, with the option for jobs that counts in this store."""
    named = LOOK_AT.get(cause, ("max_background_jobs",))
    return tuple(jobs_option(log) if name == "max_background_jobs" else name for name in named)


def counts_by_cause(log: Inspection) -> dict[str, int]:
    """Return the number of stalls that the last dump counts, by cause."""
    return {
        cause: sum(log.stall_counts.get(name, 0) for name in names)
        for cause, names in _COUNTED.items()
    }


def counted_family(log: Inspection) -> str:
    """Return the column family with most counted stalls, of several the main one, or else it."""
    counted = [one for one in log.family_sums if one.stalls]
    most = max(
        counted, key=lambda one: (one.stalls or 0, one.name == log.main_family), default=None
    )
    return log.main_family if most is None else most.name


def counts_by_family(log: Inspection) -> str:
    """Return how many of the counted stalls each family has, in a sentence; "" for one family."""
    counts = {one.name: one.stalls for one in log.family_sums if one.stalls}
    if not counts or len(log.family_sums) < 2:  # noqa: PLR2004
        return ""
    total, most = sum(counts.values()), sorted(counts, key=lambda name: -counts[name])
    parts = [f"{name} {counts[name]:,}" for name in most]
    return f" Counted stalls by column family: {listed(parts)}, of {total:,}."
