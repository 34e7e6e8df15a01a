"""FIFO compaction: data that disappears, or does not."""

import re
from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS, VERSION
from lsmtune.analysis.inspect.rule import (
    FIFO,
    ON,
    FirstSteps,
    Rule,
    noticed,
    number_or_default,
    version_in,
)
from lsmtune.analysis.inspect.step_values import flush_bytes
from lsmtune.metrics.log_notices import Notices
from lsmtune.units import format_bytes

_TABLES = "compaction_options_fifo.max_table_files_size"
_DATA = "compaction_options_fifo.max_data_files_size"
"""It replaces the other limit if it is set (RocksDB 11)."""
_PERIOD = "periodic_compaction_seconds"
_ALLOW = "compaction_options_fifo.allow_compaction"
_MANY = 10


def _tiny_limit(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a limit of all files that is below one memtable.

    FIFOCompactionPicker::PickSizeCompaction in db/compaction/compaction_picker_fifo.cc deletes the
    oldest files until the others are within the limit; the newest file is no exception.
    """
    for family in log.families:
        if log.family_option(family, "compaction_style") not in FIFO:
            continue
        tables, data = (number_or_default(log, family, name) for name in (_TABLES, _DATA))
        limit, flushed = data or tables, flush_bytes(log, family)
        if 0 < limit < flushed:
            yield Finding(
                "fifo-tiny-limit", "FIFO compaction deletes the data of each full memtable",
                f"{(_DATA if data else _TABLES).rpartition('.')[2]} is {format_bytes(limit)} (the "
                f"unit is bytes), and a flush of full memtables can write {format_bytes(flushed)}. "
                "RocksDB deletes files until the size of all files is within the limit.",
                ("fifo_max_table_files_size", "write_buffer_size"), 0.7, family=family,
            )  # fmt: skip


def _merges_and_ttl(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for merges together with a ttl.

    facebook/rocksdb#13788: a merged file has the oldest time of its parts; since 9.9 the newest
    key counts.
    """
    if not version_in(log, until="9.9"):
        return
    for family in log.families:
        if log.family_option(family, "compaction_style") not in FIFO:
            continue
        ttl = log.family_number(family, "ttl")
        if ttl and log.family_option(family, _ALLOW) in ON:
            yield Finding(
                "fifo-merges-ttl", "FIFO compaction can delete young data",
                f"ttl is {ttl:.0f} s and allow_compaction is on. A merged file has the time of its "
                f"oldest part, up to RocksDB 9.8; this is RocksDB {log.version}.",
                ("fifo_compaction_allow_compaction", "ttl"), 0.4, family=family,
            )  # fmt: skip


NOTICES: Notices = {
    "FIFO drops": ("FIFO compaction: picking file", re.compile(r"picking file \d{1,20} with size")),
    "periodic ignored": "periodic_compaction_seconds does not support FIFO compaction",
}
ORDER = 130
RULES = (
    # FIFOCompactionPicker::PickSizeCompaction; deletions by ttl have another line
    noticed("FIFO drops", EVENTS, Finding(
        "fifo-drops", "FIFO compaction deletes the oldest data",
        "RocksDB deletes the oldest files above the limit of the total size.",
        ("fifo_max_table_files_size", "ttl"), 0.5)),
    Rule(_tiny_limit, (OPTIONS,)),
    Rule(_merges_and_ttl, (OPTIONS, VERSION)),
    # SanitizeOptions in db/column_family.cc
    noticed("periodic ignored", OPTIONS, Finding(
        "fifo-period-ignored", "periodic_compaction_seconds has no effect with FIFO",
        "", ("ttl", "periodic_compaction_seconds"), 0.2)),
)  # fmt: skip
FIRST_STEPS: FirstSteps = {
    "fifo-tiny-limit": Step(
        "set", "fifo_max_table_files_size", lambda log, family: _MANY * flush_bytes(log, family),
        reason=f"{_MANY} flushes of full memtables, or more if more data must stay",
    ),
    "fifo-drops": Step("raise", "fifo_max_table_files_size", rest="if the data must stay"),
    "fifo-merges-ttl": Step("set", "fifo_compaction_allow_compaction", False),
    "fifo-period-ignored": Step(
        "set", "ttl", lambda log, family: log.family_number(family, _PERIOD) or None,
        reason=f"the value of {_PERIOD}",
    ),
}  # fmt: skip
CHECKS = {
    "fifo-tiny-limit": "flushed tables stay longer than a moment",
    "fifo-drops": "no line “FIFO compaction: picking file”",
}
