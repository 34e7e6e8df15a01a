"""`lsmtune inspect` as its users type it."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lsmtune.cli.main import run

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
LEVEL, UNIVERSAL = (
    str(CAPTURED / f"rocksdb-7.8.3-{style}" / "LOG.gz") for style in ("level", "universal")
)

MYROCKS = str(CAPTURED / "myrocks-6.29-tpcc-universal.LOG.gz")

EXAMPLES = Path(__file__).parents[2] / "examples"
MOST_MODULES = 115
UNNEEDED = {
    "numpy",
    "scipy",
    "plotly",
    "tomlkit",
    "psutil",
    "lsmtune.engines",
    "lsmtune.spec",
    "lsmtune.store",
    "lsmtune.study",
    "lsmtune.optimizers",
    "lsmtune.workloads",
}


@pytest.fixture
def library(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The versions of RocksDB that the user installed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed.parents[1]))
    monkeypatch.delenv("LSMTUNE_DB_BENCH", raising=False)


def test_one_log_is_told_in_full(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["inspect", LEVEL]) == 0
    told = capsys.readouterr().out
    assert "RocksDB 7.8.3" in told
    assert "level0_slowdown_writes_trigger" in told
    assert "write_buffer_size" in told
    labels = [f"   {name}: " for name in ("cause", "do", "apply", "cost", "check", "see also")]
    assert {told.count(label) for label in labels} == {3}
    assert "   do: raise max_background_jobs " in told


@pytest.mark.parametrize("name", ["LOG.gz", "OPTIONS"])
def test_only_what_is_needed_is_imported(name: str) -> None:
    code = (
        "import sys\nfrom lsmtune.cli.main import run\nassert run(sys.argv[1:]) == 0\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "inspect", str(EXAMPLES / name)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    loaded = done.stderr.split()
    own = [module for module in loaded if module.partition(".")[0] == "lsmtune"]
    assert 0 < len(own) <= MOST_MODULES
    assert not UNNEEDED & {*loaded}


def test_json_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", LEVEL, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == "7.8.3"
    assert document["totals"]["w_amp_table"] == 4.6
    assert run(["inspect", LEVEL, UNIVERSAL, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["logs"]) == 2


def test_several_stand_side_by_side_with_the_options_that_differ(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["inspect", LEVEL, UNIVERSAL]) == 0
    told = capsys.readouterr().out
    style = next(line for line in told.splitlines() if line.startswith("compaction_style"))
    assert style.split()[1:] == ["default", "kCompactionStyleUniversal"]
    assert not any(line.startswith("write_buffer_size") for line in told.splitlines())


def test_the_page_needs_no_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert run(["inspect", LEVEL, UNIVERSAL, "--page", str(page)]) == 0
    html = page.read_text()
    assert "src=" not in html.split("<script>")[0]
    for picture in ("stalls", "jobs", "shape", "written"):
        assert html.count(f'-{picture}" class="plot"') == 2


def test_a_study_of_a_log_can_be_rehearsed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "like.toml"
    assert run(["inspect", LEVEL, "--to-study", str(study)]) == 0
    assert study.with_suffix(".OPTIONS").exists()
    assert run(["inspect", LEVEL, UNIVERSAL, "--to-study", str(study)]) == 2
    assert "one LOG" in capsys.readouterr().err


def test_the_plan_of_a_study_of_a_log_has_its_rate(
    tmp_path: Path, library: None, capsys: pytest.CaptureFixture[str]
) -> None:
    study = str(tmp_path / "like.toml")
    assert run(["inspect", MYROCKS, "--to-study", study]) == 0
    flags = ["--rocksdb", "11.8.1", "--home", str(tmp_path / "home"), "--dry-run", "--json"]
    capsys.readouterr()
    assert run(["tune", study, *flags]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["measure"], plan["rate"]) == ("running", "9990")


def test_what_is_no_log_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = tmp_path / "notes.txt"
    nothing.write_text("to do: look at the LOG\n")
    assert run(["inspect", str(nothing)]) == 2
    assert run(["inspect", str(tmp_path / "none")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert "notes.txt: " in told[0]
    assert "No such file" in told[1]


def test_tables_have_the_rows_of_the_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", LEVEL, "--csv", str(tmp_path)]) == 0
    capsys.readouterr()
    assert run(["inspect", LEVEL, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    counts = {
        path.name: len(list(csv.DictReader(path.read_text().splitlines())))
        for path in tmp_path.iterdir()
    }
    compactions = document["compactions"]["count"]
    assert counts.keys() == {"findings.csv", "levels.csv", "jobs.csv", "stalls.csv", "options.csv"}
    assert counts["levels.csv"] == len(document["levels"])
    assert counts["options.csv"] == len(document["options_changed"])
    assert counts["jobs.csv"] > compactions > 0


def test_a_comparison_writes_no_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", LEVEL, LEVEL, "--compare", "--csv", str(tmp_path)]) == 2
    assert "--csv" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_study_that_cannot_be_written_leaves_no_options(tmp_path: Path) -> None:
    pipe = tmp_path / "study.toml"
    os.mkfifo(pipe)
    assert run(["inspect", LEVEL, "--to-study", str(pipe)]) == 2
    assert list(tmp_path.iterdir()) == [pipe]
