"""Flushes of memtables that are not full, limits of the WAL and of memtables, and added files."""

import re
from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, SHAPES
from lsmtune.analysis.inspect.rule import (
    RUNS_DEFAULTS,
    WAITS_UNKNOWN,
    FirstSteps,
    Rule,
    by_family,
    compactions,
    cpu_share,
    limiter_options,
    percent,
)
from lsmtune.analysis.inspect.step_values import (
    MORE_FOR_MEMTABLES,
    WAL_REASON,
    all_memtables,
    smaller_wal,
    wal_of_all_memtables,
)
from lsmtune.metrics.log_notices import Notices
from lsmtune.units import GIB, MIB, format_bytes

_FORCED_SHARE = 0.3
_FORCED = {
    "WAL Full": ("wal-limit", "max_total_wal_size"),
    "Write Buffer Manager": ("memory-limit", "db_write_buffer_size"),
    "Write Buffer Manager Initiated": ("memory-limit", "db_write_buffer_size"),
}
_SLOW_FLUSH_MB_S = 8.0
_LEAST_FLUSHES = 3
_ON_THE_CPU = 0.7
_LONG_FLUSH_S = 0.5
_BY_MANAGER = ("Write Buffer Manager", "Write Buffer Manager Initiated")
_LIMIT = re.compile(r"out of a total of (\d{1,18})")
_ASKED = ("Manual Flush", "Get Live Files")
_MANY_FLUSHES, _MOST, _NEARLY_EMPTY = 10, 0.5, 0.1
_LARGE_WAL = 8 * GIB
_LEVEL_0_SHARE = 0.1
_INGESTION = "External File Ingestion"


