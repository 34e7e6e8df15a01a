"""Settings with which RocksDB refuses to open a database, or aborts."""

from collections.abc import Callable

from lsmtune.knobs.rules.base import Context, Refusal, number
from lsmtune.knobs.types import Settings, Value

_UNIVERSAL, _FIFO = 1, 2
_CF = "db/column_family.cc, ValidateOptions"
_DO = "db/db_impl/db_impl_open.cc, ValidateOptions"
_BT = "table/block_based/block_based_table_factory.cc, ValidateOptions"
_CODECS = "db/column_family.cc, CheckCompressionSupported"

CODEC_KNOBS = ("compression_type", "bottommost_compression", "blob_compression_type")
CODEC_LABELS: dict[Value, str] = {
    "snappy": "kSnappyCompression", "lz4": "kLZ4Compression", "zlib": "kZlibCompression",
    "zstd": "kZSTD", "lz4hc": "kLZ4HCCompression", "bzip2": "kBZip2Compression",
}  # fmt: skip
"""RocksDB's names of the codecs that a build may lack."""


def _to(**changes: Value) -> Callable[[Settings], Settings]:
    return lambda _: dict(changes)


def _both(one: str, other: str, source: str, reason: str | None = None) -> Refusal:
    """Two switches of which only one may be on; the first gives way."""
    return Refusal(
        (one, other),
        reason or f"{one} and {other} cannot both be true",
        source,
        lambda settings, _: bool(settings[one] and settings[other]),
        (_to(**{one: False}), _to(**{other: False})),
    )


def _concurrent(memtables: tuple[str, ...], until: str | None = None) -> Refusal:
    """Memtables into which only one writer at a time can insert."""
    return Refusal(
        ("allow_concurrent_memtable_write", "memtablerep"),
        "allow_concurrent_memtable_write needs memtablerep = skip_list",
        "db/column_family.cc, CheckConcurrentWritesSupported",
        lambda settings, _: bool(
            settings["allow_concurrent_memtable_write"] and settings["memtablerep"] in memtables
        ),
        (_to(memtablerep="skip_list"), _to(allow_concurrent_memtable_write=False)),
        until=until,
    )


def has_codec(value: Value, context: Context) -> bool:
    """Whether the build can write what a codec knob's value means; anything can be plain."""
    return value not in CODEC_LABELS or context.links(CODEC_LABELS[value])


def _unlinked(name: str) -> Refusal:
    return Refusal(
        (name,),
        f"this build of RocksDB does not contain the codec of {name}; use another codec",
        _CODECS,
        lambda settings, context: not has_codec(settings[name], context),
        (_to(**{name: "none"}),),
    )


def _untrainable(settings: Settings, context: Context) -> bool:
    trained = number(settings, "compression_zstd_max_train_bytes") > 0
    return trained and not (settings["compression_max_dict_bytes"] and context.links("kZSTD"))


def _compressed_and_aligned(settings: Settings, _: Context) -> bool:
    return bool(settings["block_align"]) and settings["compression_type"] != "none"


def _compressed_below_and_aligned(settings: Settings, _: Context) -> bool:
    plain = settings["bottommost_compression"] in ("none", "as_above")
    return bool(settings["block_align"]) and not plain


def _uneven_and_aligned(settings: Settings, _: Context) -> bool:
    size = int(number(settings, "block_size"))
    return bool(settings["block_align"]) and size & (size - 1) != 0


def _block_of_a_power_of_two(settings: Settings) -> Settings:
    return {"block_size": 1 << round(number(settings, "block_size")).bit_length() - 1}


def _too_few_runs(settings: Settings, _: Context) -> bool:
    runs = number(settings, "universal_max_read_amp")
    trigger = number(settings, "level0_file_num_compaction_trigger")
    return settings["compaction_style"] == _UNIVERSAL and 0 < runs < trigger


def _runs_as_the_trigger(settings: Settings) -> Settings:
    return {"universal_max_read_amp": settings["level0_file_num_compaction_trigger"]}


def _ageing_fifo(settings: Settings, _: Context) -> bool:
    ages = settings["compaction_style"] == _FIFO and number(settings, "ttl_seconds") > 0
    return ages and settings["open_files"] != -1


def _shared_out(settings: Settings, _: Context) -> bool:
    pools = [f"cache_{priority}_pri_pool_ratio" for priority in ("high", "low")]
    return sum(number(settings, name) for name in pools) > 1


