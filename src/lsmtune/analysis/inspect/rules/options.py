"""Options that contradict each other, or have no effect."""

import re
from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step, value_text
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS
from lsmtune.analysis.inspect.rule import (
    FIFO,
    LEVELED,
    ON,
    FirstSteps,
    Rule,
    noticed,
    number_or_default,
    quoted,
    version_in,
)
from lsmtune.analysis.inspect.step_values import (
    BLOOM_FILTER,
    MORE_FOR_MEMTABLES,
    TRIGGERS_IN_ORDER,
    UNTIL_STOP,
    WAL_REASON,
    wal_of_all_memtables,
)
from lsmtune.metrics.log_notices import Notices
from lsmtune.units import format_bytes

_TRIGGERS = (
    "level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger",
    "level0_stop_writes_trigger",
)  # fmt: skip
_SLOW_AND_STOP = (
    ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger", 100),
    ("soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit", 1 << 50),
)  # fmt: skip
"""Where the slowdown and the stop start, and the largest values that are no way to say "off"."""
_FEWEST_JOBS = 2
_SEVERAL_FAMILIES = ("my.cnf", "arangod.conf", "tikv.toml")
"""Files of programs whose stores always have several column families."""
_NAMELESS = re.compile(r"(?:\{id=)?(?:rocksdb\.)?BuiltinBloomFilter(?:;\s*\})?")
_WRITES_BITS = "7.0"


def _half_set_jobs(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for one of the two old options of jobs.

    DBImpl::GetBGJobLimits in db/db_impl/db_impl_compaction_flush.cc: it overrides
    max_background_jobs, and the other old option becomes 1.
    """
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


def _contradicting_triggers(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for triggers in a file, in the wrong order.

    SanitizeOptions in db/column_family.cc will replace them.
    """
    for family in log.families:
        if any(log.family_option(family, name) is None for name in _TRIGGERS):
            continue
        fifo = log.family_option(family, "compaction_style") in FIFO
        if fifo or log.family_option(family, "disable_auto_compactions") in ON:
            continue  # both turn the triggers of writes off
        compact, slow, stop = (log.written_number(family, name) for name in _TRIGGERS)
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
            _TRIGGERS[1:], 0.55, family=family,
        )  # fmt: skip


