"""What searches where the user names no optimizer: the simulator leads where it knows the load."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lsmsim", reason="the native core is not built here")

from fakes.facts import ENGINE, HOST
from lsmtune.api.continue_study import StoredStudies
from lsmtune.api.resolve import with_usual_optimizer
from lsmtune.cli.main import run
from lsmtune.simulator import Compared
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


MODELLED = {"knobs": "tree,flushes,filters,codecs"}
"""The presets of the usual workloads without blob files, which the simulator does not model."""


def usual(home: Path, **given: Any) -> str:
    with StoredStudies(home) as stored:
        spec = StudySettings(**{**MODELLED, **given})
        return with_usual_optimizer(spec, stored, lambda _: None).optimizer


def test_the_simulator_leads_and_nothing_is_made_to_tell(home: Path) -> None:
    assert usual(home, workload="fillrandom") == "guided"
    assert usual(home, workload="overwrite") == "guided"
    assert not home.exists()


@pytest.mark.parametrize(
    "given",
    [
        {"workload": "readrandom"},
        {"workload": {"name": "fillrandom", "tombstone_every": 1000, "tombstone_width": 10}},
        {"engine": "simulated"},
        {"warm_start": "all"},
        {"workload": "overwrite", "rocksdb": "11.8.1", "online": {}},
    ],
)
def test_what_it_does_not_know_is_searched_as_ever(home: Path, given: Mapping[str, Any]) -> None:
    assert usual(home, **given) == StudySettings().optimizer != "guided"


def test_so_it_is_where_no_simulator_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lsmsim", None)  # Python then finds no such package
    assert usual(home) == "tpe"


def test_it_leads_on_versions_near_one_on_which_it_is_exact(home: Path) -> None:
    filled = {"measure": "filled"}
    assert usual(home, rocksdb="11.8.1", **filled) == "guided"
    assert usual(home, rocksdb="8.10.2", **filled) == "guided"
    told: list[str] = []
    inexact = (Compared("7.8.3", 0.04), Compared("11.8.1", 0.25))
    for version, optimizer in (("11.1.2", "tpe"), ("7.10.2", "guided")):
        spec = StudySettings(rocksdb=version, measure="filled", **MODELLED)
        assert (
            with_usual_optimizer(spec, StoredStudies(home), told.append, inexact).optimizer
            == optimizer
        )
    assert len(told) == 1
    assert "11.8.1" in told[0]
    assert "25 %" in told[0]


def test_it_leads_on_running_stores_only_if_it_was_compared_with_such_trials(home: Path) -> None:
    told: list[str] = []
    spec = StudySettings(rocksdb="11.8.1", measure="running", **MODELLED)
    figures = {
        (): "tpe",
        (Compared("11.8.1", 0.12),): "tpe",
        (Compared("11.8.1", 0.08),): "guided",
    }
    for compared, optimizer in figures.items():
        found = with_usual_optimizer(spec, StoredStudies(home), told.append, running=compared)
        assert found.optimizer == optimizer
    assert len(told) == 1
    assert "12 %" in told[0]


def test_it_leads_no_search_over_blob_files(home: Path) -> None:
    blobs = "enable_blob_files,write_buffer_size"
    assert usual(home, workload="fillrandom", knobs=blobs) == "tpe"
    assert usual(home, workload="fillrandom", knobs="write_buffer_size") == "guided"


def test_a_study_goes_on_by_what_it_began_with(home: Path) -> None:
    with Home(home, create=True) as opened:
        for name in ("tpe", "guided"):
            spec = StudySettings(study=name, optimizer=name, **MODELLED)
            opened.add_study(name, spec.model_dump(mode="json"), ENGINE, HOST, [])
    assert usual(home, study="tpe") == "tpe"
    assert usual(home, study="guided") == "guided"


@pytest.mark.usefixtures("fake_db_bench")
def test_tune_takes_it_unless_one_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def planned(*flags: str) -> Any:
        asked = ["tune", "--num", "5000", "--home", str(home), "--dry-run", "--json",
                 "--knobs", MODELLED["knobs"], *flags]  # fmt: skip
        assert run(asked) == 0
        return json.loads(capsys.readouterr().out)["optimizer"]

    assert planned() == "guided"
    assert planned("--optimizer", "tpe") == "tpe"
