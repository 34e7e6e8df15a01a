"""Work that users do not expect: compactions by age, manual ones, costly statistics."""

import re
from collections import Counter
from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS
from lsmtune.analysis.inspect.rule import (
    STALLS_FALL,
    FirstSteps,
    Rule,
    noticed,
    percent,
    share_of_reason,
)
from lsmtune.analysis.inspect.stall_causes import L0
from lsmtune.metrics.log_notices import Notices

_MUCH = 0.2
_MOST = 0.5
_TIMED = {"PeriodicCompaction": "periodic_compaction_seconds", "Ttl": "ttl"}


def _timed_compactions(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for compactions that run because files are old.

    VersionStorageInfo::ComputeExpiredTtlFiles in db/version_set.cc; tikv/tikv#14754.
    """
    for reason, option in _TIMED.items():
        share = share_of_reason(log, reason)
        if share >= _MUCH:
            value = log.option(option)
            yield Finding(
                "timed-compactions", "Compactions run because files are old, not because of writes",
                f"{percent(share)} of the compacted bytes have the reason {reason}."
                + (f" {option} is {value}." if value else ""),
                (option,), 0.5 * share,
            )  # fmt: skip


def _manual_compactions(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a manual compaction while writes stalled.

    DBImpl::CompactRange in db/db_impl/db_impl_compaction_flush.cc; facebook/rocksdb#3982.
    """
    share = share_of_reason(log, "ManualCompaction")
    if share < _MOST or not log.stalls:
        return
    warnings = Counter[str]()
    for stall in log.stalls:
        warnings[stall.cause] += stall.warnings
    by_level_0 = warnings[L0] > sum(warnings.values()) / 2
    why = (
        "While they run, level 0 waits for its compaction and grows."
        if by_level_0
        else "The pending bytes of a manual compaction count for the limits of write stalls."
    )
    options = ("disable_auto_compactions", "exclusive_manual_compaction")
    yield Finding(
        "manual-compaction", "A manual compaction ran while writes stalled",
        f"{percent(share)} of the compacted bytes are of manual compactions (reason "
        f"ManualCompaction; in old versions, score -1): a program called CompactRange. {why}",
        options[::-1] if by_level_0 else options, 0.4 * share,
    )  # fmt: skip


NOTICES: Notices = {
    # Levels 0 to 3 leave out the timers that cost most (include/rocksdb/statistics.h).
    "timers": ("Options.statistics stats level: ", re.compile(r"stats level: [45]")),
}
ORDER = 160
RULES = (
    Rule(_timed_compactions, (EVENTS,)),
    Rule(_manual_compactions, (EVENTS,)),
    # StatsLevel in include/rocksdb/statistics.h; facebook/rocksdb#5027. A store that waits for
    # its device does not notice them.
    noticed("timers", OPTIONS, Finding(
        "costly-statistics", "The statistics include timers that can cost throughput",
        "Level 3 leaves out the timers that cost most.", ("stats_level",), 0.1)),
)  # fmt: skip
FIRST_STEPS: FirstSteps = {
    "timed-compactions": tuple(
        Step("raise", option, rest="or set it to 0 if no data expire")
        for option in _TIMED.values()
    ),
    "manual-compaction": (
        Step("set", "disable_auto_compactions", True,
             rest="during CompactRange; set it to false afterwards"),
        Step("set", "exclusive_manual_compaction", False, of="of CompactRange",
             first="run fewer or smaller manual compactions, and"),
    ),
    "costly-statistics": Step(
        "set", "stats_level", "kExceptDetailedTimers", rest="(level 3)"
    ),
}  # fmt: skip
CHECKS = {
    "timed-compactions": "a smaller share of the compacted bytes has this reason",
    "manual-compaction": STALLS_FALL,
}
