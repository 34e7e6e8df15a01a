"""What the tests of the contract share: a home of version 0.1.0 in a folder of its own."""

from pathlib import Path

import pytest

from fakes.recorded_home import enter_recorded_home


@pytest.fixture
def write(request: pytest.FixtureRequest) -> bool:
    """Whether the record is written instead of compared."""
    return bool(request.config.getoption("--write-contract"))


@pytest.fixture
def place(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter the folder of a user: `home` of version 0.1.0, a db_bench that is never run."""
    return enter_recorded_home(tmp_path / "place", monkeypatch)
