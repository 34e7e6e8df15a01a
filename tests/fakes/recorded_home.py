"""The home of version 0.1.0 in tests/contract, opened in a folder of a test's own."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

from fakes.fake_db_bench import install
from lsmtune.engines.rocksdb import RocksDB

_HOME = Path(__file__).parents[1] / "contract" / "homes" / "0.1.0"


def enter_recorded_home(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make `folder` the current one, with a copy of the home and a db_bench that is never run."""
    shutil.copytree(_HOME, folder / "home")
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
