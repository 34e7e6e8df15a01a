"""Options that contradict each other, or have no effect."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS
from lsmtune.analysis.inspect.rules.rule import FIFO, LEVELED, ON, Rule, quoted
from lsmtune.units import format_bytes

_FEWEST_JOBS = 2
_ONE_FAMILY_KINDS = ("LOG", "OPTIONS file")
"""Kinds of files that name all column families."""


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
    if None in old.values() or jobs is None or jobs <= _FEWEST_JOBS:
        return
    given = [name for name, value in old.items() if value is not None and value > 0]
    if len(given) == 1:
        name, value = given[0], old[given[0]] or 0
        other = "compaction" if name == "flushes" else "flush"
        yield Finding(
            "half-set-jobs", f"Only one {other} can run: max_background_jobs has no effect",
            f"max_background_{name} is {value:.0f}, and the option for {other} jobs is not set. "
            f"RocksDB then ignores max_background_jobs = {jobs:.0f}.",
            (f"max_background_{name}", "max_background_jobs"), 0.6,
        )  # fmt: skip


def _dynamic_levels_off(log: Inspection) -> Iterator[Finding]:
    """Row 47."""
    if "dynamic levels off" in log.notices:
        yield Finding(
            "dynamic-levels-off", "level_compaction_dynamic_level_bytes has no effect here",
            quoted(log, "dynamic levels off"), ("level_compaction_dynamic_level_bytes",), 0.2,
        )  # fmt: skip


def _contradicting_triggers(log: Inspection) -> Iterator[Finding]:
    """Row 46, for options that no RocksDB has looked at yet: it puts others in their place."""
    names = ("level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger",
             "level0_stop_writes_trigger")  # fmt: skip
    for family in log.families:
        if any(log.family_option(family, name) is None for name in names):
            continue
        fifo = log.family_option(family, "compaction_style") in FIFO
        if fifo or log.family_option(family, "disable_auto_compactions") in ON:
            continue  # both turn the triggers of writes off
        compact, slow, stop = (log.family_number(family, name) for name in names)
        if compact <= slow <= stop:
            continue
        negative = (
            " A negative value does not turn the slowdown off; a large one does."
            if slow < 0
            else ""
        )
        yield Finding(
            "triggers-contradict", "The triggers of level 0 contradict each other",
            f"Compaction starts at {compact:.0f} files, the slowdown at {slow:.0f}, the stop at "
            f"{stop:.0f}. RocksDB raises a trigger to the one before it, so that writes are slowed "
            f"down from {max(compact, slow):.0f} files on.{negative}",
            names[1:], 0.55, family=family,
        )  # fmt: skip


def _merge_number(log: Inspection) -> Iterator[Finding]:
    """Row 47."""
    if "merge number ignored" in log.notices:
        yield Finding(
            "merge-number-ignored", "min_write_buffer_number_to_merge has no effect here",
            quoted(log, "merge number ignored"),
            ("min_write_buffer_number_to_merge", "atomic_flush"), 0.15,
        )  # fmt: skip
        return
    for family in log.families:
        merged, memtables = (
            log.family_number(family, name)
            for name in ("min_write_buffer_number_to_merge", "max_write_buffer_number")
        )
        if memtables and merged > max(1.0, memtables - 1):
            yield Finding(
                "merge-number-ignored", "min_write_buffer_number_to_merge is too large to count",
                f"min_write_buffer_number_to_merge is {merged:.0f}. RocksDB uses at most "
                f"max_write_buffer_number - 1, that is {max(1.0, memtables - 1):.0f}.",
                ("min_write_buffer_number_to_merge", "max_write_buffer_number"), 0.15,
                family=family,
            )  # fmt: skip


def _soft_above_hard(log: Inspection) -> Iterator[Finding]:
    """Row 47."""
    for family in log.families:
        soft, hard = (
            log.family_number(family, f"{name}_pending_compaction_bytes_limit")
            for name in ("soft", "hard")
        )
        if 0 < hard < soft:
            yield Finding(
                "soft-above-hard", "Writes stop for pending bytes without a slowdown before",
                f"soft_pending_compaction_bytes_limit is {format_bytes(soft)}, above the hard "
                f"limit of {format_bytes(hard)}. RocksDB then uses the hard limit for both.",
                ("soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit"),
                0.3, family=family,
            )  # fmt: skip


def _wal_limit_alone(log: Inspection) -> Iterator[Finding]:
    """Rows 19 and 47."""
    limit = log.number("max_total_wal_size")
    if limit and len(log.families) == 1 and log.kind in _ONE_FAMILY_KINDS:
        yield Finding(
            "wal-limit-unused", "max_total_wal_size has no effect with one column family",
            f"max_total_wal_size is {format_bytes(limit)}, and the {log.kind} names one column "
            "family. The WAL of one family ends with each flush.",
            ("max_total_wal_size", "write_buffer_size"), 0.05,
        )  # fmt: skip


def _no_recycling(log: Inspection) -> Iterator[Finding]:
    """Row 47."""
    kept = next((n for n in ("WAL_ttl_seconds", "WAL_size_limit_MB") if log.number(n)), None)
    recycled = log.number("recycle_log_file_num")
    if kept and recycled:
        yield Finding(
            "wal-not-recycled", "recycle_log_file_num has no effect here",
            f"recycle_log_file_num is {recycled:.0f}, and {kept} is {log.option(kept)}: RocksDB "
            "archives old WAL files and then recycles none.",
            ("recycle_log_file_num", kept), 0.1,
        )  # fmt: skip


def _file_sizes(log: Inspection) -> Iterator[Finding]:
    """Row 45: the levels that count are not those that the multiplier counts from."""
    for family in log.families:
        factor = log.family_number(family, "target_file_size_multiplier")
        dynamic = log.family_option(family, "level_compaction_dynamic_level_bytes") in ON
        leveled = log.family_option(family, "compaction_style") in (*LEVELED, None)
        if factor > 1 and dynamic and leveled:
            yield Finding(
                "file-size-multiplier", "Files can be much larger than target_file_size_base",
                f"target_file_size_multiplier is {factor:.0f}, and with dynamic levels most data "
                "is in the last levels. Each level has files of this many times the size above.",
                ("target_file_size_multiplier",), 0.08, family=family,
            )  # fmt: skip


def _no_wal(log: Inspection) -> Iterator[Finding]:
    """MyRocks can write without a log, as for a bulk load."""
    if log.kind == "my.cnf" and log.option("write_disable_wal") in ON:
        yield Finding(
            "wal-off", "A crash loses the newest writes",
            "rocksdb_write_disable_wal is on: writes are only in memory until a flush.",
            ("write_disable_wal",), 0.6,
        )  # fmt: skip


RULES = (
    Rule(_adjusted_triggers, (EVENTS,)),
    Rule(_contradicting_triggers, (OPTIONS,)),
    Rule(_half_set_jobs, (OPTIONS,)),
    Rule(_dynamic_levels_off, (OPTIONS,)),
    Rule(_merge_number, (OPTIONS,)),
    Rule(_soft_above_hard, (OPTIONS,)),
    Rule(_wal_limit_alone, (OPTIONS,)),
    Rule(_no_recycling, (OPTIONS,)),
    Rule(_file_sizes, (OPTIONS,)),
    Rule(_no_wal, (OPTIONS,)),
)
