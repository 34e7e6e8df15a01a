"""How RocksDB holds writes back: rates, memory limits, one column family for all."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step, whole_mib
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPTIONS, STALLS, VERSION
from lsmtune.analysis.inspect.rule import (
    NO_OBJECT,
    ON,
    STALLS_FALL,
    FirstSteps,
    Rule,
    compactions,
    cpu_share,
    percent,
    stalled_share,
    version_in,
)
from lsmtune.units import format_bytes

_ALARM_SHARE = 0.05
_CRAWLS = 10
_NEARLY_ALL = 0.9
_PENDING = "estimated pending compaction bytes"
_IDLE_CPU = 0.3
_LEAST_COMPACTIONS = 3
_FAULTY_RATES = "7.5"


def _rate_limiter(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a rate limiter that holds back flushes and compactions.

    util/rate_limiter.cc counts the times when it ran dry. Without this ticker, the finding is only
    likely.
    """
    share = stalled_share(log)
    if log.option("rate_limiter") in NO_OBJECT or share < _ALARM_SHARE:
        return
    look_at = ("rate_limiter_bytes_per_sec", "delayed_write_rate")
    uptime = log.dumps[-1].dump.uptime_s if log.dumps else 0.0
    drains = log.facts.count("limiter_drains")
    if uptime and drains / uptime >= 1:
        yield Finding(
            "rate-limiter", "The rate limiter holds back flushes and compactions",
            f"Writes stalled {percent(share)} of the time, and the budget of the rate limiter was "
            f"used up {drains:,} times in {uptime:.3g} s.",
            look_at, min(1.0, 1.05 * share),
        )  # fmt: skip
        return
    jobs, cpu = compactions(log), cpu_share(compactions(log))
    if cpu is not None and len(jobs) >= _LEAST_COMPACTIONS and cpu < _IDLE_CPU:
        yield Finding(
            "rate-limiter", "The rate limiter may hold back flushes and compactions",
            f"The store has a rate limiter, writes stalled {percent(share)} of the time, and "
            f"compactions used the CPU only {percent(cpu)} of their time. A slow device looks the "
            "same.",
            look_at, 0.5 * share,
        )  # fmt: skip


def _slow_rate(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a rate of writes that is almost nothing.

    SetupDelay in db/column_family.cc; facebook/rocksdb#2005 and #10057. A low rate right after a
    stop is meant so: a few warnings do not count.
    """
    delays = [stall for stall in log.stalls if stall.kind == "delay"]
    crawls = sum(stall.crawls for stall in delays)
    if crawls < _CRAWLS:
        return
    least = min(stall.least_rate for stall in delays if stall.least_rate is not None)
    start = log.number("delayed_write_rate")
    begins = f" The rate starts at {format_bytes(start)}/s (delayed_write_rate)." if start else ""
    fault = (
        " A fault in RocksDB below 7.5 can lower the rate too far."
        if version_in(log, until=_FAULTY_RATES)
        else ""
    )
    yield Finding(
        "slow-write-rate", "Writes are slowed down to almost nothing",
        f"In {crawls:,} warnings, RocksDB allowed at most 64 KiB/s; the lowest rate was "
        f"{format_bytes(least)}/s.{begins}{fault}",
        ("delayed_write_rate", "max_background_jobs", "max_subcompactions"), 0.25,
    )  # fmt: skip


def _noisy_family(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for one family whose triggers slow down the writes of all.

    WriteController is that of the database: db/write_controller.h.
    """
    families = {*log.families, *log.tables}
    if len(families) < 2 or stalled_share(log) < _ALARM_SHARE:  # noqa: PLR2004
        return
    held: dict[str, float] = {}
    for stall in log.timed_stalls:
        held[stall.family] = held.get(stall.family, 0.0) + stall.duration_s
    what = "of the stall time"
    if not held:
        held = {one.name: float(one.stalls) for one in log.family_sums if one.stalls}
        what = f"of {sum(held.values()):,.0f} counted stalls"
    total = sum(held.values())
    for family, own in held.items():
        if total and family in families and own / total >= _NEARLY_ALL:
            yield Finding(
                "noisy-family", "One column family slows down the writes of all families",
                f"The family [{family}] caused {percent(own / total)} {what}; the store has "
                f"{len(families)} families. RocksDB slows down the writes of all families.",
                ("low_pri", "write_buffer_size", "level0_slowdown_writes_trigger"), 0.15,
                family=family,
            )  # fmt: skip


def _memory_stall(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for writers that the write buffer manager blocked.

    WriteBufferManager::BeginWriteStall in memtable/write_buffer_manager.cc; RocksDB 8 and newer
    count these stops.
    """
    stops = log.stall_counts.get("write-buffer-manager-limit-stops", 0)
    if stops:
        yield Finding(
            "memory-stall", "Writers waited for the memory limit of all memtables",
            f"The last dump counts {stops:,} stops. The write buffer manager blocks writers when "
            "the memtables of all databases that share the manager are over its limit.",
            ("allow_stall", "db_write_buffer_size", "write_buffer_size"), 0.6,
        )  # fmt: skip


def _debt_jumps(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for stops with few slowdowns before.

    facebook/rocksdb#9423 and #10057: before 7.5, level targets moved with the size of level 0.
    """
    dynamic = log.option("level_compaction_dynamic_level_bytes") in ON
    if not dynamic or not version_in(log, until="7.5"):
        return
    own = [stall for stall in log.stalls if stall.cause == _PENDING]
    stops, delays = (
        sum(stall.warnings for stall in own if stall.kind == kind) for kind in ("stop", "delay")
    )
    if stops > delays:
        yield Finding(
            "debt-jumps", "Writes stopped for pending bytes with little slowdown before",
            f"RocksDB warned of {stops:,} stops and {delays:,} slowdowns. Below RocksDB 7.5, the "
            "estimate of pending bytes can jump over the whole range of the slowdown; this is "
            f"RocksDB {log.version}.",
            ("hard_pending_compaction_bytes_limit", "soft_pending_compaction_bytes_limit"), 0.35,
        )  # fmt: skip


def _mean_rate(log: Inspection, _family: str) -> float | None:
    rate = log.load.ingest_bytes_s
    return None if rate is None else whole_mib(rate)


ORDER = 20
RULES = (
    Rule(_rate_limiter, (STALLS, OPTIONS)),
    Rule(_slow_rate, (STALLS,)),
    Rule(_noisy_family, (STALLS, OPTIONS)),
    Rule(_memory_stall, (STALLS,)),
    Rule(_debt_jumps, (STALLS, OPTIONS, VERSION)),
)
FIRST_STEPS: FirstSteps = {
    "rate-limiter": Step("raise", "rate_limiter_bytes_per_sec"),
    "slow-write-rate": Step(
        "raise", "delayed_write_rate", _mean_rate, reason="the mean rate of writes in this text"
    ),
    "noisy-family": Step(
        "set", "low_pri", True, of="for writes to this family", rest="if they can wait"
    ),
    "memory-stall": Step("set", "allow_stall", False, of="of the write buffer manager"),
    "debt-jumps": Step(
        "raise", "hard_pending_compaction_bytes_limit", first="upgrade to RocksDB 7.5, or",
        also=Step("raise", "soft_pending_compaction_bytes_limit"),
    ),
}  # fmt: skip
CHECKS = {
    "rate-limiter": STALLS_FALL,
    "slow-write-rate": "fewer warnings of 64 KiB/s, and a higher lowest rate",
    "noisy-family": STALLS_FALL,
    "memory-stall": "the count write-buffer-manager-limit-stops rises more slowly",
    "debt-jumps": "fewer warnings that writes stopped",
}