def _forced_flushes(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for limits of the whole database that flush memtables early.

    DBImpl::SwitchWAL and HandleWriteBufferManagerFlush in db/db_impl/db_impl_write.cc;
    facebook/rocksdb#12157.
    """
    reasons = [job.reason for job in log.jobs if job.kind == "flush" and job.reason]
    for reason in sorted({reason for reason in reasons if reason in _FORCED}):
        code, option = _FORCED[reason]
        share = reasons.count(reason) / len(reasons)
        if share >= _FORCED_SHARE:
            yield Finding(
                code, f"RocksDB flushes memtables that are not full (reason: {reason})",
                f"{percent(share)} of {len(reasons)} flushes have the reason “{reason}”.",
                (option,), share / 2,
            )  # fmt: skip


def _slow_flushes(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for flushes of few bytes per second.

    The cause is a device, a limit or a lack of CPU; a slow codec shows in compactions.
    """
    flushes = [job for job in log.jobs if job.kind == "flush" and job.written_bytes]
    seconds = sum(job.duration_s or 0.0 for job in flushes)
    written = sum(job.written_bytes or 0 for job in flushes)
    if len(flushes) < _LEAST_FLUSHES or written < 16 * MIB or not seconds:
        return
    if (cpu_share(compactions(log)) or 0.0) >= _ON_THE_CPU:
        return
    rate = written / MIB / seconds
    if rate < _SLOW_FLUSH_MB_S:
        yield Finding(
            "slow-flushes", "Flushes write only a few MiB per second",
            f"{len(flushes)} flushes wrote {format_bytes(written)} in {seconds:.3g} s: {rate:.2g} "
            f"MiB/s. {WAITS_UNKNOWN}",
            (*limiter_options(log), "bytes_per_sync", "max_background_jobs"), 0.4,
        )  # fmt: skip


def _large_wal(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a WAL that idle families keep and that nothing limits early.

    DBImpl::GetMaxTotalWalSize in db/db_impl/db_impl.cc; facebook/rocksdb#5789.
    """
    limit = log.option("max_total_wal_size")
    by_default = limit is None and log.kind in RUNS_DEFAULTS  # servers have their own defaults
    if len(log.families) < 2 or not (limit == "0" or by_default):  # noqa: PLR2004
        return
    memory = all_memtables(log, "") or 0.0
    if 4 * memory >= _LARGE_WAL:
        yield Finding(
            "wal-unlimited", "The WAL can grow to 8 GiB or more",
            f"max_total_wal_size is 0{' by default' if by_default else ''}, so the limit is "
            f"{format_bytes(4 * memory)}: 4 times the memtables of {len(log.families)} families. "
            "An idle family keeps the WAL until its flush.",
            ("max_total_wal_size",), 0.25,
        )  # fmt: skip


def _requested_flushes(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for flushes of nearly empty memtables that the program requests.

    Checkpoints and backups flush too: DBImpl::GetLiveFiles in db/db_filesnapshot.cc.
    """
    for family, own in by_family(log, "flush"):
        size = log.family_number(family, "write_buffer_size")
        asked = [job for job in own if job.reason in _ASKED and job.user_bytes is not None]
        if len(asked) < _MANY_FLUSHES or len(asked) < _MOST * len(own) or not size:
            continue
        mean = sum(job.user_bytes or 0 for job in asked) / len(asked)
        if mean < _NEARLY_EMPTY * size:
            yield Finding(
                "requested-flushes", "The program flushes memtables that are nearly empty",
                f"{len(asked)} of {len(own)} flushes have the reason “{asked[0].reason}”, and "
                f"wrote {format_bytes(mean)} each. A memtable can have {format_bytes(size)}. "
                "Checkpoints and backups flush, and so do calls of Flush.",
                (), 0.35, family=family,
            )  # fmt: skip


def _arena_blocks(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a memory limit below one block of memory per family.

    Arena in memory/arena.cc; apache/flink#13393: each memtable takes a block when it is empty.
    """
    reasons = [job.reason for job in log.jobs if job.kind == "flush" and job.reason]
    forced = sum(reason in _BY_MANAGER for reason in reasons)
    notice = log.notices.get("flush for memory")
    told = _LIMIT.search(notice.first) if notice else None
    limit = int(told[1]) if told else log.number("db_write_buffer_size") or 0
    blocks = sum(log.family_number(family, "arena_block_size") for family in log.families)
    if forced and forced >= _FORCED_SHARE * len(reasons) and 0 < limit * 7 / 8 < blocks:
        yield Finding(
            "arena-blocks", "The memory limit is below one block of memory for each family",
            f"The limit of all memtables is {format_bytes(limit)}, and {len(log.families)} column "
            f"families take {format_bytes(blocks)} with one block of memory each "
            "(arena_block_size). RocksDB flushes memtables that are nearly empty.",
            ("db_write_buffer_size", "arena_block_size", "write_buffer_size"), 0.55,
        )  # fmt: skip


def _slow_flushes_of_a_table(log: Inspection) -> Iterator[Finding]:
    """Yield the finding of `_slow_flushes` from the row of level 0 alone.

    Small files are slow on any device.
    """
    if any(job.kind == "flush" for job in log.jobs):
        return  # `_slow_flushes` knows more
    for family, table in log.tables.items():
        row = next((row for row in table.rows if row.level == "L0"), None)
        if row is None or not row.comp_s or not row.comp_count or row.write_mb_s is None:
            continue
        each_s = row.comp_s / row.comp_count
        on_cpu = (row.comp_cpu_s or 0.0) / row.comp_s >= _ON_THE_CPU
        if row.comp_count < _LEAST_FLUSHES or each_s < _LONG_FLUSH_S or on_cpu:
            continue
        if row.write_mb_s < _SLOW_FLUSH_MB_S:
            yield Finding(
                "slow-flushes", "Flushes write only a few MiB per second",
                f"The row L0 of the last table has {row.write_mb_s:g} MiB/s and {each_s:.2g} s for "
                f"each of {row.comp_count} flushes, with merges inside level 0. {WAITS_UNKNOWN}",
                (*limiter_options(log), "bytes_per_sync", "max_background_jobs"), 0.35,
                family=family,
            )  # fmt: skip


def _into_level_0(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for added files that go to level 0.

    ExternalSstFileIngestionJob in db/external_sst_file_ingestion_job.cc: they overlap with
    others.
    """
    for family, added in log.ingested.items():
        share = added.level_0_files / added.files
        if share >= _LEVEL_0_SHARE:
            yield Finding(
                "ingested-to-l0", "Added files go to level 0, because they overlap",
                f"{added.level_0_files:,} of {added.files:,} added files went to level 0, where "
                "they count for the triggers of write stalls.",
                ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger"),
                0.3 * share, family=family,
            )  # fmt: skip


def _ingestion_flushes(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for added files that flush memtables while writers wait.

    DBImpl::IngestExternalFiles in db/db_impl/db_impl.cc; tikv/rust-rocksdb#218.
    """
    reasons = [job.reason for job in log.jobs if job.kind == "flush" and job.reason]
    count = reasons.count(_INGESTION)
    if count >= _LEAST_FLUSHES and count >= _FORCED_SHARE * len(reasons):
        yield Finding(
            "ingestion-flushes", "Adding files flushes memtables while writers wait",
            f"{percent(count / len(reasons))} of {len(reasons)} flushes have the reason "
            f"“{_INGESTION}”: the added files overlap with memtables.",
            ("allow_blocking_flush",), 0.3,
        )  # fmt: skip


NOTICES: Notices = {
    "flush for memory": "Flushing triggered to alleviate write buffer memory usage",
}
ORDER = 70
RULES = (
    Rule(_forced_flushes, (EVENTS,)),
    Rule(_requested_flushes, (EVENTS, OPTIONS)),
    Rule(_arena_blocks, (EVENTS, OPTIONS)),
    Rule(_slow_flushes, (EVENTS,)),
    Rule(_slow_flushes_of_a_table, (EVENTS,)),
    Rule(_large_wal, (OPTIONS,)),
    Rule(_into_level_0, (SHAPES,)),
    Rule(_ingestion_flushes, (EVENTS,)),
)
FIRST_STEPS: FirstSteps = {
    "wal-limit": Step(
        "raise", "max_total_wal_size", wal_of_all_memtables, reason=WAL_REASON
    ),
    "memory-limit": MORE_FOR_MEMTABLES,
    "arena-blocks": MORE_FOR_MEMTABLES,
    "requested-flushes": "flush less often: fewer checkpoints, backups and calls of Flush",
    "slow-flushes": (
        Step("raise", "rate_limiter_bytes_per_sec", first="check CPU and device, then"),
        Step("set", "bytes_per_sync", MIB, first="check CPU and device, then"),
    ),
    "wal-unlimited": Step(
        "set", "max_total_wal_size", smaller_wal, reason="the size of all memtables"
    ),
    "ingested-to-l0": Step(
        "raise", "level0_slowdown_writes_trigger",
        first="add files that do not overlap; during loads,",
    ),
    "ingestion-flushes": Step(
        "set", "allow_blocking_flush", False, rest="(if adding then fails, flush and retry)"
    ),
}  # fmt: skip
CHECKS = {
    "wal-limit": "fewer flushes have the reason “WAL Full”",
    "memory-limit": "fewer flushes have the reason “Write Buffer Manager”",
    "arena-blocks": "fewer flushes have the reason “Write Buffer Manager”",
    "requested-flushes": "each flush writes more bytes",
    "slow-flushes": "flushes write more MiB per second",
    "wal-unlimited": "the WAL files take less disk space",
    "ingested-to-l0": "fewer added files go to level 0",
    "ingestion-flushes": "fewer flushes have the reason “External File Ingestion”",
}
