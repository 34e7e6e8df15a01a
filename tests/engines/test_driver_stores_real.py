"""Families, kinds of stores and commands of the driver, on the libraries of this machine."""

import re
from functools import partial
from pathlib import Path

import pytest

from fakes.driving import FLUSH, NEEDS_DRIVER, REPORT, SETTLE, Do, Json, Plan, group, run, talk
from fakes.installed import OLDEST_AND_NEWEST
from lsmtune.engines.libraries.installed import Installed
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.options_file import parse_options
from lsmtune.metrics.statistics import parse_statistics

pytestmark = [NEEDS_DRIVER, OLDEST_AND_NEWEST]
SMALL = "write_buffer_size=131072;block_based_table_factory={block_size=8192}"
FAMILIES = {"logs": "write_buffer_size=262144;block_based_table_factory={block_size=16384}"}


@pytest.fixture
def plan(real_plan: Plan) -> Plan:
    """Makes a plan for an installed library with these families, which `do` carries out."""
    return partial(real_plan, options=SMALL, families=FAMILIES)


@pytest.mark.parametrize(
    "store", [{"kind": "plain"}, {"kind": "transaction"}, {"kind": "ttl", "seconds": 1000}],
    ids=lambda store: store["kind"],
)  # fmt: skip
def test_families_have_their_records_and_share_the_cache(
    store: Json, do: Do, tmp_path: Path
) -> None:
    puts = [group(operations=3000), group(operations=2000, family="logs", seed=8)]
    every = {"check_every": 1, "must_find": True}
    gets = [
        group("get", operations=3000, **every),
        group("get", operations=2000, family="logs", seed=8, **every),
    ]
    driven = do(
        run("load", *puts, num=10**5), FLUSH, SETTLE, run("read", *gets, num=10**5), REPORT,
        store=store, block_cache={"bytes": 1 << 20},
    )  # fmt: skip
    assert driven.returncode == 0, driven
    assert driven.one("run", phase="read")["operations"]["get"]["checked"] == 5000
    file = parse_options(driven.one("opened")["options"])
    logs = file.sections['CFOptions "logs"']
    assert logs["write_buffer_size"] == "262144"
    assert file.sections['TableOptions/BlockBasedTable "logs"']["block_size"] == "16384"
    kept = 262144 * 2 if store["kind"] == "transaction" else 0
    assert logs["max_write_buffer_size_to_maintain"] == str(kept)
    report = driven.one("report")
    assert set(report["tables"]) == {"default", "logs"}
    assert all(parse_compaction_tables(text) for text in report["tables"].values())
    assert caches(tmp_path / "db") == 1


def test_families_have_caches_of_their_own_if_the_plan_has_none(do: Do, tmp_path: Path) -> None:
    assert do(families=FAMILIES | {"users": ""}).returncode == 0
    assert caches(tmp_path / "db") == 3


def caches(folder: Path) -> int:
    """The number of different block caches that the LOG names."""
    found = re.findall(r"  block_cache: (\S+)", (folder / "LOG").read_text())
    assert len(found) >= 2
    return len(set(found))


def test_a_family_of_the_store_that_the_plan_does_not_name_is_a_failure(do: Do) -> None:
    assert do().returncode == 0
    failed = do(existing=True, families={}).one("failed")
    assert failed["kind"] == "open"
    assert "logs" in failed["message"]


def test_merges_work_in_a_store_with_a_time_to_live(do: Do) -> None:
    for store in ({"kind": "plain"}, {"kind": "ttl", "seconds": 1000}):
        merges = run("merge", group("merge", operations=100, family="logs"))
        families = {"logs": "merge_operator=stringappend"}
        driven = do(merges, store=store, families=families, folder=f"db-{store['kind']}")
        assert driven.returncode == 0, driven
        failed = do(merges, store=store, folder=f"other-{store['kind']}").one("failed")
        assert "merge" in failed["message"]


@pytest.mark.parametrize("store", [{"kind": "plain"}, {"kind": "transaction"}])
def test_single_deletes_delete_with_and_without_transactions(store: Json, do: Do) -> None:
    unique = {"keys": {"kind": "unique"}}
    drop = group("single_delete", operations=300, **unique)
    read = run("read", group("get", **unique))
    driven = do(run("load", group(**unique)), run("drop", drop), FLUSH, SETTLE, read, store=store)
    assert driven.one("run", phase="read")["operations"]["get"]["records"] == 700


def test_syncs_and_the_log_are_as_the_run_says(do: Do) -> None:
    without = do(run("some", group(operations=200), disable_wal=True), REPORT, folder="without")
    synced = do(run("some", group(operations=200), sync=True), REPORT, folder="synced")
    tickers = [parse_statistics(each.one("report")["statistics"]).tickers
               for each in (without, synced)]  # fmt: skip
    assert tickers[0]["rocksdb.wal.bytes"] == 0
    assert tickers[1]["rocksdb.wal.synced"] - tickers[0]["rocksdb.wal.synced"] == 200


def test_options_are_changed_while_a_plan_runs(
    engine: Installed, plan: Plan, tmp_path: Path
) -> None:
    endless = run("endless", group(operations=None))
    with talk(plan(endless), tmp_path) as driver:
        driver.hear("opened")
        value = {"write_buffer_size": "4194304"}
        driver.send({"id": 1, "do": "change", "options": value})
        file = parse_options(driver.hear("changed", id=1)["options"])
        assert file.sections['CFOptions "default"']["write_buffer_size"] == "4194304"
        driver.send({"id": 2, "do": "change", "family": "logs", "options": value})
        file = parse_options(driver.hear("changed", id=2)["options"])
        assert file.sections['CFOptions "logs"']["write_buffer_size"] == "4194304"
        driver.send({"id": 3, "do": "change", "options": {"num_levels": "3"}})
        assert driver.hear("refused", id=3)["message"]
        driver.send({"id": 4, "do": "change_database", "options": {"max_background_jobs": "7"}})
        if tuple(map(int, engine.record.version.split("."))) < (11, 8):
            assert "rocksdb_set_db_options" in driver.hear("refused", id=4)["message"]
        else:
            file = parse_options(driver.hear("changed", id=4)["options"])
            assert file.sections["DBOptions"]["max_background_jobs"] == "7"
        driver.hear("second")
        driver.send({"id": 5, "do": "report"})
        tickers = parse_statistics(driver.hear("report", id=5)["statistics"]).tickers
        assert tickers["rocksdb.number.keys.written"] > 0
