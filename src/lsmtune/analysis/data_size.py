"""Check whether the runs of an experiment write enough data to judge a claim."""

from collections.abc import Iterable
from math import ceil, floor, log10

from lsmtune.errors import Argument, LsmtuneError
from lsmtune.knobs.families import option_name
from lsmtune.knobs.types import Settings
from lsmtune.workloads import Workload

MIN_FLUSHES = 4.0
"""Default of level0_file_num_compaction_trigger: after fewer flushes RocksDB does not compact."""


def written_bytes(load: Workload) -> float | None:
    """Return the bytes of the records that a run writes; of a read-only workload, those it reads.

    None if --num does not set the size (SQL) or if the number of operations is not known.
    """
    if load.preset.engine == "myrocks" and load.name != "lookup":
        return None
    if load.kind == "read":
        return float(load.build_writes * load.record_bytes)
    if load.client_operations is None:
        return None
    share = 1.0 if load.get_percent is None else 1 - load.get_percent / 100
    return load.client_operations * load.threads * share * load.record_bytes


def flushes(written: float | None, settings: Settings) -> float | None:
    """Return how many times the written bytes fill the largest memtable; None if unknown."""
    sizes = [float(v) for n, v in settings.items() if option_name(n) == "write_buffer_size"]
    if written is None or not sizes or max(sizes) <= 0:
        return None
    return written / max(sizes)


def fewest(counts: Iterable[float | None]) -> float | None:
    """Return the smallest known count."""
    return min((count for count in counts if count is not None), default=None)


def too_small(count: float | None, num: int, needed: float = MIN_FLUSHES) -> str | None:
    """Return why runs with that number of flushes are not judged; None if they are.

    `num` is the number of records that gave this count.
    """
    if count is None or count >= needed:
        return None
    if count <= 0:
        raise LsmtuneError("the runs wrote no data; use a larger ", Argument("num"))
    return (
        f"a run fills the memtable only {count:.2g} times, but {needed:g} times are needed; "
        f"use at least --num {_rounded_up(num * needed / count)}"
    )


def _rounded_up(value: float) -> int:
    """Round up to two significant digits."""
    unit = int(10 ** max(0, floor(log10(value)) - 1))
    return ceil(value / unit) * unit
