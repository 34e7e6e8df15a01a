"""What every test of a study's driver stands on: a home, and a host of its own."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsmtune.store.home import Home


@pytest.fixture(autouse=True)
def _lock_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for a timed trial that runs elsewhere on the machine."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An empty home."""
    with Home(tmp_path / "home", create=True) as opened:
        yield opened
