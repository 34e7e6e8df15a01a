"""`lsmtune simulate`: JSON lines in, predictions out, in the same order."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from lsmtune.cli.main import run
from lsmtune.metrics.definitions import METRICS

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
    assert answers[3]["error"].startswith("line 4: ")


def test_a_line_is_predicted_for_the_version_that_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = tmp_path / "batch.jsonl"
    knobs = {"write_buffer_size": 64 << 10, "level0_file_num_compaction_trigger": 2}
    versions = ({}, {"rocksdb": "7.8.3"}, {"rocksdb": "11.8.1"}, {"rocksdb": "new"})
    lines = [{"workload": LOAD, "knobs": knobs, **version} for version in versions]
    batch.write_text("\n".join(map(json.dumps, lines)))
    assert run(["simulate", "--batch", str(batch)]) == 0
    told = capsys.readouterr()
    usual, same, later, wrong = map(json.loads, told.out.splitlines())
    assert [answer["rocksdb"] for answer in (usual, same, later)] == ["7.8.3", "7.8.3", "11.8.1"]
    assert usual["metrics"] == same["metrics"] != later["metrics"]
    assert wrong["error"].startswith("line 4: rocksdb: 'new'")
    assert "RocksDB 7.8.3\n" in told.err
    assert "RocksDB 11.8.1\n" in told.err


def test_a_line_may_ask_for_a_running_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = tmp_path / "batch.jsonl"
    load = {"name": "overwrite", "num": 50_000}
    small = {"write_buffer_size": 1 << 20, "target_file_size_base": 1 << 20}
    running = {"workload": load, "knobs": small, "measure": "running"}
    lines = [{**running, "rate": 5000}, {**running, "rate": 5000, "base": {}}, running]
    batch.write_text("\n".join(map(json.dumps, lines)))
    assert run(["simulate", "--batch", str(batch)]) == 0
    own, others, wrong = map(json.loads, capsys.readouterr().out.splitlines())
    assert own["metrics"]["overload"] == others["metrics"]["overload"] == 0.5
    assert own["metrics"]["write_amp"] != others["metrics"]["write_amp"]
    assert own["metrics"].keys() <= METRICS.keys()
    assert "rate" in wrong["error"]


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
    assert "myrocks" in capsys.readouterr().err


def test_without_a_file_it_is_the_defaults_and_what_is_changed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["--num", "50000", "--set", "compression_type=none", "--set", "bytes_per_sync=1048576"]
    assert run(["simulate", "--json", *flags]) == 0
    told = capsys.readouterr()
    plain, changed = map(json.loads, told.out.splitlines())
    assert plain["id"] == "defaults"
    assert changed["id"] == "compression_type = none, bytes_per_sync = 1048576"
    assert changed["metrics"]["live_sst_bytes"] > 1.5 * plain["metrics"]["live_sst_bytes"]
    assert ": bytes_per_sync\n" in told.err
    assert changed["metrics"]["get_p50_us"] > 0


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--set", "compression_type"], "KNOB=VALUE"),
        (["--set", "no_such=1"], "unknown knob 'no_such'"),
        (["--set", "write_buffer_size=-1"], "write_buffer_size: invalid value '-1'"),
        (["--batch", "x.jsonl", "--set", "num_levels=3"], "--batch and --set"),
        (["nobody", "--batch", "x.jsonl"], "STUDY"),
        (["--scale", "3"], "scale"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(
    flags: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", *flags]) == 2
    assert told in capsys.readouterr().err


def films_in(page: str) -> list[Any]:
    found = re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    return [json.loads(text) for text in found]


def test_a_page_plays_two_runs_to_what_they_come_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "film.html"
    flags = ["--num", "50000", "--set", "compaction_style=1", "--page", str(page)]
    assert run(["simulate", "--json", *flags]) == 0
    answers = [json.loads(line)["metrics"] for line in capsys.readouterr().out.splitlines()]
    text = page.read_text()
    assert "http" not in text.replace("http-equiv", "")
    assert "compaction_style = 1" in text
    assert "RocksDB 7.8.3" in text
    for film, metrics in zip(films_in(text), answers, strict=True):
        frames, places = film["frames"], dict[str, int]()
        assert len(frames) > 100
        assert [f["at_s"] for f in frames] == sorted(f["at_s"] for f in frames)
        assert frames[-1]["at_s"] == pytest.approx(metrics["total_s"])
        assert frames[-1]["compacted_bytes"] == pytest.approx(metrics["compact_write_bytes"])
        for frame in frames:
            places |= frame["moved"]
        live = sum(film["files"][name]["bytes"] for name, at in places.items() if at >= 0)
        assert live == metrics["live_sst_bytes"]


def test_people_get_a_table_with_units_ratios_and_meanings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    flags = ["--num", "50000", "--set", "write_buffer_size=4MiB"]
    assert run(["simulate", "--json", *flags]) == 0
    plain, changed = map(json.loads, capsys.readouterr().out.splitlines())
    assert run(["simulate", *flags]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    rows = {line.split()[0]: line for line in lines if line.strip()}
    ratio = changed["metrics"]["write_amp"] / plain["metrics"]["write_amp"]
    assert f"{ratio:.2f} ×" in rows["write_amp"]  # noqa: RUF001 - as it is printed
    assert "MiB" in rows["live_sst_bytes"]
    meaning = METRICS["write_amp"].meaning
    assert meaning in " ".join(out.split())
    assert rows.keys() >= plain["metrics"].keys()
    assert "1 MiB" in err  # the default at this scale
    assert "{" not in out


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("write_buffer_size=4MiB", "write_buffer_size=4194304"),
        ("compaction_style=universal", "compaction_style=1"),
        ("compaction_style=kCompactionStyleUniversal", "compaction_style=1"),
        ("block_size=8 KiB", "block_size=8192"),
        ("cache_index_and_filter_blocks=true", "cache_index_and_filter_blocks=1"),
    ],
)
def test_units_and_names_are_the_same_as_numbers(
    words: str, number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for value in (words, number):
        assert run(["simulate", "--json", "--num", "20000", "--set", value]) == 0
    answers = capsys.readouterr().out.splitlines()
    assert answers[:2] == answers[2:]


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        ("bloom_bits=9999", "0 to 1280"), ("block_size=many", "256 B to 4 GiB"),
        ("compression_type=zsdt", "'zstd'"), ("mmap_read=perhaps", "false, true"),
    ],
)  # fmt: skip
def test_value_that_is_not_allowed_is_refused(
    change: str, allowed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["simulate", "--set", change]) == 2
    err = capsys.readouterr().err
    assert change.partition("=")[0] in err
    assert allowed in err
