"""The Python lines of the page "See a study in Optuna" make a study with the same runs."""

import json
import os
import sys
from pathlib import Path

import optuna
import pytest

from lsmtune.cli.main import run
from lsmtune.simulator import is_installed

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "optuna.md"
TUNE = ["tune", "--engine", "simulated", "--num", "20000", "--trials", "6", "--study", "make-tune"]


@pytest.mark.skipif(not is_installed(), reason="the simulator is not installed")
def test_the_lines_of_the_page_fill_a_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LSMTUNE_HOME", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    assert run([*TUNE, "--optimizer", "random", "--objective", "write_amp"]) == 0
    capsys.readouterr()
    assert run(["trials", "make-tune", "--json"]) == 0
    trials = [one for one in json.loads(capsys.readouterr().out) if "verify" not in one["role"]]
    (lines,) = PAGE.read_text().split("```python\n")[1:]
    exec(lines.partition("```")[0], {})  # noqa: S102 - the page is ours
    study = optuna.load_study(study_name="make-tune", storage="sqlite:///optuna.sqlite3")
    assert [one.values for one in study.trials] == [list(t["values"].values()) for t in trials]
    assert [one.params for one in study.trials] == [one["config"] for one in trials]
    assert study.trials[0].user_attrs["write_amp"] == trials[0]["metrics"]["write_amp"]
