"""Memory of indexes and filters outside the block cache, from the tables that a LOG lists."""

from collections.abc import Mapping
from pathlib import Path

from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.metrics.log_reader import LogContent

_ON = ("1", "true")


def metadata_bytes(log: LogContent) -> dict[int, int]:
    """Return the bytes of index and filter of each table that was made, by number of its file.

    Partitions of indexes and filters are always in the block cache. The memory outside is then the
    top level of the index; that of the filter is too small to matter (PartitionedFilterBlockReader
    in table/block_based/partitioned_filter_block.cc).
    """
    split = _is_on(log, "partition_filters")
    return {
        number: (table.top_level_bytes or table.index_bytes)
        + (0 if split and table.top_level_bytes else table.filter_bytes)
        for number, table in log.ledger.tables.items()
    }


def readers_bytes(log: LogContent, database: Path, tables: Mapping[int, int]) -> int | None:
    """Return the bytes of indexes and filters that the live tables have outside the block cache.

    `tables` has the bytes of each table. None if it lacks a live table.
    """
    if _is_on(log, "cache_index_and_filter_blocks"):
        return 0
    sizes = [tables.get(int(file.stem)) for file in database.glob("*.sst")]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _is_on(log: LogContent, name: str) -> bool:
    return log.options.families.get(DEFAULT_FAMILY, {}).get(name) in _ON
