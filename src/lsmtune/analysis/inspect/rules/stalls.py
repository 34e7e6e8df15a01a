"""Why writes stalled: who is to blame for delays and stops, of the options that can be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from lsmtune.analysis.inspect.inspection import Finding, Inspection, covered_s
from lsmtune.analysis.inspect.needs import OPTIONS, STALLS
from lsmtune.analysis.inspect.rules.rule import Rule, jobs_option, stall_bounds
from lsmtune.metrics.families import listed
from lsmtune.metrics.log_stalls import SPEEDB_CAUSE, Stall
from lsmtune.units import GIB, format_bytes

_ALARM_SHARE = 0.05
_L0, _MEMTABLES, _PENDING = (
    "level-0 files", "immutable memtables", "estimated pending compaction bytes",
)  # fmt: skip
_COUNTED = {
    _L0: ("level0_slowdown", "level0_numfiles", "l0-file-count-limit-delays",
         "l0-file-count-limit-stops"),
    _MEMTABLES: ("memtable_compaction", "memtable_slowdown", "memtable-limit-delays",
                "memtable-limit-stops"),
    _PENDING: ("stop for pending_compaction_bytes", "slowdown for pending_compaction_bytes",
              "pending-compaction-bytes-delays", "pending-compaction-bytes-stops"),
    "memory limit of the write buffer manager": ("write-buffer-manager-limit-stops",),
}  # fmt: skip
_LOOK_AT = {
    _L0: ("max_background_jobs", "level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
          "write_buffer_size"),
    _MEMTABLES: ("max_write_buffer_number", "write_buffer_size", "max_background_jobs"),
    _PENDING: ("max_background_jobs", "soft_pending_compaction_bytes_limit",
               "hard_pending_compaction_bytes_limit", "compression"),
}  # fmt: skip
_DEFAULT_SLOWDOWN, _DEFAULT_SOFT = 20, 64 * GIB
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
        family = families[0] if families and families[0] in log.families else _counted_family(log)
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
        yield replace(finding, family=(family or None) if several else None)


def _counted_family(log: Inspection) -> str:
    """The column family with most counted stalls, or else the main one."""
    counted = [one for one in log.family_sums if one.stalls]
    most = max(counted, key=lambda one: one.stalls or 0, default=None)
    return log.main_family if most is None else most.name


def _by_family(log: Inspection) -> str:
    """How many of the counted stalls each column family has, as a sentence; "" for one family."""
    counts = {one.name: one.stalls for one in log.family_sums if one.stalls}
    if not counts or len(log.family_sums) < 2:  # noqa: PLR2004
        return ""
    total, most = sum(counts.values()), sorted(counts, key=lambda name: -counts[name])
    parts = [f"{name} {counts[name]:,}" for name in most]
    return f" Counted stalls by column family: {listed(parts)}, of {total:,}."


def _stall_warnings(log: Inspection) -> Iterator[Finding]:
    """Yield findings for warnings without events, which do not show how long writes waited."""
    if log.timed_stalls or log.totals.stall_percent is not None:
        return  # `_stall_findings` says more
    by_kind: dict[tuple[str, str, str], list[Stall]] = {}
    for stall in log.stalls:
        by_kind.setdefault((stall.family, stall.kind, stall.cause), []).append(stall)
    for (family, kind, cause), own in by_kind.items():
        count, most = sum(stall.warnings for stall in own), max(stall.most for stall in own)
        amount = format_bytes(most) if cause == _PENDING else f"{most:,}"
        rates = [stall.least_rate for stall in own if stall.least_rate is not None]
        largest = f"the largest value was {amount}"
        if cause == SPEEDB_CAUSE and rates:
            largest = f"the lowest rate was {format_bytes(min(rates))}/s"
        verb, weight = {"stop": ("stopped", 0.9), "delay": ("slowed down", 0.6)}[kind]
        often = "once" if count == 1 else f"{count:,} times"
        yield Finding(
            f"writes-{'stopped' if kind == 'stop' else 'slowed'}", f"Writes were {verb}: {cause}",
            f"RocksDB warned {often} that it {verb} writes because of {cause}; {largest}."
            f"{stall_bounds(log, family, cause)} The text does not say for how long.",
            _look_at(log, cause), weight * min(1.0, 0.5 + count / 20), family=family or None,
        )  # fmt: skip


def _counted_stalls(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for stalls that a dump counts, without other data on stalls."""
    counts = _counts(log)
    if log.stalls or log.totals.stall_percent is not None or not any(counts.values()):
        return
    cause = max(counts, key=lambda name: counts[name])
    yield Finding(
        "counted-stalls", "Writes were slowed down or stopped",
        "The last dump counts these stalls since the database was opened: "
        + ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
        + f". The dump does not say for how long.{_by_family(log)}",
        _look_at(log, cause) if cause in _LOOK_AT else ("db_write_buffer_size",), 0.4,
        family=_counted_family(log) if _by_family(log) else None,
    )  # fmt: skip


def _look_at(log: Inspection, cause: str) -> tuple[str, ...]:
    """Return the options for a cause, with the option for jobs that counts in this store."""
    named = _LOOK_AT.get(cause, ("max_background_jobs",))
    return tuple(jobs_option(log) if name == "max_background_jobs" else name for name in named)


def _counts(log: Inspection) -> dict[str, int]:
    """Return the number of stalls that the last dump counts, by cause."""
    return {
        cause: sum(log.stall_counts.get(name, 0) for name in names)
        for cause, names in _COUNTED.items()
    }


