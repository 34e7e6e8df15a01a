"""Families, kinds of stores and commands of the driver, on a stand-in for RocksDB's library."""

import signal
from pathlib import Path
from typing import Any

import pytest

from fakes.driving import (
    FLUSH,
    NEEDS_COMPILER,
    NEEDS_DRIVER,
    REPORT,
    Do,
    Json,
    Plan,
    group,
    run,
    talk,
)

pytestmark = [NEEDS_DRIVER, NEEDS_COMPILER]
FAMILIES = {"logs": "write_buffer_size=1", "users": "write_buffer_size=2"}
SECONDS_TO_WAIT = 60


def reads(name: str, **fields: Any) -> Json:
    return run(name, group("get", check_every=1, **fields))


def counted(report: Json, ticker: str) -> int:
    lines = dict(line.split(" COUNT : ") for line in report["statistics"].splitlines())
    return int(lines[ticker])


def test_each_family_has_its_options_and_records(do: Do) -> None:
    load = run("load", group(family="logs"), group(operations=200, family="users", seed=8))
    first: Json = {"operations": 1, "keys": {"kind": "sequential"}}
    driven = do(
        load, reads("own", family="logs", must_find=True), reads("none"),
        run("scan", group("scan", **first, scan_length=5000, family="logs")),
        FLUSH, REPORT,
        options="first=1", families=FAMILIES,
    )  # fmt: skip
    assert driven.returncode == 0, driven
    options = driven.one("opened")["options"]
    for name, given in {"default": "first=1", **FAMILIES}.items():
        assert f'[CFOptions "{name}"]\n  given={given}\n' in options
    assert driven.one("run", phase="own")["operations"]["get"]["checked"] == 1000
    assert driven.one("run", phase="none")["operations"]["get"]["records"] == 0
    assert 500 < driven.one("run", phase="scan")["operations"]["scan"]["records"] < 800
    report = driven.one("report")
    names = ("default", "logs", "users")
    heads = {name: text.partition("\n")[0] for name, text in report["tables"].items()}
    assert heads == {name: f"rocksdb.cfstats of {name}" for name in names}
    assert report["database"] == "rocksdb.dbstats of default"
    assert counted(report, "flushes") == 3


def test_groups_of_a_run_work_in_several_families(do: Do) -> None:
    every = {"operations": 300, "check_every": 1, "must_find": True}
    names = ["default", "logs", "users"]
    puts = [group(operations=300, family=name, seed=n) for n, name in enumerate(names)]
    gets = [group("get", family=name, seed=n, **every) for n, name in enumerate(names)]
    driven = do(run("load", *puts), run("read", *gets), families=FAMILIES)
    assert driven.one("run", phase="read")["operations"]["get"]["checked"] == 900


@pytest.mark.parametrize(
    ("store", "line"),
    [
        ({"kind": "plain"}, "kind=plain"),
        ({"kind": "transaction"}, "kind=transaction"),
        ({"kind": "ttl", "seconds": 60}, "kind=ttl 60 60"),
    ],
)
def test_a_store_is_of_the_kind_of_the_plan(store: Json, line: str, do: Do) -> None:
    load = run("load", group(family="logs"))
    read = reads("read", family="logs", must_find=True)
    driven = do(load, read, store=store, families=FAMILIES)
    assert driven.returncode == 0, driven
    assert f"  {line}\n" in driven.one("opened")["options"]


UNIQUE = {"keys": {"kind": "unique"}}
SINGLE_DELETES = group("single_delete", **UNIQUE)
RANGE_DELETES = group(range_delete={"every": 10, "width": 2, "at_most": 1})


@pytest.mark.parametrize(
    ("store", "refused"),
    [
        ({"kind": "plain"}, []),
        ({"kind": "transaction"}, [RANGE_DELETES]),
        ({"kind": "ttl", "seconds": 60}, [SINGLE_DELETES]),
    ],
)
def test_an_operation_that_the_kind_has_not_is_refused(
    store: Json, refused: list[Json], do: Do, tmp_path: Path
) -> None:
    for number, deletes in enumerate([SINGLE_DELETES, RANGE_DELETES]):
        folder = tmp_path / f"db{number}"
        load = run("load", group(operations=10, **UNIQUE))
        driven = do(load, run("drop", deletes), store=store, folder=str(folder))
        if deletes in refused:
            assert driven.names == ["failed"]
            assert driven.one("failed")["kind"] == "plan"
            assert driven.returncode == 2
            assert not folder.exists()
        else:
            assert driven.returncode == 0, driven


