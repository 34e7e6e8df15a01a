"""The checks of `lsmtune doctor`."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsmtune.cli.common import write_file
from lsmtune.engines.registry import make_engine
from lsmtune.engines.rocksdb import RocksDB
from lsmtune.errors import LsmtuneError
from lsmtune.spec import PROGRAMS
from lsmtune.store.home import MACHINE, Home
from lsmtune.studies.calibration import calibrated
from lsmtune.studies.runner import DISTURBED_PERCENT
from lsmtune.system.host import CpuMeter, describe_host, free_bytes
from lsmtune.system.workdir import workdir
from lsmtune.units import GIB, format_bytes
from lsmtune.workloads import EngineName

_QUIET_S = 1.0
_LEAST_FREE_BYTES = 2 * GIB
_LEAST_OPEN_FILES = 1024


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `fix` says what to do about it, if anything."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None

    def document(self) -> dict[str, Any]:
        """The check as JSON."""
        return asdict(self)


def run_checks(program: str, home: Path) -> list[Check]:
    """Look at everything that tuning needs; a problem in one check never hides the others."""
    checks: list[Callable[[], Check]] = [
        lambda: _db_bench(program),
        lambda: _optional("myrocks", "myrocks", "tune MyRocks"),
        lambda: _optional("stores", "embedded", "compare embedded stores"),
        _go_ycsb,
        lambda: _disk(home),
        _open_files,
        _quiet,
    ]
    return [check() for check in checks]


def calibration_check(program: str, home_path: Path, tell: Callable[[str], None]) -> Check:
    """Calibrate the simulator by a few short runs, and keep what they tell in the home."""
    try:
        with Home(home_path, create=True) as home:
            machine = calibrated(RocksDB(program), home.work, tell)
            write_file(home.machine_path, machine.model_dump_json(indent=2) + "\n", "machine")
    except LsmtuneError as error:
        return Check("calibration", False, str(error), "mend what is wrong above, then again")
    return Check("calibration", True, f"kept in {home_path / MACHINE}")


def _db_bench(program: str) -> Check:
    try:
        with workdir(Path(tempfile.gettempdir()), "lsmtune-doctor") as directory:
            facts = RocksDB(program).describe(directory)
    except LsmtuneError as error:
        fix = "install RocksDB's tools (Debian: apt-get install rocksdb-tools) or give --db-bench"
        return Check("db_bench", False, str(error), fix)
    slow = (
        "this build has assertions on: ratios hold, times are long"
        if (facts.assertions_enabled)
        else None
    )
    return Check("db_bench", True, f"RocksDB {facts.version}", slow)


def _optional(name: str, engine: EngineName, use: str) -> Check:
    """An engine that only some need, so that nothing fails without it."""
    try:
        with workdir(Path(tempfile.gettempdir()), "lsmtune-doctor") as directory:
            facts = make_engine(engine, PROGRAMS[engine]).describe(directory)
    except LsmtuneError as error:
        return Check(name, True, f"not usable: {error}", f"only needed to {use}")
    return Check(name, True, facts.version)


def _go_ycsb() -> Check:
    """Of a TiKV only the program that loads it: the server is the user's, wherever it is."""
    program = shutil.which(PROGRAMS["tikv"])
    if program is None:
        return Check("go-ycsb", True, "not on PATH", "only needed to tune TiKV")
    return Check("go-ycsb", True, program)


def _disk(home: Path) -> Check:
    place = home.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        return Check("home", False, f"{place} cannot be written to", "name another --home")
    free = free_bytes(place)
    fix = None if free >= _LEAST_FREE_BYTES else "free some space or name another --home"
    return Check("home", fix is None, f"{format_bytes(free)} free in {place}", fix)


def _open_files() -> Check:
    limit = describe_host().max_open_files
    fix = None if limit >= _LEAST_OPEN_FILES else f"raise it: ulimit -n {_LEAST_OPEN_FILES}"
    return Check("open files", fix is None, f"a process may open {limit}", fix)


def _quiet() -> Check:
    meter = CpuMeter()
    time.sleep(_QUIET_S)
    others = meter.stop().others_cpu_percent(0.0)
    fix = "stop other work, or trials will be repeated" if others > DISTURBED_PERCENT else None
    return Check("quiet machine", True, f"others use {others:.0f} % of the CPU", fix)
