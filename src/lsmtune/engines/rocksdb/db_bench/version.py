"""The version of a db_bench program."""

import re

from lsmtune.errors import LsmtuneError
from lsmtune.system.launch import run_command
from lsmtune.system.workdir import scratch

_LIMIT_S = 5.0
_VERSION = re.compile(r"db_bench version (\S+)")


def db_bench_version(path: str) -> str | None:
    """Return the version that a db_bench prints, None if it prints none."""
    found = _VERSION.search(_printed_version(path))
    return found[1] if found else None


def _printed_version(path: str) -> str:
    """What the program prints with --version; "" where it does not run."""
    try:
        with scratch() as folder:
            output = folder / "version"
            run_command([path, "--version"], output=output, limit_s=_LIMIT_S)
            return output.read_text(encoding="utf-8", errors="replace")
    except (LsmtuneError, OSError):
        return ""