def _merge_number(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a number of memtables to merge that RocksDB lowers.

    SanitizeOptions in db/column_family.cc.
    """
    if "merge number ignored" in log.notices:
        yield Finding(
            "merge-number-ignored", "min_write_buffer_number_to_merge has no effect here",
            quoted(log, "merge number ignored"),
            ("min_write_buffer_number_to_merge", "atomic_flush"), 0.15,
        )  # fmt: skip
        return
    for family in log.families:
        merged, memtables = (
            log.written_number(family, name)
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
    """Yield a finding for a soft limit of pending bytes above the hard limit.

    SanitizeOptions in db/column_family.cc.
    """
    for family in log.families:
        soft, hard = (
            log.written_number(family, f"{name}_pending_compaction_bytes_limit")
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


def _no_slowdown(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a slowdown that starts where writes stop.

    ColumnFamilyData::GetWriteStallConditionAndCause in db/column_family.cc asks for the stop first.
    """
    if log.kind == "tikv.toml":
        return  # flow control slows down writes
    for family in log.families:
        fifo = log.family_option(family, "compaction_style") in FIFO
        if fifo or log.family_option(family, "disable_auto_compactions") in ON:
            continue
        for slow, stop, most in _SLOW_AND_STOP:
            value = log.written_number(family, stop)
            if 0 < value <= most and value == log.written_number(family, slow):
                yield Finding(
                    "no-slowdown", "Writes stop without a slowdown before",
                    f"{slow} and {stop} are both {value_text(stop, f'{value:.0f}')}, and RocksDB "
                    "stops writes where both apply.",
                    (stop, slow), 0.1, family=family,
                )  # fmt: skip
                break


def _wal_limit_alone(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a limit of the WAL in a store with one column family.

    DBImpl::PreprocessWrite in db/db_impl/db_impl_write.cc checks the limit for several families
    only; facebook/rocksdb#4180. A file that RocksDB did not write may leave out families.
    """
    limit = log.number("max_total_wal_size")
    if limit and _has_one_family(log):
        yield Finding(
            "wal-limit-unused", "max_total_wal_size has no effect with one column family",
            f"max_total_wal_size is {format_bytes(limit)}, and the {log.kind} names one column "
            "family. The WAL of one family ends with each flush.",
            ("max_total_wal_size", "write_buffer_size"), 0.05,
        )  # fmt: skip


def _has_one_family(log: Inspection) -> bool:
    return len(log.families) == 1 and log.by_rocksdb


def _low_wal_limit(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a limit of the WAL below the size of one memtable.

    DBImpl::SwitchWAL in db/db_impl/db_impl_write.cc flushes all families with data in the oldest
    WAL when the limit is reached; facebook/rocksdb#12157.
    """
    limit = log.number("max_total_wal_size")
    if not limit or _has_one_family(log):
        return
    sizes = {f: number_or_default(log, f, "write_buffer_size") for f in log.families}
    family = max(sizes, key=lambda name: sizes[name], default=None)
    if family is None or limit >= sizes[family]:
        return
    given = log.family_option(family, "write_buffer_size") is not None
    several = len(log.families) > 1 or log.kind in _SEVERAL_FAMILIES
    but = "" if several else " With a single column family, the limit has no effect."
    yield Finding(
        "low-wal-limit", "The limit of the WAL is smaller than one memtable",
        f"max_total_wal_size is {format_bytes(limit)}, and write_buffer_size is "
        f"{format_bytes(sizes[family])}{'' if given else ' by default'}. RocksDB flushes memtables "
        "when the WAL reaches its limit, so no memtable becomes full, and level 0 gets many small "
        f"files. Each further column family makes them smaller.{but}",
        ("max_total_wal_size", "write_buffer_size"), 0.45 if several else 0.2,
        family=family if len(log.families) > 1 else None,
    )  # fmt: skip


def _low_memory_limit(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a limit of all memtables below the size of one.

    WriteBufferManager::ShouldFlush in memtable/write_buffer_manager.h asks for a flush at 7/8 of
    the limit.
    """
    limit = log.number("db_write_buffer_size")
    sizes = {f: number_or_default(log, f, "write_buffer_size") for f in log.families}
    family = max(sizes, key=lambda name: sizes[name], default=None)
    if not limit or family is None or limit >= sizes[family] or _flushed(log):
        return
    several = len(log.families) > 1
    atomic = several and log.option("atomic_flush") in ON
    count = len(log.families)
    at_once = f" With atomic_flush, each flush writes files of {count} families." if atomic else ""
    yield Finding(
        "low-memory-limit", "The limit of all memtables is smaller than one memtable",
        f"db_write_buffer_size is {format_bytes(limit)} for all {count} column families, and "
        f"write_buffer_size is {format_bytes(sizes[family])}. RocksDB flushes when memtables take "
        f"7/8 of the limit, so no memtable becomes full, and level 0 gets many small files."
        f"{at_once}",
        ("db_write_buffer_size", "write_buffer_size"), 0.45 if several else 0.3,
        family=family if several and len(set(sizes.values())) > 1 else None,
    )  # fmt: skip


def _flushed(log: Inspection) -> bool:
    """Return whether flushes show what the limits of memtables do."""
    return any(job.kind == "flush" for job in log.jobs)


def _filter_without_bits(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a filter policy that can only read filters.

    FilterPolicy::CreateFromString in table/block_based/filter_policy.cc: this name without bits
    means no filter. RocksDB below 7.0 writes the name for every filter into LOG and OPTIONS file,
    so that such a file proves nothing.
    """
    if log.by_rocksdb and not version_in(log, _WRITES_BITS):
        return
    for family in log.families:
        told = log.family_option(family, "filter_policy") or ""
        if _NAMELESS.fullmatch(told):
            yield Finding(
                "filter-without-bits", "RocksDB writes no filter: the filter policy has no bits",
                f"filter_policy is {told}. With this name alone, RocksDB reads filters that exist, "
                "and writes new files without a filter. Write the bits per key, for example "
                "bloomfilter:10:false.",
                ("filter_policy",), 0.45, family=family,
            )  # fmt: skip


def _no_recycling(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for WAL files that are archived instead of recycled.

    SanitizeOptions in db/db_impl/db_impl_open.cc.
    """
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
    """Yield a finding for a multiplier of file sizes with dynamic levels.

    facebook/rocksdb#3755: the multiplier counts from level 1, and the data is in the last levels.
    """
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
    """Yield a finding for a MyRocks that writes without a WAL, as for a bulk load."""
    if log.kind == "my.cnf" and log.option("write_disable_wal") in ON:
        yield Finding(
            "wal-off", "A crash loses the newest writes",
            "rocksdb_write_disable_wal is on: writes are only in memory until a flush.",
            ("write_disable_wal",), 0.6,
        )  # fmt: skip


def _merged_by_rocksdb(log: Inspection, family: str) -> float:
    """Return the number of memtables to merge that RocksDB uses instead: 1 with an atomic flush."""
    memtables = log.family_number(family, "max_write_buffer_number")
    return 1 if "merge number ignored" in log.notices else max(1, memtables - 1)


NOTICES: Notices = {
    "triggers adjusted": "This condition must be satisfied: level0_stop_writes_trigger",
    "dynamic levels off": "level_compaction_dynamic_level_bytes can't be used together",
    "merge number ignored": "min_write_buffer_number_to_merge > 1 is not compatible",
}
ORDER = 170
RULES = (
    # SanitizeOptions in db/column_family.cc
    noticed("triggers adjusted", EVENTS, Finding(
        "triggers-adjusted", "RocksDB replaced contradicting triggers of level 0",
        "", _TRIGGERS, 0.7)),
    Rule(_contradicting_triggers, (OPTIONS,)),
    Rule(_half_set_jobs, (OPTIONS,)),
    # SanitizeOptions in db/column_family.cc: with several paths
    noticed("dynamic levels off", OPTIONS, Finding(
        "dynamic-levels-off", "level_compaction_dynamic_level_bytes has no effect here",
        "", ("level_compaction_dynamic_level_bytes",), 0.2)),
    Rule(_merge_number, (OPTIONS,)),
    Rule(_soft_above_hard, (OPTIONS,)),
    Rule(_no_slowdown, (OPTIONS,)),
    Rule(_wal_limit_alone, (OPTIONS,)),
    Rule(_low_wal_limit, (OPTIONS,)),
    Rule(_low_memory_limit, (OPTIONS,)),
    Rule(_filter_without_bits, (OPTIONS,)),
    Rule(_no_recycling, (OPTIONS,)),
    Rule(_file_sizes, (OPTIONS,)),
    Rule(_no_wal, (OPTIONS,)),
)  # fmt: skip
FIRST_STEPS: FirstSteps = {
    "soft-above-hard": Step(
        "lower", "soft_pending_compaction_bytes_limit",
        lambda log, family: (
            log.written_number(family, "hard_pending_compaction_bytes_limit") // 4 or None
        ),
        reason="a quarter of hard_pending_compaction_bytes_limit",
    ),
    "no-slowdown": (
        Step("raise", "level0_stop_writes_trigger",
             lambda log, family: log.written_number(family, _TRIGGERS[1]) + UNTIL_STOP,
             reason="RocksDB's defaults have this distance"),
        Step("raise", "hard_pending_compaction_bytes_limit",
             lambda log, family: 4 * log.written_number(family, _SLOW_AND_STOP[1][0]),
             reason="4 times the soft limit, as RocksDB's defaults"),
    ),
    "file-size-multiplier": Step("lower", "target_file_size_multiplier", 1),
    "low-memory-limit": MORE_FOR_MEMTABLES,
    "low-wal-limit": Step(
        "raise", "max_total_wal_size", wal_of_all_memtables, reason=WAL_REASON
    ),
    "wal-limit-unused": Step(
        "lower", "write_buffer_size",
        rest="for a smaller WAL; max_total_wal_size has no effect",
    ),
    "wal-not-recycled": Step("set", "recycle_log_file_num", 0, rest="(it has no effect now)"),
    "filter-without-bits": Step(
        "set", "filter_policy", BLOOM_FILTER, reason="a Bloom filter of 10 bits per key"
    ),
    "triggers-adjusted": TRIGGERS_IN_ORDER,
    "triggers-contradict": TRIGGERS_IN_ORDER,
    "half-set-jobs": tuple(
        Step("set", f"max_background_{one}", -1, also=Step("set", f"max_background_{other}", -1))
        for one, other in (("flushes", "compactions"), ("compactions", "flushes"))
    ),
    "dynamic-levels-off": Step(
        "set", "level_compaction_dynamic_level_bytes", False, first="use one path, or"
    ),
    "merge-number-ignored": Step(
        "lower", "min_write_buffer_number_to_merge", _merged_by_rocksdb,
        reason="the value that RocksDB uses",
    ),
    "wal-off": Step("set", "write_disable_wal", False, rest="when the load ends"),
}  # fmt: skip
