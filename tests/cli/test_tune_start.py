"""What `tune` says first: the time in the plan, from the times of measured runs, and the name."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from lsmtune.cli.main import run

pytest.importorskip("lsmsim", reason="the native core is not built here")
SIMULATED = ["tune", "--engine", "simulated", "--num", "20000", "--trials", "2", "--pairs", "0",
             "--optimizer", "random", "--home", "home"]  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def plan(capsys: pytest.CaptureFixture[str], *flags: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*SIMULATED, *flags, "--dry-run", "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_time_is_unknown_before_the_first_run(capsys: pytest.CaptureFixture[str]) -> None:
    few, many = plan(capsys), plan(capsys, "--trials", "9", "--pairs", "6")
    for document in (few, many):
        assert (document["run_s"], document["duration_s"]) == (None, [None, None])
    # The last --trials and --pairs count: 3 of the baseline, 9 trials, 6 pairs.
    assert few["number_of_runs"][0] == 3 + 2
    assert many["number_of_runs"][0] == 3 + 9 + 12
    assert run([*SIMULATED, "--dry-run"]) == 0
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("time ")]
    assert line.split()[1:4] == ["5", "to", str(few["number_of_runs"][1])]


def test_time_is_that_of_measured_runs_and_grows_with_the_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*SIMULATED, "--study", "s"]) == 0
    with sqlite3.connect("home/lsmtune.sqlite3") as database:
        database.execute("UPDATE trial SET duration_s = 10.0")
    database.close()
    same, double = plan(capsys), plan(capsys, "--num", "40000")
    assert same["run_s"] == pytest.approx(10)
    assert same["duration_s"] == [10 * count for count in same["number_of_runs"]]
    assert double["run_s"] == pytest.approx(20)
    for other in (["--scale", "1/8"], ["--workload", "overwrite"]):
        assert plan(capsys, *other)["run_s"] is None


def test_first_line_of_a_study_without_a_name_has_the_name_that_it_gets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = plan(capsys)["study"]
    for _ in ("new", "continued"):
        assert run(SIMULATED) == 0
        first, *_ = capsys.readouterr().err.splitlines()
        assert repr(name) in first
