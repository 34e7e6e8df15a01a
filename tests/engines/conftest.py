"""Fixtures of the tests of the driver: a stand-in for RocksDB's library, and installed ones."""

from pathlib import Path
from typing import Any

import pytest

from fakes.driving import Do, Driven, Json, Plan, build, drive
from fakes.installed import ENGINES, label
from lsmtune.engines.libraries.installed import Installed


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the stand-ins; `build` compiles each of them once."""
    return tmp_path_factory.mktemp("libraries")


@pytest.fixture
def plan(libraries: Path, tmp_path: Path) -> Plan:
    """Makes a plan for a stand-in with some fault."""

    def make(*phases: Json, fault: str = "NOTHING", **fields: Any) -> Json:
        return _plan(build(libraries, fault), tmp_path, phases) | fields

    return make


@pytest.fixture
def do(plan: Plan, tmp_path: Path) -> Do:
    """Carries out phases on a stand-in with some fault."""

    def carry_out(*phases: Json, **fields: Any) -> Driven:
        return drive(plan(*phases, **fields), tmp_path)

    return carry_out


@pytest.fixture(scope="session", params=ENGINES or [None], ids=label)
def engine(request: pytest.FixtureRequest) -> Installed:
    """Each of the installed libraries."""
    if request.param is None:
        pytest.skip("no library is installed: lsmtune engines install rocksdb")
    installed: Installed = request.param
    return installed


@pytest.fixture
def real_plan(engine: Installed, tmp_path: Path) -> Plan:
    """Makes a plan for an installed library."""

    def make(*phases: Json, **fields: Any) -> Json:
        return _plan(engine.library, tmp_path, phases) | fields

    return make


def _plan(library: Path, folder: Path, phases: tuple[Json, ...]) -> Json:
    return {"library": str(library), "folder": str(folder / "db"), "phases": list(phases)}
