"""`lsmtune --version`: the versions of lsmtune, its simulator and the RocksDB to tune."""

import os
import re
import shutil
from pathlib import Path

_LIMIT_S = 5.0
_VERSION = re.compile(r"db_bench version (\S+)")


def version_lines() -> list[str]:
    """Return a line each for lsmtune, the simulator and the db_bench that `tune` runs."""
    from lsmtune import __version__

    return [
        f"lsmtune    {__version__}",
        f"simulator  {_simulator()}",
        f"RocksDB    {_rocksdb(os.environ.get('LSMTUNE_DB_BENCH') or 'db_bench')}",
    ]


def _simulator() -> str:
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    if find_spec("lsmsim") is None:
        return "not built"
    try:
        return version("lsmsim")
    except PackageNotFoundError:
        return "unknown version"


def _rocksdb(program: str) -> str:
    found_at = shutil.which(program)
    if found_at is None:
        return f"not found ({program})"
    path = str(Path(found_at).absolute())
    found = _VERSION.search(_printed_version(path))
    return f"{found[1] if found else 'unknown version'} ({path})"


def _printed_version(path: str) -> str:
    """What the program prints with --version; "" where it does not run."""
    from lsmtune.errors import LsmtuneError
    from lsmtune.system.command import run_command
    from lsmtune.system.workdir import scratch

    try:
        with scratch() as folder:
            output = folder / "version"
            run_command([path, "--version"], output=output, limit_s=_LIMIT_S)
            return output.read_text(encoding="utf-8", errors="replace")
    except (LsmtuneError, OSError):
        return ""
