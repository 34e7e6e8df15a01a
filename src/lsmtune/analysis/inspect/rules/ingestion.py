"""Files that a program adds (IngestExternalFile)."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS, SHAPES
from lsmtune.analysis.inspect.rules.rule import Rule, percent

_FLUSHES, _SHARE = 3, 0.3
_LEVEL_0_SHARE = 0.1
_REASON = "External File Ingestion"


def _into_level_0(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for added files that go to level 0.

    ExternalSstFileIngestionJob in db/external_sst_file_ingestion_job.cc: they overlap with
    others.
    """
    for family, added in log.ingested.items():
        share = added.level_0_files / added.files
        if share >= _LEVEL_0_SHARE:
            yield Finding(
                "ingested-to-l0", "Added files go to level 0, because they overlap",
                f"{added.level_0_files:,} of {added.files:,} added files went to level 0, where "
                "they count for the triggers of write stalls.",
                ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger"),
                0.3 * share, family=family,
            )  # fmt: skip


def _flushes(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for added files that flush memtables while writers wait.

    DBImpl::IngestExternalFiles in db/db_impl/db_impl.cc; tikv/rust-rocksdb#218.
    """
    reasons = [job.reason for job in log.jobs if job.kind == "flush" and job.reason]
    count = reasons.count(_REASON)
    if count >= _FLUSHES and count >= _SHARE * len(reasons):
        yield Finding(
            "ingestion-flushes", "Adding files flushes memtables while writers wait",
            f"{percent(count / len(reasons))} of {len(reasons)} flushes have the reason "
            f"“{_REASON}”: the added files overlap with memtables.",
            ("allow_blocking_flush",), 0.3,
        )  # fmt: skip


RULES = (Rule(_into_level_0, (SHAPES,)), Rule(_flushes, (EVENTS,)))
