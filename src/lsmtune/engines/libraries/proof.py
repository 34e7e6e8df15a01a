"""A check that a library works: another process writes and reads a store with it."""

import json
import sys
from pathlib import Path

from lsmtune.engines.libraries.installed import release_of
from lsmtune.errors import UserError
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.system import store_check
from lsmtune.system.deadline import Deadline, ProcessTimeout
from lsmtune.system.process import ChildProcess

RECORDS = store_check.RECORDS
"""The number of records that are written and read back."""
_LIMIT_S = 60.0


def prove(library: Path, version: str, folder: Path, limit_s: float = _LIMIT_S) -> None:
    """Open a store in the folder with the library, write, flush, read back, close.

    Raises UserError if that fails, if it takes more than `limit_s` seconds, or if the store's LOG
    names another version.
    """
    store = folder / "store"
    if (problem := _problem(library, store, folder, limit_s)) is not None:
        raise UserError(f"the library does not work: {problem}")
    found = read_log(read_lines(store / "LOG", [])).version
    if found != release_of(version):
        raise UserError(f"the library is RocksDB {found or 'of an unknown version'}")


def _problem(library: Path, store: Path, folder: Path, limit_s: float) -> str | None:
    """Run the check; return the problem, or None if there is none."""
    errors = folder / "stderr"
    with ChildProcess(
        # -I: no module of the user, or next to the program, replaces a module of Python.
        [sys.executable, "-I", store_check.__file__, str(library), str(store)],
        cwd=folder, stdout_path=folder / "stdout", stderr_path=errors, env={},
    ) as child:  # fmt: skip
        try:
            lines = child.drain(Deadline(wall_s=limit_s, silence_s=limit_s))
            status = child.wait(limit_s)
        except ProcessTimeout as timeout:
            return f"its check does not end: {timeout}"
    if status.returncode or not lines:
        last = errors.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
        how = status.signal_name or f"exit code {status.returncode}"
        return ": ".join([f"its check ended with {how}", *last])
    error: str | None = json.loads(lines[-1])["error"]
    return error
