"""Options that have no effect with certain values of others: they get the baseline's values.

RocksDB keeps such values and does not use them.
"""

from collections.abc import Callable, Iterable

from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.rules.base import Context, Normalisation, number, rule
from lsmtune.knobs.types import Knob, Settings

_CODECS = "table/block_based/block_based_table_builder.cc"
_BENCH = "tools/db_bench_tool.cc, InitializeOptionsFromFlags"
_PLAIN, _AS_ABOVE = "none", "as_above"
_WITH_LEVEL = frozenset({"zlib", "zstd", "lz4hc"})
_WITH_DICTIONARY = frozenset({"lz4", "zlib", "zstd", "lz4hc"})
_ALL_CODECS = frozenset({"snappy", "lz4", "zlib", "zstd", "lz4hc", "bzip2"})

_USED_BY = {
    "compression_level": _WITH_LEVEL,
    "compression_max_dict_bytes": _WITH_DICTIONARY,
    "compression_zstd_max_train_bytes": frozenset({"zstd"}),
    "compression_parallel_threads": _ALL_CODECS,
    "compression_max_compressed_bytes_per_kb": _ALL_CODECS,
}
"""Which codecs look at an option of theirs."""

_BOTTOM_USED_BY = {
    "bottommost_compression_level": _WITH_LEVEL,
    "bottommost_compression_max_dict_bytes": _WITH_DICTIONARY,
    "bottommost_compression_zstd_max_train_bytes": frozenset({"zstd"}),
}


_LEVELS_FOR_LZ4 = (11, 5)
"""From this version on, LZ4 has levels, and fast codecs compress in one thread (HISTORY.md)."""
_LEVEL_OF_THE_CODEC = 32767


def _as_base(names: Iterable[str], settings: Settings, context: Context) -> Settings:
    return {name: context.base[name] for name in names if name in settings and name in context.base}


def _silent(
    name: str,
    source: str,
    needs: tuple[str, ...],
    when: Callable[[Settings], bool],
    silenced: tuple[str, ...],
) -> Normalisation:
    """Return a rule: some options have no effect while a condition is true."""

    def apply(settings: Settings, context: Context) -> Settings:
        return _as_base(silenced, settings, context) if when(settings) else {}

    return Normalisation(name, source, needs, apply)


def _bottom_codec(settings: Settings) -> object:
    bottom = settings.get("bottommost_compression", _AS_ABOVE)
    return settings["compression_type"] if bottom == _AS_ABOVE else bottom


@rule("an option of compression has no effect if the codecs of all levels ignore the option",
      _CODECS, "compression_type")  # fmt: skip
def _codec_options(settings: Settings, context: Context) -> Settings:
    own = bool(settings.get("bottommost_compression_opts_enabled", False))
    bottom = _bottom_codec(settings)
    codecs = {settings["compression_type"]} | (set() if own else {bottom})
    used_by, bottom_used_by = dict(_USED_BY), dict(_BOTTOM_USED_BY)
    if version_number(context.version) >= _LEVELS_FOR_LZ4:
        used_by["compression_level"] = _WITH_LEVEL | {"lz4"}
        used_by["compression_parallel_threads"] = _ALL_CODECS - _in_one_thread(settings)
        bottom_used_by["bottommost_compression_level"] = _WITH_LEVEL | {"lz4"}
    idle = [name for name, users in used_by.items() if not codecs & users]
    idle += [n for n, users in bottom_used_by.items() if not own or bottom not in users]
    return _as_base(idle, settings, context)


def _in_one_thread(settings: Settings) -> set[str]:
    """The codecs that ignore parallel threads: Snappy, and LZ4 unless its level means LZ4HC."""
    level = settings.get("compression_level", _LEVEL_OF_THE_CODEC)
    slow = 0 < float(level) < _LEVEL_OF_THE_CODEC
    return {"snappy"} if slow else {"snappy", "lz4"}


@rule("with compression_max_dict_bytes = 0, compression_max_dict_buffer_bytes and "
      "compression_zstd_max_train_bytes have no effect",
      "db/column_family.cc, CheckCompressionSupported", "compression_max_dict_bytes",
      "compression_zstd_max_train_bytes")  # fmt: skip
def _dictionary_options(settings: Settings, context: Context) -> Settings:
    """Turn training off without a dictionary; RocksDB refuses it."""
    if not settings["compression_max_dict_bytes"]:
        idle = _as_base(["compression_max_dict_buffer_bytes"], settings, context)
        return {**idle, "compression_zstd_max_train_bytes": 0}
    return {}


@rule("compression_use_zstd_dict_trainer has no effect without compression_zstd_max_train_bytes",
      _CODECS, "compression_zstd_max_train_bytes", "compression_use_zstd_dict_trainer")  # fmt: skip
def _dictionary_trainer(settings: Settings, context: Context) -> Settings:
    if settings["compression_zstd_max_train_bytes"]:
        return {}
    return _as_base(["compression_use_zstd_dict_trainer"], settings, context)


@rule("with min_level_to_compress >= num_levels, RocksDB compresses nothing",
      _BENCH, "min_level_to_compress",
      "num_levels", "compression_type")  # fmt: skip
def _plain_above_the_last_level(settings: Settings, _: Context) -> Settings:
    first = number(settings, "min_level_to_compress")
    return {"compression_type": _PLAIN} if first >= number(settings, "num_levels") else {}


