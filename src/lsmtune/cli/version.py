"""`lsmtune --version`: the versions of lsmtune, its simulator, RocksDB and db_bench."""

import os
import shutil
from pathlib import Path

from lsmtune.cli.tables import paragraph


def version_lines() -> list[str]:
    """Return a line each for lsmtune, the simulator, the usual RocksDB and db_bench.

    The last line is left out if there is a RocksDB, but no db_bench. A narrow terminal breaks the
    lines between words.
    """
    from lsmtune import __version__

    library = _library()
    db_bench = _db_bench(os.environ.get("LSMTUNE_DB_BENCH") or "db_bench")
    lines = [
        f"lsmtune    {__version__}",
        f"simulator  {_simulator()}",
        f"RocksDB    {library or 'not installed'}",
    ]
    if db_bench is not None or library is None:
        lines.append(f"db_bench   {db_bench or 'not found'}")
    return [part for line in lines for part in paragraph(line, hanging=2)]


def _library() -> str | None:
    """Return the library that is used if none is named, None if none is installed."""
    from lsmtune.engines.libraries.installed import (
        default_engine,
        engines_folder,
        installed_engines,
    )
    from lsmtune.errors import UserError

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
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    if find_spec("lsmsim") is None:
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
    from lsmtune.engines.rocksdb.db_bench.version import db_bench_version

    path = str(Path(found_at).absolute())
    return f"{db_bench_version(path) or 'unknown version'} ({path})"
