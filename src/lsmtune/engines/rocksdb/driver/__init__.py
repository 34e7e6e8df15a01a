"""lsmtune's own driver runs the workload, with a library of RocksDB in any version."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from lsmtune.engines.base import EngineFacts, TrialFailedError, Watch
from lsmtune.engines.libraries.loaded import OWN, Loaded
from lsmtune.engines.read_back import first_log, linked_codecs
from lsmtune.engines.rocksdb import RocksDB
from lsmtune.engines.rocksdb.bench import Files, LoadOutput, Part, ProbeOutput
from lsmtune.engines.rocksdb.best_case import BestCase
from lsmtune.engines.rocksdb.driver.client import Client, Event
from lsmtune.engines.rocksdb.driver.option_string import NOT_READ, option_string
from lsmtune.engines.rocksdb.driver.output import load_output, probe_output
from lsmtune.engines.rocksdb.driver.plans import LOAD, load_plan, probe_plan
from lsmtune.engines.rocksdb.options import own_options
from lsmtune.errors import UserError
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.log_reader import read_log
from lsmtune.trials import Origin, Protocol, Status

__all__ = ["Driver", "library_engine"]

_SLOW_CODECS = ("snappy", "zlib")
"""rocksdbjni compiles them without optimization."""
_CACHES = {"LRUCache": "lru_cache", "AutoHyperClockCache": "hyper_clock_cache"}
"""Names of block caches in a LOG, and in the knob cache_type."""


def library_engine(loaded: Loaded) -> RocksDB:
    """Return the engine that runs a library."""
    return RocksDB(Driver(loaded))


class Driver:
    """The driver with a library."""

    cannot_set = NOT_READ

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    @property
    def identity(self) -> Mapping[str, str]:
        """The library's content."""
        return {"sha256": self._loaded.sha256}

    def describe(self, workdir: Path) -> EngineFacts:
        """Return what the library says about a store with its defaults; UserError if it fails."""
        database = workdir / "describe"
        try:
            opened = self._open("", database, Files.of(workdir, "describe"))
        except TrialFailedError as failure:
            reason = f"library {self._loaded.path}: lsmtune cannot run this library: {failure}"
            raise UserError(reason) from failure
        version = opened["version"]
        self._check_version(version)
        log = read_log(read_lines(database / "LOG", []))
        return EngineFacts(
            version=version,
            program=str(self._loaded.path),
            assertions_enabled=False,
            options=own_options(opened["options"]),
            codecs=linked_codecs(database),
            origin=Origin(source=self._loaded.source, sha256=self._loaded.sha256),
            unprinted=_cache(log.options),
        )

    def _check_version(self, found: str | None) -> None:
        expected = self._loaded.version
        if found is None or not (expected is None or expected.startswith(found)):
            what = f"RocksDB {found}" if found else "RocksDB of an unknown version"
            raise UserError(f"library {self._loaded.path}: this is {what}")

    def notes(self, settings: Settings) -> tuple[str, ...]:
        """Return a remark if the baseline uses a codec that is slow in an installed library."""
        codec = settings.get("compression_type")
        if codec not in _SLOW_CODECS or self._loaded.source == OWN:
            return ()
        return (
            f"the baseline compresses with {codec}, which is slow in this library; a gain by "
            "another codec is smaller with a library that you built (--library)",
        )

    def as_run(self, options: str, workdir: Path) -> str:
        """Return the options as RocksDB writes them after it has opened a new database."""
        name = next(name for n in count() if not (workdir / (name := f"base{n}")).exists())
        opened = self._open(option_string(options), workdir / name, Files.of(workdir, name))
        return own_options(opened["options"])

    def load(self, part: Part, limits: Protocol, watch: Watch) -> LoadOutput:
        """Run the clients of the part, flush, settle."""
        client = self._client(load_plan(part, limits), part)
        phase = LOAD if part.name in ("build", "load") else None
        run, events = client.run_held(phase, limits, watch, BestCase(part.workload))
        log = part.database / "LOG" if part.name == "debt" else first_log(part.database)
        if not log.is_file():
            raise TrialFailedError(Status.UNREADABLE, "RocksDB wrote no LOG")
        return load_output(run, events, part, read_log(read_lines(log, [])))

    def probe(self, part: Part, limits: Protocol) -> ProbeOutput:
        """Run the gets and scans of the read probe."""
        client = self._client(probe_plan(part, limits), part)
        what = "lsmtune stopped the driver during the reads after the load"
        status, events = client.run_to_end(what, limits)
        return probe_output(status, events, part)

    def _client(self, plan: Mapping[str, Any], part: Part) -> Client:
        return Client(self._placed(plan, part.database), part.database, part.files)

    def _open(self, options: str, database: Path, files: Files) -> Event:
        """Open a new store; return the event that says what was opened."""
        plan = self._placed({"options": options, "phases": []}, database)
        return Client(plan, database, files).run_short()[0]

    def _placed(self, plan: Mapping[str, Any], database: Path) -> dict[str, Any]:
        return {"library": str(self._loaded.path), "folder": str(database), **plan}


def _cache(options: LogOptions) -> Settings:
    """Return the knobs of the block cache that RocksDB makes by default."""
    table = options.families["default"]
    cache: Settings = {"cache_size": options.block_cache_capacity_bytes or 0}
    if (kind := _CACHES.get(table.get("block_cache_name", ""))) is not None:
        cache["cache_type"] = kind
    if "high_pri_pool_ratio" in table:
        cache["cache_high_pri_pool_ratio"] = float(table["high_pri_pool_ratio"])
    return cache
