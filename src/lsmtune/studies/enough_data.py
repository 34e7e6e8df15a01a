"""Check whether a workload writes enough data to measure write amplification."""

from collections.abc import Iterable
from math import ceil, floor, log10

from lsmtune.errors import UserError
from lsmtune.knobs.memory import FEWEST_FLUSHES, memtable_bytes
from lsmtune.knobs.types import Settings
from lsmtune.objective import Metrics
from lsmtune.workloads import Workload
from lsmtune.workloads.operations import written_bytes

_TIKV = "rocksdb.defaultcf.write-buffer-size"
"""Memtable of the column family in which TiKV has the records."""
_WRITTEN = frozenset({"write_amp", "wal_inclusive_write_amp"})
_SPARE = 1.25
"""A sufficient number gets so much more, because flushes differ between runs."""


def expected_flushes(load: Workload, base: Settings) -> float | None:
    """Estimate the flushes of the baseline before the first run; None if it is not known."""
    written, memtables = written_bytes(load), memtable_bytes(base)
    if written is not None and base.get(_TIKV):
        return written / float(base[_TIKV])
    if written is None or not memtables or not base.get("max_write_buffer_number"):
        return None
    return written / (memtables / float(base["max_write_buffer_number"]))


def must_flush(load: Workload, needed: Iterable[str]) -> bool:
    """Return whether a study must measure write amplification; `needed` are its metrics.

    A workload that also reads can be tuned for its reads. lsmtune cannot make TiKV's memtables
    smaller, so there such a workload need not fill them. The searched memtables are then at most as
    large as those of the baseline.
    """
    reads_too = load.kind == "mixed" and load.preset.engine == "tikv"
    return load.kind != "read" and not (reads_too and _WRITTEN.isdisjoint(needed))


def check_flushes(
    load: Workload, base: Metrics, needed: Iterable[str] = (), expected: float | None = None
) -> None:
    """Raise UserError if the baseline flushes too seldom to measure its write amplification.

    `needed` are the metrics of the study. `expected` is the estimate of the flushes. It is used if
    the baseline has not flushed at all.
    """
    flushes = base.get("flushes")
    if flushes is None or flushes >= FEWEST_FLUSHES or not must_flush(load, needed):
        return
    raise UserError(too_few(load, flushes, expected))


def check_expected_flushes(load: Workload, base: Settings, needed: Iterable[str]) -> None:
    """Raise UserError before the first run if the baseline will surely flush too seldom.

    The estimate may be wrong by a factor of two.
    """
    expected = expected_flushes(load, base)
    if expected is not None and expected < FEWEST_FLUSHES / 2 and must_flush(load, needed):
        raise UserError(too_few(load, expected))


def too_few(load: Workload, flushes: float, expected: float | None = None) -> str:
    """Return the message for too few flushes, with a sufficient number of records."""
    key, number = _size_of(load)
    wanted = _rounded_up(_SPARE * number * FEWEST_FLUSHES / (flushes or min(expected or 1, 1)))
    return (
        f"{key}: {number} is too small: the baseline flushes its memtables {flushes:.0f} times, "
        f"but write amplification needs at least {FEWEST_FLUSHES} flushes; use {wanted} or more"
    )


def _size_of(load: Workload) -> tuple[str, int]:
    """Return the parameter that makes the workload longer, and its value."""
    if load.duration_s is not None:
        return "workload.duration_s", load.duration_s
    if load.operations is not None or load.preset.engine == "myrocks":
        return "workload.operations", load.client_operations or load.num
    return "workload.num", load.num


def _rounded_up(value: float) -> int:
    """Return the value with two digits, rounded up."""
    step: int = 10 ** max(0, floor(log10(max(value, 1))) - 1)
    return ceil(value / step) * step
