"""Why writes stalled: who is to blame for delays and stops, of the options that can be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lsmtune.analysis.inspect.first_steps import Step, whole_mib
from lsmtune.analysis.inspect.inspection import Finding, Inspection, covered_s
from lsmtune.analysis.inspect.needs import OPTIONS, STALLS
from lsmtune.analysis.inspect.rule import (
    FIFO,
    MORE_JOBS,
    ON,
    FirstSteps,
    Rule,
    jobs_option,
    number_or_default,
)
from lsmtune.analysis.inspect.stall_causes import (
    L0,
    MEMTABLES,
    PENDING,
    counted_family,
    counts_by_cause,
    counts_by_family,
    options_of_cause,
)
from lsmtune.analysis.inspect.step_values import MORE_MEMTABLES, TRIGGERS_IN_ORDER, level_0_batch
from lsmtune.units import GIB, MIB, format_bytes

_ALARM_SHARE = 0.05
_DEFAULT_SLOWDOWN, _DEFAULT_SOFT = 20, 64 * GIB
_SOFT, _HARD = (f"{name}_pending_compaction_bytes_limit" for name in ("soft", "hard"))
_USUAL_MEMTABLE = 64 * MIB
_BUSY = 0.8
_NO_SLOWDOWN = 3
_LESS_DIRECT = 0.95
"""A trigger that is set low slows down writes by itself, a small memtable by what follows."""
_WORTH_TELLING = 0.01
_QUICK_FLUSH_S = 0.5
_TINY_MEMTABLE = 1 << 18


@dataclass(frozen=True, slots=True)
class _Stalls:
    """How much of the time writes were held, and how it parts among the causes (sums to 1)."""

    share: float
    by_cause: dict[str, float]
    evidence: str

    def of(self, *causes: str) -> float:
        """Return the share of the time that these causes held writes."""
        return self.share * sum(self.by_cause.get(cause, 0.0) for cause in causes)


def _stall_findings(log: Inspection) -> Iterator[Finding]:
    """Yield the suspects for the stalls of each family, if a twentieth of the time was held."""
    families = sorted({stall.family for stall in log.stalls})
    if len(families) < 2:  # noqa: PLR2004
        family = families[0] if families and families[0] else counted_family(log)
        yield from _judged(replace(log, main_family=family), family)
        return
    for family in families:
        own = replace(
            log,
            main_family=family,
            stalls=tuple(stall for stall in log.stalls if stall.family == family),
            totals=replace(log.totals, stall_percent=None),  # of all families
        )
        yield from _judged(own, family)


def _judged(log: Inspection, family: str) -> Iterator[Finding]:
    stalls = _stalls(log)
    if stalls is None or stalls.share < _ALARM_SHARE:
        return
    suspects = [
        finding
        for rule in (_l0_triggers, _small_memtable, _few_memtables, _few_jobs, _pending_limits)
        for finding in rule(log, stalls)
    ]
    several = len(log.families) > 1 or len(log.family_sums) > 1
    told = log.option("write_buffer_size") is not None
    rest = _compaction_behind(log, stalls) if told else _options_unknown(log, stalls)
    for finding in suspects or [rest]:
        context = (
            f"Column family {family}: {stalls.evidence}" if several and family else stalls.evidence
        )
        yield replace(
            finding, family=(family or None) if several else None, context=context,
            check=f"writes stall less than {100 * stalls.share:.0f} % of the time",
        )  # fmt: skip


def _stalls(log: Inspection) -> _Stalls | None:
    seconds: dict[str, float] = {}
    for (_, cause), held in log.stall_seconds().items():
        seconds[cause] = seconds.get(cause, 0.0) + held
    counts = counts_by_cause(log)
    warnings: dict[str, float] = {}
    for stall in log.stalls:
        warnings[stall.cause] = warnings.get(stall.cause, 0.0) + stall.warnings
    known: tuple[tuple[str, Mapping[str, float]], ...] = (
        ("stall time", seconds), ("number of stalls", counts), ("number of warnings", warnings),
    )  # fmt: skip
    what, weights = next((one for one in known if any(one[1].values())), known[0])
    total = sum(weights.values())
    by_cause = {cause: value / total for cause, value in weights.items() if value} if total else {}
    parts = (
        "The LOG does not record the causes of the stalls."
        if not by_cause
        else f"Causes, as shares of the {what}: "
        + ", ".join(
            f"{cause} {100 * share:.0f} %"
            for cause, share in sorted(by_cause.items(), key=lambda p: -p[1])
            if share >= _WORTH_TELLING
        )
        + f".{counts_by_family(log)}"
    )
    if log.totals.stall_percent is not None:
        share = log.totals.stall_percent / 100
        when = "Until the last dump, writes" if log.kind == "LOG" else "Writes"
        return _Stalls(share, by_cause, f"{when} stalled {100 * share:.0f} % of the time. {parts}")
    if log.span_s and seconds:
        spans = [(stall.begin_micros, stall.end_micros) for stall in log.stalls]
        share = covered_s(spans) / log.span_s
        evidence = f"RocksDB slowed down or stopped writes at most {100 * share:.0f} % of the time"
        return _Stalls(share, by_cause, f"{evidence}. {parts}")
    return None


def _small_memtable(log: Inspection, stalls: _Stalls) -> Iterator[Finding]:
    size, base = log.number("write_buffer_size"), log.number("max_bytes_for_level_base")
    trigger = log.number("level0_file_num_compaction_trigger") or 4
    pause_s = _flush_interval_s(log)
    if not size:
        return
    to_level_1 = size * trigger / base if base else 1.0
    suspicion = max(
        1.0 if to_level_1 <= 1 / 8 or size <= _TINY_MEMTABLE else 0.0,
        0.5 if to_level_1 <= 1 / 3 else 0.0,
        0.4 if pause_s is not None and pause_s < _QUICK_FLUSH_S else 0.0,
    )
    if not suspicion:
        return
    often = f", and RocksDB flushed a memtable every {pause_s:.2g} s" if pause_s else ""
    yield Finding(
        "small-memtable", "Memtables are too small: flushes and level 0 cannot keep up",
        f"The size of a memtable is {format_bytes(size)}{often}.",
        ("write_buffer_size", "max_write_buffer_number", "min_write_buffer_number_to_merge"),
        stalls.of(L0, MEMTABLES) * suspicion * _LESS_DIRECT,
    )  # fmt: skip


def _few_memtables(log: Inspection, stalls: _Stalls) -> Iterator[Finding]:
    """Yield a finding for up to three memtables: writes then stop without a slowdown.

    ColumnFamilyData::GetWriteStallConditionAndCause in db/column_family.cc.
    """
    memtables, share = log.number("max_write_buffer_number"), stalls.of(MEMTABLES)
    merged = log.number("min_write_buffer_number_to_merge") or 1
    if memtables is None or memtables > _NO_SLOWDOWN or share < _ALARM_SHARE:
        return
    waits = (
        f" A flush waits for {merged:.0f} memtables (min_write_buffer_number_to_merge)."
        if merged > 1
        else ""
    )
    yield Finding(
        "few-memtables", "Writes stop, because all memtables wait for their flush",
        f"max_write_buffer_number is {memtables:.0f}; with a value up to 3, "
        f"writes stop without a slowdown before.{waits}",
        ("max_write_buffer_number", "max_background_jobs", "write_buffer_size"), 0.6 * share,
    )  # fmt: skip


def _flush_interval_s(log: Inspection) -> float | None:
    """Return the mean time between flushes while they ran."""
    ends = [job.finished_micros for job in log.jobs if job.kind == "flush" and job.finished_micros]
    if len(ends) < 3:  # noqa: PLR2004 - two intervals at least
        return None
    return (ends[-1] - ends[0]) / 1e6 / (len(ends) - 1)


def _few_jobs(log: Inspection, stalls: _Stalls) -> Iterator[Finding]:
    slots = _compaction_slots(log)
    busy = _busy_compactions(log)
    if slots is None or busy is None or busy < _BUSY * slots:
        return
    jobs = log.number("max_background_jobs")
    suspicion = {1: 1.0 if jobs == 1 else 0.7, 2: 0.4}.get(slots, 0.2)
    yield Finding(
        "few-jobs", "Too few compactions may run at the same time",
        f"The options allow at most {slots} "
        f"compaction{'' if slots == 1 else 's'} at the same time. From the first to the last "
        f"stall, {busy:.2g} compactions ran at the same time on average.",
        (jobs_option(log), "max_subcompactions", "compression"),
        stalls.share * suspicion,
    )  # fmt: skip


def _compaction_slots(log: Inspection) -> int | None:
    """Return how many compactions may run at once (DBImpl::GetBGJobLimits)."""
    compactions = log.number("max_background_compactions")
    flushes = log.number("max_background_flushes")
    if compactions is not None and flushes is not None and max(compactions, flushes) > 0:
        return max(1, int(compactions))
    jobs = log.number("max_background_jobs")
    return None if jobs is None else max(1, int(jobs - max(1, jobs // 4)))


def _busy_compactions(log: Inspection) -> float | None:
    """Return how many compactions ran on average while writes stalled."""
    begin = min((stall.begin_micros for stall in log.stalls), default=None)
    end = max((stall.end_micros for stall in log.stalls), default=None)
    if begin is None or end is None or end <= begin:
        return None
    running = sum(
        max(0, min(job.finished_micros, end) - max(job.started_micros, begin))
        for job in log.jobs
        if job.kind == "compaction" and job.started_micros and job.finished_micros
    )
    return running / (end - begin)


def _l0_triggers(log: Inspection, stalls: _Stalls) -> Iterator[Finding]:
    compact, slow, stop = (
        log.number(f"level0_{name}_trigger")
        for name in ("file_num_compaction", "slowdown_writes", "stop_writes")
    )
    if compact is None or slow is None or stop is None or slow >= _DEFAULT_SLOWDOWN:
        return
    suspicions = ((compact + 1, 1.0), (2 * compact, 0.8), (_DEFAULT_SLOWDOWN, 0.5))
    suspicion = next(degree for files, degree in suspicions if slow <= files)
    if stalls.of(L0):
        yield Finding(
            "low-l0-trigger", "Writes are slowed down although level 0 has few files",
            f"RocksDB slows down writes at {slow:.0f} files in level 0 and "
            f"stops writes at {stop:.0f} files. Compaction of level 0 starts at {compact:.0f} "
            "files.",
            ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
             "level0_file_num_compaction_trigger"),
            stalls.of(L0) * suspicion,
        )  # fmt: skip


def _close_triggers(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for options alone that slow down writes right after compaction starts."""
    if log.stalls or log.totals.stall_percent is not None or any(log.stall_counts.values()):
        return  # the stalls show what the triggers do
    for family in log.families:
        off = log.family_option(family, "disable_auto_compactions") in ON
        if off or log.family_option(family, "compaction_style") in FIFO:
            continue  # both turn the triggers of writes off
        compact, slow, stop = (
            number_or_default(log, family, f"level0_{name}_trigger")
            for name in ("file_num_compaction", "slowdown_writes", "stop_writes")
        )
        if 0 < compact <= slow <= min(compact + max(1, compact // 4), _DEFAULT_SLOWDOWN):
            yield Finding(
                "low-l0-trigger", "Writes are slowed down as soon as level 0 is compacted",
                f"Compaction of level 0 starts at {compact:.0f} files. RocksDB slows down writes "
                f"at {slow:.0f} files and stops writes at {stop:.0f} files.",
                ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
                 "level0_file_num_compaction_trigger"), 0.35, family=family,
            )  # fmt: skip


def _pending_limits(log: Inspection, stalls: _Stalls) -> Iterator[Finding]:
    soft, hard = (log.number(f"{name}_pending_compaction_bytes_limit") for name in ("soft", "hard"))
    base = log.number("max_bytes_for_level_base")
    share = stalls.of(PENDING)
    if soft is None or hard is None or base is None or not share:
        return
    low = soft < 10 * base
    # At high limits, higher ones only let more bytes wait: compactions need more capacity.
    jobs = (jobs_option(log),)
    limits = (_SOFT, _HARD)
    look_at = (*limits, *jobs) if low or soft < _DEFAULT_SOFT else (*jobs, *limits)
    yield Finding(
        "pending-bytes", "Writes are slowed down because too many bytes wait for compaction",
        f"RocksDB slows down writes at {format_bytes(soft)} of pending "
        "compaction "
        f"bytes and stops writes at {format_bytes(hard)}. The target size of level 1 is "
        f"{format_bytes(base)}.",
        look_at, share * (1.0 if low else 0.5),
    )  # fmt: skip


def _options_unknown(log: Inspection, stalls: _Stalls) -> Finding:
    """Return the finding for a LOG without options, of which none can be blamed or excluded."""
    main = max(stalls.by_cause, key=lambda cause: stalls.by_cause[cause], default=L0)
    return Finding(
        "stall-options-unknown", "Writes were slowed down or stopped",
        "The LOG does not contain the options, so their part is unknown.",
        options_of_cause(log, main), stalls.share * 0.3,
    )  # fmt: skip


def _compaction_behind(log: Inspection, stalls: _Stalls) -> Finding:
    busy = _busy_compactions(log)
    often = (
        f"From the first to the last stall, {busy:.2g} compactions ran at the same time on "
        "average. The options allow more."
        if busy is not None
        else "The LOG does not show which option limits flushes and compactions."
    )
    first = (jobs_option(log), "write_buffer_size")
    if busy is not None:  # `_few_jobs` saw that jobs are not what is missing
        first = first[::-1]
    return Finding(
        "compaction-behind", "Writes arrive faster than flushes and compactions can process",
        often,
        (*first, "compression", "compaction_style"),
        stalls.share * 0.3,
    )  # fmt: skip


def _memtable_for_level_1(log: Inspection, family: str) -> float | None:
    """Return the size of a memtable that makes a compaction of level 0 as large as level 1.

    At most 64 MiB, or twice the present size.
    """
    size, batch = log.family_number(family, "write_buffer_size"), level_0_batch(log, family)
    base = log.family_number(family, "max_bytes_for_level_base")
    if not batch or not base:
        return None
    return min(whole_mib(size * base / batch), max(_USUAL_MEMTABLE, 2 * size))


def _soft_limit(log: Inspection, family: str) -> float:
    """Return RocksDB's default of the limit, or more for a large level 1."""
    return max(_DEFAULT_SOFT, 10 * log.family_number(family, "max_bytes_for_level_base"))


ORDER = 30
RULES = (Rule(_stall_findings, (STALLS, OPTIONS)), Rule(_close_triggers, (OPTIONS,)))
FIRST_STEPS: FirstSteps = {
    "small-memtable": Step("raise", "write_buffer_size", _memtable_for_level_1),
    "few-memtables": MORE_MEMTABLES,
    "few-jobs": MORE_JOBS,
    "low-l0-trigger": TRIGGERS_IN_ORDER,
    "pending-bytes": (
        Step(
            "raise", _SOFT, _soft_limit, also=Step("raise", _HARD, lambda *of: 4 * _soft_limit(*of))
        ),
        *MORE_JOBS,
    ),
    "compaction-behind": (Step("raise", "write_buffer_size"), *MORE_JOBS),
    "stall-options-unknown": (*MORE_JOBS, MORE_MEMTABLES),
}
