"""Deleted and overwritten entries: what scans step over, and why compaction does not drop it."""

from collections.abc import Iterator
from dataclasses import replace

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, TICKERS, VERSION
from lsmtune.analysis.inspect.rule import (
    FIFO,
    LEVELED,
    NO_OBJECT,
    OFF,
    FirstSteps,
    Rule,
    age_options,
    by_family,
    compactions,
    percent,
    share_of_reason,
    share_written,
    version_in,
)
from lsmtune.units import format_duration

_MANY_DELETES_PERCENT = 20.0
_SKIPS_A_SEEK = 10.0
_VERY_MANY_SKIPS = 1000.0
_MANY = 1000
_MOST = 0.5
_MUCH = 0.2
_QUIET_S = 3600.0
_LONG_S = 1800.0
_FEWEST = 3
_ENDLESS = 5
_WANTED = ("ManualCompaction", "PeriodicCompaction", "Ttl")
"""Reasons for which a file may be written again without a change."""
_FAULTS = {
    "7.8": "allow_ingest_behind with an empty last level, below RocksDB 7.8",
    "10.11": "user-defined timestamps, below RocksDB 10.11",
    "11.9": "preserve_internal_time_seconds or preclude_last_level_data_seconds with leveled "
            "compaction, up to RocksDB 11.8",
}  # fmt: skip
"""Faults that cause an endless compaction, by the version that corrects each."""


