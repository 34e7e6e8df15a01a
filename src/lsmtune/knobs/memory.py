"""Memory of a store: memtables, caches, and the index and filter blocks outside the block cache."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, floor

from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.rules.base import number
from lsmtune.knobs.types import Settings, Value
from lsmtune.units import format_bytes

FEWEST_FLUSHES = 8
"""Minimum number of flushes with which write amplification can be measured."""

MEMTABLES = ("max_write_buffer_number", "write_buffer_size")
CACHES = ("cache_size", "row_cache_size")
TABLES = ("bloom_bits", "cache_index_and_filter_blocks", "block_size")
"""Options that decide how much memory a store needs."""

_LIMITS = ("db_write_buffer_size",)
_OF_TABLES = (
    "use_ribbon_filter", "optimize_filters_for_hits", "partition_filters", "index_type",
    "index_shortening_mode", "block_size_deviation", "compaction_style", "enable_blob_files",
    "min_blob_size",
)  # fmt: skip
_MEMORY = frozenset((*CACHES, *MEMTABLES, *_LIMITS, *TABLES, *_OF_TABLES))

_RIBBON = 0.7
"""Size of a Ribbon filter / size of a Bloom filter of the same accuracy."""
_ABOVE_LAST_LEVEL = 0.1
"""Share of the keys above the last level, which has no filters with optimize_filters_for_hits."""
_OBSOLETE, _OBSOLETE_UNIVERSAL = 1.07, 1.25
"""Records in the files of a settled tree / live records: leveled and universal compaction.

Compactions have not dropped all older values yet. Measured with benchmarks/table_memory.py; under
universal compaction, 1.15 to 1.36.
"""
_UNIVERSAL = 1
_RECORD_HEADER_BYTES = 6
"""Bytes of a record in a block next to key and value: sequence number and lengths, less the
beginning of the key that it shares with the key before."""
_DEVIATION_PERCENT = 10
"""The default of block_size_deviation."""
_SEPARATOR_BYTES = 8
"""Keys of lsmtune's workloads differ in their first 8 bytes. The index contains only as many bytes
of a key as tell it from the next one (BytewiseComparator::FindShortestSeparator). With keys of 16
and of 32 bytes, entries of 20 bytes were measured."""
_BLOB_REFERENCE_BYTES = 10
"""What a table has instead of a value in a blob file: kind, file, place, size, and codec
(BlobIndex::EncodeBlob in db/blob/blob_index.h)."""
_INDEX_ENTRY_BYTES = 12
"""Bytes of an index entry next to its key: lengths, place of the block, restart point."""


@dataclass(frozen=True, slots=True)
class Records:
    """The live records of a tree: their number, and the bytes of a key and of a value.

    `is_overwritten`: keys are written again, so files also contain records that are obsolete.
    """

    count: float
    key_bytes: int
    value_bytes: int
    is_overwritten: bool = False


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a store needs at most, in bytes, by consumer.

    `filters` and `indexes` are those outside the block cache.
    """

    memtables: int
    caches: int
    filters: int = 0
    indexes: int = 0

    @property
    def total(self) -> int:
        """All consumers together."""
        return self.memtables + self.caches + self.filters + self.indexes


@dataclass(frozen=True, slots=True, eq=False)
class OwnMemory:
    """The memory of an engine whose options are not RocksDB's.

    `needs` returns what all settings of the engine need together. If a config needs too much, the
    `options` give memory back, the first one first; they have plain names.
    """

    needs: Callable[[Settings], Memory]
    options: tuple[str, ...] = ()


NO_MEMORY = OwnMemory(lambda _: Memory(0, 0))
"""The memory of an engine if nobody knows it: none, so every config keeps the limit."""


def memory(
    settings: Mapping[str, Value], records: Records | None = None, names: Names = PLAIN
) -> Memory:
    """Return the memory of a tree with these records; without records, tables take none.

    Missing options take no memory. The records are those of the first column family.
    """
    known = names.chosen(settings, _MEMORY)  # a view of all others would cost most of the time
    own = names.view(known, names.families(settings)[0])
    filters, indexes = (0, 0) if records is None else _tables(own, records)
    caches = sum(_bytes(own, name) for name in CACHES)
    return Memory(memtable_bytes(settings, names), caches, filters, indexes)


def memory_bytes(settings: Mapping[str, Value], names: Names = PLAIN) -> int:
    """Return the maximum memory of memtables, block cache and row cache together."""
    return memory(settings, names=names).total


def memtable_bytes(settings: Mapping[str, Value], names: Names = PLAIN) -> int:
    """Return the maximum memory of the memtables of all column families.

    db_write_buffer_size, if set, limits them together. Missing options take no memory.
    """
    known = names.chosen(settings, _MEMORY)
    memtables = sum(
        _bytes(own, "write_buffer_size") * _bytes(own, "max_write_buffer_number")
        for own in (names.view(known, family) for family in names.families(settings))
    )
    budget = _bytes(names.view(known, None), "db_write_buffer_size")
    return min(memtables, budget) if budget else memtables


def flush_bytes(base: Settings) -> float | None:
    """Return the bytes of the clients that a flush writes; a flush may wait for several memtables.

    None if the baseline does not have the size of its memtables.
    """
    memtables, number = memtable_bytes(base), float(base.get("max_write_buffer_number") or 0)
    if not memtables or not number:
        return None
    merged = float(base.get("min_write_buffer_number_to_merge") or 1)
    return memtables / number * max(1.0, min(merged, number - 1))


