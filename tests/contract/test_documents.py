"""Keys and types of all JSON documents are those of the record."""

import gzip
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from contract_record import check, joined, shape

import lsmtune
from lsmtune.cli.main import run
from lsmtune.store.home import Home
from lsmtune.store.open_runs import LostRun, OpenRun, Rerun
from lsmtune.store.records import Asked
from lsmtune.trials import Role

TESTS = Path(__file__).parents[1]
CAPTURED = TESTS / "data" / "captured" / "rocksdb-7.8.3-level"
SHIPPED = Path(lsmtune.__file__).parent / "data" / "jin2022" / "honest.jsonl.gz"
SIMULATED = ["--engine", "simulated", "--num", "20000"]
EXPERIMENT = """\
engine = "simulated"
[workload]
name = "fillrandom"
num = 20000
[sweep]
repeats = 2
metrics = ["write_amp"]
[sweep.factors.memtable]
write_buffer_size = ["512KiB", "4MiB"]
[sweep.factors.trigger]
level0_file_num_compaction_trigger = [2, 4]
"""
STUDIES = (
    "finished", "interrupted", "verified", "running", "front", "server", "cluster", "stores",
)  # fmt: skip
READING = {
    "show": [["show", study] for study in STUDIES],
    "trials": [["trials", study] for study in STUDIES],
    "inspect": [["inspect", "LOG"], ["inspect", "stdout.txt"], ["inspect", "server.LOG"]],
    "inspect-several": [["inspect", "LOG", "server.LOG"]],
    "knobs": [["knobs"], ["knobs", "myrocks"], ["knobs", "tikv"], ["knobs", "embedded"]],
    "workloads": [["workloads"]],
    "optimizers": [["optimizers"]],
    "importance": [["importance", "--batch", "some.jsonl", "--metric", "write_amp",
                    "--repeats", "1"]],
    "compare": [["compare", "random", "genetic", "--trials", "3", "--repeats", "2",
                 "--objective", "write_amp", "--limit", "live_sst_bytes <= none",
                 "--limit", "get_p99_us <= none", "--limit", "get_missing_p99_us <= none",
                 "--limit", "scan_p99_us <= none", "-o", "page.html"]],
}  # fmt: skip
SIMULATING = {
    "tune": [["tune", *SIMULATED, "--trials", "2", "--optimizer", "random"]],
    "plan": [["tune", *SIMULATED, "--dry-run"], ["tune", "--dry-run"]],
    "screen": [["screen", *SIMULATED, "--trials", "3", "--replicated", "1", "--runs", "2"]],
    "sweep": [["sweep", "sweep.toml"]],
}


@pytest.fixture
def inputs(place: Path, quick_models: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LSMTUNE_DB_BENCH")  # `compare` without an engine refuses it
    for name in ("LOG.gz", "stdout.txt"):
        shutil.copy(CAPTURED / name, Path(name.removesuffix(".gz")))
    shutil.copy(CAPTURED.parent / "myrocks-6.29-tpcc-universal.LOG.gz", "server.LOG")
    lines = gzip.decompress(SHIPPED.read_bytes()).splitlines(keepends=True)
    Path("some.jsonl").write_bytes(b"".join(lines[:60]))
    Path("sweep.toml").write_text(EXPERIMENT)
    return place


def documents(commands: list[list[str]], capsys: pytest.CaptureFixture[str]) -> list[Any]:
    found = []
    for command in commands:
        assert run([*command, "--json"]) in (0, 1), capsys.readouterr().err
        found.append(json.loads(capsys.readouterr().out))
    return found


@pytest.mark.parametrize("name", READING)
def test_documents_that_need_no_run(
    inputs: Path, capsys: pytest.CaptureFixture[str], write: bool, name: str
) -> None:
    found = [shape(document) for document in documents(READING[name], capsys)]
    check(f"documents/{name}", joined(found), write=write)


def test_document_of_a_study_on_hosts(
    inputs: Path, capsys: pytest.CaptureFixture[str], write: bool
) -> None:
    with Home(Path("home"), create=True) as home:
        study = home.study("finished")
        times = ("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:09+00:00")
        home.add_lost_run(study, LostRun("a.0", "beta-2", Role.TRIAL, *times, "the host left"))
        trial = home.trials(study)[0]
        rerun = Rerun(title="search 3 of 5", base_settings={}, repeats=2)
        row = OpenRun(
            "b.0", "alpha-1", Role.TRIAL, trial.config, trial.spec, rerun, Asked(2), times[0]
        )
        home.add_open_run(study, row)
    with sqlite3.connect("home/lsmtune.sqlite3") as database:
        database.execute("UPDATE trial SET host = 'alpha-1' WHERE number > 1")
    (found,) = documents([["show", "finished"]], capsys)
    assert [host["host"] for host in found["hosts"]] == ["alpha-1", "beta-2", None]
    check("documents/show-hosts", shape(found["hosts"]), write=write)


@pytest.mark.parametrize("name", SIMULATING)
def test_documents_of_simulated_runs(
    inputs: Path, crowd: None, capsys: pytest.CaptureFixture[str], write: bool, name: str
) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    found = [shape(document) for document in documents(SIMULATING[name], capsys)]
    check(f"documents/{name}", joined(found), write=write)


def test_lines_of_simulate(inputs: Path, capsys: pytest.CaptureFixture[str], write: bool) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    lines = [
        *gzip.decompress(SHIPPED.read_bytes()).decode().splitlines()[:2],
        '{"id": "wrong", "knobs": {"nosuch": 1}}',
    ]
    Path("batch.jsonl").write_text("\n".join(lines))
    assert run(["simulate", "--batch", "batch.jsonl"]) == 0
    found = [shape(json.loads(line)) for line in capsys.readouterr().out.splitlines()]
    assert len(found) == len(lines)
    check("documents/simulate", joined(found), write=write)


def test_checks_of_doctor(inputs: Path, capsys: pytest.CaptureFixture[str], write: bool) -> None:
    assert run(["doctor", "--json"]) in (0, 1)
    check("documents/doctor", shape(json.loads(capsys.readouterr().out)), write=write)


def test_keys_of_study_files(capsys: pytest.CaptureFixture[str], write: bool) -> None:
    assert run(["schema"]) == 0
    check("study_keys", sorted(_keys(json.loads(capsys.readouterr().out))), write=write)


def _keys(schema: Any, path: str = "") -> Any:
    if not isinstance(schema, dict):
        return
    for name, part in schema.get("properties", {}).items():
        yield f"{path}{name}"
        yield from _keys(part, f"{path}{name}.")
    for name, part in schema.get("$defs", {}).items():
        yield from _keys(part, f"{name}: ")
