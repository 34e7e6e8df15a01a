"""Names and numbers of RocksDB's enumerators: LOGs print numbers, OPTIONS files print names.

From include/rocksdb/table.h, compression_type.h, advanced_options.h and options.h.
"""

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


def enumerator(option: str, text: str) -> str:
    """Return the name of the value of an option; the text itself where it is no number."""
    names = _NAMES.get(option, ())
    if text.isdecimal() and len(text) == 1 and int(text) < len(names):
        return names[int(text)]
    return text
