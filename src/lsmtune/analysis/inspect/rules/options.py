"""Options that contradict each other, or have no effect."""

import re
from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS
from lsmtune.analysis.inspect.rules.rule import Rule, quoted
from lsmtune.units import format_bytes

_TOTAL = re.compile(r"Total Num: (\d{1,12})")
_MANY_FILES = 10_000


def _adjusted_triggers(log: Inspection) -> Iterator[Finding]:
    """Row 46."""
    if "triggers adjusted" in log.notices:
        yield Finding(
            "triggers-adjusted", "RocksDB replaced contradicting triggers of level 0",
            quoted(log, "triggers adjusted"),
            ("level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger",
             "level0_stop_writes_trigger"), 0.7,
        )  # fmt: skip


def _half_set_jobs(log: Inspection) -> Iterator[Finding]:
    """Row 7: one of the two old options overrides max_background_jobs, and the other becomes 1."""
    old = {name: log.number(f"max_background_{name}") for name in ("flushes", "compactions")}
    jobs = log.number("max_background_jobs")
    if None in old.values() or jobs is None or jobs <= 2:  # noqa: PLR2004
        return
    given = [name for name, value in old.items() if value is not None and value > 0]
    if len(given) == 1:
        name, value = given[0], old[given[0]] or 0
        other = "compaction" if name == "flushes" else "flush"
        yield Finding(
            "half-set-jobs", f"Only one {other} can run: max_background_jobs has no effect",
            f"max_background_{name} is {value:.0f}, and the other old option is not set. RocksDB "
            f"then ignores max_background_jobs = {jobs:.0f}.",
            (f"max_background_{name}", "max_background_jobs"), 0.6,
        )  # fmt: skip


def _dynamic_levels_off(log: Inspection) -> Iterator[Finding]:
    """Row 47."""
    if "dynamic levels off" in log.notices:
        yield Finding(
            "dynamic-levels-off", "level_compaction_dynamic_level_bytes has no effect here",
            quoted(log, "dynamic levels off"), ("level_compaction_dynamic_level_bytes",), 0.2,
        )  # fmt: skip


def _direct_io_without_readahead(log: Inspection) -> Iterator[Finding]:
    """Rows 26 and 58: direct reads without readahead read one block at a time."""
    direct = [
        name
        for name in ("use_direct_reads", "use_direct_io_for_flush_and_compaction")
        if log.option(name) in ("1", "true")
    ]
    if direct and log.number("compaction_readahead_size") == 0:
        yield Finding(
            "no-readahead", "Compactions read one block at a time from the device",
            f"{direct[0]} is set, and compaction_readahead_size is 0.",
            ("compaction_readahead_size",), 0.4,
        )  # fmt: skip


def _memory_of_families(log: Inspection) -> Iterator[Finding]:
    """Row 50."""
    memory = log.memtable_bytes
    limit = log.number("db_write_buffer_size")
    if len(log.families) >= 20 and not limit:  # noqa: PLR2004
        yield Finding(
            "many-families", "The memtables of all column families can take much memory",
            f"{len(log.families)} column families can have memtables of {format_bytes(memory)} in "
            "all, and db_write_buffer_size does not limit them.",
            ("db_write_buffer_size", "write_buffer_size", "max_write_buffer_number"), 0.2,
        )  # fmt: skip


def _open_files(log: Inspection) -> Iterator[Finding]:
    """Row 33: index and filter blocks of all open files stay in memory outside the cache."""
    listed = log.notices.get("files at the opening")
    number = _TOTAL.search(listed.first) if listed else None
    files = int(number[1]) if number else 0
    outside = log.option("cache_index_and_filter_blocks") in ("0", "false")
    if files >= _MANY_FILES and log.number("max_open_files") == -1 and outside:
        yield Finding(
            "open-files-memory", "Index and filter blocks of all files stay in memory",
            f"The store has {files:,} files, max_open_files is -1, and "
            "cache_index_and_filter_blocks is 0. This memory is not part of the block cache.",
            ("cache_index_and_filter_blocks", "block_size", "target_file_size_base",
             "max_open_files"), 0.35,
        )  # fmt: skip


RULES = (
    Rule(_open_files, (OPTIONS,)),
    Rule(_adjusted_triggers, (EVENTS,)),
    Rule(_half_set_jobs, (OPTIONS,)),
    Rule(_dynamic_levels_off, (OPTIONS,)),
    Rule(_direct_io_without_readahead, (OPTIONS,)),
    Rule(_memory_of_families, (OPTIONS,)),
)
