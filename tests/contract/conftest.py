"""What the tests of the contract share: a home in a folder of its own."""

from pathlib import Path

import pytest

from fakes.made_home import enter_home


@pytest.fixture
def write(request: pytest.FixtureRequest) -> bool:
    """Whether the record is written instead of compared."""
    return bool(request.config.getoption("--write-contract"))


@pytest.fixture
def place(made_home: Path, tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter the folder of a user: `home` with studies, a db_bench that is never run."""
    return enter_home(made_home, tmp_path / "place", monkeypatch)
