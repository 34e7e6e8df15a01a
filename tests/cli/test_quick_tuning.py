"""A short study on each real RocksDB that is installed; `test_real_tuning.py` does much more."""

import json
from pathlib import Path

import pytest

from lsmtune.cli.main import run
from lsmtune.metrics.options_file import parse_options

STUDY = """
study = "s"
optimizer = "random"
early_stop = false
trials = 2
base_runs = 1
finalists = 1
repeats = 0
pairs = 0
knobs = "write_buffer_size,block_size"
objective = "write_amp"
[workload]
name = "fillrandom"
num = 20_000
[protocol]
probe_reads = 100
quiet_s = 0.01
"""


@pytest.fixture(params=["library", pytest.param("program", marks=pytest.mark.db_bench)])
def flags(request: pytest.FixtureRequest) -> list[str]:
    """The flags that choose RocksDB's library with the driver, or db_bench."""
    if request.param == "program":
        return ["--db-bench", "db_bench"]
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    folder: Path = request.getfixturevalue("installed")
    return ["--library", str(next(folder.rglob("librocksdb.so")))]


@pytest.mark.usefixtures("crowd")
def test_a_real_study_measures_its_trials_and_writes_options(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, home = tmp_path / "study.toml", tmp_path / "home"
    file.write_text(STUDY)
    assert run(["tune", str(file), *flags, "--home", str(home), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["trials"]["complete"] == 2
    assert run(["trials", "s", "--home", str(home), "--jsonl"]) == 0
    base, *trials = map(json.loads, capsys.readouterr().out.splitlines())
    assert base["role"] == "base"
    configs = [tuple(each["config"].values()) for each in (base, *trials)]
    assert len(set(configs)) == 3
    written_bytes = 20_000 * (16 + 1024)
    for each in (base, *trials):
        # Values compress to a half.
        assert 0.3 < each["metrics"]["flush_write_bytes"] / written_bytes < 1
    out = tmp_path / "OPTIONS"
    trial = str(trials[0]["trial"])
    flags = ["--trial", trial, "--format", "options", "--home", str(home), "-o", str(out)]
    assert run(["export", "s", *flags]) == 0
    exported = parse_options(out.read_text())
    block_size = str(trials[0]["config"]["block_size"])
    assert exported.get('TableOptions/BlockBasedTable "default"', "block_size") == block_size
