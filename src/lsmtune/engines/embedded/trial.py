"""One trial of an embedded store: write, settle, open again, read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.engines.base import TrialFailedError, Watch
from lsmtune.engines.embedded.plans import load_plan, probe_plan, settle_plan
from lsmtune.engines.rocksdb.bench import Files, HeldRun, evidence_of
from lsmtune.engines.rocksdb.driver.client import Client, Event
from lsmtune.engines.rocksdb.driver.output import one
from lsmtune.engines.rocksdb.driver.plans import LOAD
from lsmtune.system.process import ExitStatus
from lsmtune.system.workdir import directory_bytes
from lsmtune.trials import Status, TrialSpec

_TABLES = ("*.sst", "*.ldb", "data.mdb")
_PARTS = ("load", "settle", "probe")


@dataclass(frozen=True, slots=True)
class Part:
    """A process of the driver that has ended, and its events."""

    exit: ExitStatus
    events: Sequence[Event]

    def number(self, event: str, name: str) -> float:
        """Return a number of an event; TrialFailedError without it."""
        value = one(self.events, event).get(name)
        if not isinstance(value, int | float):
            reason = f"the driver printed no {name} in the event {event}"
            raise TrialFailedError(Status.UNREADABLE, reason)
        return float(value)


@dataclass(frozen=True, slots=True)
class Run:
    """The parts of a trial, and the sizes of the settled store in bytes.

    `disk_bytes` is the size of all files, `table_bytes` that of the files with records, and
    `peak_bytes` the largest size of the folder.
    """

    load: Part
    settle: Part
    probe: Part
    disk_bytes: int
    table_bytes: int
    peak_bytes: int


class Trial:
    """A trial in a work directory; `run` runs it, `evidence` returns its files."""

    def __init__(self, library: str, spec: TrialSpec, workdir: Path) -> None:
        self._library = library
        self._spec = spec
        self._workdir = workdir
        self.database = workdir / "db"

    def run(self, watch: Watch) -> Run:
        """Run all parts; TrialFailedError if one fails."""
        held, events = self.load(watch)
        load = Part(held.exit, events)
        settle = self._part("settle", settle_plan(self._spec))
        disk_bytes, table_bytes = self._sizes()
        watch.phase("probe")
        probe = self._part("probe", probe_plan(self._spec))
        peak_bytes = max(held.peak_space_bytes, disk_bytes)
        return Run(load, settle, probe, disk_bytes, table_bytes, peak_bytes)

    def load(self, watch: Watch) -> tuple[HeldRun, list[Event]]:
        """Write the records; return the run and its events. TrialFailedError if it fails."""
        watch.phase("load")
        client = self._client("load", load_plan(self._spec))
        return client.run_held(LOAD, self._spec.protocol, watch, None)

    def evidence(self) -> dict[str, Path]:
        """Return the files that exist, by the name under which they are kept."""
        return evidence_of(self._workdir, _PARTS, self.database)

    def _part(self, name: str, plan: Mapping[str, Any]) -> Part:
        what = f"lsmtune stopped the driver in the step {name}"
        return Part(*self._client(name, plan).run_to_end(what, self._spec.protocol))

    def _client(self, name: str, plan: Mapping[str, Any]) -> Client:
        return Client(self._library, plan, self.database, Files.of(self._workdir, name))

    def _sizes(self) -> tuple[int, int]:
        tables = [path for pattern in _TABLES for path in self.database.glob(pattern)]
        return directory_bytes(self.database), sum(path.stat().st_size for path in tables)