def _stall_ticker(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for the ticker alone, as in an output of db_bench."""
    held_s = log.facts.value("writers_stalled_s") or 0.0
    span_s = log.span_s or log.load.span_s
    if log.stalls or log.totals.stall_percent is not None or held_s < 1:
        return
    share = f", {100 * held_s / span_s:.0f} % of {span_s:.3g} s" if span_s else ""
    yield Finding(
        "stalled-time", "Writers waited for flushes or compactions",
        f"The ticker rocksdb.stall.micros says that writers waited {held_s:.3g} s in all{share}. "
        "Several writers can wait at the same time.",
        (jobs_option(log), "write_buffer_size", "level0_slowdown_writes_trigger"),
        min(0.6, 0.2 + (held_s / span_s if span_s else 0.2)),
    )  # fmt: skip


def _stalls(log: Inspection) -> _Stalls | None:
    seconds: dict[str, float] = {}
    for (_, cause), held in log.stall_seconds().items():
        seconds[cause] = seconds.get(cause, 0.0) + held
    counts = _counts(log)
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
        + f".{_by_family(log)}"
    )
    if log.totals.stall_percent is not None:
        share = log.totals.stall_percent / 100
        return _Stalls(share, by_cause, f"Writes stalled {100 * share:.0f} % of the time. {parts}")
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
        f"{stalls.evidence} The size of a memtable is {format_bytes(size)}{often}.",
        ("write_buffer_size", "max_write_buffer_number", "min_write_buffer_number_to_merge"),
        stalls.of(_L0, _MEMTABLES) * suspicion * _LESS_DIRECT,
    )  # fmt: skip


def _few_memtables(log: Inspection, stalls: _Stalls) -> Iterator[Finding]:
    """Yield a finding for up to three memtables: writes then stop without a slowdown.

    ColumnFamilyData::GetWriteStallConditionAndCause in db/column_family.cc.
    """
    memtables, share = log.number("max_write_buffer_number"), stalls.of(_MEMTABLES)
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
        f"{stalls.evidence} max_write_buffer_number is {memtables:.0f}; with a value up to 3, "
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
        f"{stalls.evidence} The options allow at most {slots} "
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
    if stalls.of(_L0):
        yield Finding(
            "low-l0-trigger", "Writes are slowed down although level 0 has few files",
            f"{stalls.evidence} RocksDB slows down writes at {slow:.0f} files in level 0 and "
            f"stops writes at {stop:.0f} files. Compaction of level 0 starts at {compact:.0f} "
            "files.",
            ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger",
             "level0_file_num_compaction_trigger"),
            stalls.of(_L0) * suspicion,
        )  # fmt: skip


def _pending_limits(log: Inspection, stalls: _Stalls) -> Iterator[Finding]:
    soft, hard = (log.number(f"{name}_pending_compaction_bytes_limit") for name in ("soft", "hard"))
    base = log.number("max_bytes_for_level_base")
    share = stalls.of(_PENDING)
    if soft is None or hard is None or base is None or not share:
        return
    low = soft < 10 * base
    limits = ("soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit")
    # At high limits, higher ones only let more bytes wait: compactions need more capacity.
    jobs = (jobs_option(log),)
    look_at = (*limits, *jobs) if low or soft < _DEFAULT_SOFT else (*jobs, *limits)
    yield Finding(
        "pending-bytes", "Writes are slowed down because too many bytes wait for compaction",
        f"{stalls.evidence} RocksDB slows down writes at {format_bytes(soft)} of pending "
        "compaction "
        f"bytes and stops writes at {format_bytes(hard)}. The target size of level 1 is "
        f"{format_bytes(base)}.",
        look_at, share * (1.0 if low else 0.5),
    )  # fmt: skip


def _options_unknown(log: Inspection, stalls: _Stalls) -> Finding:
    """Return the finding for a LOG without options, of which none can be blamed or excluded."""
    main = max(stalls.by_cause, key=lambda cause: stalls.by_cause[cause], default=_L0)
    return Finding(
        "stall-options-unknown", "Writes were slowed down or stopped",
        f"{stalls.evidence} The LOG does not contain the options, so their part is unknown.",
        _look_at(log, main), stalls.share * 0.3,
    )  # fmt: skip


def _stopped_at_the_end(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for an excerpt that ends while writes are stopped."""
    if not log.timed_stalls:
        return  # `_stall_warnings` says it
    last = max(log.stalls, key=lambda stall: stall.begin_micros)
    if last.kind != "stop" or last.end_micros != log.end_micros:
        return
    amount = format_bytes(last.most) if last.cause == _PENDING else f"{last.most:,}"
    largest = f" ({amount})" if last.most else ""
    yield Finding(
        "stopped-at-the-end", "The LOG ends while writes are stopped",
        f"The last warning says that RocksDB stopped writes because of {last.cause}{largest}. "
        "The LOG does not say when writes continued.",
        _look_at(log, last.cause), 0.2, family=last.family or None,
    )  # fmt: skip


def _compaction_behind(log: Inspection, stalls: _Stalls) -> Finding:
    busy = _busy_compactions(log)
    often = (
        f" From the first to the last stall, {busy:.2g} compactions ran at the same time on "
        "average."
        if busy is not None
        else ""
    )
    first = (jobs_option(log), "write_buffer_size")
    if busy is not None:  # `_few_jobs` saw that jobs are not what is missing
        first = first[::-1]
    return Finding(
        "compaction-behind", "Writes arrive faster than flushes and compactions can process",
        f"{stalls.evidence}{often}",
        (*first, "compression", "compaction_style"),
        stalls.share * 0.3,
    )  # fmt: skip


RULES = (
    Rule(_stall_findings, (STALLS, OPTIONS)),
    Rule(_stopped_at_the_end, (STALLS,)),
    Rule(_stall_warnings, (STALLS,)),
    Rule(_counted_stalls, (STALLS,)),
    Rule(_stall_ticker, (STALLS,)),
)
