"""The engine embedded: lsmtune's driver runs RocksDB, LevelDB or LMDB.

Keys, values, clock and histograms are the same code for all, so the stores can be compared.
A new store needs a file in native/lsmdriver/src/ with the traits `Store` and `Session`, and a line
in `Engine` of settings.rs and in `open` of lib.rs. Here it needs its options in plans.py, lines in
`_LEVELS` and `_OF_THE_SYSTEM`, and a choice of the knob `store`. scripts/ensure-stores.sh installs
its library.
"""

import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from lsmtune.engines.base import (
    Deployed,
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
    attempted,
)
from lsmtune.engines.embedded.entry import EMBEDDED
from lsmtune.engines.embedded.plans import Json, store_of
from lsmtune.engines.embedded.trial import Trial, measure
from lsmtune.engines.libraries.installed import Loaded
from lsmtune.engines.libraries.steps import StepFailedError
from lsmtune.engines.rehearsing import Failure, failed_fields, rehearsed
from lsmtune.engines.rocksdb.bench import Files
from lsmtune.engines.rocksdb.driver.client import Client
from lsmtune.engines.rocksdb.driver.output import one
from lsmtune.engines.rocksdb.driver.plans import measured, settled
from lsmtune.engines.templates import link_database
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.rehearsal import Rehearsal
from lsmtune.system.host import CpuMeter
from lsmtune.system.workdir import create_workdir, remove_workdir
from lsmtune.trials import Base, Origin, Status, TrialSpec
from lsmtune.workloads import Workload

__all__ = ["Embedded"]

_OF_THE_SYSTEM = {"leveldb": "libleveldb.so.1d", "lmdb": "liblmdb.so.0"}
"""File names of the libraries, which the system finds."""
_PACKAGES = {"leveldb": "libleveldb1d", "lmdb": "liblmdb0"}
"""Packages of Debian that contain them."""

_WRITES = 2000
"""Number of records that each client writes in a try."""
_STEPS = {Status.REFUSED: "open", Status.UNREADABLE: "keys"}
_NO_COMPACTION = (
    "lsmtune's driver cannot compact this store, so not all tables were written again with the new "
    "settings"
)
_OTHER = (
    "{new} cannot open the files of {old}: your application must write its records again into a "
    "new store, and the old store stays as it is"
)
_IN_PLACE = "LMDB has no settings that change its files"


class Embedded:
    """The engine contract on three libraries.

    `rocksdb` is the library of RocksDB. `own` contains the user's libraries of other stores, by the
    name of the store. A store that is not in `own` uses the library of the system.
    """

    name = "embedded"
    times_matter = True

    def __init__(self, rocksdb: Loaded, own: Mapping[str, str]) -> None:
        self._rocksdb = rocksdb
        self._own = own
        self._libraries = {**_OF_THE_SYSTEM, "rocksdb": str(rocksdb.path), **own}

    @cached_property
    def catalogue(self) -> Catalogue:
        """The store, and the settings that stores have in common."""
        return EMBEDDED.catalogue()

    @property
    def library(self) -> Origin:
        """Source and content of the library of RocksDB."""
        return self._rocksdb.origin

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the version of each store; UserError if a store cannot be used."""
        stores = [str(store) for store in self.catalogue.knob("store").values]
        return EngineFacts(
            version=", ".join(f"{store} {self._version(store, workdir)}" for store in stores),
            program=str(self._rocksdb.path),
            assertions_enabled=False,
            options="",
            codecs=None,
            origin=self.library,
        )

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the defaults of the catalogue; the engine reads no file."""
        return Base(options=facts.options, settings=self.catalogue.defaults(1))

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Load, settle, probe. The evidence is the files that the driver and the store wrote."""
        library = self._libraries[str(spec.settings["store"])]
        trial = Trial(library, spec, places.workdir)
        result = attempted(lambda: self._measured(spec, trial, watch))
        return Outcome(result, trial.evidence())

    def rehearse(
        self, spec: TrialSpec, base: Base, files: Deployed, places: Places, watch: Watch
    ) -> Rehearsal:
        """Load the baseline's store, then open copies of it with the settings of both files."""
        rehearsing = Rehearsing(self._libraries, files, spec, places.workdir)
        if rehearsing.is_new:
            return rehearsing.on_new()
        Trial(self._libraries[str(spec.settings["store"])], spec, places.workdir).load(watch)
        watch.phase("open")
        return rehearsing.on_existing()

    def _measured(self, spec: TrialSpec, trial: Trial, watch: Watch) -> Measurement:
        meter = CpuMeter()
        run = trial.run(watch)
        children_cpu_s = sum(part.exit.cpu_s for part in (run.load, run.settle, run.probe))
        return measure(spec, run, trial.database, meter.others_percent(children_cpu_s))

    def _version(self, store: str, workdir: Path) -> str:
        """Open a new store; return the version of its library."""
        settings = {**self.catalogue.defaults(1), "store": store}
        database = workdir / f"describe-{store}"
        plan = {**store_of(settings, Workload()), "phases": []}
        files = Files.of(workdir, database.name)
        client = Client(self._libraries[store], plan, database, files)
        try:
            return str(client.run_short()[0]["version"])
        except TrialFailedError as failure:
            reason = f"library {self._libraries[store]}: lsmtune cannot run this library: {failure}"
            if failure.status is Status.REFUSED and store in _PACKAGES.keys() - self._own.keys():
                package = _PACKAGES[store]
                reason += f"; install {package} (Debian: sudo apt-get install {package})"
            raise UserError(reason) from failure


