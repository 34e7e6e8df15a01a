"""When the tree of a running server has settled."""

import re
import time

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.myrocks.server import Server
from lsmtune.system.workdir import directory_bytes
from lsmtune.trials import Protocol, Status

_TICK_S = 0.05
_SPACE_TICK_S = 0.1
_PENDING_TIMES_QUIET = 4
_WORKING = re.compile(r"operation_type: \w")
_PENDING = """SELECT COUNT(*) FROM information_schema.ROCKSDB_CFSTATS WHERE VALUE > 0 AND STAT_TYPE
IN ('NUM_IMMUTABLE_MEM_TABLE', 'MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING')"""


class SpaceMeter:
    """Notes the largest size of a store; `look` is called now and then."""

    def __init__(self, server: Server) -> None:
        self._store = server.files.store
        self._measured = 0.0
        self.peak_bytes = 0

    def look(self) -> None:
        """Look at the size, at most every tenth of a second."""
        now = time.monotonic()
        if now - self._measured >= _SPACE_TICK_S:
            self._measured = now
            self.peak_bytes = max(self.peak_bytes, directory_bytes(self._store))


def settle(server: Server, protocol: Protocol, meter: SpaceMeter) -> None:
    """Flush all memtables, wait until no flush or compaction has run for the protocol's quiet time.

    RocksDB's log cannot tell it: its last lines are written out only when more follow. What is
    said to be pending is waited for four times as long: under universal compaction that may be
    said for ever. TrialFailedError when the tree does not settle within the protocol's limit.
    """
    server.query("SET GLOBAL rocksdb_force_flush_memtable_now = 1")
    started = quiet_since = time.monotonic()
    pending = True
    while time.monotonic() - quiet_since < protocol.quiet_s * (
        _PENDING_TIMES_QUIET if pending else 1
    ):
        time.sleep(_TICK_S)
        meter.look()
        if _WORKING.search(server.status()):
            quiet_since = time.monotonic()
        pending = server.query(_PENDING) != [(0,)]
        if time.monotonic() - started > protocol.wall_limit_s:
            reason = (
                "MyRocks did not finish its flushes and compactions within "
                f"{protocol.wall_limit_s:g} s"
            )
            raise TrialFailedError(Status.TIMED_OUT, reason)