def memtable_limit(base: Settings, written_bytes: float, names: Names = PLAIN) -> int:
    """Return how many bytes the memtables of a config may hold.

    It is 1/8 of the bytes that the workload writes, and at least the memtables of the baseline.
    """
    return max(int(written_bytes / FEWEST_FLUSHES), memtable_bytes(base, names))


def _tables(settings: Settings, records: Records) -> tuple[int, int]:
    """Return the bytes of filter and of index blocks outside the block cache.

    Blocks of partitioned indexes and filters are always in the block cache
    (table/block_based/partitioned_index_reader.h).
    """
    if settings.get("cache_index_and_filter_blocks"):
        return 0, 0
    filters = 0.0 if settings.get("partition_filters") else _filter_bytes(settings, records)
    indexes = 0.0 if settings.get("index_type") == "two_level" else _index_bytes(settings, records)
    universal = settings.get("compaction_style") == _UNIVERSAL
    obsolete = _OBSOLETE_UNIVERSAL if universal else _OBSOLETE
    stored = obsolete if records.is_overwritten else 1
    return round(stored * filters), round(stored * indexes)


def _filter_bytes(settings: Settings, records: Records) -> float:
    bits = max(0, number(settings, "bloom_bits")) if "bloom_bits" in settings else 0
    kind = _RIBBON if settings.get("use_ribbon_filter") else 1.0
    levels = _ABOVE_LAST_LEVEL if settings.get("optimize_filters_for_hits") else 1.0
    return records.count * bits / 8 * kind * levels


def _index_bytes(settings: Settings, records: Records) -> float:
    if "block_size" not in settings:
        return 0.0
    shortened = settings.get("index_shortening_mode") != 0
    separator = min(_SEPARATOR_BYTES, records.key_bytes) if shortened else records.key_bytes
    first_key = records.key_bytes if settings.get("index_type") == "first_key" else 0
    entry = separator + first_key + _INDEX_ENTRY_BYTES
    return records.count / _records_per_block(settings, records) * entry


def _records_per_block(settings: Settings, records: Records) -> int:
    """Return how many records a data block has (FlushBlockBySizePolicy::Update).

    A block ends before the record that would exceed block_size, if the block is almost full then;
    otherwise after that record.
    """
    size = number(settings, "block_size")
    in_blob_file = settings.get("enable_blob_files") and (
        records.value_bytes >= _bytes(settings, "min_blob_size")
    )
    value_bytes = _BLOB_REFERENCE_BYTES if in_blob_file else records.value_bytes
    record = records.key_bytes + value_bytes + _RECORD_HEADER_BYTES
    deviation = "block_size_deviation"
    spare = number(settings, deviation) if deviation in settings else _DEVIATION_PERCENT
    fitting = floor(size / record)
    almost_full = fitting * record > size * (1 - spare / 100)
    return max(1, fitting if almost_full else ceil(size / record))


def _bytes(settings: Mapping[str, Value], name: str) -> int:
    return int(number(settings, name)) if name in settings else 0


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Memory limit: a store needs at most `limit_bytes`.

    `memtables`, if given, limits the memtables alone: if they hold a large part of the written
    bytes, a short run never flushes them, and its write amplification means nothing. With
    `records`, index and filter blocks outside the block cache count too. The memory is that of
    RocksDB's options, or that of the `own` options of another engine. The methods take the form of
    the engine's names.
    """

    limit_bytes: int
    memtables: int | None = None
    records: Records | None = None
    own: OwnMemory | None = None

    def used(self, settings: Settings, names: Names = PLAIN) -> Memory:
        """Return the memory that a store with these settings needs."""
        if self.own is not None:
            return self.own.needs(settings)
        return memory(settings, self.records, names)

    def excess(self, settings: Settings, option: str, names: Names = PLAIN) -> int:
        """Return by how many bytes the settings exceed the limits on a memory option."""
        over = self.used(settings, names).total - self.limit_bytes
        if option not in MEMTABLES or self.memtables is None:
            return over
        return max(over, memtable_bytes(settings, names) - self.memtables)

    def violation(self, settings: Settings, names: Names = PLAIN) -> str | None:
        """Return the message if the settings exceed a limit, or None."""
        memtables = memtable_bytes(settings, names)
        if self.memtables is not None and memtables > self.memtables:
            return (
                f"memtables (write_buffer_size x max_write_buffer_number) hold "
                f"{format_bytes(memtables)}, but at most {format_bytes(self.memtables)} are "
                f"allowed: the workload must fill its memtables {FEWEST_FLUSHES} times"
            )
        used = self.used(settings, names)
        if used.total <= self.limit_bytes:
            return None
        needed, limit = format_bytes(used.total), format_bytes(self.limit_bytes)
        if self.own is not None:
            return f"the settings need {needed}, but the memory limit is {limit}"
        tables = used.filters + used.indexes
        consumers = "memtables (write_buffer_size x max_write_buffer_number) and caches"
        if tables:
            consumers += f", and {format_bytes(tables)} of filters and indexes outside the cache,"
        return f"{consumers} need {needed}, but the memory limit is {limit}"
