"""A home that was recorded when its format was new opens, shows, exports and continues.

It has the studies of `fakes/made_home.py`, and three that commands ran on the simulated engine.
"""

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from fakes.made_home import enter_home
from lsmtune.cli.main import run
from lsmtune.store.database import DATABASE

RECORDED = Path(__file__).parent / "home-format-11.sqlite3.xz"
RESULTS = {
    "finished": "not verified", "interrupted": "not verified", "verified": "gain",
    "running": "gain with a price",
    "front": "not verified", "server": "not verified", "cluster": "nothing found",
    "stores": "not verified", "tuned": "nothing found", "swept": "no search",
    "screened": "no search",
}  # fmt: skip
FORMATS = {"server": "my.cnf", "cluster": "tikv-toml", "stores": "toml",
           "tuned": "db_bench"}  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / DATABASE).write_bytes(lzma.decompress(RECORDED.read_bytes()))
    return enter_home(tmp_path / "recorded", tmp_path / "place", monkeypatch)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("place")
def test_its_studies_are_shown_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "studies")
    assert {row["study"]: row["result"] for row in rows} == RESULTS
    for name, result in RESULTS.items():
        assert printed(capsys, "show", name)["claim"]["status"] == result
    for name in [name for name, result in RESULTS.items() if result != "no search"]:
        found = (row["trial"] for row in printed(capsys, "trials", name)
                 if (row["role"], row["status"]) == ("trial", "complete"))  # fmt: skip
        flags = ["--trial", str(next(found)), "--format", FORMATS.get(name, "options")]
        assert run(["export", name, *flags, "-o", f"{name}.exported"]) == 0
        capsys.readouterr()
        assert Path(f"{name}.exported").read_text()


@pytest.mark.usefixtures("place")
def test_its_study_continues(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    before = printed(capsys, "trials", "tuned")
    printed(capsys, "tune", "--study", "tuned", "--trials", "9")
    after = printed(capsys, "trials", "tuned")
    assert after[: len(before)] == before
    assert sum(row["role"] == "trial" for row in after) == 9