def _tombstones(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for many deletions among the flushed entries.

    facebook/rocksdb#10300: iterators step over each of them.
    """
    deletes = log.load.delete_percent or 0.0
    ranges = log.load.range_deletes or 0
    seeks = log.facts.count("seeks")
    skipped = log.facts.count("skipped_entries")
    many_skips = bool(seeks) and skipped / seeks > _SKIPS_A_SEEK
    if deletes < _MANY_DELETES_PERCENT and not (ranges and many_skips):
        return
    evidence = f"{deletes:.0f} % of the flushed entries are deletions"
    if ranges:
        evidence += f", and RocksDB flushed {ranges:,} range deletions"
    evidence += "."
    if seeks:
        each = f"{skipped / seeks:.3g} deleted or overwritten entries on average"
        evidence += f" Each of {seeks:,} seeks skipped {each}."
    yield Finding(
        "tombstones", "Scans are slow: they step over many deleted or overwritten entries"
        if many_skips
        else "Deleted keys take space and slow down scans until a compaction drops them", evidence,
        (*(age_options(log.option("compaction_style")) or ("iterate_upper_bound",)),
         "compaction_pri", "max_sequential_skip_in_iterations"),
        min(1.0, 0.3 + deletes / 100 + (0.3 if many_skips else 0)),
    )  # fmt: skip


def _skipped_entries(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for seeks that skip thousands of entries, from the tickers alone.

    facebook/rocksdb#5265.
    """
    seeks, skipped = log.facts.count("seeks"), log.facts.count("skipped_entries")
    if seeks and skipped / seeks >= _VERY_MANY_SKIPS:
        yield Finding(
            "skipped-entries", "Seeks step over thousands of deleted or overwritten entries",
            f"Each of {seeks:,} seeks skipped {skipped / seeks:,.0f} entries on average.",
            ("iterate_upper_bound", "memtable_op_scan_flush_trigger",
             "periodic_compaction_seconds", "ttl"), 0.8,
        )  # fmt: skip


def _range_deletions(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a file with thousands of range deletions.

    facebook/rocksdb#3634. Before 6.4, this field of a table was the number of its merges.
    """
    most = log.extremes.range_deletes
    if most >= _MANY and version_in(log, "6.4"):
        yield Finding(
            "range-deletions", "Files contain thousands of range deletions",
            f"One file contains {most:,} range deletions. Each read of the file has to check them.",
            ("memtable_max_range_deletions", "max_open_files"), 0.45,
        )  # fmt: skip


def _quiet_deletions(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for deletions that no compaction drops, because no level is too large.

    VersionStorageInfo::ComputeCompactionScore in db/version_set.cc; facebook/rocksdb#13120.
    """
    if log.end_micros is None or "background error" in log.notices:
        return
    for family, jobs in by_family(log):
        options = age_options(log.family_option(family, "compaction_style"))
        if not options or log.family_option(family, "disable_auto_compactions") not in OFF:
            continue
        own = [job for job in jobs if job.finished_micros]
        flushed = [job for job in own if job.kind == "flush" and job.deletes is not None]
        entries = sum(job.records_in or 0 for job in flushed)
        deletes = sum(job.deletes or 0 for job in flushed)
        rows = log.tables[family].rows if family in log.tables else ()
        if (
            deletes < _MANY
            or deletes < _MOST * entries
            or any((row.score or 0) >= 1 for row in rows)
        ):
            continue
        quiet_s = (log.end_micros - max(job.finished_micros or 0 for job in own)) / 1e6
        if quiet_s >= _QUIET_S:
            yield Finding(
                "quiet-deletions", "Deleted data may stay on disk: no compaction runs any more",
                f"{deletes:,} of {entries:,} flushed entries are deletions, and no flush or "
                f"compaction ended in the last {format_duration(quiet_s)} of the LOG. Levels are "
                "compacted when they are too large, not when they contain deletions.",
                options, 0.4, family=family,
            )  # fmt: skip


def _snapshot_held(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for compactions that saw the same oldest snapshot for a long time.

    CompactionIterator in db/compaction/compaction_iterator.cc keeps what a snapshot can see;
    facebook/rocksdb#6820.
    """
    seen: dict[int, list[int]] = {}
    for job in compactions(log):
        if job.oldest_snapshot is not None and job.started_micros:
            seen.setdefault(job.oldest_snapshot, []).append(job.started_micros)
    held = [(max(times) - min(times), number) for number, times in seen.items()]
    longest, number = max(held, default=(0, 0))
    if longest / 1e6 >= _LONG_S:
        yield Finding(
            "snapshot-held", "A snapshot was not released for a long time, so old entries stay",
            f"For {format_duration(longest / 1e6)}, {len(seen[number])} compactions saw the same "
            f"oldest snapshot (sequence number {number}). Compactions keep all entries that this "
            "snapshot can see.",
            (), 0.4,
        )  # fmt: skip


def _endless_compaction(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a file that is compacted again and again without any change.

    VersionStorageInfo::ComputeBottommostFilesMarkedForCompaction in db/version_set.cc marks a file
    although a compaction cannot change it: facebook/rocksdb#10767, #14228 and #15146.
    """
    for family, jobs in by_family(log, "compaction"):
        runs = [job for job in jobs if job.reason not in _WANTED]
        longest = max(runs, key=lambda job: job.repeats, default=None)
        if longest is None or longest.repeats < _ENDLESS:
            continue
        share = share_written(jobs, lambda job: job.repeats > 1)
        reason = f" (reason {longest.reason})" if longest.reason else ""
        yield Finding(
            "endless-compaction", "The same data is compacted again and again without any change",
            f"{longest.repeats} compactions in a row{reason} wrote the same "
            f"{longest.records_in or 0:,} records into level {longest.output_level} again: each "
            f"read only what the one before had written. Such compactions wrote {percent(share)} "
            f"of the compacted bytes.{_known_faults(log)}",
            ("preserve_internal_time_seconds", "preclude_last_level_data_seconds",
             "allow_ingest_behind"), min(1.0, 0.4 + 0.5 * share), family=family,
        )  # fmt: skip


def _known_faults(log: Inspection) -> str:
    """Return the faults of the version that can cause an endless compaction."""
    faults = [
        fault
        for until, fault in _FAULTS.items()
        if log.version is None or version_in(log, until=until)
    ]
    if not faults:
        return ""
    return f" Known causes: {'; '.join(faults)}."


def _snapshot_released(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for files of the last level that only a snapshot kept large.

    VersionStorageInfo::ComputeBottommostFilesMarkedForCompaction in db/version_set.cc marks them
    when the snapshot is released; facebook/rocksdb#3009.
    """
    jobs = [job for job in compactions(log) if job.reason == "BottommostFiles"]
    if 2 * sum(job.repeats > 1 for job in jobs) >= len(jobs):
        return  # `_endless_compaction` says it, or there is no such job
    share, count = share_of_reason(log, "BottommostFiles"), len(jobs)
    if share >= _MUCH and count >= _FEWEST:
        yield Finding(
            "snapshot-released", "A released snapshot may have kept old entries in the last level",
            f"{count} compactions with the reason BottommostFiles wrote {percent(share)} of the "
            "compacted bytes. They compact files of the last level again.",
            (), 0.3 * share,
        )  # fmt: skip


def _periodic_in_place(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for periodic compactions that rewrite deletions at their level.

    facebook/rocksdb#12165 and #12175: since 8.11, they move a file one level down.
    """
    if not version_in(log, "6.2", "8.11"):
        return
    for family, jobs in by_family(log, "compaction"):
        if log.family_option(family, "compaction_style") not in LEVELED:
            continue
        kept = sum(
            job.made_deletes
            for job in jobs
            if job.reason == "PeriodicCompaction" and job.input_levels == (job.output_level,)
        )
        if kept >= _MANY:
            yield Finding(
                "periodic-in-place", "Periodic compactions rewrite deletions and do not drop them",
                f"These compactions wrote {kept:,} deletions into the same level again. "
                f"Below RocksDB 8.11, and this is {log.version}, a periodic compaction leaves a "
                "file at its level.",
                ("ttl", "periodic_compaction_seconds"), 0.3, family=family,
            )  # fmt: skip


def _deletions_kept(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a manual compaction into the last level that kept deletions.

    facebook/rocksdb#12178: there is nothing below that they could still delete.
    """
    files_after = {shape.micros: shape.files for shape in log.shapes}
    for family, own in by_family(log, "compaction"):
        jobs = [job for job in own if job.reason == "ManualCompaction"]
        if not jobs:
            continue
        last = jobs[-1]
        files = files_after.get(last.finished_micros or 0)
        if files is None or any(files[last.output_level + 1 :]):
            continue
        if last.made_deletes >= _MANY:
            held = (
                f" The oldest snapshot had the sequence number {last.oldest_snapshot}."
                if last.oldest_snapshot is not None
                else " A snapshot may protect these deletions."
            )
            yield Finding(
                "deletions-kept", "A manual compaction could not drop deletions",
                f"This compaction wrote {last.made_deletes:,} deletions into level "
                f"{last.output_level}, and no level below has files.{held}",
                ("bottommost_level_compaction",), 0.35, family=family,
            )  # fmt: skip


def _filter_without_period(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a compaction filter without a period.

    ColumnFamilyOptions::periodic_compaction_seconds in include/rocksdb/advanced_options.h:
    since 6.6 RocksDB sets 30 days itself, so the program chose 0.
    """
    for family in log.families:
        named = (
            log.family_option(family, name)
            for name in ("compaction_filter", "compaction_filter_factory")
        )
        never = all(
            log.family_option(family, name) == "0"
            for name in ("ttl", "periodic_compaction_seconds")
        )
        fifo = log.family_option(family, "compaction_style") in FIFO
        if never and not fifo and any(name not in NO_OBJECT for name in named):
            yield Finding(
                "filter-without-period", "Expired data may stay: nothing compacts old files",
                "The store has a compaction filter, and ttl and periodic_compaction_seconds are 0. "
                "The filter sees a file only when a compaction reads it.",
                ("periodic_compaction_seconds", "ttl"), 0.15, family=family,
            )  # fmt: skip


ORDER = 90
RULES = (
    Rule(_tombstones, (EVENTS, TICKERS)),
    Rule(_skipped_entries, (TICKERS,)),
    Rule(_range_deletions, (EVENTS, VERSION)),
    Rule(_quiet_deletions, (EVENTS, OPTIONS)),
    Rule(_snapshot_held, (EVENTS,)),
    Rule(_endless_compaction, (EVENTS,)),
    Rule(_snapshot_released, (EVENTS,)),
    Rule(_deletions_kept, (EVENTS, OPTIONS)),
    Rule(_periodic_in_place, (EVENTS, OPTIONS, VERSION)),
    Rule(_filter_without_period, (OPTIONS,)),
)
_BOUND = Step("set", "iterate_upper_bound", of="of scans", rest="to the end of their range")
_DAY_S = 86400.0
_BY_AGE = {
    option: Step("lower", option, _DAY_S, reason="compactions then drop deletions of this age")
    for option in ("ttl", "periodic_compaction_seconds")
}
_AFTER_A_CALL = tuple(replace(s, first="call CompactRange once, then") for s in _BY_AGE.values())
FIRST_STEPS: FirstSteps = {
    "skipped-entries": _BOUND,
    "tombstones": (_BOUND, *_BY_AGE.values()),
    "range-deletions": Step(
        "lower", "memtable_max_range_deletions", _MANY,
        rest="(below RocksDB 8.6, delete fewer, wider ranges)",
    ),
    "quiet-deletions": _AFTER_A_CALL,
    "snapshot-held": "release old snapshots, and limit the time of scans and backups",
    "endless-compaction": Step(
        "set", "preserve_internal_time_seconds", 0, first="upgrade RocksDB, or",
        rest="if it is not 0",
    ),
    "snapshot-released": "release snapshots sooner",
    "deletions-kept": Step(
        "set", "bottommost_level_compaction", "kForceOptimized", of="of CompactRange",
        first="release old snapshots, then",
    ),
    "periodic-in-place": _BY_AGE["ttl"],
    "filter-without-period": Step(
        "set", "periodic_compaction_seconds", rest="to the time after which data expire"
    ),
}  # fmt: skip
CHECKS = {
    "tombstones": "fewer skipped entries per seek",
    "skipped-entries": "fewer skipped entries per seek",
    "range-deletions": "fewer range deletions in a file",
    "quiet-deletions": "the size of the levels falls",
    "snapshot-held": "compactions see a newer oldest snapshot",
    "endless-compaction": "no file is compacted again without a change",
    "snapshot-released": "fewer compactions have the reason BottommostFiles",
    "deletions-kept": "a manual compaction writes fewer deletions",
    "periodic-in-place": "periodic compactions write fewer deletions",
}
