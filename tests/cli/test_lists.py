"""Lists of what can be chosen: whole, or one entry with all that a user needs of it."""

import json
import tomllib
from typing import Any

import pytest

from lsmtune.api.doctor import Check
from lsmtune.cli.main import run
from lsmtune.engine_traits import offered_workloads
from lsmtune.knobs.catalogue import load
from lsmtune.report.text.check_text import verdict_text
from lsmtune.workloads import Workload


@pytest.mark.parametrize("name", offered_workloads())
def test_workload_is_printed_as_a_study_file_has_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["workloads", name]) == 0
    out = capsys.readouterr().out
    table = out[out.index("[workload]") :].split("\n\n")[0]
    lines = [line for line in table.splitlines() if " = " in line or line.startswith("[")]
    given = tomllib.loads("\n".join(lines))["workload"]
    own = {"trace": "FILE"} if name == "trace" else {}  # no default can be a file of the user
    assert Workload.model_validate({**given, **own}) == Workload.model_validate(
        {"name": name, **own}
    )


def test_list_of_workloads_has_a_row_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["workloads"]) == 0
    out = capsys.readouterr().out.splitlines()
    names = list(offered_workloads())
    assert [line.split()[0] for line in out[1 : len(names) + 1]] == names


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[Any]:
    assert run([*arguments, "--json"]) == 0
    found: list[Any] = json.loads(capsys.readouterr().out)
    return found


def test_one_knob_or_one_area_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    [one] = shown(capsys, "knobs", "write_buffer_size")
    assert one["name"] == "write_buffer_size"
    of_area = shown(capsys, "knobs", "--area", "cache")
    assert [knob["name"] for knob in of_area] == [
        knob.name for knob in load("rocksdb").knobs if knob.area == "cache"
    ]
    assert [workload["name"] for workload in shown(capsys, "workloads", "mix")] == ["mix"]


def test_markdown_of_an_area_has_only_its_knobs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["knobs", "--area", "cache", "--markdown"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| `")]
    names = [knob.name for knob in load("rocksdb").knobs if knob.area == "cache"]
    assert [row.split("`")[1] for row in rows] == names


def test_area_of_one_knob_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["knobs", "write_buffer_size", "--area", "memtable"]) == 2
    assert "--area" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["knobs", "write_buffer_siz"], "write_buffer_size"),
     (["knobs", "--area", "cach"], "cache"),
     (["workloads", "mixx"], "mix")],
)  # fmt: skip
def test_wrong_name_gets_the_nearest_one(
    arguments: list[str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert f"did you mean '{word}'" in capsys.readouterr().err


def test_doctor_ends_with_a_verdict() -> None:
    good = Check("RocksDB", True, "11.8.1")
    absent = Check("go-ycsb", True, "not available: not on PATH", "install it")
    busy = Check("quiet machine", True, "busy", "stop other programs")
    broken = Check("home", False, "cannot write", "name another folder")
    text = verdict_text([good, absent, busy], "here")
    assert "RocksDB can be tuned here" in text
    assert "go-ycsb" in text
    assert "quiet machine" in text
    assert "home" in verdict_text([good, broken], "here")
    assert "can be tuned" not in verdict_text([good, broken], "here")
