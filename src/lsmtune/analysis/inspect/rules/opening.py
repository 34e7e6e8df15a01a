"""What the opening of a database takes, and what it changes."""

import re
from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPENING
from lsmtune.analysis.inspect.rule import ON, FirstSteps, Rule, files_at_opening, noticed
from lsmtune.analysis.inspect.step_values import smaller_wal
from lsmtune.metrics.log_notices import Notices
from lsmtune.metrics.log_recovery import Recovery
from lsmtune.units import MIB, format_bytes, format_duration

_SLOW_S = 30.0
_MANY_WALS = 20
_FAR = 1000
"""How far the number of the oldest WAL is behind, where the LOG does not list all of them."""
_LARGE_MANIFEST = 512 * MIB
_MANIFEST = re.compile(r"size: (\d{1,18}) Bytes")


def _slow_opening(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a long time between the lines in which RocksDB opens its tables.

    VersionSet::Recover in db/version_set.cc; RocksDB wiki, Speed-Up-DB-Open.
    """
    seconds = max((opening.manifest_s or 0.0 for opening in log.recoveries), default=0.0)
    if seconds < _SLOW_S:
        return
    told = log.notices.get("manifest size")
    manifest = _MANIFEST.search(told.first) if told else None
    files = files_at_opening(log)
    options = ["max_file_opening_threads", "target_file_size_base"]
    if log.option("skip_stats_update_on_db_open") not in ON:
        options.insert(0, "skip_stats_update_on_db_open")
    large = manifest is not None and int(manifest[1]) >= _LARGE_MANIFEST
    options.insert(0 if large else -1, "max_manifest_file_size")
    sizes = f" MANIFEST has {format_bytes(int(manifest[1]))}." if manifest else ""
    sizes += f" The store has {files:,} files." if files is not None else ""
    yield Finding(
        "slow-opening", "The opening of the database takes long",
        f"RocksDB needed {format_duration(seconds)} to read MANIFEST and to open the files."
        f"{sizes}",
        tuple(options), 0.35,
    )  # fmt: skip


def _many_wals(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for many WAL files at the opening.

    DBImpl::RecoverLogFiles in db/db_impl/db_impl_open.cc; facebook/rocksdb#3145 and #14338.
    """
    most = max(log.recoveries, key=lambda opening: opening.wal_files, default=Recovery())
    oldest = most.first_wal
    if not most.names_wals and "files at the opening" not in log.notices:
        oldest = most.kept_from  # an excerpt
    too_old = most.too_old_from(oldest)
    if most.wal_files < _MANY_WALS and too_old < _FAR:
        return
    took_s = most.wal_s or 0.0
    why = " A WAL stays until every column family has flushed what it contains."
    options: tuple[str, ...] = ("max_total_wal_size",)
    if too_old:
        options = ()
        why = (
            f" Every column family has flushed all that is in WAL files before number "
            f"{most.needed_from}, but RocksDB reads them from number {oldest} on. With "
            "two-phase commit, a prepared transaction keeps old WAL files until it is committed or "
            "rolled back."
        )
        if most.kept_from is not None:
            why += f" MANIFEST has min_log_number_to_keep = {most.kept_from}."
    elif len(log.families) == 1:  # RocksDB limits the WAL of several families only
        kept = log.option("avoid_flush_during_recovery") in ON
        options = ("avoid_flush_during_recovery",) if kept else ()
    took = f", which took {format_duration(took_s)}" if took_s >= 1 else ""
    count = f"RocksDB recovered {most.wal_files:,} WAL files{took}." if most.wal_files else ""
    yield Finding(
        "many-wals", "RocksDB reads many WAL files at the opening",
        f"{count}{why}".lstrip(),
        options, 0.5 if took_s >= _SLOW_S else 0.3,
    )  # fmt: skip


NOTICES: Notices = {
    "manifest size": "MANIFEST file:  ",
    "levels moved": "Trivially move files down the LSM when open",
}
ORDER = 150
RULES = (
    Rule(_slow_opening, (OPENING,)),
    Rule(_many_wals, (OPENING,)),
    # DBImpl::Recover in db/db_impl/db_impl_open.cc; facebook/rocksdb#13208
    noticed("levels moved", OPENING, Finding(
        "levels-moved", "The opening moved files to lower levels: compactions follow",
        "The store may have been written without level_compaction_dynamic_level_bytes, which is "
        "on by default since RocksDB 8.4.",
        ("level_compaction_dynamic_level_bytes",), 0.3)),
)  # fmt: skip
FIRST_STEPS: FirstSteps = {
    "many-wals": (
        Step("set", "max_total_wal_size", smaller_wal, reason="the size of all memtables"),
        Step("set", "avoid_flush_during_recovery", False),
        (
            "list prepared transactions (GetAllPreparedTransactions); commit or roll back "
            "those that nobody will end"
        ),
    ),
    "levels-moved": Step(
        "set", "level_compaction_dynamic_level_bytes", False,
        first="wait for compactions; if they hurt,",
    ),
    "slow-opening": (
        Step("set", "skip_stats_update_on_db_open", True),
        Step("raise", "max_file_opening_threads"),
        Step("lower", "max_manifest_file_size", 64 * MIB),
    ),
}  # fmt: skip
CHECKS = {
    "many-wals": "fewer WAL files are recovered at the next opening",
    "slow-opening": "the next opening takes less time",
}
