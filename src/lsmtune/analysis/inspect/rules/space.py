"""Space that is not given back: old files, trash, old WALs, universal compaction."""

import re
from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, OPTIONS
from lsmtune.analysis.inspect.rule import (
    OFF,
    UNIVERSAL,
    FirstSteps,
    Rule,
    noticed,
    percent,
    quoted,
    share_of_reason,
    version_in,
)
from lsmtune.metrics.log_notices import Notices

_WHOLE = 0.5
_FULL = "UniversalSizeAmplification"


def _universal_space(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for full compactions, which need the space of all data again.

    UniversalCompactionBuilder::PickCompactionToReduceSizeAmp in
    db/compaction/compaction_picker_universal.cc; facebook/rocksdb#10533.
    """
    count = sum(1 for job in log.jobs if job.reason == _FULL)
    share = share_of_reason(log, _FULL)
    limit = log.option("compaction_options_universal.max_size_amplification_percent")
    if count >= 3 and share >= _WHOLE:  # noqa: PLR2004 - not the first merges of a new store
        yield Finding(
            "universal-space", "Universal compaction merges all data most of the time",
            f"{count} compactions with the reason {_FULL} wrote {percent(share)} of the compacted "
            "bytes. Such a compaction needs free disk space of the size of all data."
            + (f" max_size_amplification_percent is {limit}." if limit else ""),
            ("universal_max_size_amplification_percent", "num_levels", "max_subcompactions"), 0.3,
        )  # fmt: skip


def _deletions_off(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a deletion of files that stays off.

    DBImpl::DisableFileDeletions in db/db_impl/db_impl_files.cc; facebook/rocksdb#10013. A pair of
    these lines, or two pairs in a row, is a backup that ended.
    """
    last = {
        name: log.notices[name].last if name in log.notices else 0
        for name in ("deletions off", "deletions still off", "deletions on")
    }
    if last["deletions on"] < max(last["deletions off"], last["deletions still off"]):
        yield Finding(
            "deletions-off", "Old files stay on disk: the deletion of files is off",
            f"{quoted(log, 'deletions off')} No line after it enables deletions again."
            if "deletions off" in log.notices
            else quoted(log, "deletions still off"),
            (), 0.5,
        )  # fmt: skip


def _static_levels(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a last level that is not much larger than the level above it.

    facebook/rocksdb#637 and #11525.
    """
    for family in log.families:
        sizes = [
            row.size_bytes or 0
            for row in log.levels
            if row.family == family and row.level != "L0" and row.size_bytes
        ]
        if log.family_option(family, "level_compaction_dynamic_level_bytes") not in OFF:
            continue
        if log.family_option(family, "compaction_style") in UNIVERSAL or len(sizes) < 2:  # noqa: PLR2004
            continue
        above, last = sizes[-2:]
        if last < above and above > log.family_number(family, "max_bytes_for_level_base"):
            switch = (
                " Below RocksDB 8.2, a switch to dynamic levels needs a full compaction."
                if version_in(log, until="8.2")
                else ""
            )
            yield Finding(
                "static-levels", "Overwritten records may take much space: the last level is small",
                f"The last level is {last / above:.2g} times as large as the level above it. "
                f"Overwritten records stay until a compaction into the last level.{switch}",
                ("level_compaction_dynamic_level_bytes", "max_bytes_for_level_multiplier"),
                0.1, family=family,
            )  # fmt: skip


NOTICES: Notices = {
    "deletions off": "File Deletions Disabled",
    "deletions on": "File Deletions Enabled",
    "deletions still off": "File Deletions Enable, but not really enabled",
    # Above the share of trash that is allowed, files are deleted at once in spite of the rate.
    "trash is large": (
        " immediately, rate_bytes_per_sec ",
        re.compile(r"bytes_per_sec [1-9]\d{0,18}, total_trash_size [1-9]"),
    ),
    "WAL kept": "Unable to release oldest log due to uncommitted transaction",
}
ORDER = 110
RULES = (
    Rule(_universal_space, (EVENTS,)),
    Rule(_deletions_off, (EVENTS,)),
    # DeleteScheduler::DeleteFile in file/delete_scheduler.cc; facebook/rocksdb#2436
    noticed("trash is large", EVENTS, Finding(
        "trash-piles-up", "Files are deleted more slowly than they become obsolete",
        "So much trash waited that RocksDB deleted this file at once, in spite of the delete rate "
        "of sst_file_manager.", ("sst_file_manager",), 0.4)),
    # DBImpl::SwitchWAL in db/db_impl/db_impl_write.cc
    noticed("WAL kept", EVENTS, Finding(
        "wal-kept", "A transaction that is not committed keeps old WAL files",
        "Commit or roll back prepared transactions.", (), 0.5)),
    Rule(_static_levels, (OPTIONS,)),
)  # fmt: skip
FIRST_STEPS: FirstSteps = {
    "wal-kept": "commit or roll back prepared transactions",
    "universal-space": Step(
        "lower", "universal_max_size_amplification_percent",
        first="keep free space for all data, then",
    ),
    "deletions-off": "call EnableFileDeletions once for each DisableFileDeletions",
    "trash-piles-up": Step("raise", "sst_file_manager", of="(its deletion rate)"),
    "static-levels": Step("set", "level_compaction_dynamic_level_bytes", True),
}  # fmt: skip
CHECKS = {
    "wal-kept": "the WAL files take less disk space",
    "universal-space": "fewer compactions have the reason UniversalSizeAmplification",
    "deletions-off": "a line “File Deletions Enabled” follows",
    "trash-piles-up": "less trash waits for deletion",
    "static-levels": "the last level grows above the others",
}
