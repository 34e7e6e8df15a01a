"""The knobs that a study of RocksDB tunes by default: the facts of its workload choose presets.

All that can be chosen together must be fewer than 30 knobs, which a test counts.
"""

from pydantic import ValidationError

from lsmtune.errors import UserError
from lsmtune.workloads import Workload

LARGE_VALUE_BYTES = 512
"""From this size on, values are worth a file of their own: compactions then leave them alone."""
_COMPRESSED = 7 / 8
"""RocksDB stores a compressed block only if it is smaller than this share of the block
(max_compressed_bytes_per_kb in include/rocksdb/advanced_options.h)."""


def suited_knobs(load: Workload) -> str:
    """Return the presets that suit a workload, separated by commas.

    A workload that only writes has reads too: those that show what its configs do to reads.
    """
    kinds = set(load.definition.measured_kinds)
    writes, is_large = load.kind != "read", load.value_size >= LARGE_VALUE_BYTES
    only_scans = "scan" in kinds and not kinds & {"get", "get_missing"}
    chosen = {
        "tree": True,
        "flushes": writes,
        "filters": not only_scans,
        "lookups": not writes and not only_scans,
        "scans": only_scans,
        "codecs": load.compression_ratio <= _COMPRESSED,
        "small-records": not is_large,
        "blobs": is_large,
    }
    return ",".join(name for name, is_chosen in chosen.items() if is_chosen)


def knobs_of(given: object) -> str:
    """Return the presets that suit a workload that is not checked yet.

    A later check refuses a wrong one; until then it has those of the default workload.
    """
    try:
        return suited_knobs(Workload.model_validate(given))
    except (ValidationError, UserError):
        return suited_knobs(Workload())
