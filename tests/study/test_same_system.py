"""A study continues only on the system that it started on."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.engines.base import EngineFacts
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.same_system import check_same_system
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.testing.scripted import ScriptedEngine, measured

SPEC = StudySettings(study="s", base_runs=1)


class Described(ScriptedEngine):
    """An engine of another version or build."""

    def __init__(self, **changes: Any) -> None:
        super().__init__(lambda spec: measured())
        self._changes = changes

    def describe(self, workdir: Path) -> EngineFacts:
        return replace(super().describe(workdir), **self._changes)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home(tmp_path / "home", create=True) as opened:
        yield opened


def work_on(home: Home, engine: ScriptedEngine) -> None:
    with open_study(home, SPEC, engine, lambda _: None) as study:
        measure_baseline(study)


def test_the_same_system_continues(home: Home) -> None:
    for _ in range(2):
        work_on(home, Described())


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"version": "99.9"}, ("0.0.0", "99.9")),
        ({"assertions_enabled": True}, ("build", "without")),
    ],
)
def test_another_engine_is_refused_and_changes_nothing(
    home: Home, changes: dict[str, Any], names: tuple[str, str]
) -> None:
    work_on(home, Described())
    before = home.trials(home.study("s"))
    with pytest.raises(UserError) as refused:
        work_on(home, Described(**changes))
    assert all(name in str(refused.value) for name in names)
    assert home.trials(home.study("s")) == before
    work_on(home, Described())


HOST = describe_host()


def seem_begun_elsewhere(home: Home, **changes: Any) -> None:
    """Let the stored study have begun on a host with these facts."""
    with sqlite3.connect(home.path / "lsmtune.sqlite3") as database:
        ((text,),) = database.execute("SELECT host FROM study")
        host = json.loads(text)
        storage = {**host["storage"], **changes.pop("storage", {})}
        told = json.dumps({**host, **changes, "storage": storage})
        database.execute("UPDATE study SET host = ?", (told,))
    database.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"cpu_model": "another CPU"},
        {"usable_cpus": HOST.usable_cpus + 2},
        {"memory_bytes": round(HOST.memory_bytes / 1.2)},
    ],
)
def test_another_host_is_refused(home: Home, changes: dict[str, Any]) -> None:
    work_on(home, Described())
    seem_begun_elsewhere(home, **changes)
    with pytest.raises(UserError, match="another system"):
        work_on(home, Described())


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel": "9.9.9"},
        {"boot_id": "another"},
        {"memory_bytes": round(HOST.memory_bytes / 1.05)},
        {"max_open_files": HOST.max_open_files + 1},
    ],
)
def test_a_new_kernel_or_a_little_more_memory_is_allowed(
    home: Home, changes: dict[str, Any]
) -> None:
    work_on(home, Described())
    seem_begun_elsewhere(home, **changes)
    work_on(home, Described())


def test_another_device_is_refused(home: Home) -> None:
    engine = Described()
    work_on(home, engine)
    here = replace(describe_storage(home.path), fs_type="ext4", rotational=False)
    seem_begun_elsewhere(home, storage=asdict(here))
    stored, facts = home.study("s"), engine.describe(home.work)
    check_same_system(stored, SPEC, facts, HOST, here)
    for changed in (replace(here, fs_type="xfs"), replace(here, rotational=True)):
        with pytest.raises(UserError, match="another system"):
            check_same_system(stored, SPEC, facts, HOST, changed)
