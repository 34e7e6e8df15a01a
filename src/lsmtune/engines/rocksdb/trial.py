"""One trial of RocksDB in its work directory: build, load, settle, probe."""

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Places, Watch
from lsmtune.engines.debt import owing, paying
from lsmtune.engines.read_back import newest_options
from lsmtune.engines.rocksdb.bench import (
    Bench,
    LoadOutput,
    Part,
    PartName,
    ProbeOutput,
    evidence_of,
)
from lsmtune.engines.rocksdb.measure import measure, measure_build, with_debt, with_sorted_runs
from lsmtune.engines.rocksdb.options import read_back, rendered_options
from lsmtune.engines.templates import MOST_TEMPLATES, Template, copy_database, restore
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import CpuMeter
from lsmtune.trials import Base, TrialSpec

_FIRST_TREE = 1_000_003
"""Seed of the first database. With equal seeds, a load would read only keys that were written."""
_DATA = {"num", "key_size", "value_size", "compression_ratio", "present"}
_DELETED = {"tombstone_every", "tombstone_width", "tombstones"}
"""Parameters of a workload that decide what is built."""
_ROOM = 3
"""Maximum size of a database while it is built, relative to the bytes written into it."""
_PARTS: tuple[PartName, ...] = ("template", "build", "load", "debt", "probe", "running")


class Trial:
    """One trial; `measure` runs it, `evidence` returns its files.

    `trees` is the number of databases for a prepared load; the seed chooses one of them. The same
    writes build another tree each time, and a gain must not depend on one tree. `templates` is the
    maximum number of databases that are kept.
    """

    trees = 3
    templates = MOST_TEMPLATES

    def __init__(
        self, bench: Bench, catalogue: Catalogue, spec: TrialSpec, base: Base, places: Places
    ) -> None:
        self._bench = bench
        self._catalogue = catalogue
        self._spec = spec
        self._base = base
        self._places = places
        self._database = places.workdir / "db"

    def measure(self, watch: Watch) -> Measurement:
        """Run all parts; TrialFailedError if one fails."""
        prepared = self._spec.workload.definition.prepared
        built = self._prepare(watch) if prepared else Template(metrics={})
        meter = CpuMeter()
        output = self._load(watch)
        as_run = read_back(
            self._catalogue,
            self._spec.settings,
            newest_options(self._database).read_text(),
            output.log.options,
        )
        settled = self._settled(watch) if owing(self._spec.settings) else None
        probe = self._probe(watch) if self._spec.workload.kind == "write" else None
        clients = [output.run.exit, *([settled.run.exit] if settled else [])]
        clients += [probe.exit] if probe else []
        others = meter.others_percent(sum(client.cpu_s for client in clients))
        measurement = measure(self._spec.workload, output, probe, built, as_run)
        if settled:
            measurement = with_debt(self._spec.workload, measurement, output, settled, built)
        if probe:
            measurement = with_sorted_runs(measurement)
        return measurement.model_copy(
            update={"metrics": {**measurement.metrics, "others_cpu_percent": others}}
        )

    def leave_store(self, watch: Watch) -> None:
        """Leave the database as the load leaves it; a load that only reads needs no run."""
        if self._spec.workload.definition.prepared:
            self._prepare(watch)
        if self._spec.workload.kind != "read":
            self._load(watch)

    def live_part(self, watch: Watch) -> Part:
        """Prepare the database of a load without an end, and return this load."""
        self._prepare(watch)
        watch.phase("load")
        return self._load_part()

    def evidence(self) -> dict[str, Path]:
        """Return the files that exist, by the name under which they are kept."""
        return evidence_of(self._places.workdir, _PARTS, self._database)

    def _prepare(self, watch: Watch) -> Template:
        """Prepare the database for the load; return its template."""
        load = self._spec.workload
        if load.database is not None:
            source = Path(load.database)

            def build(database: Path) -> Template:
                copy_database(source, database)
                return Template(metrics={})
        else:

            def build(database: Path) -> Template:
                watch.phase("build")
                return self._build(database)

        needed_bytes = _ROOM * load.user_bytes
        key, folder = self._template_key(), self._places.templates
        return restore(folder, key, needed_bytes, build, self._database, most=self.templates)

    def _template_key(self) -> str:
        """Return a hash of everything that the prepared database depends on."""
        load = self._spec.workload
        identity = {
            **self._bench.identity,
            "options": self._base.options,
            "settings": self._build_settings(),
            "data": self._data(),
            "tree": self._tree(),
        }
        if load.database is not None:
            identity = {"database": _fingerprint(Path(load.database))}
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:24]

    def _data(self) -> dict[str, Any]:
        """Return the parameters of the workload that decide what is built."""
        load = self._spec.workload
        return load.model_dump(include=_DATA | (_DELETED if load.kind == "read" else set()))

    def _tree(self) -> int:
        return _FIRST_TREE + self._spec.seed % self.trees

    def _build_settings(self) -> Settings:
        """Return the trial's settings of knobs that shape the tree, else those of the baseline."""
        shaping = {knob.name for knob in self._catalogue.knobs if knob.shapes}
        given = self._spec.settings
        return {n: v if n in shaping else self._base.settings[n] for n, v in given.items()}

    def _build(self, database: Path) -> Template:
        # Other trials use the database too, so its building is never stopped early.
        part = self._part("build", self._build_settings(), self._tree(), database)
        output = self._bench.load(part, self._spec.protocol, Watch(lambda phase: None))
        return measure_build(output)

    def _load(self, watch: Watch) -> LoadOutput:
        watch.phase("load")
        return self._bench.load(self._load_part(), self._spec.protocol, watch)

    def _load_part(self) -> Part:
        return self._part("load", self._spec.settings, self._spec.seed, self._database)

    def _settled(self, watch: Watch) -> LoadOutput:
        """Let the store settle with compactions after a load without compactions."""
        # RocksDB renames it only when it opens the store, and `Look` would read the old LOG.
        log = self._database / "LOG"
        log.rename(f"{log}.old.{time.time_ns() // 1000}")
        part = self._part("debt", paying(self._spec.settings), self._spec.seed, self._database)
        return self._bench.load(part, self._spec.protocol, Watch(watch.phase))

    def _probe(self, watch: Watch) -> ProbeOutput:
        watch.phase("probe")
        part = self._part("probe", self._spec.settings, self._spec.seed, self._database)
        return self._bench.probe(part, self._spec.protocol)

    def _part(self, name: PartName, settings: Settings, seed: int, database: Path) -> Part:
        options = rendered_options(
            self._catalogue, self._base.options, settings, compactions=name != "probe"
        )
        load, workdir = self._spec.workload, self._places.workdir
        return Part(name, load, seed, database, workdir, options, settings)


def _fingerprint(database: Path) -> list[str]:
    """Return the facts by which a change of the user's database is noticed."""
    try:
        facts = [(file.name, file.stat()) for file in sorted(database.iterdir())]
    except OSError as error:
        raise UserError(f"workload.database: cannot read {database}: {error.strerror}") from error
    return [str(database), *(f"{name} {f.st_size} {f.st_mtime_ns}" for name, f in facts)]
