"""Changes that RocksDB makes silently when it opens a database (SanitizeOptions and others)."""

from lsmtune.knobs.option_text import DERIVED
from lsmtune.knobs.rules.base import Context, Normalisation, number, rule
from lsmtune.knobs.types import Settings
from lsmtune.units import GIB, KIB, MIB

_LEVELED, _UNIVERSAL, _FIFO = 0, 1, 2
_NEVER = 2**31 - 1
_CHOSEN_BY_ROCKSDB = 2**64 - 2
_MONTH_S = 30 * 24 * 60 * 60
_MOST_BLOOM_RATIO = 0.25
_FEWEST_OPEN_FILES = 20

_CF = "db/column_family.cc, SanitizeOptions"
_DO = "db/db_impl/db_impl_open.cc, SanitizeOptions"
_BT = "table/block_based/block_based_table_factory.cc, InitializeOptions"


@rule("RocksDB keeps write_buffer_size between 64 KiB and 64 GiB", _CF, "write_buffer_size")
def _memtable_size(settings: Settings, _: Context) -> Settings:
    size = number(settings, "write_buffer_size")
    return {"write_buffer_size": min(max(size, 64 * KIB), 64 * GIB)}


@rule("RocksDB sets max_write_buffer_number to at least 2", _CF, "max_write_buffer_number")
def _two_memtables(settings: Settings, _: Context) -> Settings:
    return {"max_write_buffer_number": max(2, number(settings, "max_write_buffer_number"))}


@rule("RocksDB keeps min_write_buffer_number_to_merge between 1 and max_write_buffer_number - 1",
      _CF, "min_write_buffer_number_to_merge", "max_write_buffer_number")  # fmt: skip
def _merge_fewer_than_there_are(settings: Settings, _: Context) -> Settings:
    most = max(1, number(settings, "max_write_buffer_number") - 1)
    merged = number(settings, "min_write_buffer_number_to_merge")
    return {"min_write_buffer_number_to_merge": min(max(merged, 1), most)}


@rule("with atomic_flush, RocksDB sets min_write_buffer_number_to_merge to 1",
      _CF, "atomic_flush", "min_write_buffer_number_to_merge")  # fmt: skip
def _atomic_flush_merges_nothing(settings: Settings, _: Context) -> Settings:
    return {"min_write_buffer_number_to_merge": 1} if settings["atomic_flush"] else {}


@rule("with leveled compaction, RocksDB sets num_levels to at least 2",
      _CF, "num_levels", "compaction_style")  # fmt: skip
def _enough_levels(settings: Settings, _: Context) -> Settings:
    least = 2 if settings["compaction_style"] == _LEVELED else 1
    return {"num_levels": max(least, number(settings, "num_levels"))}


@rule("up to version 7.7, RocksDB sets num_levels to 1 for FIFO compaction",
      _CF, "num_levels", "compaction_style", until="7.7")  # fmt: skip
def _fifo_has_one_level(settings: Settings, _: Context) -> Settings:
    return {"num_levels": 1} if settings["compaction_style"] == _FIFO else {}


@rule("RocksDB sets memtable_bloom_size_ratio to at most 0.25", _CF, "memtable_bloom_size_ratio")
def _memtable_bloom(settings: Settings, _: Context) -> Settings:
    ratio = number(settings, "memtable_bloom_size_ratio")
    return {"memtable_bloom_size_ratio": min(max(ratio, 0.0), _MOST_BLOOM_RATIO)}


@rule("without a prefix extractor, RocksDB replaces a hash memtable with a skip list",
      _CF, "memtablerep", "prefix_size")  # fmt: skip
def _hash_memtable_needs_prefix(settings: Settings, _: Context) -> Settings:
    hashed = settings["memtablerep"] in ("prefix_hash", "hash_linkedlist")
    return {"memtablerep": "skip_list"} if hashed and not settings["prefix_size"] else {}


@rule("under FIFO compaction, RocksDB ignores the slowdown and stop triggers of L0",
      _CF, "compaction_style", "level0_slowdown_writes_trigger",
      "level0_stop_writes_trigger")  # fmt: skip
def _fifo_never_slows_writers(settings: Settings, _: Context) -> Settings:
    if settings["compaction_style"] != _FIFO:
        return {}
    return {"level0_slowdown_writes_trigger": _NEVER, "level0_stop_writes_trigger": _NEVER}


