"""Write stalls of which a text says no more than a warning, a count or a ticker."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import STALLS
from lsmtune.analysis.inspect.rule import MORE_JOBS, FirstSteps, Rule, jobs_option, stall_bounds
from lsmtune.analysis.inspect.stall_causes import (
    LOOK_AT,
    PENDING,
    counted_family,
    counts_by_cause,
    counts_by_family,
    options_of_cause,
)
from lsmtune.analysis.inspect.step_values import MORE_MEMTABLES
from lsmtune.metrics.log_stalls import SPEEDB_CAUSE, Stall
from lsmtune.units import format_bytes

_VERBS = {"stop": ("stopped", 0.9, 0.8), "delay": ("slowed down", 0.6, 0.5)}
"""What RocksDB did with writes, the weight, and its share for a single warning."""
_MORE_CAPACITY = (*MORE_JOBS, MORE_MEMTABLES)


def _stopped_at_the_end(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for an excerpt that ends while writes are stopped."""
    if not log.timed_stalls:
        return  # `_stall_warnings` says it
    last = max(log.stalls, key=lambda stall: stall.begin_micros)
    if last.kind != "stop" or last.end_micros != log.end_micros:
        return
    amount = format_bytes(last.most) if last.cause == PENDING else f"{last.most:,}"
    largest = f" ({amount})" if last.most else ""
    yield Finding(
        "stopped-at-the-end", "The LOG ends while writes are stopped",
        f"The last warning says that RocksDB stopped writes because of {last.cause}{largest}. "
        "The LOG does not say when writes continued.",
        options_of_cause(log, last.cause), 0.5, family=last.family or None,
    )  # fmt: skip


def _stall_warnings(log: Inspection) -> Iterator[Finding]:
    """Yield findings for warnings without events, which do not show how long writes waited."""
    if log.timed_stalls or log.totals.stall_percent is not None:
        return  # the rule of stalls.py says more
    by_kind: dict[tuple[str, str, str], list[Stall]] = {}
    for stall in log.stalls:
        by_kind.setdefault((stall.family, stall.kind, stall.cause), []).append(stall)
    for (family, kind, cause), own in by_kind.items():
        count, most = sum(stall.warnings for stall in own), max(stall.most for stall in own)
        amount = format_bytes(most) if cause == PENDING else f"{most:,}"
        rates = [stall.least_rate for stall in own if stall.least_rate is not None]
        largest = f"the largest value was {amount}"
        if cause == SPEEDB_CAUSE and rates:
            largest = f"the lowest rate was {format_bytes(min(rates))}/s"
        verb, weight, least = _VERBS[kind]
        often = "once" if count == 1 else f"{count:,} times"
        yield Finding(
            f"writes-{'stopped' if kind == 'stop' else 'slowed'}", f"Writes were {verb}: {cause}",
            f"RocksDB warned {often} that it {verb} writes because of {cause}; {largest}."
            f"{stall_bounds(log, family, cause)} The text does not say for how long.",
            options_of_cause(log, cause), weight * min(1.0, least + count / 20),
            family=family or None,
        )  # fmt: skip


def _counted_stalls(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for stalls that a dump counts, without other data on stalls."""
    counts = counts_by_cause(log)
    if log.stalls or log.totals.stall_percent is not None or not any(counts.values()):
        return
    cause = max(counts, key=lambda name: counts[name])
    yield Finding(
        "counted-stalls", "Writes were slowed down or stopped",
        "The last dump counts these stalls since the database was opened: "
        + ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)
        + f". The dump does not say for how long.{counts_by_family(log)}",
        options_of_cause(log, cause) if cause in LOOK_AT else ("db_write_buffer_size",), 0.4,
        family=counted_family(log) if counts_by_family(log) else None,
    )  # fmt: skip


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


ORDER = 40
RULES = (
    Rule(_stopped_at_the_end, (STALLS,)),
    Rule(_stall_warnings, (STALLS,)),
    Rule(_counted_stalls, (STALLS,)),
    Rule(_stall_ticker, (STALLS,)),
)
FIRST_STEPS: FirstSteps = {
    "stopped-at-the-end": _MORE_CAPACITY,
    "writes-stopped": _MORE_CAPACITY,
    "writes-slowed": _MORE_CAPACITY,
    "counted-stalls": (*_MORE_CAPACITY, Step("raise", "db_write_buffer_size")),
    "stalled-time": MORE_JOBS,
}
CHECKS = dict.fromkeys(FIRST_STEPS, "fewer warnings and counts of stalls, and less stalled time")
