"""The shape of the tree: too many files, unequal levels, compaction that is off."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPTIONS, SHAPES, STALLS, WRITE_AMP
from lsmtune.analysis.inspect.rule import (
    FIFO,
    LEVELED,
    MORE_JOBS,
    ON,
    UNIVERSAL,
    FirstSteps,
    Rule,
    all_families,
    bound_text,
    jobs_option,
    number_or_default,
    stalled_share,
    version_in,
)
from lsmtune.analysis.inspect.stall_causes import L0, counts_by_cause
from lsmtune.analysis.inspect.step_values import level_0_batch
from lsmtune.metrics.status_texts.names import PENDING_BYTES
from lsmtune.units import MIB, format_bytes

_MUCH_WRITE_AMP = 15.0
_SOURCES = {
    "tickers": "{}, computed from tickers",
    "events": "{}, computed from events",
    "cumulative": "about {}, from rounded sums of the last dump",
    "table": "about {}, from the row Sum of the level table of the last dump",
}
_FILES_LEFT = 20
_MANY_LEVEL_0_FILES = 100
_DEFAULT_TRIGGER = 4
_WRITE_TRIGGERS = ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger")
_FEW_READS = 0.1
_AFTER_STALLS, _LONG_STALLS = 0.05, 0.05
_BLOBS_SINCE = "6.13"
_TINY_LEVEL_1 = 32 * MIB
_MUCH_DATA = 100.0
_UNEQUAL = 4.0


def _write_amp(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a high write amplification.

    RocksDB wiki, RocksDB-Tuning-Guide.
    """
    amplification = log.totals.write_amp or 0.0
    if amplification >= _MUCH_WRITE_AMP:
        source = _SOURCES[log.totals.write_amp_from or "tickers"]
        yield Finding(
            "write-amp", "RocksDB writes every byte many times",
            f"The write amplification is {source.format(f'{amplification:.3g}')}.",
            ("compaction_style", "max_bytes_for_level_multiplier", "max_bytes_for_level_base",
             "write_buffer_size"),
            min(0.5, amplification / 100),
        )  # fmt: skip


