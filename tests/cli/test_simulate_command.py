"""`lsmtune simulate`: JSON lines in, predictions out, in the same order."""

import json
from pathlib import Path

import pytest

from lsmtune.cli.main import run

pytest.importorskip("lsmsim", reason="the native core is not built here")

LOAD = {"name": "fillrandom", "num": 50_000}


def test_each_line_has_its_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    batch = tmp_path / "batch.jsonl"
    lines = [
        {"id": "a", "workload": LOAD, "knobs": {"write_buffer_size": 1 << 20}},
        {"id": "b", "workload": LOAD, "knobs": {"no_such_knob": 1}},
        {"id": "c", "workload": {"name": "fillseq", "num": 50_000}, "knobs": {}},
    ]
    text = "\n".join([*map(json.dumps, lines), "{ no json"])
    batch.write_text(text)
    assert run(["simulate", "--batch", str(batch)]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [answer["id"] for answer in answers] == ["a", "b", "c", "4"]
    assert answers[0]["metrics"]["write_amp"] > 0
    assert "no_such_knob" in answers[1]["error"]
    assert answers[2]["metrics"]["compact_write_bytes"] == 0
    assert "is no JSON" in answers[3]["error"]


def test_a_file_that_is_not_there_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", "--batch", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err


def test_runs_of_another_engine_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = tmp_path / "batch.jsonl"
    batch.write_text(json.dumps({"id": "a", "workload": LOAD, "engine": "myrocks"}))
    assert run(["simulate", "--batch", str(batch)]) == 2
    assert "has runs of myrocks; the simulator stands for rocksdb" in capsys.readouterr().err
