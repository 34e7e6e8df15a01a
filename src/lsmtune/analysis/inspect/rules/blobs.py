"""Values in blob files."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.first_steps import Step, whole_mib
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import BLOBS, EVENTS, OPTIONS
from lsmtune.analysis.inspect.rule import OFF, ON, FirstSteps, Rule, by_family, number_or_default
from lsmtune.analysis.inspect.step_values import flush_bytes
from lsmtune.units import MIB, format_bytes

_MUCH_BLOB_SPACE = 1.5
_MOSTLY_BLOBS = 10
_LEAST_BLOBS = 64 * MIB


def _garbage(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for blob files with more garbage than the options agree to.

    With the threshold of the collection at t, a space amplification of 1 / (1 - t) is expected
    (facebook/rocksdb#9235, #13022).
    """
    for family, blobs in log.blobs.items():
        threshold = log.family_number(family, "blob_garbage_collection_force_threshold") or 1.0
        collected = log.family_option(family, "enable_blob_garbage_collection")
        agreed = 1 / (1 - threshold) if 0 < threshold < 1 and collected in ON else 0.0
        if blobs.space_amp < max(_MUCH_BLOB_SPACE, agreed):
            continue
        options = ("blob_garbage_collection_age_cutoff", "blob_garbage_collection_force_threshold")
        if log.family_number(family, options[0]) >= 1:
            options = options[::-1]  # all files are looked at already
        switch = () if collected in ON else ("enable_blob_garbage_collection",)
        off = " Garbage collection is off." if collected in OFF else ""
        yield Finding(
            "blob-garbage", "Blob files contain much garbage",
            f"{blobs.files:,} blob files take {blobs.space_amp:g} times the size of the live "
            f"values (rounded by RocksDB, last dump).{off}",
            (*switch, *options, "blob_file_size"),
            min(0.6, 0.2 * blobs.space_amp), family=family,
        )  # fmt: skip


def _always_collecting(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a threshold of 0: every blob file has enough garbage then.

    db/version_set.cc, ComputeFilesMarkedForForcedBlobGC; facebook/rocksdb#15256.
    """
    for family in log.families:
        on = log.family_option(family, "enable_blob_garbage_collection") in ON
        told = log.family_option(family, "blob_garbage_collection_force_threshold")
        if on and told is not None and log.family_number(
            family, "blob_garbage_collection_force_threshold"
        ) == 0:  # fmt: skip
            yield Finding(
                "blob-always-collected", "Blob files may be rewritten for ever, even when idle",
                "blob_garbage_collection_force_threshold is 0, so that any file has enough "
                "garbage. Values from 0.5 to 0.8 are usual; 1.0 turns it off.",
                ("blob_garbage_collection_force_threshold",), 0.3, family=family,
            )  # fmt: skip


def _large_tables(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for tables of the usual size that refer to very many values.

    facebook/rocksdb#9532 and #11570.
    """
    for family, flushes in by_family(log, "flush"):
        target, memtable = (
            log.family_number(family, name)
            for name in ("target_file_size_base", "write_buffer_size")
        )
        blobs = sum(job.blob_bytes for job in flushes)
        tables = sum(job.table_bytes or 0 for job in flushes)
        if blobs < _LEAST_BLOBS or blobs < _MOSTLY_BLOBS * tables or not 0 < memtable <= target:
            continue
        yield Finding(
            "blob-large-tables", "With blob files, a compaction moves very many values at once",
            f"Flushes wrote {format_bytes(blobs)} into blob files and {format_bytes(tables)} into "
            f"tables, and target_file_size_base is {format_bytes(target)}: a table of this size "
            f"refers to about {format_bytes(target * blobs / max(tables, 1))} of values.",
            ("target_file_size_base", "max_bytes_for_level_base", "min_blob_size"), 0.2,
            family=family,
        )  # fmt: skip


def _tables_of_options(log: Inspection) -> Iterator[Finding]:
    """Yield the finding of `_large_tables` from options alone, if the text has no flushes."""
    if any(job.kind == "flush" for job in log.jobs) or log.extent.nothing_ran:
        return
    for family in log.families:
        target, memtable = (
            number_or_default(log, family, name)
            for name in ("target_file_size_base", "write_buffer_size")
        )
        if (
            log.family_option(family, "enable_blob_files") in ON
            and 0 < flush_bytes(log, family) < target
        ):
            least = log.family_number(family, "min_blob_size")
            values = f" of {format_bytes(least)} or more" if least else ""
            yield Finding(
                "blob-large-tables", "With blob files, a compaction moves very many values at once",
                f"Values{values} are in blob files, and tables have only keys and references. But "
                f"target_file_size_base is {format_bytes(target)}, and write_buffer_size is "
                f"{format_bytes(memtable)}: a table refers to the values of many memtables.",
                ("target_file_size_base", "max_bytes_for_level_base", "min_blob_size"), 0.12,
                family=family,
            )  # fmt: skip


def _more_blob_files(log: Inspection, family: str) -> float | None:
    """Return twice the present share of old files that the collection looks at, at most all."""
    cutoff = log.family_number(family, "blob_garbage_collection_age_cutoff")
    return min(1.0, 2 * cutoff) or None


def _tenth_of_a_memtable(log: Inspection, family: str) -> float | None:
    return whole_mib(number_or_default(log, family, "write_buffer_size") / 10)


ORDER = 120
RULES = (
    Rule(_garbage, (BLOBS,)),
    Rule(_always_collecting, (OPTIONS,)),
    Rule(_large_tables, (EVENTS, OPTIONS)),
    Rule(_tables_of_options, (OPTIONS,)),
)
FIRST_STEPS: FirstSteps = {
    "blob-garbage": (
        Step("set", "enable_blob_garbage_collection", True),
        Step("raise", "blob_garbage_collection_age_cutoff", _more_blob_files),
        Step("lower", "blob_garbage_collection_force_threshold", 0.5),
    ),
    "blob-always-collected": Step("raise", "blob_garbage_collection_force_threshold", 0.5),
    "blob-large-tables": Step(
        "lower", "target_file_size_base", _tenth_of_a_memtable, reason="a tenth of a memtable"
    ),
}
CHECKS = {
    "blob-garbage": "the space amplification of the blob files falls",
    "blob-large-tables": "a compaction moves fewer values",
}
