"""The whole way on the embedded stores: tune, show, report, export, sweep."""

import json
import shutil
import sqlite3
import tomllib
from pathlib import Path

import pytest

from fakes.stores import NEEDS_STORES
from lsmtune.cli.main import run
from lsmtune.engines.libraries.installed import default_engine, installed_engines

pytest.importorskip("lsmsim", reason="the native core is not built here")
pytestmark = NEEDS_STORES
STUDY = """
study = "s"
engine = "embedded"
knobs = "write_buffer_size,compression_type,store"
objective = "disk_bytes"
trials = 2
base_runs = 1
repeats = 0
pairs = 0
workload = { name = "fillrandom", num = 5000, value_size = 100 }
protocol = { quiet_s = 0.05, probe_reads = 100 }
"""


@pytest.fixture(scope="module")
def library(installed: Path) -> str:
    usual = default_engine(installed_engines(installed))
    assert usual is not None
    return str(usual.library)


@pytest.fixture(scope="module")
def home(on_disk: Path, crowd: None, library: str) -> Path:
    folder = on_disk
    (folder / "study.toml").write_text(f"library = '{library}'\n{STUDY}")
    assert run(["tune", str(folder / "study.toml"), "--home", str(folder / "home")]) == 0
    return folder / "home"


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def test_it_is_tuned_and_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(out(capsys, "show", "s", "--home", str(home), "--json"))
    assert document["engine"] == "embedded"
    assert document["trials"]["failed"] == 0
    assert document["base"]["metrics"]["disk_write_amp"] > 0.9


def test_any_trial_is_exported_as_toml(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trials = json.loads(out(capsys, "trials", "s", "--home", str(home), "--json"))
    number = next(t["trial"] for t in trials if (t["role"], t["status"]) == ("trial", "complete"))
    flags = ["--trial", str(number), "--format", "toml", "--home", str(home)]
    exported = tomllib.loads(out(capsys, "export", "s", *flags))
    assert exported.keys() == {"write_buffer_size", "compression_type", "store"}
    back = tomllib.loads(out(capsys, "export", "s", *flags, "--back"))
    assert back["store"] == "rocksdb"
    flags[3] = "options"
    assert run(["export", "s", *flags]) == 2
    assert "available: toml" in capsys.readouterr().err


def test_there_is_a_page(home: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert run(["report", "s", "--home", str(home), "-o", str(page)]) == 0
    assert "embedded" in page.read_text()


def test_what_another_program_has_measured_is_shown_but_does_not_go_on(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Studies of the driver that was a C program have its name."""
    old = tmp_path / "old"
    shutil.copytree(home, old)
    database = old / "lsmtune.sqlite3"
    with sqlite3.connect(database) as connection:
        connection.execute(
            "UPDATE study SET spec = json_remove("
            "json_set(spec, '$.program', 'lsmtune-stores'), '$.library')"
        )
    connection.close()
    assert json.loads(out(capsys, "show", "s", "--home", str(old), "--json"))["study"] == "s"
    assert run(["verify", "s", "--home", str(old)]) == 2
    assert "program: lsmtune-stores" in capsys.readouterr().err


@pytest.mark.slow
def test_stores_are_compared_by_a_controlled_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], crowd: None, library: str
) -> None:
    experiment = tmp_path / "stores.toml"
    experiment.write_text(
        f"library = '{library}'"
        + """
study = "stores"
engine = "embedded"
workload = { name = "fillrandom", num = 5000, value_size = 100 }
protocol = { quiet_s = 0.05, probe_reads = 100 }
[sweep]
factors = { which = { store = ["rocksdb", "leveldb", "lmdb"] } }
labels = { which = ["RocksDB", "LevelDB", "LMDB"] }
repeats = 2
metrics = ["throughput_ops_s", "disk_bytes"]
"""
    )
    home = str(tmp_path / "home")
    told = json.loads(out(capsys, "sweep", str(experiment), "--home", home, "--json"))
    assert told["failed"] == 0
    assert told["factors"]["which"]["levels"] == ["RocksDB", "LevelDB", "LMDB"]
