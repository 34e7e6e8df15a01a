"""When TiKV has settled: seen from what it counts, most of which it refreshes every few seconds."""

import time

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.tikv.status import StatusServer
from lsmtune.metrics.prometheus import Series
from lsmtune.trials import Status

LOOKS = 4
"""So often lsmtune looks within one refresh."""
_REFRESHED = (
    "tikv_engine_flow_bytes", "tikv_engine_compaction_flow_bytes", "tikv_engine_cache_efficiency",
    "tikv_engine_locate",
)  # fmt: skip
_WORK = ("flush", "compaction")


def settle(server: StatusServer, refresh_s: float, limit_s: float) -> tuple[Series, float]:
    """Wait for the first refresh after which no flush or compaction runs.

    Returns what is counted then, and for how many seconds work was seen. A refresh that changes no
    counter is known to have come after `refresh_s`. TrialFailedError when the limit passes first.
    """
    began = worked = time.monotonic()
    counted = server.metrics()
    while True:
        before = counted
        for _ in range(LOOKS):
            time.sleep(refresh_s / LOOKS)
            done, counted = _done(counted), server.metrics()
            if _done(counted) != done:
                worked = time.monotonic()
            if _refreshed(counted) != _refreshed(before):
                counted = server.metrics()  # the look may have come in the middle of the refresh
                break
        if not is_busy(counted):
            return counted, worked - began
        worked = time.monotonic()
        if worked - began > limit_s:
            reason = f"TiKV did not finish its flushes and compactions within {limit_s:g} s"
            raise TrialFailedError(Status.TIMED_OUT, reason)


def is_busy(counted: Series) -> bool:
    """Whether a flush or compaction ran at the last refresh."""
    running = ("tikv_engine_num_running_compactions", "tikv_engine_num_running_flushes")
    return any(counted.total(name, db="kv") for name in running)


def _refreshed(counted: Series) -> list[object]:
    """The counters that only a refresh changes."""
    return [counted.values.get(name) for name in _REFRESHED]


def _done(counted: Series) -> tuple[float | None, ...]:
    """How many flushes and compactions have ended; TiKV counts these at once."""
    return tuple(counted.total("tikv_engine_event_total", db="kv", type=kind) for kind in _WORK)
