"""The rules between RocksDB's options: what it silently changes, and what it refuses.

A *normalisation* does beforehand what RocksDB (or the tree) would make of the settings anyway,
so that no two trials measure the same thing. A *refusal* says why settings cannot be run.
The numbers are those of the RocksDB source of 7.8 and 11.8, named at each rule.
"""

from collections.abc import Callable
from dataclasses import dataclass

from lsmtune.knobs.types import Settings
from lsmtune.units import format_bytes


@dataclass(frozen=True, slots=True)
class Rule:
    """A normalisation: `apply` changes the settings in place as the engine would.

    It is given the context: the base, whose value stands for "has no effect", and the host.
    """

    name: str
    source: str
    apply: Callable[[Settings, "Context"], None]


@dataclass(frozen=True, slots=True)
class Context:
    """What rules look at besides the settings: the base, and the soft ulimit of open files."""

    base: Settings
    open_files: int


def _number(settings: Settings, name: str) -> int | float:
    value = settings[name]
    if isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, not a number")
    return value


def _merge_fewer_memtables_than_there_are(settings: Settings, _: Context) -> None:
    most = max(1, int(_number(settings, "max_write_buffer_number")) - 1)
    merge = int(_number(settings, "min_write_buffer_number_to_merge"))
    settings["min_write_buffer_number_to_merge"] = min(merge, most)


def _order_level0_triggers(settings: Settings, _: Context) -> None:
    compact = _number(settings, "level0_file_num_compaction_trigger")
    slowdown = max(_number(settings, "level0_slowdown_writes_trigger"), compact)
    stop = max(_number(settings, "level0_stop_writes_trigger"), slowdown)
    settings["level0_slowdown_writes_trigger"] = slowdown
    settings["level0_stop_writes_trigger"] = stop


def _clip_open_files(settings: Settings, context: Context) -> None:
    wanted = int(_number(settings, "open_files"))
    if wanted != -1:
        settings["open_files"] = min(max(wanted, 20), context.open_files)


def _compress_nothing_above_the_last_level(settings: Settings, _: Context) -> None:
    if _number(settings, "min_level_to_compress") >= _number(settings, "num_levels"):
        settings["compression_type"] = "none"


def _plain_data_has_no_first_compressed_level(settings: Settings, _: Context) -> None:
    if settings["compression_type"] == "none" or settings["min_level_to_compress"] == 0:
        settings["min_level_to_compress"] = -1


_LEVELED_ONLY = ("compaction_pri", "max_bytes_for_level_base", "max_bytes_for_level_multiplier")


def _universal_has_no_level_targets(settings: Settings, context: Context) -> None:
    if settings["compaction_style"] == 1:
        settings.update({name: context.base[name] for name in _LEVELED_ONLY})


NORMALISATIONS: tuple[Rule, ...] = (
    Rule(
        "min_write_buffer_number_to_merge <= max_write_buffer_number - 1",
        "db/column_family.cc, SanitizeOptions",
        _merge_fewer_memtables_than_there_are,
    ),
    Rule(
        "level0 compaction trigger <= slowdown trigger <= stop trigger",
        "db/column_family.cc, SanitizeOptions",
        _order_level0_triggers,
    ),
    Rule(
        "open_files within 20 and the ulimit",
        "db/db_impl/db_impl_open.cc, SanitizeOptions",
        _clip_open_files,
    ),
    Rule(
        "min_level_to_compress >= num_levels compresses nothing (and aborts db_bench above it)",
        "tools/db_bench_tool.cc, InitializeOptionsFromFlags",
        _compress_nothing_above_the_last_level,
    ),
    Rule(
        "without a codec, or from level 0 on, min_level_to_compress says nothing",
        "tools/db_bench_tool.cc, InitializeOptionsFromFlags",
        _plain_data_has_no_first_compressed_level,
    ),
    Rule(
        "under universal compaction, level targets and compaction_pri say nothing",
        "db/compaction/compaction_picker_universal.cc",
        _universal_has_no_level_targets,
    ),
)
"""In the order in which they have to be applied: later ones see what earlier ones changed."""


def normalise(settings: Settings, context: Context) -> Settings:
    """The settings as the engine will really run them; the given ones are left alone."""
    normal = dict(settings)
    for rule in NORMALISATIONS:
        rule.apply(normal, context)
    return normal


def refusals(settings: Settings) -> list[str]:
    """Every reason why RocksDB would refuse the settings, each naming the options and values."""
    found = []
    if settings["cache_index_and_filter_blocks"] and _number(settings, "cache_size") <= 0:
        found.append(
            "cache_index_and_filter_blocks = true needs a block cache, but cache_size = "
            f"{settings['cache_size']} (block_based_table_factory.cc, ValidateOptions)"
        )
    return found


def memory_bytes(settings: Settings) -> int:
    """Memory that memtables and block cache may take together."""
    memtables = _number(settings, "write_buffer_size") * _number(
        settings, "max_write_buffer_number"
    )
    return int(memtables + _number(settings, "cache_size"))


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Memtables + block cache <= `limit_bytes`, so that gains are not bought with memory."""

    limit_bytes: int

    def violation(self, settings: Settings) -> str | None:
        """What is wrong with the settings, or None."""
        used = memory_bytes(settings)
        if used <= self.limit_bytes:
            return None
        return (
            f"write_buffer_size x max_write_buffer_number + cache_size = {format_bytes(used)} "
            f"is more than the memory limit of {format_bytes(self.limit_bytes)}"
        )
