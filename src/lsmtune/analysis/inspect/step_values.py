"""Values and steps that the first steps of several files of rules share."""

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.rule import number_or_default

BLOOM_FILTER = "bloomfilter:10:false"
"""A Bloom filter of 10 bits per key, as an option has it."""
MORE_MEMTABLES = Step("raise", "max_write_buffer_number", 4)
"""RocksDB slows down writes before it stops them only with more than three memtables."""
WAL_REASON = "all memtables can become full"
_LEAST_SLOWDOWN, UNTIL_STOP = 20, 16
"""RocksDB's defaults: the slowdown starts at 20 files in level 0, the stop is 16 files later."""


def flush_bytes(log: Inspection, family: str) -> float:
    """Return the bytes that a flush of full memtables can write; 0 if they are unknown."""
    size, merged = (
        number_or_default(log, family, name)
        for name in ("write_buffer_size", "min_write_buffer_number_to_merge")
    )
    return size * (merged or 1)


def level_0_batch(log: Inspection, family: str) -> float | None:
    """Return the bytes with which a compaction of level 0 starts."""
    trigger = number_or_default(log, family, "level0_file_num_compaction_trigger")
    return flush_bytes(log, family) * trigger or None


def all_memtables(log: Inspection, _family: str) -> float | None:
    """Return the bytes of all memtables that all column families may have."""
    sizes = [
        number_or_default(log, family, "write_buffer_size")
        * number_or_default(log, family, "max_write_buffer_number")
        for family in log.families
    ]
    return (sum(sizes) or None) if all(sizes) else None


def smaller_wal(log: Inspection, family: str) -> float | None:
    """Return the bytes of all memtables as a limit of the WAL; None if it is lower already.

    0 is no limit of its own: RocksDB's is then 4 times the memtables.
    """
    size, present = all_memtables(log, family), log.number("max_total_wal_size")
    return None if present and size and present <= size else size


def wal_of_all_memtables(log: Inspection, family: str) -> float | None:
    """Return a limit of the WAL that lets all memtables become full.

    Without a limit, RocksDB's own is 4 times the memtables: the result is twice that.
    """
    size = all_memtables(log, family)
    return size if size is None or log.number("max_total_wal_size") else 8 * size


def two_memtables_each(log: Inspection, _family: str) -> float | None:
    """Return the bytes of two memtables per column family: one to fill and one to flush."""
    sizes = [number_or_default(log, family, "write_buffer_size") for family in log.families]
    return 2 * sum(sizes) if all(sizes) else None


MORE_FOR_MEMTABLES = Step(
    "raise", "db_write_buffer_size", two_memtables_each,
    reason="two memtables per column family; call SetBufferSize of a WriteBufferManager",
)  # fmt: skip
"""A larger limit of the memory of all memtables."""


def _slowdown(log: Inspection, family: str) -> float:
    return max(
        _LEAST_SLOWDOWN, 2 * log.written_number(family, "level0_file_num_compaction_trigger")
    )


def _stop(log: Inspection, family: str) -> float:
    present = log.written_number(family, "level0_slowdown_writes_trigger")
    return max(present, _slowdown(log, family)) + UNTIL_STOP


_RAISED_STOP = Step("raise", "level0_stop_writes_trigger", _stop)
TRIGGERS_IN_ORDER = (
    Step("raise", "level0_slowdown_writes_trigger", _slowdown, also=_RAISED_STOP),
    _RAISED_STOP,
    "set the triggers of level 0 in this order: compaction, slowdown, stop",
)
"""Steps for the triggers of level 0: first compaction, then the slowdown, then the stop."""
