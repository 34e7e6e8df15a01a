"""`lsmtune sweep` as its users type it, on the real db_bench."""

import csv
import json
import re
from pathlib import Path

import pytest

from lsmtune.cli.main import run

EXPERIMENT = """\
[workload]
name = "fillrandom"
num = 20000
[protocol]
probe_reads = 100
[sweep]
repeats = 2
metrics = ["write_amp", "flush_write_bytes"]
fixed = { compression_type = "none" }
[sweep.factors.memtable]
write_buffer_size = ["512KiB", "2MiB"]
[sweep.factors.files]
target_file_size_base = ["1MiB", "4MiB"]
max_bytes_for_level_base = ["4MiB", "16MiB"]
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "sizes.toml"
    path.write_text(EXPERIMENT)
    return path


@pytest.mark.slow
@pytest.mark.db_bench
def test_a_real_experiment_is_answered_in_words_tables_and_pictures(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], crowd: None
) -> None:
    files = {name: tmp_path / f"out.{name}" for name in ("csv", "markdown", "page")}
    flags = [text for name, path in files.items() for text in (f"--{name}", str(path))]
    command = ["sweep", str(experiment), "--home", str(tmp_path / "home"), *flags]
    assert run([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["factors"]["memtable"]["levels"] == ["512 KiB", "2 MiB"]
    moved = document["metrics"]["write_amp"]["factors"]["memtable"]
    # The interval of two repeats can be of any width; the median cannot be wrong about this.
    assert moved["contrasts"][0]["change"]["median"] < 1
    assert any("target_file_size_base" in warning for warning in document["warnings"])
    table = list(csv.reader(files["csv"].open()))
    assert len(table) == 1 + 1 + 4
    assert table[1][0] == "base"
    assert files["markdown"].read_text().count("\n") == 1 + 1 + 1 + 4
    assert "cells-write_amp" in files["page"].read_text()
    assert run(command) == 0
    told = capsys.readouterr().out
    assert re.search(r"memtable .*write_amp: 2 MiB has 0\.\d+", told)
    assert document["runs"] == 10


@pytest.mark.usefixtures("fake_db_bench")
def test_a_dry_run_says_what_would_run(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert run(["sweep", str(experiment), "--dry-run", "--home", str(home)]) == 0
    assert "10 runs of fillrandom" in capsys.readouterr().out
    assert not home.exists()


@pytest.mark.usefixtures("fake_db_bench")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[workload]\nname = 'fillrandom'\n", "[sweep]"),
        ("trials = 3\n" + EXPERIMENT, "trials: not allowed"),
        (EXPERIMENT.replace("write_buffer_size", "write_bufer_size"), "write_bufer_size"),
        (EXPERIMENT.replace('"write_amp", ', '"write_ampl", '), "write_ampl"),
        (EXPERIMENT.replace("repeats = 2", "repeats = 1"), "repeats"),
    ],
)
def test_mistakes_are_told_in_one_sentence(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    assert run(["sweep", str(path), "--dry-run"]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
