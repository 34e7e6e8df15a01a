"""The commands that show a study, on stored trials."""

import csv
import io
import json
from pathlib import Path

import pytest
from stored import Written

from fakes.facts import HOST
from lsmtune.cli.main import run
from lsmtune.store.home import Home
from lsmtune.trials import Role, Status, TrialResult


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a study of two goals: 1 and 2 on its front, 3 beaten, 4 cut."""
    monkeypatch.setenv("LSMTUNE_HOME", str(tmp_path / "home"))
    with Home(tmp_path / "home", create=True) as home:
        written = Written(home, objective=["write_amp", "total_s"])
        written.base()
        for size, (amp, time) in enumerate([(5.0, 9.0), (7.0, 6.0), (8.0, 9.5)], start=1000):
            written.add(Role.TRIAL, size, {"write_amp": amp, "total_s": time})
        cut = TrialResult(
            status=Status.CUT, reason="hopeless", bounds={"write_amp": 30.0, "total_s": 20.0}
        )
        written.add(Role.TRIAL, 4000, cut)
        home.add_study("other", {"study": "other"}, written.study.engine, HOST, [])
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def test_show_lists_the_front_and_takes_another_trial(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(capsys, "show", "s")
    rows = [line.split() for line in text.splitlines()]
    assert ["1", "0.500", "0.900"] in rows
    assert any(row[:2] == ["4", "pruned"] and row[-1] == "hopeless" for row in rows)
    assert json.loads(shown(capsys, "show", "s", "--json"))["best"]["trial"] == 2
    picked = json.loads(shown(capsys, "show", "s", "--trial", "1", "--json"))
    assert picked["best"]["trial"] == 1
    assert picked["trials"]["cut"] == 1


def test_trials_have_values_bounds_and_their_place_on_the_front(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads(shown(capsys, "trials", "s", "--json"))
    assert [row["trial"] for row in rows if row["on_front"]] == [1, 2]
    assert rows[1]["values"] == pytest.approx({"write_amp": 0.5, "total_s": 0.9})
    assert rows[4]["values"] == {}
    assert rows[4]["bounds"] == pytest.approx({"write_amp": 3.0, "total_s": 2.0})
    table = list(csv.DictReader(io.StringIO(shown(capsys, "trials", "s", "--csv"))))
    assert float(table[1]["value_total_s"]) == pytest.approx(0.9)
    assert float(table[4]["bound_total_s"]) == pytest.approx(2.0)


def test_report_writes_one_study_or_an_overview(place: Path) -> None:
    one, both = place / "one.html", place / "both.html"
    assert run(["report", "s", "--trial", "1", "-o", str(one)]) == 0
    assert "trial 1" in one.read_text()
    assert run(["report", "s", "other", "-o", str(both)]) == 0
    assert "0 of 2" in both.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "s", "s", "-o", "p.html"], "named twice"),
        (["report", "s", "other", "--trial", "1", "-o", "p.html"], "--trial"),
        (["report", "s", "absent", "-o", "p.html"], "'absent'"),
        (["report", "s", "--trial", "4", "-o", "p.html"], "--trial 4"),
        (["show", "s", "--trial", "0"], "1, 2, 3"),
    ],
)
def test_wrong_use_is_told_in_one_sentence(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(place)
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert not (place / "p.html").exists()