@rule("with compression_type = none or min_level_to_compress = 0, min_level_to_compress has no "
      "effect",
      _BENCH, "min_level_to_compress",
      "compression_type")  # fmt: skip
def _first_compressed_level(settings: Settings, _: Context) -> Settings:
    plain = settings["compression_type"] == _PLAIN or settings["min_level_to_compress"] == 0
    return {"min_level_to_compress": -1} if plain else {}


@rule("max_background_jobs has no effect if max_background_compactions or "
      "max_background_flushes is set",
      "db/db_impl/db_impl_compaction_flush.cc, GetBGJobLimits",
      "max_background_compactions", "max_background_flushes")  # fmt: skip
def _background_threads(settings: Settings, context: Context) -> Settings:
    """max_background_jobs counts where neither kind of thread is numbered by itself."""
    numbered = {
        name: number(settings, name)
        for name in ("max_background_compactions", "max_background_flushes")
    }
    if set(numbered.values()) == {-1}:
        return {}
    idle = _as_base(["max_background_jobs"], settings, context)
    return {**idle, **{name: max(1, threads) for name, threads in numbered.items()}}


@rule("without filters (bloom_bits above 0), options of filters have no effect",
      _CODECS, "bloom_bits")  # fmt: skip
def _no_filter(settings: Settings, context: Context) -> Settings:
    if number(settings, "bloom_bits") > 0:
        return {}
    idle = ("optimize_filters_for_hits", "optimize_filters_for_memory", "partition_filters")
    told = _as_base(idle, settings, context)
    # Where there is no filter, an OPTIONS file cannot say of which kind.
    return told | ({"use_ribbon_filter": False} if "use_ribbon_filter" in settings else {})


@rule("initial_auto_readahead_size has no effect above max_auto_readahead_size",
      "table/block_based/block_prefetcher.cc", "initial_auto_readahead_size",
      "max_auto_readahead_size")  # fmt: skip
def _scan_read_ahead(settings: Settings, _: Context) -> Settings:
    first = number(settings, "initial_auto_readahead_size")
    return {"initial_auto_readahead_size": min(first, number(settings, "max_auto_readahead_size"))}


SILENT: tuple[Normalisation, ...] = (
    _plain_above_the_last_level,
    _first_compressed_level,
    _codec_options,
    _dictionary_options,
    _dictionary_trainer,
    _silent(
        "without leveled compaction, compaction_pri, max_bytes_for_level_base and "
        "max_bytes_for_level_multiplier have no effect",
        "db/compaction/compaction_picker_universal.cc",
        ("compaction_style",),
        lambda settings: settings["compaction_style"] != 0,
        ("compaction_pri", "max_bytes_for_level_base", "max_bytes_for_level_multiplier"),
    ),
    _background_threads,
    _silent(
        "rate_limiter_auto_tuned has no effect without rate_limiter_bytes_per_sec",
        "tools/db_bench_tool.cc, InitializeOptionsGeneral",
        ("rate_limiter_bytes_per_sec", "rate_limiter_auto_tuned"),
        lambda settings: not settings["rate_limiter_bytes_per_sec"],
        ("rate_limiter_auto_tuned",),
    ),
    _silent(
        "strict_bytes_per_sync has no effect without bytes_per_sync and wal_bytes_per_sync",
        "file/writable_file_writer.cc",
        ("bytes_per_sync", "wal_bytes_per_sync", "strict_bytes_per_sync"),
        lambda settings: not settings["bytes_per_sync"] and not settings["wal_bytes_per_sync"],
        ("strict_bytes_per_sync",),
    ),
    _silent(
        "with memtable_whole_key_filtering = false and prefix_size = 0, memtable_bloom_size_ratio "
        "has no effect",
        "db/memtable.cc",
        ("memtable_bloom_size_ratio", "memtable_whole_key_filtering"),
        lambda settings: (
            not settings["memtable_whole_key_filtering"] and not settings.get("prefix_size", 0)
        ),
        ("memtable_bloom_size_ratio",),
    ),
    _silent(
        "memtable_whole_key_filtering has no effect without memtable_bloom_size_ratio",
        "db/memtable.cc",
        ("memtable_bloom_size_ratio", "memtable_whole_key_filtering"),
        lambda settings: not settings["memtable_bloom_size_ratio"],
        ("memtable_whole_key_filtering",),
    ),
    _no_filter,
    _silent(
        "with use_direct_reads, advise_random_on_open, compaction_fadvice and "
        "use_direct_io_for_compaction_reads have no effect",
        "include/rocksdb/options.h, use_direct_reads",
        ("use_direct_reads",),
        lambda settings: bool(settings["use_direct_reads"]),
        ("advise_random_on_open", "compaction_fadvice", "use_direct_io_for_compaction_reads"),
    ),
    _scan_read_ahead,
)


def met(knob: Knob, settings: Settings) -> bool:
    """Return whether the conditions of a knob are met; missing settings meet them."""
    return all(settings.get(name, values[0]) in values for name, values in knob.when.items())


def unmet_conditions(settings: Settings, context: Context) -> Settings:
    """Return the baseline's values of the knobs whose conditions are not met."""
    return _as_base(
        (knob.name for knob in context.knobs if knob.when and not met(knob, settings)),
        settings,
        context,
    )
