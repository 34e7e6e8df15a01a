"""What several rooms of tests share; its place also makes `fakes` importable."""

import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def own_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, and so a host lock, of the test's own."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder
