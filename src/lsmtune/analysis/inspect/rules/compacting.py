"""How compactions run: in level 0 only, on one thread, slowly, with a costly codec."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection, covered_s
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, STALLS
from lsmtune.analysis.inspect.rule import (
    LEVELED,
    ON,
    STALLS_FALL,
    WAITS_UNKNOWN,
    FirstSteps,
    Rule,
    by_family,
    compactions,
    cpu_share,
    limiter_options,
    percent,
    quoted,
    version_in,
)
from lsmtune.metrics.log_jobs import Job
from lsmtune.metrics.log_notices import Notices
from lsmtune.units import GIB, MIB, format_bytes

_MANY_INTRA = 10
_MUCH_INTRA = GIB
"""The table rounds to a tenth of a GiB."""
_MOST = 0.5
_BUSY = 0.8
_ON_THE_CPU = 0.7
_ALARM_SHARE = 0.05
_SLOW_MIB_S = 8.0
_IDLE_CPU = 0.3
_LONG_S = 10.0
_ALL_CPU = 0.9
_COSTLY = ("ZSTD", "kZSTD", "Zlib", "kZlibCompression", "LZ4HC", "kLZ4HCCompression")
_CHAIN = 2
_MANY_THREADS = 32
_L0 = "level-0 files"


def _intra_level_0(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for level 0 that is compacted into itself most of the time.

    db/compaction/compaction_picker_level.cc, PickIntraL0Compaction; facebook/rocksdb#6889. With
    FIFO and universal compaction, all data may be in level 0.
    """
    for family in dict.fromkeys((*log.families, *(row.family for row in log.levels))):
        if log.family_option(family, "compaction_style") not in (None, *LEVELED):
            continue
        share = log.facts.fact("l0_intra_percent", family)
        written = log.facts.value("l0_intra_write_bytes", family)
        if share is None or written is None or share.value < 100 * _MOST:
            continue
        jobs = [job for job in compactions(log) if (job.family or "default") == family]
        inner = sum(job.input_levels == (0,) and job.output_level == 0 for job in jobs)
        if share.source == "event" and inner < _MANY_INTRA:
            continue
        if share.source == "table" and written < _MUCH_INTRA:
            continue
        wanted = (
            " RocksDB 9.0 to 9.5 does this more often by design."
            if version_in(log, "9.0", "9.6")
            else ""
        )
        many = (
            f"{inner} of {len(jobs)} compactions went from level 0 into level 0, and wrote "
            if share.source == "event"
            else f"Compactions from level 0 into level 0 wrote {format_bytes(written)}, "
        )
        yield Finding(
            "intra-l0", "Level 0 is compacted into itself most of the time",
            f"{many}{share.value:.0f} % of the compacted bytes. While such a compaction "
            f"runs, its files cannot go to the next level.{wanted}",
            ("max_compaction_bytes", "max_subcompactions", "max_bytes_for_level_base"), 0.3,
            family=family,
        )  # fmt: skip


def _one_thread(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for level-0 compactions that are always busy on one thread.

    RocksDB wiki, Sub-Compaction. They must be on the CPU, so that threads are what is missing.
    """
    held = [stall for stall in log.timed_stalls if stall.cause == _L0]
    begin = min((stall.begin_micros for stall in held), default=0)
    end = max((stall.end_micros for stall in held), default=0)
    stalled = covered_s([(stall.begin_micros, stall.end_micros) for stall in held])
    if not log.span_s or stalled / log.span_s < _ALARM_SHARE or end <= begin:
        return
    jobs = [
        job
        for job in compactions(log)
        if 0 in job.input_levels and job.output_level > 0 and job.started_micros
    ]
    cpu = cpu_share(jobs)
    spans = [
        (max(job.started_micros or 0, begin), min(job.finished_micros or 0, end)) for job in jobs
    ]
    busy = covered_s(spans) / ((end - begin) / 1e6)
    alone = bool(jobs) and all(job.subcompactions == 1 for job in jobs)
    if alone and busy >= _BUSY and cpu is not None and cpu >= _ON_THE_CPU:
        yield Finding(
            "one-thread", "A single thread compacts level 0, and it is always busy",
            f"From the first to the last stall by level 0, a compaction of level 0 ran "
            f"{percent(min(1.0, busy))} of the time, each on one thread (num_subcompactions is 1) "
            f"and {percent(cpu)} of the time on the CPU.",
            ("max_subcompactions", "compression"), 0.3 * stalled / log.span_s,
        )  # fmt: skip


def _slow_compactions(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for compactions that move few bytes per second and leave the CPU idle.

    RocksDB wiki, Write-Stalls: a slow device. Short runs are noisy, and a busy CPU is another
    cause.
    """
    jobs = [
        job
        for job in compactions(log)
        if job.duration_s and job.written_bytes and job.read_bytes is not None
    ]
    seconds = sum(job.duration_s or 0.0 for job in jobs)
    moved: float = sum((job.read_bytes or 0) + (job.written_bytes or 0) for job in jobs)
    cpu = cpu_share(jobs)
    if not jobs:
        seconds, moved, cpu = _of_statistics(log)
    if seconds < _LONG_S or cpu is None or cpu >= _IDLE_CPU:
        return
    rate = moved / MIB / seconds
    if rate < _SLOW_MIB_S:
        yield Finding(
            "slow-compactions", "Compactions read and write only a few MiB per second",
            f"Compactions read and wrote {format_bytes(moved)} in {seconds:.3g} s: {rate:.2g} "
            f"MiB/s, and they used the CPU only {percent(cpu)} of the time. {WAITS_UNKNOWN}",
            (*limiter_options(log), "compaction_readahead_size", "bytes_per_sync"), 0.4,
        )  # fmt: skip


def _of_statistics(log: Inspection) -> tuple[float, float, float | None]:
    """Return seconds and bytes of all compactions, and the share of the CPU, from tickers alone."""
    run, cpu = (log.facts.value(name) for name in ("compaction_s", "compaction_cpu_s"))
    moved = log.facts.count("compact_read_bytes") + log.facts.count("compact_write_bytes")
    return (0.0, 0, None) if not run or cpu is None else (run, moved, cpu / run)


def _costly_codec(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for compactions that a costly codec may bind to the CPU.

    facebook/rocksdb#12536 and #13996.
    """
    jobs = [job for job in compactions(log) if job.duration_s]
    seconds = sum(job.duration_s or 0.0 for job in jobs)
    costly = {
        (name, text)
        for name in ("bottommost_compression", "compression")
        for family in log.families
        if (text := log.family_option(family, name)) in _COSTLY
    }
    cpu = cpu_share(jobs)
    if not costly or not log.span_s or cpu is None or cpu < _ALL_CPU:
        return
    if seconds >= max(_LONG_S, _MOST * log.span_s):
        counts = (
            " From RocksDB 10.7 on, this CPU time includes parallel threads of the compression."
            if version_in(log, "10.7")
            else ""
        )
        names = {name for name, _ in costly}
        options = ("compression", "bottommost_compression")
        yield Finding(
            "costly-codec", "Compactions are bound by the CPU, and may be by their codec",
            f"Compactions ran {seconds:.3g} s in {log.span_s:.3g} s, {percent(cpu)} of it on the "
            f"CPU. The codec is {', '.join(sorted({text for _, text in costly}))}.{counts}",
            (*sorted(options, key=lambda name: name not in names), "compression_opts"), 0.2,
        )  # fmt: skip


def _pushed_down_again(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for data that a manual compaction moved up and others move down again.

    DBImpl::ReFitLevel in db/db_impl/db_impl_compaction_flush.cc; facebook/rocksdb#13671.
    """
    for family, jobs in by_family(log, "compaction"):
        if log.family_option(family, "level_compaction_dynamic_level_bytes") not in ON:
            continue
        chain = _chain_below(jobs)
        if len(chain) > _CHAIN:
            manual, *after = chain
            steps = ", ".join(f"L{job.input_levels[0]} to L{job.output_level}" for job in after)
            yield Finding(
                "pushed-down-again", "The result of a manual compaction is compacted down again",
                f"After a manual compaction that wrote {format_bytes(manual.written_bytes or 0)}, "
                f"compactions moved as much from {steps}. The program may pass change_level to "
                "CompactRange, which does not suit level_compaction_dynamic_level_bytes.",
                ("change_level",), 0.35, family=family,
            )  # fmt: skip


def _chain_below(jobs: list[Job]) -> list[Job]:
    """Return the last large manual compaction, and those that moved half of it or more down."""
    places = [place for place, job in enumerate(jobs) if job.reason == "ManualCompaction"]
    if not places:
        return []
    chain = [jobs[places[-1]]]
    for job in jobs[places[-1] + 1 :]:
        last = chain[-1].output_level if len(chain) > 1 else None
        is_next = last is None or (job.input_levels and job.input_levels[0] == last)
        large = (job.read_bytes or 0) >= _MOST * (chain[0].written_bytes or 0) > 0
        down = bool(job.input_levels) and 0 < job.input_levels[0] < job.output_level
        if is_next and large and down:
            chain.append(job)
    return chain


def _many_threads(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for more threads of subcompactions than a machine may have cores.

    facebook/rocksdb#9291: subcompactions are not part of max_background_jobs.
    """
    jobs, parts = log.number("max_background_jobs"), log.number("max_subcompactions")
    most = max((job.subcompactions or 0 for job in compactions(log)), default=0)
    if jobs is not None and parts is not None and most > 1 and jobs * parts >= _MANY_THREADS:
        yield Finding(
            "many-threads", "Compactions can use many more threads than max_background_jobs",
            f"max_background_jobs is {jobs:.0f} and max_subcompactions is {parts:.0f}: up to about "
            f"{jobs * parts:.0f} threads. A compaction ran on {most} threads. Compare this with "
            "the number of cores.",
            ("max_subcompactions", "max_background_jobs"), 0.1,
        )  # fmt: skip


def _exclusive(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a manual compaction that waits for all others.

    CompactRangeOptions::exclusive_manual_compaction in include/rocksdb/options.h;
    facebook/rocksdb#7921.
    """
    if "manual compaction waits" in log.notices:
        default = " This is the default below RocksDB 7.6." if version_in(log, until="7.6") else ""
        yield Finding(
            "exclusive-compaction", "A manual compaction keeps other compactions from running",
            f"{quoted(log, 'manual compaction waits')} It was called with "
            f"exclusive_manual_compaction.{default}",
            ("exclusive_manual_compaction",), 0.25,
        )  # fmt: skip


NOTICES: Notices = {
    "manual compaction waits": "waiting for all other scheduled background compactions",
}
ORDER = 60
RULES = (
    Rule(_intra_level_0, (EVENTS, OPTIONS)),
    Rule(_one_thread, (EVENTS, STALLS)),
    Rule(_slow_compactions, (EVENTS,)),
    Rule(_costly_codec, (EVENTS, OPTIONS)),
    Rule(_pushed_down_again, (EVENTS, OPTIONS)),
    Rule(_many_threads, (EVENTS, OPTIONS)),
    Rule(_exclusive, (EVENTS,)),
)
FIRST_STEPS: FirstSteps = {
    "intra-l0": Step("lower", "max_compaction_bytes"),
    "one-thread": Step("raise", "max_subcompactions"),
    "slow-compactions": (
        Step("raise", "rate_limiter_bytes_per_sec", first="check CPU and device, then"),
        Step("raise", "compaction_readahead_size", 2 * MIB, first="check CPU and device, then"),
    ),
    "costly-codec": (
        Step("set", "compression", "kLZ4Compression"),
        Step("set", "bottommost_compression", "kLZ4Compression"),
    ),
    "pushed-down-again": Step("set", "change_level", False, of="of CompactRange"),
    "many-threads": Step(
        "lower", "max_subcompactions",
        rest="so that jobs and their parts are no more than the cores",
    ),
    "exclusive-compaction": Step(
        "set", "exclusive_manual_compaction", False, of="of CompactRange"
    ),
}  # fmt: skip
CHECKS = {
    "intra-l0": "a smaller share of the compacted bytes goes from level 0 into level 0",
    "one-thread": STALLS_FALL,
    "slow-compactions": "compactions move more MiB per second",
    "costly-codec": "compactions take less time per byte",
    "pushed-down-again": "fewer bytes are compacted after a manual compaction",
    "many-threads": "compactions run on fewer threads",
}