class Rehearsing:
    """The tries of one rehearsal, on copies of one store.

    lsmtune itself reads the settings, because these stores have no file of options. The driver
    writes and checks the records of the workload.

    `libraries` has the library of each store.
    """

    def __init__(
        self, libraries: Mapping[str, str], files: Deployed, spec: TrialSpec, workdir: Path
    ) -> None:
        self._libraries = libraries
        self._files = files
        self._spec = spec
        self._workdir = workdir
        self._started = time.monotonic()
        self._numbers = count()
        self._version, self._records = "", 0

    @property
    def is_new(self) -> bool:
        """Whether the exported file is for a new store; another kind of store always needs one."""
        return self._files.new_store or self._store(self._files.undo) != self._store(
            self._files.exported
        )

    def on_existing(self) -> Rehearsal:
        """Return what copies of the store did with both files.

        TrialFailedError if the undo file, which has the baseline, does not open the store.
        """
        return self._result(*rehearsed(self._files, self._prepare, self._tried))

    def on_new(self) -> Rehearsal:
        """Return whether the exported file makes a new store and opens it again."""
        folder, text = self._workdir / "db", self._files.exported
        try:
            self._open(folder, text, [self._puts(0), self._gets(0)], existing=False)
            self._open(folder, text, [self._gets(0)])
        except StepFailedError as failure:
            return self._result(("exported", failure))
        return self._result()

    def _prepare(self) -> None:
        """Check that the baseline opens its own store."""
        self._open(self._workdir / "db", self._files.undo, [self._loaded()])

    def _tried(self, exported: str) -> Failure | None:
        """Open a copy with a file, then with the undo file; return what failed, or None."""
        loaded = self._loaded()
        with self._copy() as store:
            try:
                self._open(store, exported, [loaded, self._puts(1), self._gets(1)])
                # LevelDB writes its newest records into tables when it opens a store.
                self._open(store, exported, [loaded, self._gets(1)])
            except StepFailedError as failure:
                return "exported", failure
            try:
                steps = [loaded, self._gets(1), self._puts(2), self._gets(2)]
                self._open(store, self._files.undo, steps)
            except StepFailedError as failure:
                return "undo", failure
        return None

    def _open(
        self, store: Path, text: str, phases: Sequence[Json], *, existing: bool = True
    ) -> None:
        """Open a store with the settings of a file, carry out phases, and close it."""
        settings = self._settings(text)
        flush: list[Json] = [{"do": "flush"}] if settings["store"] == "rocksdb" else []
        plan = {
            **store_of(settings, self._spec.workload),
            "existing": existing,
            "phases": [*phases, *flush, settled(self._spec.protocol)],
        }
        files = Files.of(self._workdir, f"open{next(self._numbers)}")
        client = Client(self._libraries[str(settings["store"])], plan, store, files)
        try:
            _, events = client.run_to_end("lsmtune stopped the driver", self._spec.protocol)
        except TrialFailedError as failure:
            if failure.status is Status.OUT_OF_SPACE:
                raise
            step = _STEPS.get(failure.status, "use")
            raise StepFailedError(step, str(failure)) from failure
        self._version = f"{settings['store']} {one(events, 'opened')['version']}"
        runs = (event["operations"] for event in events if event["event"] == "run")
        found = sum(operations["get"]["count"] for operations in runs if "get" in operations)
        self._records = max(self._records, found)

    def _settings(self, text: str) -> Settings:
        return {**self._spec.base_settings, **tomllib.loads(text)}

    def _store(self, text: str) -> str:
        return str(self._settings(text)["store"])

    def _loaded(self) -> Json:
        """Return the phase that reads the records of the load and compares them."""
        operations = self._spec.workload.client_operations
        must_find = operations is not None
        return self._phase("get", 0, operations or _WRITES, check_every=1, must_find=must_find)

    def _gets(self, number: int) -> Json:
        """Return the phase that reads what `_puts` has written."""
        return self._phase("get", number, _WRITES, check_every=1, must_find=True)

    def _puts(self, number: int) -> Json:
        return self._phase("put", number, _WRITES)

    def _phase(self, kind: str, number: int, operations: int, **fields: Any) -> Json:
        """Return a phase of clients; those with the same number use the same keys."""
        load, seed = self._spec.workload, self._spec.seed + number
        run = measured(load, seed)
        own = {"operations": operations, "mix": {kind: 1}, **fields}
        groups = [{**group, **own} for group in run["groups"]]
        return {**run, "name": kind, "seconds": None, "groups": groups}

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        folder = create_workdir(self._workdir, f"try{next(self._numbers)}")
        link_database(self._workdir / "db", folder / "db")
        yield folder / "db"
        remove_workdir(folder)

    def _result(self, failed: Failure | None = None, causes: tuple[str, ...] = ()) -> Rehearsal:
        old, new = (self._store(text) for text in (self._files.undo, self._files.exported))
        is_lmdb = new == "lmdb"
        other = () if old == new else (_OTHER.format(old=old, new=new),)
        return Rehearsal(
            version=self._version,
            reader="lsmtune",
            new_store=self.is_new,
            records=self._records,
            seconds=time.monotonic() - self._started,
            remarks=(_IN_PLACE if is_lmdb else _NO_COMPACTION, *other),
            **failed_fields(failed, causes),
        )
