"""What the opening of a database reads: MANIFEST, and write-ahead logs (WALs).

The lines are those of VersionSet::Recover in db/version_set.cc and of DBImpl::RecoverLogFiles in
db/db_impl/db_impl_open.cc.
"""

import re
from dataclasses import dataclass, field

from lsmtune.metrics.log_events import Event

MANIFEST, READ, SKIPPED = "manifest read", "recovered WAL", "skipped WAL"
LINES = {
    MANIFEST: "Recovered from manifest file",
    READ: "Recovering log #",
    SKIPPED: "Skipping log #",
}
"""The words of the lines, by the names of their notices."""
_KEPT_FROM = re.compile(r"min_log_number_to_keep is (\d{1,18})")
_NUMBER = re.compile(r"ing log #(\d{1,18})")
_NEEDED_FROM = re.compile(r"\(ID \d{1,10}\), log number is (\d{1,18})")


@dataclass(slots=True)
class Recovery:
    """One opening; None where the LOG does not contain the value.

    `manifest_s` is the time until MANIFEST was read and the files were open, `wal_s` the time in
    which WALs were read. `kept_from` is the oldest WAL that RocksDB keeps, `needed_from` the oldest
    one with data that a column family has not flushed, and `first_wal` the first one that was read.
    """

    manifest_s: float | None = None
    wal_s: float | None = None
    kept_from: int | None = None
    needed_from: int | None = None
    first_wal: int | None = None
    _listed: int = 0
    _read: int = 0
    _skipped: int = 0
    _began_micros: int = 0

    @property
    def wal_files(self) -> int:
        """The number of WALs that were read; an excerpt may lack most of their lines."""
        return max(self._read, self._listed - self._skipped)

    @property
    def names_wals(self) -> bool:
        """Whether the LOG has lines on the WALs of this opening."""
        return bool(self._listed or self._read or self._skipped)

    def too_old_from(self, oldest: int | None) -> int:
        """Return by how much the number of a WAL is below the oldest WAL that a family needs.

        RocksDB skips such WALs, unless it has to look for prepared transactions.
        """
        return 0 if oldest is None else max(0, (self.needed_from or 0) - oldest)


@dataclass(slots=True)
class RecoveryLedger:
    """Takes lines and events of openings, in the order of the LOG."""

    openings: list[Recovery] = field(default_factory=list)

    @property
    def _last(self) -> Recovery:
        """The opening that is being read; an excerpt may begin within one."""
        if not self.openings:
            self.openings.append(Recovery())
        return self.openings[-1]

    def manifest_read(self, line: str, seconds: float) -> None:
        """Take the line that ends the reading of MANIFEST, which took this time."""
        kept = _KEPT_FROM.search(line)
        self.openings.append(Recovery(seconds, kept_from=int(kept[1]) if kept else None))

    def take_family(self, line: str) -> None:
        """Take a line on a column family, which may name the oldest WAL that the family needs."""
        if (found := _NEEDED_FROM.search(line)) is not None:
            known = self._last.needed_from
            number = int(found[1])
            self._last.needed_from = number if known is None else min(known, number)

    def take_wal(self, name: str, line: str) -> None:
        """Take a line that says that a WAL is read or skipped."""
        last, number = self._last, _NUMBER.search(line)
        if name == SKIPPED:
            last._skipped += 1
            return
        last._read += 1
        if last.first_wal is None and number is not None:
            last.first_wal = int(number[1])

    def take_event(self, event: Event) -> None:
        """Take the events that begin and end the reading of WALs."""
        if event.name == "recovery_started":
            names = ("wal_files", "log_files")  # of newer versions, and of older ones
            listed = next((event.payload[name] for name in names if name in event.payload), None)
            self._last._listed = len(listed) if isinstance(listed, list) else 0
            self._last._began_micros = event.time_micros
        elif event.name == "recovery_finished" and self._last._began_micros:
            self._last.wal_s = max(0, event.time_micros - self._last._began_micros) / 1e6
