"""What the tests of the contract share: a home of an earlier version in a folder of its own."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.recorded_home import OPEN_FILES, Enter, enter_recorded_home


@pytest.fixture
def write(request: pytest.FixtureRequest) -> bool:
    """Whether the record is written instead of compared."""
    return bool(request.config.getoption("--write-contract"))


@pytest.fixture
def place(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter the folder of a user: `home` of version 0.1.0, a db_bench that is never run."""
    return enter_recorded_home(tmp_path / "place", monkeypatch)


@pytest.fixture
def enter(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Enter]:
    """Enter the folder of a user with the home of a version, and with its limit of open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
    yield lambda version: enter_recorded_home(tmp_path / "place", monkeypatch, version)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