@rule("in L0, RocksDB raises the slowdown trigger to at least the compaction trigger, and the "
      "stop trigger to at least the slowdown trigger",
      _CF, "level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger",
      "level0_stop_writes_trigger")  # fmt: skip
def _level0_triggers(settings: Settings, _: Context) -> Settings:
    compact = max(1, number(settings, "level0_file_num_compaction_trigger"))
    slowdown = max(number(settings, "level0_slowdown_writes_trigger"), compact)
    stop = max(number(settings, "level0_stop_writes_trigger"), slowdown)
    return {
        "level0_file_num_compaction_trigger": compact,
        "level0_slowdown_writes_trigger": slowdown,
        "level0_stop_writes_trigger": stop,
    }


@rule("RocksDB sets max_bytes_for_level_multiplier to 1 if the multiplier is not above 0",
      _CF, "max_bytes_for_level_multiplier")  # fmt: skip
def _level_multiplier(settings: Settings, _: Context) -> Settings:
    multiplier = number(settings, "max_bytes_for_level_multiplier")
    return {"max_bytes_for_level_multiplier": 1.0} if multiplier <= 0 else {}


@rule("RocksDB sets soft_pending_compaction_bytes_limit to "
      "hard_pending_compaction_bytes_limit if the soft limit is 0 or higher than the hard limit",
      _CF, "soft_pending_compaction_bytes_limit",
      "hard_pending_compaction_bytes_limit")  # fmt: skip
def _pending_limits(settings: Settings, _: Context) -> Settings:
    soft = number(settings, "soft_pending_compaction_bytes_limit")
    hard = number(settings, "hard_pending_compaction_bytes_limit")
    too_high = soft == 0 or 0 < hard < soft
    return {"soft_pending_compaction_bytes_limit": hard if too_high else soft}


@rule("without leveled compaction, RocksDB turns level_compaction_dynamic_level_bytes off",
      _CF, "level_compaction_dynamic_level_bytes", "compaction_style")  # fmt: skip
def _dynamic_levels_are_leveled(settings: Settings, _: Context) -> Settings:
    leveled = settings["compaction_style"] == _LEVELED
    return {} if leveled else {"level_compaction_dynamic_level_bytes": False}


@rule("max_compaction_bytes = 0 means 25 times target_file_size_base",
      _CF, "max_compaction_bytes", "target_file_size_base")  # fmt: skip
def _max_compaction_bytes(settings: Settings, _: Context) -> Settings:
    return _derived("max_compaction_bytes", settings)


@rule("arena_block_size = 0 means write_buffer_size / 8, at most 1 MiB",
      _CF, "arena_block_size", "write_buffer_size")  # fmt: skip
def _arena_block_size(settings: Settings, _: Context) -> Settings:
    return _derived("arena_block_size", settings)


def _derived(name: str, settings: Settings) -> Settings:
    """Return 0 for the value that RocksDB would derive; it then follows its source option."""
    source, derive = DERIVED[name]
    return {name: 0} if settings[name] == derive(int(number(settings, source))) else {}


@rule("max_write_buffer_size_to_maintain < 0 means the maximum size of all memtables together",
      _CF, "max_write_buffer_size_to_maintain", "max_write_buffer_number",
      "write_buffer_size")  # fmt: skip
def _memtables_to_maintain(settings: Settings, _: Context) -> Settings:
    if number(settings, "max_write_buffer_size_to_maintain") >= 0:
        return {}
    memtables = number(settings, "max_write_buffer_number") * number(settings, "write_buffer_size")
    return {"max_write_buffer_size_to_maintain": memtables}


@rule("with universal compaction, RocksDB uses the smaller of ttl_seconds and "
      "periodic_compaction_seconds",
      _CF, "ttl_seconds", "periodic_compaction_seconds", "compaction_style")  # fmt: skip
def _ages(settings: Settings, _: Context) -> Settings:
    ttl, period = settings["ttl_seconds"], settings["periodic_compaction_seconds"]
    universal = settings["compaction_style"] == _UNIVERSAL
    ttl = _MONTH_S if ttl == _CHOSEN_BY_ROCKSDB else int(ttl)
    if period == _CHOSEN_BY_ROCKSDB:
        period = _MONTH_S if universal else 0
    if universal and ttl:
        period = min(ttl, int(period) or ttl)
    return {"ttl_seconds": ttl, "periodic_compaction_seconds": period}


@rule("RocksDB keeps open_files between 20 and the ulimit of the process", _DO, "open_files")
def _open_files(settings: Settings, context: Context) -> Settings:
    wanted = number(settings, "open_files")
    if wanted == -1:
        return {}
    return {"open_files": min(max(wanted, _FEWEST_OPEN_FILES), context.open_files)}


@rule("with a rate limiter, RocksDB replaces bytes_per_sync = 0 with 1 MiB",
      _DO, "rate_limiter_bytes_per_sec", "bytes_per_sync")  # fmt: skip
def _limited_rate_syncs(settings: Settings, _: Context) -> Settings:
    limited = number(settings, "rate_limiter_bytes_per_sec") > 0
    return {"bytes_per_sync": MIB} if limited and not settings["bytes_per_sync"] else {}


@rule("delayed_write_rate = 0 means the rate of the rate limiter, or 16 MiB/s without a limiter",
      _DO, "delayed_write_rate")  # fmt: skip
def _delayed_write_rate(settings: Settings, _: Context) -> Settings:
    if settings["delayed_write_rate"]:
        return {}
    return {"delayed_write_rate": settings.get("rate_limiter_bytes_per_sec") or 16 * MIB}


@rule("up to version 8.5, RocksDB turns on compaction read-ahead for direct reads",
      _DO, "use_direct_reads", "compaction_readahead_size", until="8.5")  # fmt: skip
def _direct_compactions_read_ahead(settings: Settings, _: Context) -> Settings:
    needed = settings["use_direct_reads"] and not settings["compaction_readahead_size"]
    return {"compaction_readahead_size": 2 * MIB} if needed else {}


@rule("RocksDB turns wal_compression off if the build has no zstd", _DO, "wal_compression")
def _only_zstd_compresses_the_log(_: Settings, context: Context) -> Settings:
    return {} if context.links("kZSTD") else {"wal_compression": "none"}


@rule("RocksDB sets block_size_deviation to 0 if the percentage is not between 0 and 100",
      _BT, "block_size_deviation")  # fmt: skip
def _block_size_deviation(settings: Settings, _: Context) -> Settings:
    percent = number(settings, "block_size_deviation")
    return {} if 0 <= percent <= 100 else {"block_size_deviation": 0}  # noqa: PLR2004 - percent


@rule("RocksDB sets block_restart_interval to at least 1", _BT, "block_restart_interval")
def _block_restarts(settings: Settings, _: Context) -> Settings:
    return {"block_restart_interval": max(1, number(settings, "block_restart_interval"))}


@rule("RocksDB sets index_block_restart_interval to 1 for a hash index, otherwise to at least 1",
      _BT, "index_block_restart_interval", "index_type")  # fmt: skip
def _index_restarts(settings: Settings, _: Context) -> Settings:
    hashed = settings["index_type"] == "hash"
    interval = number(settings, "index_block_restart_interval")
    return {"index_block_restart_interval": 1 if hashed else max(1, interval)}


@rule("RocksDB turns partition_filters off without index_type = two_level",
      _BT, "partition_filters", "index_type")  # fmt: skip
def _partitioned_filters(settings: Settings, _: Context) -> Settings:
    return {} if settings["index_type"] == "two_level" else {"partition_filters": False}


SANITISED: tuple[Normalisation, ...] = (
    _memtable_size, _two_memtables, _merge_fewer_than_there_are, _atomic_flush_merges_nothing,
    _enough_levels, _fifo_has_one_level, _memtable_bloom, _hash_memtable_needs_prefix,
    _fifo_never_slows_writers, _level0_triggers, _level_multiplier, _pending_limits,
    _dynamic_levels_are_leveled, _max_compaction_bytes, _arena_block_size, _memtables_to_maintain,
    _ages, _open_files, _limited_rate_syncs, _delayed_write_rate, _direct_compactions_read_ahead,
    _only_zstd_compresses_the_log, _block_size_deviation, _block_restarts, _index_restarts,
    _partitioned_filters,
)  # fmt: skip
"""In the order in which they are applied."""
