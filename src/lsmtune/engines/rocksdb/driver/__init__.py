"""lsmtune's own driver runs the workload, with a library of RocksDB in any version."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from lsmtune.engines.base import EngineFacts, Live, OwnBase, Places, TrialFailedError, Watch
from lsmtune.engines.libraries.installed import NAME_LIBRARY, OWN, Loaded, release_of
from lsmtune.engines.libraries.natives import has_assertions, has_function
from lsmtune.engines.read_back import linked_codecs
from lsmtune.engines.rocksdb.bench import Files, LoadOutput, Part, ProbeOutput
from lsmtune.engines.rocksdb.best_case import BestCase
from lsmtune.engines.rocksdb.driver.client import Client, Event
from lsmtune.engines.rocksdb.driver.live import serve
from lsmtune.engines.rocksdb.driver.output import load_output, probe_output
from lsmtune.engines.rocksdb.driver.plans import LOAD, endless_plan, load_plan, probe_plan
from lsmtune.engines.rocksdb.driver.running import RunningTrial
from lsmtune.engines.rocksdb.driver.running_metrics import RunningOutput
from lsmtune.engines.rocksdb.driver.running_plan import template_plan
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.engines.rocksdb.opener import Opener
from lsmtune.engines.rocksdb.options import NOT_READ, option_string, own_options
from lsmtune.engines.rocksdb.trial import Trial
from lsmtune.engines.rocksdb.watching import settled_log
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DATABASE_SECTION, DEFAULT_FAMILY
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.log_reader import read_log
from lsmtune.trials import Base, Origin, Protocol, Status, TrialSpec
from lsmtune.workloads import Workload

__all__ = ["Driver", "LibraryRocksDB", "library_engine"]

_SLOW_CODECS = ("snappy", "zlib")
"""rocksdbjni compiles them without optimization."""
_CACHES = {"LRUCache": "lru_cache", "AutoHyperClockCache": "hyper_clock_cache"}
"""The values of the knob cache_type, by the name of the block cache in a LOG."""
_CHANGES_DATABASE = "rocksdb_set_db_options"
"""The function that changes options of an open database. Older C APIs do not have it."""
_NEEDED = {
    "cache_type": "rocksdb_wait_for_compact",
    "rate_limiter_auto_tuned": "rocksdb_ratelimiter_create_auto_tuned",
}
"""Knobs that the driver can set only with a newer C API, and a function of this API.

