"""The versions of lsmtune, its simulator, RocksDB and db_bench on this machine."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lsmtune import __version__
from lsmtune.analysis.deploy import DB_BENCH_VARIABLE
from lsmtune.engines.libraries.installed import (
    default_engine,
    engines_folder,
    installed_engines,
)
from lsmtune.engines.rocksdb.db_bench.client import db_bench_version
from lsmtune.errors import UserError


@dataclass(frozen=True, slots=True)
class Versions:
    """Versions as texts. `rocksdb` is the one that is used if none is named.

    `rocksdb` and `db_bench` are None if there is none.
    """

    lsmtune: str
    simulator: str
    rocksdb: str | None
    db_bench: str | None


def versions() -> Versions:
    """Return what is installed here; a db_bench starts to report its version."""
    db_bench = os.environ.get(DB_BENCH_VARIABLE) or "db_bench"
    return Versions(__version__, _simulator(), _library(), _db_bench(db_bench))


def _library() -> str | None:
    try:
        engine = default_engine(installed_engines(engines_folder()))
    except UserError as error:
        return error.message.with_flags()
    return None if engine is None else f"{engine.record.text} ({_short(engine.folder)})"


def _short(folder: Path) -> str:
    """Return the path of a folder as a shell reads it, so that it fits a narrow terminal."""
    home = os.environ.get("HOME")
    return f"~/{folder.relative_to(home)}" if home and folder.is_relative_to(home) else str(folder)


def _simulator() -> str:
    if importlib.util.find_spec("lsmsim") is None:
        return "not built"
    try:
        return version("lsmsim")
    except PackageNotFoundError:
        return "unknown version"


def _db_bench(program: str) -> str | None:
    """Return version and path of the program, None if it does not exist."""
    found_at = shutil.which(program)
    if found_at is None:
        return None
    path = str(Path(found_at).absolute())
    return f"{db_bench_version(path) or 'unknown version'} ({path})"
