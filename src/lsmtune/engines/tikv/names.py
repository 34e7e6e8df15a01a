"""TiKV's names of options.

`rocksdb.writecf.block-size` is an option of the family `rocksdb.writecf`;
`rocksdb.max-background-jobs` and `storage.block-cache.capacity` belong to no family. Options that
RocksDB's rules use have RocksDB's names as plain names; all others keep TiKV's.
"""

import re

from lsmtune.knobs.families import Names, knob_name

_FAMILY = re.compile(r"(rocksdb\.\w+cf)\.(.+)")
_PLAIN = {
    "write-buffer-size": "write_buffer_size",
    "max-write-buffer-number": "max_write_buffer_number",
    "min-write-buffer-number-to-merge": "min_write_buffer_number_to_merge",
    "level0-file-num-compaction-trigger": "level0_file_num_compaction_trigger",
    "level0-slowdown-writes-trigger": "level0_slowdown_writes_trigger",
    "level0-stop-writes-trigger": "level0_stop_writes_trigger",
    "soft-pending-compaction-bytes-limit": "soft_pending_compaction_bytes_limit",
    "hard-pending-compaction-bytes-limit": "hard_pending_compaction_bytes_limit",
    "storage.block-cache.capacity": "cache_size",
    "rocksdb.max-background-jobs": "max_background_jobs",
    "rocksdb.max-sub-compactions": "subcompactions",
}
"""TiKV's names of the options that rules and ranges of threads look at, and RocksDB's."""
_OWN = {plain: name for name, plain in _PLAIN.items()}


def _split(name: str) -> tuple[str | None, str]:
    found = _FAMILY.fullmatch(name)
    if found is None:
        return None, _PLAIN.get(name, name)
    return found[1], _PLAIN.get(found[2], found[2])


def _join(option: str, family: str | None) -> tuple[str, ...]:
    own = _OWN.get(option, option)
    return (own,) if family is None else (knob_name(family, own), own)


NAMES = Names(_split, _join)
"""The form of TiKV's names."""
