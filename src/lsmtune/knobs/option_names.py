"""Names of RocksDB's options: which section of an OPTIONS file has an option, in any version.

The data are read from RocksDB's sources by benchmarks/rocksdb_option_names.py.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from lsmtune.knobs.families import DATABASE_SECTION, FAMILY_SECTIONS

SECTIONS = (DATABASE_SECTION, *FAMILY_SECTIONS)
"""Sections of an OPTIONS file, without the name of the column family."""

STRUCTS = ("compaction_options_universal", "compaction_options_fifo", "compression_opts",
           "bottommost_compression_opts", "blob_compression_opts")  # fmt: skip
"""Options that have fields; a LOG prints each field as `option.field`."""

_DATA = "rocksdb_option_names.json"
_CODECS = ("kNoCompression", "kSnappyCompression", "kZlibCompression", "kBZip2Compression",
           "kLZ4Compression", "kLZ4HCCompression", "kXpressCompression", "kZSTD")  # fmt: skip
_NAMES: dict[str, tuple[str, ...]] = {
    "access_hint_on_compaction_start": ("NONE", "NORMAL", "SEQUENTIAL", "WILLNEED"),
    "blob_compression_type": _CODECS,
    "bottommost_compression": _CODECS,
    "checksum": ("kNoChecksum", "kCRC32c", "kxxHash", "kxxHash64", "kXXH3"),
    "compaction_pri": ("kByCompensatedSize", "kOldestLargestSeqFirst", "kOldestSmallestSeqFirst",
                       "kMinOverlappingRatio", "kRoundRobin"),
    "compaction_style": ("kCompactionStyleLevel", "kCompactionStyleUniversal",
                         "kCompactionStyleFIFO", "kCompactionStyleNone"),
    "compression": _CODECS,
    "data_block_index_type": ("kDataBlockBinarySearch", "kDataBlockBinaryAndHash"),
    "index_shortening": ("kNoShortening", "kShortenSeparators", "kShortenSeparatorsAndSuccessor"),
    "index_type": ("kBinarySearch", "kHashSearch", "kTwoLevelIndexSearch",
                   "kBinarySearchWithFirstKey"),
    "prepopulate_block_cache": ("kDisable", "kFlushOnly", "kFlushAndCompaction"),
    "wal_compression": _CODECS,
    "wal_recovery_mode": ("kTolerateCorruptedTailRecords", "kAbsoluteConsistency",
                          "kPointInTimeRecovery", "kSkipAnyCorruptedRecords"),
}  # fmt: skip


def section_of(name: str) -> str | None:
    """Return the section that has an option; None if no version of RocksDB has the option.

    `name` may be a field of a struct, such as `compaction_options_universal.size_ratio`.
    """
    option, _, field = name.partition(".")
    return _sections().get(option) if not field or option in STRUCTS else None


@cache
def _sections() -> Mapping[str, str]:
    text = files("lsmtune.data").joinpath(_DATA).read_text(encoding="utf-8")
    names: dict[str, list[str]] = json.loads(text)
    return {name: section for section in reversed(SECTIONS) for name in names[section]}


def enumerator(option: str, text: str) -> str:
    """Return the name of the value of an option; the text itself where it is no number."""
    names = _NAMES.get(option, ())
    if text.isdecimal() and len(text) == 1 and int(text) < len(names):
        return names[int(text)]
    return text
