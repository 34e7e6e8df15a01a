"""The driver on the libraries of RocksDB that are installed on this machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.driving import (
    FLUSH,
    NEEDS_DRIVER,
    REPORT,
    SETTLE,
    Do,
    Json,
    Plan,
    group,
    run,
    start,
)
from fakes.installed import OLDEST_AND_NEWEST
from lsmtune.engines.libraries.installed import Installed
from lsmtune.metrics.compaction_table import parse_compaction_tables
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.options_file import parse_options
from lsmtune.metrics.statistics import parse_statistics

pytestmark = NEEDS_DRIVER
NUM = 30_000
IN_ORDER = {"kind": "sequential"}
OPTIONS = (
    "write_buffer_size=262144;target_file_size_base=262144;max_bytes_for_level_base=1048576;"
    "compression=kSnappyCompression;level_compaction_dynamic_level_bytes=false;"
    "block_based_table_factory={block_size=8192;filter_policy=bloomfilter:10:false}"
)


@pytest.fixture
def plan(real_plan: Plan) -> Plan:
    """Makes a plan for an installed library, which `do` carries out."""
    return real_plan


def load(**fields: Any) -> Json:
    return run("load", group(operations=NUM // 2, clients=2, **fields), num=NUM)


def test_a_store_is_loaded_settled_and_read(engine: Installed, do: Do, tmp_path: Path) -> None:
    driven = do(load(), FLUSH, SETTLE, REPORT, options=OPTIONS, block_cache={"bytes": 1 << 20})
    assert driven.returncode == 0, driven
    opened = driven.one("opened")
    assert opened["version"] == engine.record.version
    assert driven.one("settled")["judged_by"] == "properties"
    report = driven.one("report")
    tickers = parse_statistics(report["statistics"]).tickers
    assert tickers["rocksdb.number.keys.written"] == NUM
    assert tickers["rocksdb.compact.write.bytes"] > 0
    assert parse_compaction_tables(report["tables"]["default"])
    ledger = read_log(read_lines(tmp_path / "db" / "LOG", [])).ledger
    assert not ledger.running
    assert ledger.jobs

    gets = group("get", operations=NUM // 2, clients=2, must_find=True, check_every=1)
    scans = group("scan", operations=100, scan_length=20)
    read = do(run("gets", gets, num=NUM), run("scans", scans, num=NUM), existing=True)
    assert read.returncode == 0, read
    assert read.one("run", phase="gets")["operations"]["get"]["checked"] == NUM
    assert read.one("run", phase="scans")["operations"]["scan"]["records"] > 1900


def test_options_are_read_back_as_they_are_in_force(do: Do) -> None:
    opened = do(options=OPTIONS, block_cache={"bytes": 1 << 20}).one("opened")
    file = parse_options(opened["options"])
    assert file.rocksdb_version == opened["version"]
    family = file.sections['CFOptions "default"']
    assert family["write_buffer_size"] == "262144"
    assert family["level_compaction_dynamic_level_bytes"] == "false"
    tables = file.sections['TableOptions/BlockBasedTable "default"']
    assert tables["block_size"] == "8192"
    assert "bloom" in tables["filter_policy"].lower()


def test_the_block_cache_has_the_size_of_the_plan(do: Do) -> None:
    keys = {"keys": IN_ORDER, "operations": NUM, "clients": 1}
    assert do(run("load", group(**keys), num=NUM), FLUSH, options=OPTIONS).returncode == 0
    missed = {}
    for size in (1 << 16, 1 << 26):
        twice = [run(n, group("get", **keys), num=NUM) for n in ("first", "second")]
        driven = do(*twice, REPORT, options=OPTIONS, block_cache={"bytes": size}, existing=True)
        tickers = parse_statistics(driven.one("report")["statistics"]).tickers
        missed[size] = tickers["rocksdb.block.cache.data.miss"]
    assert missed[1 << 26] < 0.6 * missed[1 << 16]


@OLDEST_AND_NEWEST
def test_shared_objects_are_those_of_the_plan(engine: Installed, do: Do, tmp_path: Path) -> None:
    cache = {"bytes": 1 << 20, "shard_bits": 2, "high_priority_ratio": 0.25}
    shared = {"row_cache_bytes": 1 << 21, "rate_limiter": {"bytes_per_second": 1 << 22}}
    assert do(options=OPTIONS, block_cache=cache, **shared).returncode == 0
    log = logged(tmp_path)
    assert log["block_cache_name"] == "LRUCache"
    assert log["capacity"] == str(1 << 20)
    assert log["num_shard_bits"] == "2"
    assert float(log["high_pri_pool_ratio"]) == 0.25
    assert log["block_size"] == "8192"
    assert log["Options.row_cache"] == str(1 << 21)
    assert log["Options.rate_limiter"] != "(nil)"


@OLDEST_AND_NEWEST
@pytest.mark.parametrize(
    ("shared", "since", "logs"),
    [
        (
            {"block_cache": {"bytes": 1 << 20, "low_priority_ratio": 0.25}},
            (7, 10),
            ("low_pri_pool_ratio", "0.250"),
        ),
        (
            {"block_cache": {"bytes": 1 << 20, "kind": "hyper_clock", "shard_bits": 1}},
            (8, 7),
            ("block_cache_name", "AutoHyperClockCache"),
        ),
        (
            {"rate_limiter": {"bytes_per_second": 1 << 22, "auto_tuned": True}},
            (8, 10),
            ("Options.row_cache", "None"),
        ),
    ],
)
def test_shared_objects_of_newer_versions_are_made_or_refused(
    *,
    shared: Json,
    since: tuple[int, int],
    logs: tuple[str, str],
    engine: Installed,
    do: Do,
    tmp_path: Path,
) -> None:
    driven = do(options=OPTIONS, **shared)
    if tuple(map(int, engine.record.version.split("."))) < since:
        assert driven.one("failed")["kind"] == "library"
        assert not (tmp_path / "db").exists()
        return
    assert driven.returncode == 0, driven
    log = logged(tmp_path)
    assert log["block_size"] == "8192"
    assert ("rate_limiter" in shared) == (log["Options.rate_limiter"] != "(nil)")
    assert log[logs[0]] == logs[1]


@OLDEST_AND_NEWEST
def test_threads_for_the_last_level_are_started(plan: Plan, tmp_path: Path) -> None:
    given = plan(run("some", group(operations=None), seconds=1e6), bottom_priority_threads=2)
    with start(tmp_path) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(given))
            process.stdin.close()
            assert '"opened"' in process.stdout.readline()
            tasks = Path(f"/proc/{process.pid}/task").glob("*/comm")
            names = [task.read_text().strip() for task in tasks]
        finally:
            process.kill()
    assert names.count("rocksdb:bottom") == 2


def logged(tmp_path: Path) -> dict[str, str]:
    """The options that the head of the LOG tells."""
    lines = (tmp_path / "db" / "LOG").read_text().splitlines()
    found: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.rpartition(":")
        if colon and key.split():
            found.setdefault(key.split()[-1], value.strip())
    return found


def test_deleted_keys_are_gone(do: Do) -> None:
    ordered = {"keys": IN_ORDER}
    half = group("delete", **ordered, operations=NUM // 2, clients=1)
    gets = group("get", **ordered, operations=NUM)
    driven = do(load(**ordered), run("drop", half, num=NUM), run("read", gets, num=NUM))
    assert driven.one("run", phase="read")["operations"]["get"]["records"] == NUM // 2


def test_a_value_that_others_have_written_is_found(do: Do) -> None:
    sizes = {"num": 1000, "value_size": 50}
    assert do(run("load", group(), **sizes)).returncode == 0
    failed = do(run("read", group("get")), existing=True).one("failed")
    assert failed["kind"] == "wrong"


@pytest.mark.parametrize(
    ("options", "words"),
    [("unheard_of=1", "unheard_of"), ("write_buffer_size=big", "write_buffer_size")],
)
def test_refused_options_are_named(options: str, words: str, do: Do) -> None:
    failed = do(options=options).one("failed")
    assert failed["kind"] == "open"
    assert words in failed["message"]


def test_a_store_that_exists_is_not_taken_for_a_new_one(do: Do) -> None:
    assert do(existing=True).one("failed")["kind"] == "open"
    assert do().returncode == 0
    assert do().one("failed")["kind"] == "open"


@OLDEST_AND_NEWEST
def test_each_operation_does_what_it_says(do: Do) -> None:
    num = NUM // 3
    unique: Json = {"keys": {"kind": "unique"}}
    ordered: Json = {"keys": IN_ORDER, "check_every": 1}
    ranges = {"every": num // 4, "width": 10, "at_most": 1}
    groups = {
        "load": group(**unique, operations=num, range_delete=ranges),
        "batches": group("multi_get", **ordered, operations=num // 10),
        "backward": group("scan_backward", keys=IN_ORDER, operations=50),
        "missing": group("get", **unique, missing=True),
        "update": group("read_modify_write", **ordered, operations=num),
        "sums": group("merge", **unique, operations=num // 2),
        "read": group("get", **ordered, operations=num, must_find=True),
    }
    sizes = {"value_size": {"kind": "uniform", "low": 1, "high": 300}}
    runs = [run(name, each, num=num, **sizes) for name, each in groups.items()]
    phases = [phase for each in runs for phase in (each, FLUSH)]
    driven = do(*phases, options=OPTIONS + ";merge_operator=stringappend")
    assert driven.returncode == 0, driven
    done = {kind: each for run in driven.of("run") for kind, each in run["operations"].items()}
    assert done["range_delete"]["count"] == 1
    left = done["multi_get"]["records"]
    assert num - 20 <= left < num
    assert done["multi_get"]["checked"] == left
    assert done["read_modify_write"]["records"] == done["read_modify_write"]["checked"] == left
    assert 400 <= done["scan_backward"]["records"] <= 500
    assert done["merge"]["records"] == num // 2
    assert driven.one("run", phase="missing")["operations"]["get_missing"]["records"] == 0
    assert driven.one("run", phase="read")["operations"]["get"]["checked"] == num


@OLDEST_AND_NEWEST
def test_keys_that_were_put_once_are_single_deleted(do: Do) -> None:
    unique = {"keys": {"kind": "unique"}}
    half = group("single_delete", **unique, operations=NUM // 2)
    driven = do(
        run("load", group(**unique, operations=NUM), num=NUM), FLUSH,
        run("drop", half, num=NUM), FLUSH, SETTLE,
        run("read", group("get", keys=IN_ORDER, operations=NUM, check_every=1), num=NUM),
        options=OPTIONS,
    )  # fmt: skip
    assert driven.one("run", phase="read")["operations"]["get"]["checked"] == NUM - NUM // 2
