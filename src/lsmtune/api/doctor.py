"""Checks of this machine, and fixes for what is missing."""

import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.libraries.installed import (
    default_engine,
    engines_folder,
    installed_engines,
)
from lsmtune.engines.libraries.proof import prove
from lsmtune.engines.registry import engine_of, make_engine
from lsmtune.engines.rocksdb.db_bench import INSTALL_DB_BENCH, DbBench
from lsmtune.engines.rocksdb.driver.client import BUILD_DRIVER, NO_DRIVER, has_driver
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.entries import Guest
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DB_BENCH
from lsmtune.store.home import MACHINE, Home
from lsmtune.study.calibration import calibrated
from lsmtune.study.host_checks import other_programs_percent
from lsmtune.study.observer import Observer
from lsmtune.study.runner import DISTURBED_PERCENT
from lsmtune.system.host import describe_host, free_bytes, nearest_existing
from lsmtune.system.workdir import scratch
from lsmtune.system.write import write_file
from lsmtune.units import GIB, format_bytes
from lsmtune.workloads import EngineName

ABSENT = "not available"
"""Start of the detail of an optional part that is missing."""
INSTALL = "`lsmtune engines install rocksdb` installs RocksDB"
_ONLY_DB_BENCH = "the workloads mixgraph and trace, and for `lsmtune reproduce`"
_LEAST_FREE_BYTES = 2 * GIB
_LEAST_OPEN_FILES = 1024


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `fix` is what to do, if anything."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None

    @property
    def state(self) -> str:
        """The state in one word; a check that passed with a note is a warning."""
        if not self.ok:
            return "FAIL"
        if self.detail.startswith(ABSENT):
            return "absent"
        return "ok" if self.fix is None else "warn"

    def document(self) -> dict[str, Any]:
        """The check as JSON."""
        return asdict(self)


_CODECS = Check(
    "codecs",
    True,
    "Snappy and zlib are slow in installed libraries of RocksDB, LZ4 and ZSTD are fast: to compare "
    "codecs by time, use --library with a library that you built",
)
"""A remark about all installed libraries: rocksdbjni compiles these codecs without optimization."""


def doctor(program: str | None, home: Path, observer: Observer | None = None) -> list[Check]:
    """Run all checks; a failed check does not stop the others.

    `program` is the db_bench that the user named, if any. Without it, db_bench may be absent if a
    library of RocksDB works.
    """
    checks: dict[str, Callable[[], Check]] = {
        "MyRocks": lambda: _optional("myrocks", "myrocks", "tune MyRocks", "myrocks"),
        "the embedded stores": lambda: _optional(
            "stores", "embedded", "compare embedded stores", "stores"
        ),
        "go-ycsb": _go_ycsb,
        "the disk": lambda: _disk(home),
        "open files": _open_files,
        "the CPU use of other programs": _quiet,
    }
    with (observer or Observer()).working("checking") as show:
        show("checking RocksDB and db_bench")
        found = _systems(program)
        for name, check in checks.items():
            show(f"checking {name}")
            found.append(check())
        show("checking installed packages")
        return [*found, *_guests()]


def calibrate(program: str | None, home_path: Path, observer: Observer | None = None) -> Check:
    """Fit the simulator to this machine with a few short runs, and store the result.

    They run on the db_bench that the user named, else on the RocksDB of a new study.
    """
    try:
        watch = observer or Observer()
        with (
            Home(home_path, create=True) as home,
            watch.working("calibrating", delay_s=0) as show,
        ):
            machine = calibrated(engine_of(usual_rocksdb(program)), home.work, show)
            text = machine.model_dump_json(indent=2) + "\n"
            write_file(home.machine_path, text, "machine", home.path)
    except LsmtuneError as error:
        return Check(
            "calibration",
            False,
            error.message.with_flags(),
            "fix the problem, then run `lsmtune doctor --calibrate` again",
        )
    detail = f"measured with RocksDB {machine.rocksdb}, stored in {home_path / MACHINE}"
    return Check("calibration", True, detail)


def usual_rocksdb(program: str | None, **keys: Any) -> StudySettings:
    """Return settings with these keys and the db_bench that the user named, else with the RocksDB
    of a new study.
    """
    engines = installed_engines(engines_folder()) if program is None and has_driver() else []
    if (engine := default_engine(engines)) is None:
        return StudySettings(program=program or DB_BENCH, **keys)
    return StudySettings(rocksdb=engine.record.version, **keys)


