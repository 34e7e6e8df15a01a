"""The engine embedded: lsmtune's driver runs RocksDB, LevelDB or LMDB.

Keys, values, clock and histograms are the same code for all, so the stores can be compared.
A new store needs a file in native/lsmdriver/src/ with the traits `Store` and `Session`, and a line
in `Engine` of settings.rs and in `open` of lib.rs. Here it needs its options in plans.py, lines in
`_LEVELS` and `_OF_THE_SYSTEM`, and a choice of the knob `store`. scripts/ensure-stores.sh installs
its library.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from lsmtune.engines.attempt import attempted
from lsmtune.engines.base import (
    Deployed,
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
)
from lsmtune.engines.embedded.entry import EMBEDDED
from lsmtune.engines.embedded.measure import measure
from lsmtune.engines.embedded.plans import store_of
from lsmtune.engines.embedded.rehearsal import Rehearsing
from lsmtune.engines.embedded.trial import Trial
from lsmtune.engines.libraries.loaded import Loaded
from lsmtune.engines.rocksdb.bench import Files
from lsmtune.engines.rocksdb.driver.client import Client
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.metrics.measurement import Measurement
from lsmtune.rehearsal import Rehearsal
from lsmtune.system.host import CpuMeter
from lsmtune.trials import Base, Origin, Status, TrialSpec
from lsmtune.workloads import Workload

__all__ = ["Embedded"]

_OF_THE_SYSTEM = {"leveldb": "libleveldb.so.1d", "lmdb": "liblmdb.so.0"}
"""File names of the libraries, which the system finds."""
_PACKAGES = {"leveldb": "libleveldb1d", "lmdb": "liblmdb0"}
"""Packages of Debian that contain them."""


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
