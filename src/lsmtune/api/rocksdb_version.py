"""The choice of the RocksDB of a study: the one that the user names, or the default."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsmtune.analysis.continuing import FLAGS
from lsmtune.analysis.deploy import DB_BENCH_VARIABLE
from lsmtune.engine_traits import has_versions, usual_engine
from lsmtune.engines.libraries.installed import (
    Installed,
    default_engine,
    engine_of_version,
    engines_folder,
    how_to_install,
    installed_engines,
    release_of,
)
from lsmtune.engines.rocksdb.db_bench.client import db_bench_version
from lsmtune.engines.rocksdb.driver.client import BUILD_DRIVER, NO_DRIVER, has_driver
from lsmtune.errors import Argument, Message, ParseError, UserError
from lsmtune.knobs.defaults import nearest_of
from lsmtune.metrics.options_file import parse_options
from lsmtune.reading import read_text
from lsmtune.spec_defaults import DB_BENCH, SYSTEM_KEYS
from lsmtune.study_keys import DEFAULT_ENGINE, VERSION
from lsmtune.units import is_version
from lsmtune.workloads import WORKLOADS

_INSTALL_DB_BENCH = "`sudo apt-get install rocksdb-tools` installs Debian's db_bench"
NO_ROCKSDB = (
    "there is no RocksDB: `lsmtune engines install rocksdb` installs one without root, or "
    f"{_INSTALL_DB_BENCH}"
)
"""What to do without an installed version and without db_bench."""

StoredSettings = Callable[[str], dict[str, Any]]
"""Returns the settings of a stored study by its name; empty if there is none."""

_UNKNOWN = "0.0.0"
"""Version in an OPTIONS file that `lsmtune inspect` made from a LOG without a version."""


def name_rocksdb(
    given: dict[str, Any],
    flags: Mapping[str, Any],
    stored_settings: StoredSettings,
    tell: Callable[[str], None],
) -> bool:
    """Put program, rocksdb or library into the settings, if the engine runs a RocksDB of these.

    They are stored, so a version that is installed later changes no study that has begun.

    Return False if flags or settings name the RocksDB.

    The first source that names a RocksDB decides: the flags, the settings, the stored study of this
    name, $LSMTUNE_DB_BENCH, the version that wrote the baseline, the default of the installed
    versions, db_bench on PATH. `flags` contains the values of --db-bench, --rocksdb and --library,
    among others. Raises UserError if there is no RocksDB, or if the version of the baseline is not
    installed.
    """
    named = {key: flags[key] for key in SYSTEM_KEYS if flags.get(key) is not None}
    variable = os.environ.get(DB_BENCH_VARIABLE)
    if named.get("program") == variable:  # the variable is the default of the flag
        named.pop("program", None)
    if len(named) > 1:
        first, second, *_ = (FLAGS[key] for key in named)
        raise UserError(f"{first}: not allowed with {second}; name one RocksDB")
    name = _workload_name(given)
    definition = WORKLOADS.get(name) if name else None
    usual = None if definition is None else usual_engine(name)
    if not has_versions(given.get("engine", usual or DEFAULT_ENGINE)):
        named.pop("program", None)  # this engine has another program
        given.update(named)  # the check of all settings refuses them
    elif named:
        for key in SYSTEM_KEYS:
            given.pop(key, None)
        given.update(named)
        _leave_out_rate(given, flags, tell)
    elif not _names_one(given):
        given.update(
            _of_stored_study(given.get("study"), stored_settings)
            or ({"program": variable} if variable else {})
            or ({} if definition and definition.needs_db_bench else _usual(given.get("base"), tell))
        )
        _leave_out_rate(given, flags, tell)
        return True
    return False


def _leave_out_rate(
    given: dict[str, Any], flags: Mapping[str, Any], tell: Callable[[str], None]
) -> None:
    """Remove the rate of a study file that does not name its RocksDB, if it is db_bench.

    Such a file is written from a LOG. A rate of the flags is refused later.
    """
    if any(given.get(key) is not None for key in (VERSION, "library", "measure")):
        return
    if flags.get("rate") is None and (rate := given.pop("rate", None)) is not None:
        tell(
            f"rate = {rate} has no effect: db_bench does not run at a rate, so trials fill a store"
        )


def _names_one(given: Mapping[str, Any]) -> bool:
    return any(given.get(key) is not None for key in SYSTEM_KEYS)


def _workload_name(given: Mapping[str, Any]) -> str:
    """Return the name of the workload; "" if it is not a name, which a later check refuses."""
    load = given.get("workload")
    name = load.get("name") if isinstance(load, dict) else load
    return name if isinstance(name, str) else ""


def _of_stored_study(study: object, stored_settings: StoredSettings) -> dict[str, str]:
    """Return the RocksDB of the stored study of this name; empty if there is none."""
    stored = stored_settings(study) if isinstance(study, str) else {}
    if not has_versions(stored.get("engine")):
        return {}
    return {key: stored[key] for key in SYSTEM_KEYS if key in stored}


def _usual(base: object, tell: Callable[[str], None]) -> dict[str, str]:
    """Return the RocksDB of a new study. The result is empty if it is the db_bench on PATH."""
    engines = installed_engines(engines_folder()) if has_driver() else []
    if has_driver() and isinstance(base, str) and (version := _writer(base)) is not None:
        found = _of_base(base, version, engines)
        tell(f"RocksDB: {found}, because {base} is of this version")
        return {VERSION: found}
    if (engine := default_engine(engines)) is not None:
        return {VERSION: engine.record.version}
    if shutil.which(DB_BENCH) is None:
        driver = f"{NO_DRIVER}; {BUILD_DRIVER}, or {_INSTALL_DB_BENCH}"
        raise UserError(NO_ROCKSDB if has_driver() else driver)
    return {}


def _writer(base: str) -> str | None:
    """Return the version of RocksDB that wrote the file; None if the file does not contain it."""
    try:
        version = parse_options(read_text(Path(base), f"base: {base}")).rocksdb_version
    except ParseError:
        return None  # the engine reports the line, or the kind of the file
    return version if version and version != _UNKNOWN and is_version(version) else None


def _of_base(base: str, version: str, engines: Sequence[Installed]) -> str:
    """Return the installed version for a baseline of this version; UserError if there is none."""
    if engine_of_version(engines, version) is not None:
        return version
    versions = [engine.record.version for engine in engines]
    again = next((one for one in reversed(versions) if release_of(one) == version), None)
    if again is not None:
        return again
    raise UserError(
        f"base: {base}: this file is of RocksDB {version}, which is not installed; "
        f"{how_to_install(version)}",
        _other_ways(version, versions),
    )


def _other_ways(version: str, installed: Sequence[str]) -> Message:
    """Return the arguments that run db_bench, or another version, instead of an installation."""
    program = shutil.which(DB_BENCH)
    found = db_bench_version(program) if program else None
    ways: list[str | Argument] = []
    if program and (found == version or not installed):
        ways += (
            "; or add `",
            Argument("program", DB_BENCH, f"--db-bench {DB_BENCH}"),
            "` to run the db_bench on PATH",
        )
        ways += (f", which has version {found}",) if found else ()
    if installed:
        nearest = nearest_of(version, installed)
        ways += "; or add `", Argument(VERSION, nearest), "` to run the nearest installed version"
    return Message(*ways)