def test_writes_are_synchronous_or_without_log_as_the_run_says(do: Do) -> None:
    phases = [
        run("usual", group(operations=1)),
        run("sync", group(operations=20), sync=True),
        run("no log", group(operations=300), disable_wal=True),
    ]
    report = do(*phases, REPORT).one("report")
    assert counted(report, "syncs") == 20
    assert counted(report, "without.log") == 300


ENDLESS = run("endless", group(operations=None))


def test_a_run_without_an_end_runs_until_a_signal(plan: Plan, tmp_path: Path) -> None:
    with talk(plan(ENDLESS), tmp_path) as driver:
        driver.hear("second")
        assert driver.process.stdin is not None
        driver.process.stdin.close()
        driver.hear("second")
        driver.process.send_signal(signal.SIGTERM)
        assert driver.process.wait(SECONDS_TO_WAIT) == 128 + signal.SIGTERM


def test_commands_are_answered_while_a_plan_runs(plan: Plan, tmp_path: Path) -> None:
    with talk(plan(ENDLESS, families=FAMILIES), tmp_path) as driver:
        first = driver.hear("opened")["options_file"]
        options = {"write_buffer_size": "4194304", "ttl": "9"}
        driver.send({"id": 1, "do": "change", "options": options})
        changed = driver.hear("changed", id=1)
        assert changed["options_file"] > first
        assert "  default.ttl=9\n" in changed["options"]
        assert "  default.write_buffer_size=4194304\n" in changed["options"]
        driver.send({"id": 2, "do": "change", "family": "logs", "options": {"ttl": "8"}})
        assert "  logs.ttl=8\n" in driver.hear("changed", id=2)["options"]
        driver.send({"id": 3, "do": "change_database", "options": {"max_open_files": "7"}})
        assert "  database.max_open_files=7\n" in driver.hear("changed", id=3)["options"]
        driver.send("")
        driver.hear("second")
        driver.send({"id": 4, "do": "report"})
        report = driver.hear("report", id=4)
        assert counted(report, "rocksdb.number.keys.written") > 0
        assert set(report["tables"]) == {"default", "logs", "users"}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ({"do": "change", "options": {"unheard_of": "1"}}, "unheard_of"),
        ({"do": "change", "family": "others", "options": {"ttl": "1"}}, "others"),
        ({"do": "change", "options": {"ttl": 1}}, "integer"),
        ({"do": "change_database", "options": {"max_open_files": "7"}}, "rocksdb_set_db_options"),
        ({"do": "dance"}, "dance"),
        ({"do": "report", "extra": 1}, "extra"),
    ],
)
def test_a_command_that_cannot_be_carried_out_is_refused(
    command: Json, words: str, plan: Plan, tmp_path: Path
) -> None:
    with talk(plan(ENDLESS, fault="LACKS"), tmp_path) as driver:
        driver.send({"id": 5} | command)
        assert words in driver.hear("refused", id=5)["message"]
        driver.send({"id": 6, "do": "report"})
        driver.hear("report", id=6)


@pytest.mark.parametrize("line", ["{", "[]", "7", '{"do": "report"}', '{"id": "a"}'])
def test_a_line_without_an_id_is_refused(line: str, plan: Plan, tmp_path: Path) -> None:
    with talk(plan(ENDLESS), tmp_path) as driver:
        driver.send(line)
        driver.hear("refused", id=None)
        driver.send({"id": 6, "do": "report"})
        driver.hear("report", id=6)


def test_a_plan_ends_though_its_input_is_open(plan: Plan, tmp_path: Path) -> None:
    with talk(plan(run("load", group())), tmp_path) as driver:
        driver.hear("ended")
        assert driver.process.wait(SECONDS_TO_WAIT) == 0