def _no_compaction(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for files in level 0 while automatic compaction is off.

    facebook/rocksdb#1359.
    """
    for family in log.families or (log.main_family,):
        files = log.level_0_files(family)
        if log.family_option(family, "disable_auto_compactions") not in ON:
            continue
        shown = "the number of files in level 0 is unknown"
        if files is not None:
            shown = f"level 0 has {files} files"
        if files is None or files >= _FILES_LEFT:
            yield Finding(
                "compaction-off", "Automatic compaction is off",
                f"disable_auto_compactions is set, and {shown}. Files stay in level 0 until a "
                "program calls CompactRange.",
                ("disable_auto_compactions",), 0.5 if files is None else 0.95, family=family,
            )  # fmt: skip


def _many_level_0_files(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for very many files in level 0, which need not cause a stall.

    DB::Get looks into each file of level 0 that can have the key; facebook/rocksdb#1555.
    """
    for family in all_families(log):
        files = log.level_0_files(family)
        slow_at, stop_at = (number_or_default(log, family, name) for name in _WRITE_TRIGGERS)
        does, at = ("stopped", stop_at) if 0 < stop_at <= (files or 0) else ("slowed down", slow_at)
        holds = 0 < at <= (files or 0)
        alone = holds and not _tells_stalls(log)
        if files is None or (files < _MANY_LEVEL_0_FILES and not alone):
            continue
        if log.family_option(family, "disable_auto_compactions") in ON:
            continue  # compaction-off says it
        if log.family_option(family, "compaction_style") in (*UNIVERSAL, *FIFO):
            continue  # their files are in level 0 by design
        trigger = log.family_number(family, "level0_file_num_compaction_trigger")
        reads = log.load.read_percent  # only reads suffer
        weight = 0.6 if holds or reads is None else 0.6 * max(_FEW_READS, reads / 100)
        if _stalls_by_files(log):
            weight = _AFTER_STALLS  # the findings on stalls come first
        options = (jobs_option(log), "max_subcompactions")
        own = ("level0_file_num_compaction_trigger",)
        slow, stop = (bound_text(log, family, name) for name in _WRITE_TRIGGERS)
        starts = f" Compaction of level 0 starts at {trigger:.0f} files." if trigger else ""
        starts += f" Writes are slowed down at {slow}, and stopped at {stop}."
        if pending := log.ticker(PENDING_BYTES):
            starts += f" In all, {format_bytes(pending)} wait for compaction."
        so = f"Writes are {does}" if holds else "Reads can be slow"
        yield Finding(
            "many-l0-files", f"{so}, because level 0 has many files",
            f"Level 0 has {files:,} files; a read may look into each of them.{starts}",
            (*own, *options) if trigger > _DEFAULT_TRIGGER else (*options, *own),
            weight, family=family or None,
        )  # fmt: skip


def _tells_stalls(log: Inspection) -> bool:
    """Return whether findings on stalls judge what files in level 0 do to writes."""
    return STALLS.is_there(log) or bool(log.stalls) or any(log.stall_counts.values())


def _stalls_by_files(log: Inspection) -> bool:
    """Return whether the files in level 0 made writes stall, and for long if the text shows it."""
    has_time = bool(log.timed_stalls) or log.totals.stall_percent is not None
    stalled = counts_by_cause(log)[L0] or any(stall.cause == L0 for stall in log.stalls)
    return bool(stalled) and (not has_time or stalled_share(log) >= _LONG_STALLS)


def _tiny_levels(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a level 1 that is much smaller than the data or a batch of level 0.

    RocksDB wiki, RocksDB-Tuning-Guide: level 1 and level 0 should have about the same size.
    """
    for family in log.families:
        if log.family_option(family, "compaction_style") not in (None, *LEVELED):
            continue
        base = number_or_default(log, family, "max_bytes_for_level_base")
        if not base:
            continue
        data = sum(row.size_bytes or 0 for row in log.levels if row.family == family)
        if base < _TINY_LEVEL_1 and data > _MUCH_DATA * base:
            yield Finding(
                "tiny-levels", "Level 1 is so small that the tree needs many levels",
                f"max_bytes_for_level_base is {format_bytes(base)}, and the column family has "
                f"{format_bytes(data)} of data. Each further level costs write amplification.",
                ("max_bytes_for_level_base", "write_buffer_size",
                 "max_bytes_for_level_multiplier"),
                0.3, family=family,
            )  # fmt: skip
            continue
        yield from _unequal_levels(log, family, base)


def _unequal_levels(log: Inspection, family: str, base: float) -> Iterator[Finding]:
    blobs = log.family_option(family, "enable_blob_files")
    untold = blobs is None and log.kind == "LOG" and not version_in(log, until=_BLOBS_SINCE)
    if blobs in ON or untold:
        return  # tables have references, and are much smaller than their memtables
    trigger = number_or_default(log, family, "level0_file_num_compaction_trigger")
    off = log.family_option(family, "disable_auto_compactions") in ON
    if off or trigger > _MANY_LEVEL_0_FILES:
        return  # a bulk load
    batch = level_0_batch(log, family) or 0.0
    if batch > _UNEQUAL * base:
        yield Finding(
            "tiny-levels", "Level 1 is much smaller than the data that level 0 sends to it",
            f"max_bytes_for_level_base is {format_bytes(base)}, and a compaction of level 0 "
            f"starts at {format_bytes(batch)} ({trigger:.0f} files).",
            ("max_bytes_for_level_base", "max_bytes_for_level_multiplier",
             "target_file_size_base"),
            0.3, family=family,
        )  # fmt: skip


ORDER = 50
RULES = (
    Rule(_write_amp, (WRITE_AMP,)),
    Rule(_no_compaction, (OPTIONS, SHAPES)),
    Rule(_many_level_0_files, (SHAPES,)),
    Rule(_tiny_levels, (OPTIONS,)),
)
FIRST_STEPS: FirstSteps = {
    "write-amp": Step(
        "raise", "write_buffer_size", also=Step("raise", "max_bytes_for_level_base")
    ),
    "compaction-off": Step(
        "set", "disable_auto_compactions", False, rest="when the bulk load ends"
    ),
    "many-l0-files": (
        Step("lower", "level0_file_num_compaction_trigger", _DEFAULT_TRIGGER),
        *MORE_JOBS,
    ),
    "tiny-levels": Step(
        "raise", "max_bytes_for_level_base", level_0_batch,
        reason="level 1 should hold at least one compaction of level 0",
    ),
}  # fmt: skip
CHECKS = {
    "write-amp": "the write amplification falls",
    "many-l0-files": "fewer files in level 0",
    "compaction-off": "fewer files in level 0",
}