RocksDB 8.7 brought `rocksdb_wait_for_compact`, and hyper clock caches that choose the size of their
table. The driver makes only such caches. The other function came with 8.9.
"""


def library_engine(loaded: Loaded) -> "LibraryRocksDB":
    """Return the engine that runs a library."""
    return LibraryRocksDB(Driver(loaded))


class LibraryRocksDB(RocksDB):
    """RocksDB in the driver, whose options can be changed while a load runs."""

    def __init__(self, driver: "Driver") -> None:
        super().__init__(driver)
        self._driver = driver

    @property
    def library(self) -> Origin:
        """Source and content of the library."""
        return self._driver.origin

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the defaults, or the user's options as this RocksDB runs them."""
        base = super().base(facts, own, workdir)
        if self._driver.changes_database:
            return base
        fixed = tuple(
            knob.name
            for knob in self.catalogue.knobs
            if knob.name in base.settings
            and knob.apply == "online"
            and knob.option is not None
            and knob.option.section == DATABASE_SECTION
        )
        return base.model_copy(update={"fixed_online": fixed})

    def trial(self, spec: TrialSpec, base: Base, places: Places) -> Trial:
        """Return a trial of a running store, or of one that it fills."""
        if spec.running is None:
            return super().trial(spec, base, places)
        return RunningTrial(self._driver, self.catalogue, spec, base, places)

    @contextmanager
    def serve(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Iterator[Live]:
        """Run the load of the spec until the context is closed."""
        part = Trial(self._driver, self.catalogue, spec, base, places).live_part(watch)
        with self._driver.serve(part, self.catalogue, spec.protocol) as live:
            yield live


class Driver:
    """The driver with a library."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    @property
    def library(self) -> Path:
        """The library of RocksDB."""
        return self._loaded.path

    def opener(self, folder: Path, limit_s: float, load: Workload) -> Opener:
        """Return what opens stores with this library."""
        return Opener(self.library, folder, limit_s)

    @property
    def origin(self) -> Origin:
        """Source and content of the library."""
        return self._loaded.origin

    @property
    def cannot_set(self) -> frozenset[str]:
        """Knobs that RocksDB does not read from a text, or that its C API cannot set."""
        path = self._loaded.path
        missing = (knob for knob, function in _NEEDED.items() if not has_function(path, function))
        return NOT_READ.union(missing)

    @property
    def identity(self) -> Mapping[str, str]:
        """The library's content."""
        return {"sha256": self._loaded.sha256}

    @property
    def changes_database(self) -> bool:
        """Whether the library can change options of a database that is open."""
        return has_function(self._loaded.path, _CHANGES_DATABASE)

    @cached_property
    def _has_assertions(self) -> bool:
        return has_assertions(self._loaded.path)

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the facts of a store with the library's defaults; UserError if it fails."""
        database = workdir / "describe"
        try:
            opened = self._open("", database, Files.of(workdir, "describe"))
        except TrialFailedError as failure:
            raise UserError(self._unusable(failure)) from failure
        version = self._checked(opened["version"])
        log = read_log(read_lines(database / "LOG", []))
        return EngineFacts(
            version=version,
            program=str(self._loaded.path),
            assertions_enabled=self._has_assertions,
            options=own_options(opened["options"]),
            codecs=linked_codecs(database),
            origin=self.origin,
            unprinted=self._cache(log.options),
        )

    def _unusable(self, failure: TrialFailedError) -> str:
        path = self._loaded.path
        why = str(failure).removeprefix(f"{path.resolve()}: ").removeprefix(f"{path}: ")
        problem = f"library {path}: lsmtune cannot run this library: {why}"
        if failure.status is Status.OUT_OF_SPACE:
            return problem
        if self._loaded.source == OWN:
            return f"{problem}; {NAME_LIBRARY}"
        return f"{problem}; remove the folder {path.parent}, then install the version again"

    def _checked(self, found: str | None) -> str:
        """Return the version that the LOG contains; UserError if another version was installed."""
        installed = self._loaded.version
        if found is None:
            raise UserError(
                f"library {self._loaded.path}: RocksDB's LOG does not contain the version"
            )
        if installed is not None and release_of(installed) != found:
            raise UserError(
                f"library {self._loaded.path}: this is RocksDB {found}, not {installed}; remove "
                f"the folder {self._loaded.path.parent}, then install the version again"
            )
        return found

    def _cache(self, options: LogOptions) -> Settings:
        """Return the values of knobs that describe RocksDB's default block cache."""
        table, size = options.families.get(DEFAULT_FAMILY), options.block_cache_capacity_bytes
        if table is None or size is None:
            raise UserError(
                f"library {self._loaded.path}: RocksDB's LOG does not contain the size of the "
                "block cache"
            )
        cache: Settings = {"cache_size": size}
        if (kind := _CACHES.get(table.get("block_cache_name", ""))) is not None:
            cache["cache_type"] = kind
        if "high_pri_pool_ratio" in table:
            cache["cache_high_pri_pool_ratio"] = float(table["high_pri_pool_ratio"])
        return cache

    def notes(self, settings: Settings) -> tuple[str, ...]:
        """Return a remark if the baseline's codec is slow in this installed library."""
        codec = settings.get("compression_type")
        if codec not in _SLOW_CODECS or self._loaded.source == OWN:
            return ()
        return (
            f"the baseline compresses with {codec}, which is slow in this library; a gain by "
            "another codec is smaller with a library that you built (--library)",
        )

    def as_run(self, options: str, workdir: Path) -> str:
        """Return the options as RocksDB writes them after it has opened a new database."""
        names = (f"base{number}" for number in count())
        name = next(name for name in names if not (workdir / name).exists())
        opened = self._open(option_string(options), workdir / name, Files.of(workdir, name))
        return own_options(opened["options"])

    def load(self, part: Part, limits: Protocol, watch: Watch) -> LoadOutput:
        """Run the clients of the part, flush, settle."""
        client = self._client(load_plan(part, limits), part)
        phase = LOAD if part.name in ("build", "load") else None
        run, events = client.run_held(phase, limits, watch, BestCase(part.workload))
        log = settled_log(part)
        return load_output(run, events, part, log, assertions_enabled=self._has_assertions)

    def probe(self, part: Part, limits: Protocol) -> ProbeOutput:
        """Run the gets and scans of the read probe."""
        client = self._client(probe_plan(part, limits), part)
        what = "lsmtune stopped the driver during the reads after the load"
        status, events = client.run_to_end(what, limits)
        return probe_output(status, events, part)

    def build(self, part: Part, limits: Protocol) -> None:
        """Build the store that trials of a running store copy."""
        client = self._client(template_plan(part, limits), part)
        client.run_to_end("lsmtune stopped the driver while it built the store", limits)

    def run(
        self, part: Part, plan: Mapping[str, Any], limits: Protocol, watch: Watch
    ) -> RunningOutput:
        """Carry out a plan of a trial of a running store on its copy."""
        client = self._client(plan, part)
        what = "lsmtune stopped the driver in a trial of a running store"
        status, events = client.run_to_end(what, limits, watch)
        return RunningOutput(status, events, self._has_assertions)

    def serve(
        self, part: Part, catalogue: Catalogue, limits: Protocol
    ) -> AbstractContextManager[Live]:
        """Run the clients of the part until the context is closed."""
        return serve(self._client(endless_plan(part), part), catalogue, part, limits)

    def _client(self, plan: Mapping[str, Any], part: Part) -> Client:
        return Client(str(self._loaded.path), plan, part.database, part.files)

    def _open(self, options: str, database: Path, files: Files) -> Event:
        """Open a new store; return the event `opened`."""
        plan: Mapping[str, Any] = {"options": options, "phases": []}
        return Client(str(self._loaded.path), plan, database, files).run_short()[0]
