"""When TiKV has settled: seen from what it counts, which it does anew every few seconds."""

import time

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.tikv.status import StatusServer
from lsmtune.metrics.prometheus import Series
from lsmtune.trials import Status

_LOOKS = 4
_QUIET = 1.5
"""So many refreshes without any work: one of them lies wholly in that time."""


def settle(server: StatusServer, refresh_s: float, limit_s: float) -> tuple[Series, float]:
    """Wait until no flush or compaction runs; what is counted then, and for how long work was seen.

    The time is as coarse as the refreshes. TrialFailedError when the limit passes first.
    """
    began = worked = time.monotonic()
    moved = _moved(server.metrics())
    while True:
        time.sleep(refresh_s / _LOOKS)
        counted, looked = server.metrics(), time.monotonic()
        if _is_busy(counted) or _moved(counted) != moved:
            moved, worked = _moved(counted), looked
        elif looked - worked > _QUIET * refresh_s:
            return counted, worked - began
        if looked - began > limit_s:
            reason = f"TiKV did not finish its flushes and compactions within {limit_s:g} s"
            raise TrialFailedError(Status.TIMED_OUT, reason)


def _is_busy(counted: Series) -> bool:
    running = ("tikv_engine_num_running_compactions", "tikv_engine_num_running_flushes")
    return any(counted.total(name, db="kv") for name in running)


def _moved(counted: Series) -> tuple[float | None, ...]:
    """What flushes and compactions have written so far."""
    return (
        counted.total("tikv_engine_flow_bytes", db="kv", type="flush_write_bytes"),
        counted.total("tikv_engine_compaction_flow_bytes", db="kv", type="bytes_written"),
    )
