"""Stores of a user, made by an installed library of RocksDB, and studies from their OPTIONS."""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from fakes.studies import open_study
from lsmtune.engines.base import Outcome, Places, Watch
from lsmtune.engines.libraries.installed import loaded_library
from lsmtune.engines.libraries.steps import carry_out
from lsmtune.engines.rocksdb.driver import Driver, LibraryRocksDB
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import measured
from lsmtune.trials import Base, TrialSpec

PUTS: Sequence[Mapping[str, Any]] = (
    {"do": "put", "keys": 3000, "size": 200},
    {"do": "flush"},
    {"do": "compact"},
    {"do": "put", "keys": 500, "size": 200, "prefix": "b"},
    {"do": "flush"},
    {"do": "put", "keys": 50, "size": 100, "prefix": "c"},
)
"""Steps that leave tables in two levels, and records in the write-ahead log."""


def make_store(
    library: Path,
    folder: Path,
    families: Mapping[str, str] | None = None,
    steps: Sequence[Mapping[str, Any]] = PUTS,
) -> Path:
    """Make a store whose families have these texts of options, and return its folder."""
    texts = dict(families or {"default": ""})
    plan = {"library": str(library), "folder": str(folder), "texts": texts, "create": True}
    work = folder.with_name(f"{folder.name}-made")
    work.mkdir()
    carry_out({**plan, "steps": list(steps)}, work, "make", 300.0)
    return folder


def newest_options(store: Path) -> Path:
    """Return the newest OPTIONS file of a store."""
    return max(store.glob("OPTIONS-*"))


def state(store: Path) -> dict[str, tuple[int, int, str]]:
    """Return size, modification time and SHA-256 of each file."""
    return {
        str(path.relative_to(store)): (
            path.stat().st_size,
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(store.rglob("*"))
    }


class _Scripted(LibraryRocksDB):
    """An engine that reads a baseline with RocksDB, and whose later runs are the better ones."""

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver)
        self._runs = count(1)

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Return a result by rule."""
        return Outcome(measured(write_amp=10 / next(self._runs)), {})


def make_study(home: Path, store: Path, library: Path, name: str = "own", **more: Any) -> str:
    """Make a study from the newest OPTIONS file of a store, whose last trial wins."""
    given = {
        "study": name, "library": str(library), "base": str(newest_options(store)),
        "objective": "write_amp", "optimizer": "random", "trials": 3, "base_runs": 1,
        "finalists": 1, "repeats": 0, "pairs": 0, "early_stop": False,
        "limits": ["live_sst_bytes <= 9 * base"], "memory": "8GiB",
        "knobs": "block_size,compression_type,write_buffer_size,bloom_bits",
    }  # fmt: skip
    engine = _Scripted(Driver(loaded_library(None, str(library))))
    with (
        Home(home, create=True) as opened,
        open_study(opened, make_spec({**given, **more}, "test"), engine) as study,
    ):
        run_search(study)
    return name