def _systems(program: str | None) -> list[Check]:
    """Check the two ways to run RocksDB; one of them is enough, but a named db_bench must work.

    A library that works also has a remark about its codecs.
    """
    library, db_bench = _library(), _db_bench(program or DB_BENCH)
    works = has_driver() and library is not None and library.ok
    if not has_driver():
        library = Check("RocksDB", db_bench.ok, f"{ABSENT}: {NO_DRIVER}", BUILD_DRIVER)
    elif library is None:
        detail = f"{ABSENT}: no version is installed"
        library = Check("RocksDB", db_bench.ok, detail, INSTALL)
    elif library.ok and not db_bench.ok and program is None:
        fix = f"lsmtune needs db_bench only for {_ONLY_DB_BENCH}: {db_bench.fix}"
        db_bench = Check("db_bench", True, f"{ABSENT}: {db_bench.detail}", fix)
    return [library, *([_CODECS] if works else []), db_bench]


def _library() -> Check | None:
    """Use the library that is the default in a store of its own; None if none is installed."""
    try:
        engine = default_engine(installed_engines(engines_folder()))
        if engine is None:
            return None
        engine.check()
        with scratch() as folder:
            prove(engine.library, engine.record.version, folder)
    except UserError as error:
        return Check("RocksDB", False, error.message.with_flags(), INSTALL)
    return Check("RocksDB", True, f"{engine.record.text}, {engine.library}")


def _db_bench(program: str) -> Check:
    try:
        with scratch() as folder:
            facts = RocksDB(DbBench(program)).describe(folder)
    except LsmtuneError as error:
        detail = error.message.with_flags().removesuffix(f"; {INSTALL_DB_BENCH}")
        return Check("db_bench", False, detail, INSTALL_DB_BENCH)
    slow = (
        "this build of db_bench has assertions, which make db_bench slow: compare ratios, not "
        "absolute times"
        if facts.assertions_enabled
        else None
    )
    return Check("db_bench", True, f"RocksDB {facts.version}", slow)


def _optional(name: str, engine: EngineName, use: str, target: str) -> Check:
    """An optional engine: the check does not fail without it."""
    try:
        with scratch() as folder:
            facts = make_engine(engine, ENGINES[engine].program).describe(folder)
    except LsmtuneError as error:
        fix = (
            f"lsmtune needs {name} only to {use}: if you do not {use}, nothing is missing; "
            f"`make {target}` installs {name}"
        )
        return Check(name, True, f"{ABSENT}: {error.message.with_flags()}", fix)
    return Check(name, True, facts.version)


def _go_ycsb() -> Check:
    """The program that runs workloads on TiKV; the server itself belongs to the user."""
    program = shutil.which(ENGINES["tikv"].program)
    if program is None:
        fix = (
            "lsmtune needs go-ycsb only to tune TiKV: if you do not tune TiKV, nothing is missing; "
            "to tune TiKV, put go-ycsb on the PATH"
        )
        return Check("go-ycsb", True, f"{ABSENT}: not on PATH", fix)
    return Check("go-ycsb", True, program)


def _guests() -> list[Check]:
    """Return one check per engine and optimizer of another package; all are optional."""
    engines = [_guest("engine", g, lambda n: ENGINES[n].summary) for g in ENGINES.guests()]
    optimizers = (
        _guest("optimizer", g, lambda n: OPTIMIZERS[n]().summary) for g in OPTIMIZERS.guests()
    )
    return [*engines, *optimizers]


def _guest(word: str, guest: Guest, summary: Callable[[str], str]) -> Check:
    name = f"{word} {guest.name}"
    if guest.problem is None:
        return Check(name, True, f"{summary(guest.name)} ({guest.package})")
    return Check(name, True, f"{ABSENT}: package {guest.package}: {guest.problem}")


def _disk(home: Path) -> Check:
    place = nearest_existing(home)
    if not place.is_dir() or not os.access(place, os.W_OK):
        return Check(
            "home", False, f"lsmtune cannot write to {place}", "name a writable folder with --home"
        )
    free = free_bytes(place)
    fix = (
        None
        if free >= _LEAST_FREE_BYTES
        else (
            f"lsmtune needs {format_bytes(_LEAST_FREE_BYTES)}: free some space, or name a "
            "folder on "
            "another disk with --home"
        )
    )
    return Check("home", fix is None, f"{format_bytes(free)} free in {place}", fix)


def _open_files() -> Check:
    limit = describe_host().max_open_files
    fix = (
        None
        if limit >= _LEAST_OPEN_FILES
        else f"raise the limit with `ulimit -n {_LEAST_OPEN_FILES}`"
    )
    return Check("open files", fix is None, f"a process may open at most {limit} files", fix)


def _quiet() -> Check:
    others = other_programs_percent()
    fix = (
        "stop other programs: lsmtune repeats a trial that other programs disturb"
        if others > DISTURBED_PERCENT
        else None
    )
    return Check("quiet machine", True, f"other programs use {others:.0f} % of the CPU", fix)
