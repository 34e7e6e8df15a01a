"""The homes of earlier versions in tests/contract, opened in a folder of a test's own."""

import gzip
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.fake_db_bench import install
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.store.home import Home

HOMES = Path(__file__).parents[1] / "contract" / "homes"
VERSIONS = ("0.1.0", "0.2.0", "removed-optimizers", "0.3.0.dev0")
OPEN_FILES = 1024
"""A limit of the process that decides which values some knobs may have."""

Enter = Callable[[str], Path]
"""Makes a folder with the home of a version the current one."""


def enter_recorded_home(folder: Path, patch: pytest.MonkeyPatch, version: str = "0.1.0") -> Path:
    """Make `folder` the current one, with a copy of the home and a db_bench that is never run."""
    shutil.copytree(HOMES / version, folder / "home")
    packed = folder / "home" / "lsmtune.sqlite3.gz"
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    patch.chdir(folder)
    patch.setenv("LSMTUNE_HOME", "home")
    program = install(folder / "bin")
    patch.setenv("LSMTUNE_DB_BENCH", str(program))
    patch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    patch.setattr(RocksDB, "run", lambda *_: pytest.fail("a trial was run"))
    return folder


def studies_in(folder: Path) -> list[str]:
    """Return the names of all studies of the home in a folder."""
    with Home(folder / "home", create=False) as home:
        return home.study_names()
