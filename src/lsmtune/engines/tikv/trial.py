"""One trial on the user's TiKV: options into force, records, load, settle, probe."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from lsmtune.engines.base import Places, TrialFailedError, Watch
from lsmtune.engines.debt import owing
from lsmtune.engines.tikv.loads import GoYcsb, loading, most_failed_percent, probing, running
from lsmtune.engines.tikv.measure import (
    cpu_metrics,
    live_bytes,
    read_metrics,
    records,
    stalls,
    transactional,
    version,
    write_metrics,
)
from lsmtune.engines.tikv.node import Node, run_told
from lsmtune.engines.tikv.settings import NAMES, Cluster
from lsmtune.engines.tikv.status import is_busy, settle
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings, Value
from lsmtune.metrics.measurement import Measurement
from lsmtune.metrics.prometheus import Series
from lsmtune.system.workdir import create_workdir
from lsmtune.trials import Base, Status, TrialSpec
from lsmtune.workloads import Workload

_COMPACTIONS_OFF = "disable-auto-compactions"
_STARTED = "process_start_time_seconds"
_KEPT = ("tikv_engine_", "tikv_thread_cpu_", "tikv_server_info", "process_")
"""The metrics that are kept as evidence; TiKV tells ten times as many."""

_FACTS = "records.json"
_LEAST = 0.1
"""A store with a smaller share of the records has lost them. TiKV's count is rough, and of several
TiKVs each has a part."""


class _Loaded(BaseModel):
    """The options that shaped the files; None while a load is under way."""

    model_config = ConfigDict(frozen=True)
    shape: dict[str, Value] | None


class Records:
    """The records of a load in a table of their own, which go-ycsb puts before each key.

    What was loaded is remembered in the folder of templates: the table belongs to that folder.
    """

    def __init__(self, folder: Path, cluster: Cluster, load: Workload) -> None:
        identity = [str(folder), cluster.pd, cluster.api, load.num, load.value_size]
        self.table = f"lsmtune{hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:8]}"
        self._place = folder / f"tikv-{self.table}"
        self._num = load.num

    @property
    def are_remembered(self) -> bool:
        """Whether lsmtune has started to load them."""
        return (self._place / _FACTS).exists()

    def are_there(self, shape: Mapping[str, Value] | None, counted: float | None) -> bool:
        """Whether they are loaded already, with this shape if one is given.

        `counted` is about how many records the whole store holds, if that is known.
        """
        loaded = self._loaded()
        if loaded is None or self.are_lost(counted):
            return False
        return shape is None or loaded == shape

    def are_lost(self, counted: float | None) -> bool:
        """Whether the whole store holds too few records for these to be among them."""
        return counted is not None and counted < _LEAST * self._num

    def forget(self) -> None:
        """A load begins: until it has ended nothing is known."""
        self._keep(None)

    def remember(self, shape: Mapping[str, Value]) -> None:
        """They are loaded, under these options."""
        self._keep(dict(shape))

    def _keep(self, shape: dict[str, Value] | None) -> None:
        if not self._place.is_dir():
            create_workdir(self._place.parent, self._place.name)
        (self._place / _FACTS).write_text(_Loaded(shape=shape).model_dump_json())

    def _loaded(self) -> dict[str, Value] | None:
        try:
            return _Loaded.model_validate_json((self._place / _FACTS).read_text()).shape
        except (OSError, ValidationError):
            return None


def shape_of(catalogue: Catalogue, settings: Settings) -> dict[str, Value]:
    """Those of the settings that decide what files and tree a load leaves."""
    shaping = {knob.name for knob in catalogue.knobs if knob.shapes}
    return {name: value for name, value in settings.items() if name in shaping}


@dataclass(slots=True)
class Trial:
    """One trial; `measure` runs it, `evidence` tells which files it has left."""

    program: str
    cluster: Cluster
    node: Node
    catalogue: Catalogue
    spec: TrialSpec
    base: Base
    places: Places
    _written: list[Path] = field(default_factory=list)

    def measure(self, watch: Watch) -> Measurement:
        """Run all parts; TrialFailedError when one fails."""
        load = self.spec.workload
        as_run = self.node.take(self.base, self.spec.settings)
        self._write("config.json", json.dumps(as_run, indent=1))
        stored = Records(self.places.templates, self.cluster, load)
        building_s = self._bring_records(stored, watch)
        before, settling_s = self._before()
        self._keep_metrics("before")
        if stored.are_lost(records(before)):
            # Gets of keys that are not there are no errors to go-ycsb.
            raise TrialFailedError(
                Status.CRASHED, "records that were loaded before the trial are missing in TiKV"
            )
        watch.phase("load")
        self.node.is_settled = False
        run = self._go_ycsb().run("run", "load", running(load, self.cluster, stored.table))
        watch.phase("settle")
        after, settle_s = self._settle()
        self._keep_metrics("after")
        counted = self._since(after, before)
        found = {**run.metrics(), **cpu_metrics(counted), **live_bytes(after)}
        if self.cluster.api == "txn":
            found["failed_percent"] = run.failed_percent
        if building_s is not None:
            found["build_s"] = building_s + settling_s
        if load.kind != "read":
            found |= write_metrics(counted, run.took_s)
        if load.kind == "write":
            watch.phase("probe")
            found |= self._probe(stored.table)
        else:
            found |= read_metrics(counted)
        return Measurement(
            metrics={**found, "settle_s": settle_s},
            levels=(),
            stalls=stalls(counted),
            engine_version=version(after),
            assertions_enabled=False,
            as_run=as_run,
        )

    def evidence(self) -> dict[str, Path]:
        """The files that exist, by the name under which they are kept."""
        printed = sorted(self.places.workdir.glob("*-std*.txt"))
        told = sorted(self.places.workdir.glob("*.properties"))
        return {path.name: path for path in [*printed, *told, *self._written] if path.is_file()}

    def _bring_records(self, stored: Records, watch: Watch) -> float | None:
        """Load the records where they are missing, or lie in files of another shape.

        A user who brings the data into its state himself has files of the shape he wants. Returns
        how long loading took, None where it was not needed.
        """
        shape = shape_of(self.catalogue, self.spec.settings)
        wanted = None if self.cluster.prepare else shape
        metrics = self.node.status.metrics()
        counted = records(metrics)
        took_s: float | None = None
        if not stored.are_there(wanted, counted):
            self._check_api(stored, metrics)
            watch.phase("build")
            stored.forget()
            self.node.is_settled = False
            told = loading(self.spec.workload, self.cluster, stored.table)
            took_s = self._go_ycsb().run("load", "build", told).took_s
            stored.remember(shape)
        if self.cluster.prepare:
            self.node.is_settled = False
            output = self.places.workdir / "prepare-stdout.txt"
            limit_s = self.spec.protocol.wall_limit_s
            run_told(self.cluster.prepare, output, limit_s, Status.CRASHED)
        return took_s

    def _check_api(self, stored: Records, counted: Series) -> None:
        """UserError where raw records would go among those of transactions, such as TiDB's."""
        if self.cluster.api == "raw" and not stored.are_remembered and transactional(counted) > 0:
            raise UserError(
                'tikv.api: "raw" is not allowed, because this TiKV contains transactional records '
                'of TiDB or of a study with api = "txn"; use api = "txn"'
            )

    def _probe(self, table: str) -> dict[str, float]:
        """Gets and short scans of what the load has written.

        What they cost inside TiKV is no metric: it would show only after one more refresh.
        """
        found: dict[str, float] = {}
        parts = probing(self.spec.workload, self.cluster, table, self.spec.protocol)
        for part, properties in parts.items():
            found |= self._go_ycsb().run("run", f"probe-{part}", properties).latencies()
        return found

    def _before(self) -> tuple[Series, float]:
        """What is counted before the load, and how long that took to settle.

        Behind a trial that has settled there is nothing to wait for: options that change files
        have records loaded again, and others start no work.
        """
        if self.node.is_settled and not is_busy(counted := self.node.status.metrics()):
            return counted, 0.0
        return self._settle()

    def _settle(self) -> tuple[Series, float]:
        """Wait until TiKV has settled, with compactions on: what was put off is done and counted.

        Else the next trial would find that work, and pay for it.
        """
        limit_s = self.spec.protocol.wall_limit_s
        owed = owing(self.spec.settings, _COMPACTIONS_OFF, NAMES)
        self.node.change(dict.fromkeys(owed, False))
        settled = settle(self.node.status, self.cluster.refresh_s, limit_s)
        self.node.change(dict.fromkeys(owed, True))
        self.node.is_settled = True
        return settled

    def _go_ycsb(self) -> GoYcsb:
        folder, limit_s = self.places.workdir, self.spec.protocol.wall_limit_s
        most_percent = most_failed_percent(self.cluster)
        return GoYcsb(self.program, folder, limit_s, most_percent, self._look)

    def _look(self) -> None:
        if self.node.status.is_gone():
            raise TrialFailedError(Status.CRASHED, "TiKV ended while go-ycsb was running")

    def _since(self, after: Series, before: Series) -> Series:
        """What was counted meanwhile; TrialFailedError where it is another process by now."""
        if after.total(_STARTED) != before.total(_STARTED):
            raise TrialFailedError(Status.CRASHED, "TiKV restarted during the measurement")
        return after.since(before)

    def _keep_metrics(self, when: str) -> None:
        lines = self.node.status.last_metrics.splitlines(keepends=True)
        self._write(f"metrics-{when}.txt", "".join(ln for ln in lines if ln.startswith(_KEPT)))

    def _write(self, name: str, text: str) -> None:
        path = self.places.workdir / name
        path.write_text(text)
        self._written.append(path)
