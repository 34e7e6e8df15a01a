"""What the tests of the Python interface share."""

from pathlib import Path

import pytest


@pytest.fixture
def library(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The versions of RocksDB that the user installed, which tests do not see otherwise."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed.parents[1]))
    monkeypatch.delenv("LSMTUNE_DB_BENCH", raising=False)
