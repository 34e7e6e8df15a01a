"""Options of a store on which the steps and the measurement of a running trial depend."""

from dataclasses import dataclass

from lsmtune.engines.rocksdb.driver.live import compresses_in_parallel
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.knobs.option_text import struct_fields
from lsmtune.metrics.options_file import parse_options, unescaped

_UNIVERSAL = "kCompactionStyleUniversal"
_FULL_MERGE = 200.0
"""RocksDB's default of max_size_amplification_percent."""


@dataclass(frozen=True, slots=True)
class Style:
    """Options on which a trial depends.

    `full_merge` is the size of all other sorted runs / the last one at which universal compaction
    merges all; None for other styles. With `parallel`, RocksDB's counters miss written bytes.
    `blobs`: values are in blob files.
    """

    full_merge: float | None
    parallel: bool
    blobs: bool

    @classmethod
    def of(cls, options: str) -> "Style":
        """Read the text of an OPTIONS file."""
        family = parse_options(options).sections.get(f'CFOptions "{DEFAULT_FAMILY}"', {})
        full_merge = None
        if family.get("compaction_style") == _UNIVERSAL:
            text = unescaped(family.get("compaction_options_universal", ""))
            fields = struct_fields(text) or {}
            full_merge = float(fields.get("max_size_amplification_percent", _FULL_MERGE)) / 100
        blobs = family.get("enable_blob_files") == "true"
        return cls(full_merge, compresses_in_parallel(options), blobs)
