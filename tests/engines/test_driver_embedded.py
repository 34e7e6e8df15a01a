"""LevelDB and LMDB in the driver: what a plan does, and what it may not ask for."""

from pathlib import Path
from typing import Any

import pytest

from fakes.driving import FLUSH, NEEDS_DRIVER, REPORT, SETTLE, Driven, Json, drive, group, run
from fakes.stores import LIBRARIES, is_installed

pytestmark = NEEDS_DRIVER
ALL = {"check_every": 1, "must_find": True}


@pytest.fixture(params=LIBRARIES)
def store(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if not is_installed(name):
        pytest.skip(f"{name} is not installed: make stores")
    return name


def do(store: str, folder: Path, *phases: Json, **fields: Any) -> Driven:
    plan = {"engine": store, "library": LIBRARIES[store], "folder": str(folder / "db")}
    return drive(plan | {"phases": list(phases)} | fields, folder)


def test_what_is_put_is_read_deleted_and_scanned(store: str, on_disk: Path) -> None:
    folder = on_disk / store
    folder.mkdir()
    unique = {"keys": {"kind": "unique"}}
    driven = do(
        store, folder,
        run("load", group(clients=2, operations=500, **unique)), SETTLE,
        run("read", group("get", **unique, **ALL)),
        run("missing", group("get", missing=True)),
        run("update", group("read_modify_write", operations=100)),
        run("scan", group("scan", keys={"kind": "sequential"}, operations=1)),
        run("delete", group("delete", operations=300, **unique)),
        run("again", group("delete", operations=300, **unique)),
        run("left", group("get", **unique)), REPORT,
    )  # fmt: skip
    assert driven.returncode == 0, driven
    told = {event["phase"]: event["operations"] for event in driven.of("run")}
    assert told["read"]["get"]["checked"] == 1000
    assert told["missing"]["get_missing"]["records"] == 0
    assert told["update"]["read_modify_write"]["records"] == 100
    assert told["scan"]["scan"]["records"] == 10
    assert told["left"]["get"]["records"] == 700
    assert driven.one("opened")["version"][0].isdigit()
    assert driven.one("ended")["disk_write_bytes"] > 0
    report = driven.one("report")
    if store == "lmdb":
        assert "records 700\n" in report["database"]
    else:
        assert "Level  Files Size(MB)" in report["tables"]["default"]


def test_an_existing_store_has_its_records(store: str, tmp_path: Path) -> None:
    load, read = run("load", group()), run("read", group("get", **ALL))
    assert do(store, tmp_path, read, existing=True).one("failed")["kind"] == "open"
    assert do(store, tmp_path, load).returncode == 0
    assert do(store, tmp_path, load).one("failed")["kind"] == "open"
    again = do(store, tmp_path, SETTLE, read, existing=True)
    assert again.one("run")["operations"]["get"]["checked"] == 1000


@pytest.mark.parametrize(
    ("phases", "fields", "named"),
    [
        ([FLUSH], {}, "phases[0]"),
        ([run("load", group()), run("merge", group("merge"))], {}, "phases[1].groups[0].mix"),
        ([run("back", group("scan_backward"))], {}, "phases[0].groups[0].mix"),
        ([], {"families": {"logs": ""}}, "families"),
    ],
)
def test_what_only_rocksdb_has_is_refused_before_anything_is_done(
    phases: list[Json], fields: Json, named: str, store: str, tmp_path: Path
) -> None:
    driven = do(store, tmp_path, *phases, **fields)
    assert driven.names == ["failed"]
    assert driven.one("failed")["kind"] == "plan"
    assert driven.one("failed")["message"].startswith(named)
    assert not (tmp_path / "db").exists()


def test_an_unknown_option_is_named(store: str, tmp_path: Path) -> None:
    failed = do(store, tmp_path, options="nosuch=1").one("failed")
    assert failed["kind"] == "open"
    assert "nosuch" in failed["message"]


@pytest.mark.parametrize(
    ("store", "key", "value"),
    [("leveldb", "bloom_bits", "-1"), ("leveldb", "compression", "zstd"),
     ("lmdb", "map_size", "big")],
    indirect=["store"],
)  # fmt: skip
def test_a_wrong_value_of_an_option_is_named(
    store: str, key: str, value: str, tmp_path: Path
) -> None:
    failed = do(store, tmp_path, options=f"{key}={value}").one("failed")
    assert failed["kind"] == "open"
    assert f"{key} = {value}" in failed["message"]


def test_the_map_of_lmdb_is_as_large_as_the_plan_says(tmp_path: Path) -> None:
    if not is_installed("lmdb"):
        pytest.skip("lmdb is not installed: make stores")
    failed = do("lmdb", tmp_path, run("load", group()), options="map_size=65536").one("failed")
    assert (failed["kind"], failed["message"].split(":")[0]) == ("operation", "put")


def test_a_library_that_is_not_there_or_another_one_is_a_failure(tmp_path: Path) -> None:
    for store in LIBRARIES:
        for library in ("libnosuch.so.1", "libc.so.6"):
            failed = do(store, tmp_path, library=library).one("failed")
            assert failed["kind"] == "library"
