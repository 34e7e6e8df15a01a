"""A running MyRocks under a load without end: its options are changed while it serves."""

import time

from lsmtune.engines.base import TrialFailedError, Window
from lsmtune.engines.myrocks.measure import Snapshot, read_back, snapshot
from lsmtune.engines.myrocks.options import live_statements, read_settings
from lsmtune.engines.myrocks.server import Server
from lsmtune.engines.read_back import newest_options
from lsmtune.engines.tickers import read_metrics, write_metrics
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.system.process import ChildProcess
from lsmtune.trials import Base, Status

_LOOK_S = 0.1
_TRAITS = {
    "bytes written per transaction": "rocksdb.bytes.written",
    "keys read per transaction": "rocksdb.number.keys.read",
    "seeks per transaction": "rocksdb.number.db.seek",
}
"""What a transaction does, whatever the options."""


class LiveServer:
    """A server under load. `change` sets options, `window` tells what it did meanwhile."""

    def __init__(
        self, server: Server, load: ChildProcess, catalogue: Catalogue, base: Base, set_: Settings
    ) -> None:
        self._server = server
        self._load = load
        self._catalogue = catalogue
        self._base = base
        self._settings = dict(set_)

    def change(self, settings: Settings) -> None:
        """Set the options that differ from those that run, and read all of them back."""
        # Asked anew: a change that was refused half way has set some of it.
        text = newest_options(self._server.files.store).read_text()
        now = self._settings | read_settings(self._catalogue, text, self._server.variables())
        for statement in live_statements(self._catalogue, self._base.options, now, settings):
            self._server.query(statement)
        self._settings = dict(settings)
        read_back(self._catalogue, settings, self._server)

    def window(self, seconds: float) -> Window:
        """Wait so long; TrialFailedError when server or load end meanwhile."""
        before, began, done = snapshot(self._server), time.monotonic(), self._transactions()
        while (left := began + seconds - time.monotonic()) > 0:
            if not self._load.running:
                raise TrialFailedError(
                    Status.CRASHED, "sysbench ended before the measuring window was over"
                )
            self._load.read_line(min(_LOOK_S, left))
        after, took_s = snapshot(self._server), time.monotonic() - began
        return _window(after, before, self._transactions() - done, took_s)

    def _transactions(self) -> int:
        rows = self._server.query("SHOW GLOBAL STATUS LIKE 'Com_commit'")
        return int(str(rows[0][1]))


def _window(after: Snapshot, before: Snapshot, transactions: int, took_s: float) -> Window:
    counted = after.since(before)
    if not transactions:
        reason = f"sysbench committed no transaction within {took_s:.0f} s"
        raise TrialFailedError(Status.TIMED_OUT, reason)
    written = counted.tickers.get("rocksdb.bytes.written", 0)
    metrics = {
        "throughput_ops_s": transactions / took_s,
        **(write_metrics(counted) if written else {}),
        **read_metrics(counted),
    }
    traits = {name: counted.tickers.get(t, 0) / transactions for name, t in _TRAITS.items()}
    return Window(metrics, traits)
