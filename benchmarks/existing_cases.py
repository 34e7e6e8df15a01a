"""The stores that `existing_stores.py` builds, and the values and pairs that it tries on them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.knobs.types import Knob, Settings, Value

SCALE = 1 / 1024
"""The sizes of the stores, and of the values that scale with the data."""
LEVEL_BYTES = 32_768
"""`max_bytes_for_level_base` of the stores: their last level has more, so there is one above it."""
AGE_S = 1
"""An age in seconds that all tables of a store exceed when a copy of it is opened."""
FULL_BYTES = 65_536
"""A limit that is below the size of each family."""

_UNIVERSAL, _FIFO = {"compaction_style": 1}, {"compaction_style": 2}
_DYNAMIC = "level_compaction_dynamic_level_bytes"
_LARGE = 64 << 20
"""Hash memtables have buckets of 8 MiB, and a smaller memtable is flushed after each write."""
_HASHES: Settings = {"memtablerep": "prefix_hash", "allow_concurrent_memtable_write": False,
                     "index_type": "hash", "write_buffer_size": _LARGE}  # fmt: skip
_PLAIN: Settings = {"memtablerep": "skip_list", "index_type": "binary_search"}


@dataclass(frozen=True, slots=True)
class Base:
    """A store: for each family the values that differ from those of a new store.

    `level` gets most of the data.
    """

    name: str
    families: Mapping[str, Callable[[Settings], Settings]]
    level: int = 6


def _always(settings: Settings) -> Callable[[Settings], Settings]:
    return lambda _: settings


MAIN = Base("main", {
    DEFAULT_FAMILY: _always({}),
    "blobs": _always({"enable_blob_files": True, "min_blob_size": 64,
                      "max_bytes_for_level_base": LEVEL_BYTES // 8}),
    "universal": _always(_UNIVERSAL),
})  # fmt: skip
BASES = {base.name: base for base in (
    MAIN,
    Base("fifo", {DEFAULT_FAMILY: _always(_FIFO)}),
    Base("one level", {DEFAULT_FAMILY: _always({**_UNIVERSAL, "num_levels": 1})}),
    Base("upper levels", {DEFAULT_FAMILY: _always({_DYNAMIC: False})}, level=2),
    Base("other levels", {DEFAULT_FAMILY: lambda own: {_DYNAMIC: not own[_DYNAMIC]}}),
    Base("prefixes", {DEFAULT_FAMILY: _always(
        {"prefix_size": 8, "bloom_bits": 10, "whole_key_filtering": False, **_HASHES})}),
)}  # fmt: skip

PAIRS: dict[str, tuple[Settings, ...]] = {
    "main": (
        *({"compaction_style": style, "num_levels": levels}
          for style, levels in ((1, 1), (1, 6), (1, 8), (0, 6), (0, 8), (2, 1), (2, 8))),
        *({_DYNAMIC: dynamic, "num_levels": levels}
          for dynamic in (False, True) for levels in (6, 8)),
        *({_DYNAMIC: dynamic, **_UNIVERSAL} for dynamic in (False, True)),
        *({**_FIFO, **more} for more in (
            {"fifo_max_table_files_size": FULL_BYTES}, {"ttl_seconds": AGE_S},
            {"ttl_seconds": 0}, {"ttl_seconds": 0, "open_files": 10000},
            {"fifo_compaction_allow_compaction": True},
        )),
        {**_UNIVERSAL, "universal_allow_trivial_move": True, "universal_incremental": True},
        {**_UNIVERSAL, "universal_max_size_amplification_percent": 25},
        *({"enable_blob_files": True, "min_blob_size": size, "blob_compression_type": codec}
          for size, codec in ((0, "lz4"), (65536, "zstd"))),
        {"enable_blob_files": True, "enable_blob_garbage_collection": True,
         "blob_garbage_collection_age_cutoff": 1.0,
         "blob_garbage_collection_force_threshold": 0.2},
        {"enable_blob_files": False, "enable_blob_garbage_collection": True},
        {"enable_blob_files": True, "blob_file_starting_level": 4},
        {"prefix_size": 8, **_HASHES},
        {"prefix_size": 8, **_HASHES, "memtablerep": "hash_linkedlist"},
        *({"prefix_size": 8, "bloom_bits": 10, "whole_key_filtering": whole,
           "memtable_bloom_size_ratio": 0.1} for whole in (False, True)),
        *({"index_type": "two_level", "partition_filters": True, "bloom_bits": 10,
           "decouple_partitioned_filters": apart} for apart in (False, True)),
        {"bloom_bits": 10, "use_ribbon_filter": True, "optimize_filters_for_hits": True},
        {"cache_index_and_filter_blocks": True, "index_type": "two_level",
         "partition_pinning": "all", "top_level_index_pinning": "all"},
        {"compression_type": "zstd", "bottommost_compression": "zlib",
         "min_level_to_compress": 2, "compression_max_dict_bytes": 16384},
        {"use_direct_reads": True, "use_direct_io_for_flush_and_compaction": True},
        {"mmap_read": True, "mmap_write": True},
        {"format_version": 2, "checksum_type": 0, "use_data_block_hash_index": True},
        {"max_write_buffer_number": 8, "min_write_buffer_number_to_merge": 2,
         "memtable_whole_key_filtering": True, "memtable_bloom_size_ratio": 0.2},
    ),
    "fifo": (
        *({"compaction_style": style} for style in (0, 1)),
        *({"compaction_style": 0, "num_levels": levels} for levels in (1, 2, 6, 8)),
        *({"num_levels": levels} for levels in (1, 6, 8)),
        *({"fifo_max_table_files_size": size} for size in (FULL_BYTES, 64 << 30)),
        *({"fifo_max_data_files_size": size} for size in (FULL_BYTES, 64 << 30)),
        *({"fifo_compaction_allow_compaction": merges} for merges in (False, True)),
        *({"ttl_seconds": age} for age in (0, AGE_S, 7_776_000)),
        {"ttl_seconds": 0, "open_files": 10000},
        *({"periodic_compaction_seconds": age} for age in (0, AGE_S)),
    ),
    "one level": (
        *({"num_levels": levels} for levels in (2, 7)),
        *({"compaction_style": 0, "num_levels": levels} for levels in (1, 7)),
        {"compaction_style": 2},
    ),
    "other levels": (
        *({_DYNAMIC: dynamic} for dynamic in (False, True)),
        *({"num_levels": levels} for levels in (5, 6, 8)),
        *({_DYNAMIC: dynamic, "num_levels": levels}
          for dynamic in (False, True) for levels in (6, 8)),
        *({"compaction_style": style} for style in (1, 2)),
    ),
    "upper levels": (
        {_DYNAMIC: True},
        *({"num_levels": levels} for levels in (2, 5, 6, 8)),
        *({_DYNAMIC: True, "num_levels": levels} for levels in (6, 8)),
        *({"compaction_style": style} for style in (1, 2)),
        {**_UNIVERSAL, "num_levels": 8},
    ),
    "prefixes": (
        *({"prefix_size": length, **_PLAIN} for length in (0, 4)),
        *({"prefix_size": length} for length in (4, 16)),
        {"index_type": "binary_search"}, {"memtablerep": "skip_list"},
        {"whole_key_filtering": True}, {"bloom_bits": -1}, {"use_ribbon_filter": True},
    ),
}  # fmt: skip
"""Values that a rule of RocksDB ties, and changes of stores that are not as a new one."""

_MORE: dict[str, tuple[Value, ...]] = {
    "num_levels": (1, 2, 6, 10),
    "ttl_seconds": (AGE_S,),
    "periodic_compaction_seconds": (AGE_S,),
}


def single_values(catalogue: Catalogue, base: Settings, *, numbers: bool) -> Iterator[Settings]:
    """Yield each change of one knob, with the values without which no store takes it.

    `numbers`: also of knobs that are plain numbers.
    """
    for knob in catalogue.knobs:
        if numbers or not knob.is_range or knob.name in _MORE:
            for value in _values(knob):
                if value != base[knob.name]:
                    yield {knob.name: value, **_needed(knob, value, base)}


def _values(knob: Knob) -> list[Value]:
    """Return all values of a list; of a range the smallest, the largest and the special ones."""
    if not knob.is_range:
        return list(knob.values)
    ends: list[Value] = [*knob.scaled(SCALE).bounds(), *knob.bounds()]
    found = [knob.rounded(float(end)) for end in ends]
    least = () if knob.least is None else (knob.rounded(knob.least),)
    return list(dict.fromkeys((*least, *found, *knob.special_values, *_MORE.get(knob.name, ()))))


def _needed(knob: Knob, value: Value, base: Settings) -> Settings:
    """Return the values of other knobs without which RocksDB refuses or ignores the value."""
    needed: Settings = {}
    if knob.name == "memtablerep" and value != "skip_list":
        needed = {"allow_concurrent_memtable_write": False}
        needed |= {} if value == "vector" else {"prefix_size": 8, "write_buffer_size": _LARGE}
    elif knob.name == "index_type" and value == "hash":
        needed = {"prefix_size": 8}
    elif knob.name.startswith("inplace_update") and value:
        needed = {"allow_concurrent_memtable_write": False}
    elif knob.name == "block_align" and value:
        needed = {"compression_type": "none"}
    elif knob.name.endswith("zstd_max_train_bytes") and value:
        dictionary = knob.name.replace("zstd_max_train", "max_dict")
        needed = {"compression_type": "zstd", dictionary: 16384}
    elif knob.name in _OF_FILTERS and value != base[knob.name]:
        needed = {"bloom_bits": 10}
    # What needs a style of compaction or blobs applies to the families that have it.
    skipped = ("compaction_style", "enable_blob_files")
    met = {name: v[0] for name, v in knob.when.items() if name not in skipped}
    return {n: v for n, v in (met | needed).items() if n in base and base[n] != v}


_OF_FILTERS = ("use_ribbon_filter", "partition_filters", "optimize_filters_for_hits",
               "optimize_filters_for_memory")  # fmt: skip
