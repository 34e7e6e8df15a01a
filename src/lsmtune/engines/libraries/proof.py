"""A check that a library works: another process writes and reads a store with it."""

from pathlib import Path

from lsmtune.engines.libraries.installed import release_of
from lsmtune.engines.libraries.steps import StepFailedError, carry_out
from lsmtune.errors import UserError
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log

RECORDS = 1000
"""The number of records that are written and read back."""
_VALUE_BYTES = 80
_LIMIT_S = 60.0


def prove(library: Path, version: str, folder: Path, limit_s: float = _LIMIT_S) -> None:
    """Open a store in the folder with the library, write, flush, read back, close.

    Raises UserError if that fails, if it takes more than `limit_s` seconds, or if the store's LOG
    names another version.
    """
    store = folder / "store"
    digest = {"do": "digest"}
    steps = [{"do": "put", "keys": RECORDS, "size": _VALUE_BYTES}, digest, {"do": "flush"}, digest]
    texts = {"default": ""}
    plan = {"library": str(library), "folder": str(store), "texts": texts, "create": True}
    try:
        events = carry_out({**plan, "steps": steps}, folder, "check", limit_s)
    except StepFailedError as failure:
        raise UserError(f"the library does not work: {failure.step}: {failure}") from failure
    written, read = (e["result"]["default"] for e in events if e["event"] == "digest")
    if written != read:
        lost = f"{RECORDS - read[0]} of {RECORDS} records are missing, or other records were read"
        raise UserError(f"the library does not work: after a flush, {lost}")
    found = read_log(read_lines(store / "LOG", [])).version
    if found != release_of(version):
        raise UserError(f"the library is RocksDB {found or 'of an unknown version'}")
