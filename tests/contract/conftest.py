"""What the tests of the contract share: a home of version 0.1.0 in a folder of its own."""

import gzip
import shutil
from pathlib import Path

import pytest

from fakes.fake_db_bench import install
from lsmtune.engines.rocksdb import RocksDB

RECORD = Path(__file__).parent


@pytest.fixture
def write(request: pytest.FixtureRequest) -> bool:
    """Whether the record is written instead of compared."""
    return bool(request.config.getoption("--write-contract"))


@pytest.fixture
def place(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a user: `home` of version 0.1.0, a db_bench that is never run."""
    folder = tmp_path / "place"
    shutil.copytree(RECORD / "homes" / "0.1.0", folder / "home")
    packed = folder / "home" / "lsmtune.sqlite3.gz"
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LSMTUNE_HOME", "home")
    monkeypatch.setenv("LSMTUNE_DB_BENCH", str(install(folder / "bin")))
    monkeypatch.setattr(RocksDB, "run", lambda *_: pytest.fail("a trial was run"))
    return folder
