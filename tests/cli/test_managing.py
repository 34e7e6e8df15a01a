"""Studies are listed, renamed, deleted, continued by their name, and started from others."""

import json
from pathlib import Path
from typing import Any

import pytest

from lsmtune.cli.main import run
from lsmtune.store.home import Home
from lsmtune.system.lock import study_lock
from lsmtune.trials import Role

pytest.importorskip("lsmsim", reason="the native core is not built here")

FIRST = [
    "tune", "--study", "first", "--engine", "simulated", "--num", "50000", "--trials", "3",
    "--optimizer", "random", "--pairs", "0", "--seed", "7",
]  # fmt: skip


class Place:
    """A home and the command line."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = folder / "home"
        self._capsys = capsys
        self.err = ""

    def run(self, *arguments: str) -> tuple[int, str]:
        code = run([*arguments, "--home", str(self.path)])
        out, self.err = self._capsys.readouterr()
        return code, out

    def json(self, *arguments: str) -> Any:
        code, out = self.run(*arguments, "--json")
        assert code == 0, self.err
        return json.loads(out)

    def started(self, name: str, role: Role = Role.TRIAL) -> list[str]:
        with Home(self.path, create=False) as home:
            trials = home.trials(home.study(name))
        return [trial.started_at for trial in trials if trial.role is role]


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    found = Place(tmp_path, capsys)
    found.json(*FIRST)
    return found


def test_studies_are_listed_with_what_they_are(place: Place) -> None:
    (row,) = place.json("studies")
    expected = {"study": "first", "kind": "tune", "engine": "simulated", "state": "finished"}
    claim = place.json("show", "first")["claim"]
    assert (row["result"], row["value"]) == (claim["status"], claim["value"])
    assert row.items() >= expected.items()
    assert row["runs"] == len(place.started("first")) + len(
        place.started("first", Role.BASE) + place.started("first", Role.REPEAT)
    )
    with study_lock(place.path / "first.lock", "it"):
        assert place.json("studies")[0]["state"] == "running"


def test_a_study_continues_by_its_name_alone(place: Place) -> None:
    before = place.started("first")
    document = place.json("tune", "--study", "first", "--trials", "5")
    assert document["trials"]["total"] == 5
    assert place.started("first")[:3] == before
    assert len(place.json("studies")) == 1


def test_another_setting_is_refused(place: Place) -> None:
    assert place.run("tune", "--study", "first", "--seed", "8")[0] == 2
    assert "seed" in place.err


@pytest.mark.parametrize(
    "change", [["--objective", "live_sst_bytes"], ["--limit", "write_amp <= 1.5 * base"]]
)
def test_another_aim_starts_a_study_from_the_stored_runs(place: Place, change: list[str]) -> None:
    command = ["tune", "--study", "first", *change]
    document = place.json(*command)
    assert document["study"] == "first-2"
    for role in (Role.BASE, Role.TRIAL):
        assert place.started("first-2", role) == place.started("first", role)
    assert place.json(*command)["study"] == "first-2"  # again: the same study
    assert place.json("tune", "--study", "first", "--objective", "write_amp")["study"] == "first-3"
    assert [row["study"] for row in place.json("studies")] == ["first", "first-2", "first-3"]


def test_runs_that_were_copied_keep_their_evidence(place: Place) -> None:
    place.json("tune", "--study", "first", "--objective", "live_sst_bytes")
    with Home(place.path, create=False) as home:
        first, second = (home.trials(home.study(name))[0] for name in ("first", "first-2"))
        assert home.evidence_files(first).keys() == home.evidence_files(second).keys()
        for name in home.evidence_files(first):
            assert home.read_evidence(first, name) == home.read_evidence(second, name)
    assert place.run("delete", "first", "--yes")[0] == 0
    assert place.json("show", "first-2")["trials"]["total"] == 3


def test_a_new_baseline_is_measured_in_a_new_study(place: Place) -> None:
    place.json("tune", "--study", "first", "--trials", "6")
    document = place.json("tune", "--study", "first", "--new-baseline")
    assert document["study"] == "first-2"
    old, new = (set(place.started(name, Role.BASE)) for name in ("first", "first-2"))
    assert not old & new
    assert len(new) == len(old)
    assert place.run("delete", "first", "--yes")[0] == 2  # the new one starts from its runs
    assert place.run("tune", "--study", "nothing", "--new-baseline")[0] == 2


def test_a_study_is_renamed_with_its_runs_and_their_evidence(place: Place) -> None:
    before = place.json("trials", "first")
    assert place.run("rename", "first", "second")[0] == 0
    assert place.json("trials", "second") == before
    assert place.json("tune", "--study", "second", "--trials", "4")["trials"]["total"] == 4
    assert [path.name for path in (place.path / "evidence").iterdir()] == ["second"]
    assert place.run("show", "first")[0] == 2


@pytest.mark.parametrize("new", ["first", "../other", "a/b", ""])
def test_a_name_that_is_taken_or_no_name_is_refused(place: Place, new: str) -> None:
    assert place.run("rename", "first", new)[0] == 2
    assert place.err.count("\n") == 1
    assert place.json("studies")[0]["study"] == "first"


def test_a_renaming_that_was_cut_off_is_completed(place: Place) -> None:
    (place.path / "evidence" / "first").rename(place.path / "evidence" / "second")
    assert place.run("rename", "first", "second")[0] == 0
    assert place.json("studies")[0]["study"] == "second"


def test_a_study_is_deleted_after_consent_and_nothing_else(place: Place) -> None:
    other = place.path / "evidence" / "other"
    other.mkdir()
    assert place.run("delete", "first")[0] == 2
    assert place.json("studies")
    assert place.run("delete", "first", "--yes")[0] == 0
    assert place.json("studies") == []
    assert list((place.path / "evidence").iterdir()) == [other]
    assert (place.path / "results" / "first" / "report.html").exists()
    place.json(*FIRST)  # the name is free again


def test_a_study_in_use_is_neither_renamed_nor_deleted(place: Place) -> None:
    with study_lock(place.path / "first.lock", "it"):
        assert place.run("rename", "first", "second")[0] == 2
        assert place.run("delete", "first", "--yes")[0] == 2
    assert place.json("studies")[0]["study"] == "first"


def test_evidence_that_is_a_link_is_not_followed(place: Place, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (place.path / "evidence" / "first").rename(outside)
    (place.path / "evidence" / "first").symlink_to(outside)
    assert place.run("delete", "first", "--yes")[0] == 2
    assert list(outside.iterdir())
