"""The example notebook and the example service run as they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("library")]


FEW_READS = "protocol={'probe_reads': 100}"
QUICK = f"accept_noise=True, max_pairs=6, trials=2, {FEW_READS}"
"""Other programs may run at the same time, and a disturbed run would be repeated."""


def cells() -> list[str]:
    notebook = json.loads((EXAMPLES / "tune.ipynb").read_text())
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def python(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=os.environ, check=True, text=True,
        capture_output=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def test_the_notebook_tunes_shows_and_exports(tmp_path: Path) -> None:
    assert sum(len(cell.splitlines()) for cell in cells()) <= 15
    # A notebook shows the value of a cell's last line; here it is made an image of itself.
    shown = [c if "figure" not in c else f"print(type({c}).__name__)" for c in cells()]
    code = "\n".join(shown)
    for given, quick in (("trials=4", QUICK), ("50_000", "20_000")):
        assert given in code
        code = code.replace(given, quick)
    told = python(tmp_path, "-c", code).splitlines()
    assert "Figure" in told
    is_gain = told[0].startswith("gain")
    assert (tmp_path / "OPTIONS").exists() == is_gain


def test_the_service_runs_two_studies_and_cancels_a_third(tmp_path: Path) -> None:
    code = (EXAMPLES / "service.py").read_text()
    assert "repeats=0" in code
    quick = code.replace("repeats=0", f"repeats=0, {FEW_READS}")
    told = python(tmp_path, "-c", quick, "home").splitlines()
    assert [line.partition(":")[0] for line in told] == ["first", "second", "third"]
    assert "cancelled" in told[2]
    assert not list((tmp_path / "home" / "work").iterdir())