def _rest_for_low(settings: Settings) -> Settings:
    rest = 1 - number(settings, "cache_high_pri_pool_ratio")
    return {"cache_low_pri_pool_ratio": round(rest, 3)}


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        ("allow_concurrent_memtable_write", "inplace_update_support"),
        "allow_concurrent_memtable_write and inplace_update_support cannot both be true",
        "db/column_family.cc, CheckConcurrentWritesSupported",
        lambda settings, _: bool(
            settings["allow_concurrent_memtable_write"] and settings["inplace_update_support"]
        ),
        (_to(inplace_update_support=False), _to(allow_concurrent_memtable_write=False)),
    ),
    _concurrent(("prefix_hash", "hash_linkedlist")),
    _concurrent(("vector",), until="10.3"),
    Refusal(
        ("experimental_mempurge_threshold", "memtablerep"),
        "experimental_mempurge_threshold above 0 needs memtablerep = skip_list",
        "include/rocksdb/memtablerep.h, MemTableRep::UniqueRandomSample",
        lambda settings, _: (
            number(settings, "experimental_mempurge_threshold") > 0
            and settings["memtablerep"] != "skip_list"
        ),
        (_to(experimental_mempurge_threshold=0.0), _to(memtablerep="skip_list")),
    ),
    *(_unlinked(name) for name in CODEC_KNOBS),
    Refusal(
        ("compression_zstd_max_train_bytes", "compression_max_dict_bytes"),
        "compression_zstd_max_train_bytes above 0 needs compression_max_dict_bytes above 0 and a "
        "build with zstd",
        _CODECS,
        _untrainable,
        (_to(compression_zstd_max_train_bytes=0),),
    ),
    Refusal(
        ("compaction_style", "ttl_seconds", "open_files"),
        "FIFO compaction with ttl_seconds above 0 needs open_files = -1",
        _CF,
        _ageing_fifo,
        (_to(open_files=-1), _to(ttl_seconds=0), _to(compaction_style=0)),
    ),
    Refusal(
        ("compaction_style", "universal_max_read_amp", "level0_file_num_compaction_trigger"),
        "universal_max_read_amp must be at least level0_file_num_compaction_trigger",
        _CF,
        _too_few_runs,
        (_runs_as_the_trigger, _to(universal_max_read_amp=-1), _to(compaction_style=0)),
    ),
    _both("use_direct_reads", "mmap_read", _DO),
    _both("use_direct_io_for_compaction_reads", "mmap_read", _DO),
    _both("use_direct_io_for_flush_and_compaction", "mmap_write", _DO),
    _both(
        "use_direct_io_for_flush_and_compaction",
        "mmap_read",
        "db/db_impl/db_impl_open.cc, Recover",
        "use_direct_io_for_flush_and_compaction and mmap_read cannot both be true; RocksDB aborts "
        "if assertions are on",
    ),
    Refusal(
        ("unordered_write", "allow_concurrent_memtable_write"),
        "unordered_write needs allow_concurrent_memtable_write = true",
        _DO,
        lambda settings, _: bool(
            settings["unordered_write"] and not settings["allow_concurrent_memtable_write"]
        ),
        (_to(unordered_write=False), _to(allow_concurrent_memtable_write=True)),
    ),
    Refusal(
        ("mmap_write", "allow_fallocate"),
        "mmap_write needs allow_fallocate = true; otherwise the first flush crashes with SIGBUS",
        "env/io_posix.cc, PosixMmapFile::MapNewRegion",
        lambda settings, _: bool(settings["mmap_write"] and not settings["allow_fallocate"]),
        (_to(mmap_write=False), _to(allow_fallocate=True)),
    ),
    _both("unordered_write", "enable_pipelined_write", _DO),
    Refusal(
        ("unordered_write", "max_successive_merges"),
        "unordered_write needs max_successive_merges = 0",
        _CF,
        lambda settings, _: bool(settings["unordered_write"] and settings["max_successive_merges"]),
        (_to(max_successive_merges=0), _to(unordered_write=False)),
    ),
    _both(
        "enable_pipelined_write",
        "atomic_flush",
        _DO,
        "atomic_flush and enable_pipelined_write cannot both be true",
    ),
    Refusal(
        ("use_direct_io_for_flush_and_compaction", "writable_file_max_buffer_size"),
        "use_direct_io_for_flush_and_compaction needs writable_file_max_buffer_size above 0",
        _DO,
        lambda settings, _: bool(
            settings["use_direct_io_for_flush_and_compaction"]
            and not settings["writable_file_max_buffer_size"]
        ),
        (_to(use_direct_io_for_flush_and_compaction=False),),
        since="7.0",
    ),
    Refusal(
        ("cache_index_and_filter_blocks", "cache_size"),
        "cache_index_and_filter_blocks needs cache_size above 0",
        _BT,
        lambda settings, _: bool(
            settings["cache_index_and_filter_blocks"] and number(settings, "cache_size") <= 0
        ),
        (_to(cache_index_and_filter_blocks=False),),
    ),
    _both("cache_index_and_filter_blocks", "no_block_cache", _BT),
    _both("pin_l0_filter_and_index_blocks_in_cache", "no_block_cache", _BT),
    Refusal(
        ("block_align", "compression_type"),
        "block_align needs uncompressed data on all levels",
        _BT,
        _compressed_and_aligned,
        (_to(block_align=False),),
    ),
    Refusal(
        ("block_align", "bottommost_compression"),
        "block_align needs uncompressed data on all levels",
        _BT,
        _compressed_below_and_aligned,
        (_to(block_align=False),),
        since="9.2",
    ),
    Refusal(
        ("block_align", "block_size"),
        "block_align needs a block_size that is a power of 2",
        _BT,
        _uneven_and_aligned,
        (_block_of_a_power_of_two, _to(block_align=False)),
    ),
    Refusal(
        ("index_type", "prefix_size"),
        "index_type = hash needs a prefix extractor (prefix_size above 0)",
        _BT,
        lambda settings, _: settings["index_type"] == "hash" and not settings["prefix_size"],
        (_to(index_type="binary_search"),),
    ),
    Refusal(
        ("cache_high_pri_pool_ratio", "cache_low_pri_pool_ratio"),
        "the sum of cache_high_pri_pool_ratio and cache_low_pri_pool_ratio must be at most 1",
        "cache/lru_cache.cc, NewLRUCache",
        _shared_out,
        (_rest_for_low, _to(cache_low_pri_pool_ratio=0.0), _to(cache_high_pri_pool_ratio=0.0)),
    ),
    Refusal(
        ("min_level_to_compress", "num_levels"),
        "min_level_to_compress must be at most num_levels; otherwise db_bench aborts",
        "tools/db_bench_tool.cc, InitializeOptionsFromFlags",
        lambda settings, _: (
            number(settings, "min_level_to_compress") > number(settings, "num_levels")
        ),
        (_to(min_level_to_compress=-1),),
    ),
)
