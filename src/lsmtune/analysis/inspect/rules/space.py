"""Space that is not given back: garbage in blob files, old files, universal compaction."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import BLOBS, EVENTS, OPTIONS
from lsmtune.analysis.inspect.rules.rule import Rule, percent, quoted, share_of_reason

_MUCH_BLOB_SPACE = 1.5
_WHOLE = 0.8
_FULL = "UniversalSizeAmplification"
_UNIVERSAL = ("1", "kCompactionStyleUniversal")


def _blob_garbage(log: Inspection) -> Iterator[Finding]:
    """Row 48."""
    for family, blobs in log.blobs.items():
        if blobs.space_amp < _MUCH_BLOB_SPACE:
            continue
        collected = log.family_option(family, "enable_blob_garbage_collection")
        off = " Garbage collection is off." if collected in ("0", "false") else ""
        yield Finding(
            "blob-garbage", "Blob files contain much garbage",
            f"{blobs.files} blob files take {blobs.space_amp:g} times the size of the live "
            f"values (rounded by RocksDB, last dump).{off}",
            ("enable_blob_garbage_collection", "blob_garbage_collection_age_cutoff",
             "blob_garbage_collection_force_threshold", "blob_file_size"),
            min(0.6, 0.2 * blobs.space_amp), family=family,
        )  # fmt: skip


def _universal_space(log: Inspection) -> Iterator[Finding]:
    """Row 15: a full compaction needs the space of the data again."""
    count = sum(1 for job in log.jobs if job.reason == _FULL)
    share = share_of_reason(log, _FULL)
    if count >= 3 and share >= _WHOLE:  # noqa: PLR2004 - not the first merges of a new store
        yield Finding(
            "universal-space", "Universal compaction merges all data most of the time",
            f"{count} compactions with the reason {_FULL} wrote {percent(share)} of the compacted "
            "bytes. Such a compaction needs free disk space of the size of all data.",
            ("universal_max_size_amplification_percent", "num_levels", "max_subcompactions"), 0.3,
        )  # fmt: skip


def _deletions_off(log: Inspection) -> Iterator[Finding]:
    """Row 18."""
    off, on = (log.notices.get(f"deletions {word}") for word in ("off", "on"))
    if off is not None and off.count > (on.count if on else 0):
        yield Finding(
            "deletions-off", "Old files stay on disk: the deletion of files is off",
            f"{quoted(log, 'deletions off')} No line after it enables deletions again.", (), 0.5,
        )  # fmt: skip


def _static_levels(log: Inspection) -> Iterator[Finding]:
    """Row 14: the last level is not much larger than the level above it."""
    for family in log.families:
        sizes = [
            row.size_bytes or 0
            for row in log.levels
            if row.family == family and row.level != "L0" and row.size_bytes
        ]
        if log.family_option(family, "level_compaction_dynamic_level_bytes") not in ("0", "false"):
            continue
        if log.family_option(family, "compaction_style") in _UNIVERSAL or len(sizes) < 2:  # noqa: PLR2004
            continue
        above, last = sizes[-2:]
        if last < above and above > log.family_number(family, "max_bytes_for_level_base"):
            yield Finding(
                "static-levels", "The tree may contain much garbage: its last level is small",
                f"The last level has {last / above:.2g} times the size of the level above it. "
                "Overwritten records stay until a compaction into the last level.",
                ("level_compaction_dynamic_level_bytes", "max_bytes_for_level_multiplier"),
                0.1, family=family,
            )  # fmt: skip


RULES = (
    Rule(_blob_garbage, (BLOBS,)),
    Rule(_universal_space, (EVENTS,)),
    Rule(_deletions_off, (EVENTS,)),
    Rule(_static_levels, (OPTIONS,)),
)
