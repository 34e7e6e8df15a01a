"""Checks of this machine, and fixes for what is missing."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.checks import Check, CheckContext
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.libraries.installed import (
    default_engine,
    engines_folder,
    installed_engines,
)
from lsmtune.engines.registry import engine_of, entry_of, usable_entries
from lsmtune.engines.rocksdb.driver.client import has_driver
from lsmtune.entries import Guest, one_line
from lsmtune.errors import LsmtuneError
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import DB_BENCH
from lsmtune.store.home import MACHINE, Home
from lsmtune.study.calibration import calibrated
from lsmtune.study.host_checks import other_programs_percent
from lsmtune.study.runner import DISTURBED_PERCENT
from lsmtune.system.host import describe_host, free_bytes, nearest_existing
from lsmtune.system.write import write_file
from lsmtune.units import GIB, format_bytes

__all__ = ["Check"]

_LEAST_FREE_BYTES = 2 * GIB
_LEAST_OPEN_FILES = 1024


def doctor(program: str | None, home: Path, observer: Observer | None = None) -> list[Check]:
    """Run all checks; a failed check does not stop the others.

    `program` is the db_bench that the user named, if any. Without it, db_bench may be absent if a
    library of RocksDB works.
    """
    checks: dict[str, Callable[[], Check]] = {
        "the disk": lambda: _disk(home),
        "open files": _open_files,
        "the CPU use of other programs": _quiet,
    }
    context, found = CheckContext(home, program), list[Check]()
    with (observer or Observer()).working("checking") as show:
        for name in ENGINES.built_in:
            show(f"checking the engine {name}")
            found += entry_of(name).checks(context)
        for name, check in checks.items():
            show(f"checking {name}")
            found.append(check())
        show("checking installed packages")
        found += _guests()
        for entry in usable_entries():
            if entry.name not in ENGINES.built_in:
                found += _foreign_checks(entry, context)
    return found


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


def usual_rocksdb(program: str | None) -> StudySettings:
    """Return settings with the db_bench that the user named, else the RocksDB of a new study."""
    engines = installed_engines(engines_folder()) if program is None and has_driver() else []
    if (engine := default_engine(engines)) is None:
        return StudySettings(program=program or DB_BENCH)
    return StudySettings(rocksdb=engine.record.version)


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
    detail = f"cannot be used: package {guest.package}: {guest.problem}"
    fix = f"update or uninstall this package; every other {word} works"
    return Check(name, True, detail, fix)


def _foreign_checks(entry: EngineEntry, context: CheckContext) -> Iterator[Check]:
    """Give the checks of an engine of another package; one failed check if they raise."""
    try:
        for check in entry.checks(context):
            if not isinstance(check, Check):
                raise TypeError(f"{check!r} is no Check")
            yield check
    except (Exception, SystemExit) as error:
        yield Check(
            f"checks of {entry.name}",
            False,
            f"the package of the engine {entry.name} failed: {one_line(error)}",
            "update or uninstall this package",
        )


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
