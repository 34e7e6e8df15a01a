"""The driver on a stand-in for RocksDB's library, which fails in every known way."""

import json
import re
import resource
import signal
from pathlib import Path
from typing import Any

import pytest

from fakes.driving import (
    FLUSH,
    NEEDS_COMPILER,
    NEEDS_DRIVER,
    REPORT,
    SETTLE,
    Do,
    Json,
    Plan,
    drive,
    group,
    run,
    start,
)

pytestmark = [NEEDS_DRIVER, NEEDS_COMPILER]
README = Path(__file__).parents[2] / "native" / "lsmdriver" / "README.md"
SECONDS_TO_WAIT = 60
UNIQUE = 632
"""Expected number of different keys if 1,000 keys are chosen at random from 1,000."""


def test_a_plan_is_carried_out(do: Do) -> None:
    driven = do(run("load", group()), FLUSH, SETTLE, REPORT, run("read", group("get")))
    assert driven.returncode == 0, driven
    assert driven.names == [
        "opened", "phase", "run", "phase", "flushed", "phase", "settled", "phase", "report",
        "phase", "run", "ended",
    ]  # fmt: skip
    assert driven.one("opened")["version"] == "9.9.9"
    assert [each["phase"] for each in driven.of("phase")] == [
        "load", "flush", "settle", "report", "read",
    ]  # fmt: skip
    assert driven.one("settled")["judged_by"] == "properties"
    report = driven.one("report")
    assert report["statistics"].startswith("rocksdb.number.keys.written COUNT : 1000\n")
    assert list(report["tables"]) == ["default"]
    assert report["table_readers_bytes"] == 1000
    assert report["live_files"] == [[12, 0, 1000], [34, 6, 1001]]
    assert report["tables"]["default"].startswith("rocksdb.cfstats of default\n")
    times = [each["time_s"] for each in driven.events]
    assert times == sorted(times)


def test_options_reach_the_store_and_are_read_back(do: Do) -> None:
    opened = do(options="write_buffer_size=65536;a={b=1;c=2}").one("opened")
    assert opened["options_file"] == "OPTIONS-000007"
    assert "given=write_buffer_size=65536;a={b=1;c=2}\n" in opened["options"]


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("block_cache", {"bytes": 5}, "cache=block_based_table_factory={block_cache={capacity=5}}"),
        (
            "block_cache",
            {"bytes": 5, "shard_bits": 2, "high_priority_ratio": 0.5, "low_priority_ratio": 0.25},
            "cache=block_based_table_factory={block_cache={capacity=5;num_shard_bits=2;"
            "high_pri_pool_ratio=0.5;low_pri_pool_ratio=0.25}}",
        ),
        ("block_cache", {"kind": "hyper_clock", "bytes": 5}, "cache=hyper_clock 5 0"),
        (
            "block_cache",
            {"kind": "hyper_clock", "bytes": 5, "shard_bits": 3},
            "cache=hyper_clock 5 3",
        ),
        ("row_cache_bytes", 7, "row_cache=lru 7 0"),
        ("rate_limiter", {"bytes_per_second": 1 << 40}, f"rate_limiter=limiter {1 << 40} 100000"),
        (
            "rate_limiter",
            {"bytes_per_second": 9, "auto_tuned": True},
            "rate_limiter=auto_tuned 9 100000",
        ),
        ("bottom_priority_threads", 2, "bottom_threads=2"),
    ],
)
def test_shared_objects_reach_the_store(field: str, value: Any, line: str, do: Do) -> None:
    opened = do(options="first=1", **{field: value}).one("opened")
    assert f"  {line}\n" in opened["options"]
    assert "given=first=1\n" in opened["options"]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("block_cache", {"bytes": 5, "low_priority_ratio": 0.1}, "low_pri_pool_ratio"),
        ("block_cache", {"bytes": 5, "kind": "hyper_clock"}, "hyper_clock"),
        ("rate_limiter", {"bytes_per_second": 9, "auto_tuned": True}, "auto_tuned"),
    ],
)
def test_a_shared_object_that_the_version_lacks_is_named(
    field: str, value: Any, words: str, do: Do, tmp_path: Path
) -> None:
    failed = do(**{field: value}, fault="LACKS").one("failed")
    assert failed["kind"] == "library"
    assert words in failed["message"]
    assert not (tmp_path / "db").exists()


def test_operations_are_counted_and_timed(do: Do) -> None:
    driven = do(run("load", group()), run("use", group(mix={"put": 1, "get": 1, "scan": 2})))
    for name in ("load", "use"):
        told = driven.one("run", phase=name)
        seconds = driven.of("second", phase=name)
        for kind, operations in told["operations"].items():
            parts = [each["operations"][kind] for each in seconds]
            assert sum(part["count"] for part in parts) == operations["count"]
            assert sum(part["records"] for part in parts) == operations["records"]
            times = [operations[f"{t}_us"] for t in ("p50", "p75", "p99", "p999", "p9999", "max")]
            assert times == sorted(times)
            assert 0 < operations["mean_us"] <= operations["max_us"]
        assert 0 < told["seconds"] <= seconds[-1]["to_s"]
    counts = {k: o["count"] for k, o in driven.one("run", phase="use")["operations"].items()}
    assert sum(counts.values()) == 1000
    assert counts["scan"] == pytest.approx(500, rel=0.2)


def test_the_same_seed_asks_for_the_keys_that_were_written(do: Do) -> None:
    clients = {"clients": 3, "operations": 300}
    gets = group("get", **clients, must_find=True, check_every=1)
    others = group("get", seed=8)
    zipfian = {"kind": "zipfian", "exponent": 0.9}
    driven = do(
        run("load", group(**clients)), run("hits", gets), run("others", others),
        run("skewed", group(keys=zipfian)), run("frequent", group("get", keys=zipfian)),
    )  # fmt: skip
    assert driven.returncode == 0, driven
    hits = driven.one("run", phase="hits")["operations"]["get"]
    assert hits["count"] == hits["records"] == hits["checked"] == 900
    found = driven.one("run", phase="others")["operations"]["get"]
    assert found["records"] == pytest.approx(UNIQUE, rel=0.2)
    frequent = driven.one("run", phase="frequent")["operations"]["get"]
    assert frequent["records"] == 1000


def test_one_of_a_thousand_gets_is_checked(do: Do) -> None:
    keys = {"kind": "sequential"}
    gets = group("get", keys=keys, operations=2001)
    driven = do(run("load", group(keys=keys)), run("read", gets))
    assert driven.one("run", phase="read")["operations"]["get"]["checked"] == 3


def test_clients_of_a_group_share_sequential_keys(do: Do) -> None:
    sequential = {"kind": "sequential"}
    load = group(keys=sequential, clients=2, operations=300)
    deletes = group("delete", keys=sequential, operations=100)
    scan = group("scan", keys=sequential, operations=1, scan_length=5000)
    gets = group("get", keys=sequential, operations=1000)
    driven = do(run("load", load), run("scan", scan), run("drop", deletes), run("read", gets))
    assert driven.one("run", phase="scan")["operations"]["scan"]["records"] == 600
    assert driven.one("run", phase="read")["operations"]["get"]["records"] == 500


def test_clients_without_operations_run_beside_the_others(do: Do) -> None:
    beside = group("get", operations=None, clients=2)
    driven = do(run("both", group(), beside), fault="WAITS")
    operations = driven.one("run")["operations"]
    assert operations["put"]["count"] == 1000
    assert operations["get"]["count"] > 0


def test_time_ends_a_phase(do: Do) -> None:
    for operations in (None, 10**12):
        driven = do(run("some", group(operations=operations), seconds=1.1), existing=True)
        assert driven.returncode == 0, driven
        told = driven.one("run")
        assert told["operations"]["put"]["count"] > 0
        seconds = driven.of("second")
        assert len(seconds) >= 2
        assert seconds[0]["from_s"] == 0
        assert seconds[-1]["to_s"] >= 1.1


def test_a_store_without_properties_is_judged_by_its_log(do: Do) -> None:
    settled = do(SETTLE, fault="SILENT").one("settled")
    assert settled["judged_by"] == "LOG"
    assert settled["seconds"] > 0


def test_a_thread_that_is_awake_may_begin_a_job(do: Do) -> None:
    assert do(FLUSH, SETTLE, fault="WAKES").one("settled")["seconds"] > 0


LOAD = run("load", group())
READ = run("read", group("get", must_find=True, check_every=1))


@pytest.mark.parametrize(
    ("fault", "phases", "kind", "words"),
    [
        ("REFUSES", [], "open", "it does not open"),
        ("FAILS", [LOAD], "operation", "No space left on device"),
        ("SWAPS", [LOAD, READ], "wrong", "key number"),
        ("LOSES", [LOAD, READ], "wrong", "not found"),
        ("LACKS", [run("drop", group("delete"))], "library", "rocksdb_delete"),
        ("WORKS", [SETTLE | {"limit_s": 0.2}], "restless", "0.2"),
    ],
)
def test_a_failure_ends_the_plan(
    fault: str, phases: list[Json], kind: str, words: str, do: Do
) -> None:
    driven = do(*phases, fault=fault)
    assert driven.returncode == 1
    failed = driven.one("failed")
    assert failed is driven.events[-1]
    assert failed["kind"] == kind
    assert words in failed["message"]
    assert not driven.stderr


def test_more_clients_than_the_system_has_threads_are_a_failure(plan: Plan, tmp_path: Path) -> None:
    given = plan(run("load", group(clients=1024)))
    with start(tmp_path) as process:
        try:
            # Each thread reserves 2 MiB for its stack.
            resource.prlimit(process.pid, resource.RLIMIT_AS, (1 << 30, 1 << 30))
            stdout, _ = process.communicate(json.dumps(given), timeout=SECONDS_TO_WAIT)
        finally:
            process.kill()
    failed = json.loads(stdout.splitlines()[-1])
    assert (failed["event"], failed["kind"]) == ("failed", "operation")
    assert "1024 clients" in failed["message"]
    # A client that runs already may find no memory at the same time, and then aborts. If the loader
    # of the system finds none, it ends the process with 127.
    assert process.returncode in (1, 127, -signal.SIGABRT)


def test_a_function_is_needed_only_by_plans_that_use_it(do: Do) -> None:
    assert do(LOAD, READ, fault="LACKS").returncode == 0


def test_a_store_is_new_or_exists_as_the_plan_says(do: Do) -> None:
    assert do().returncode == 0
    assert do(existing=True).returncode == 0
    assert do().one("failed")["kind"] == "open"


def test_options_that_the_version_lacks_are_named(do: Do) -> None:
    failed = do(options="unheard_of=1").one("failed")
    assert failed["kind"] == "open"
    assert "unheard_of" in failed["message"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"library": "x"}', '{"phases": 1}'])
def test_a_plan_that_cannot_be_read_has_its_own_exit_code(text: str, tmp_path: Path) -> None:
    driven = drive(text, tmp_path)
    assert driven.returncode == 2
    assert driven.one("failed")["kind"] == "plan"


def test_a_file_that_is_no_library_is_named(do: Do, tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("not a library")
    for library in (text, tmp_path / "none.so"):
        failed = do(library=str(library)).one("failed")
        assert failed["kind"] == "library"
        assert str(library) in failed["message"]


def test_the_plan_of_the_readme_lacks_only_its_library(tmp_path: Path) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", README.read_text(), re.DOTALL)
    failed = drive(text, tmp_path).one("failed")
    assert failed["kind"] == "library"
    assert "librocksdb.so" in failed["message"]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_though_a_put_never_returns(
    ending: signal.Signals, plan: Plan, tmp_path: Path
) -> None:
    given = plan(LOAD, fault="HANGS")
    with start(tmp_path) as process:
        try:
            send(process, given)
            assert process.stdout is not None
            while '"second"' not in process.stdout.readline():
                assert process.poll() is None
            process.send_signal(ending)
            assert process.wait(SECONDS_TO_WAIT) == 128 + ending
        finally:
            process.kill()


def test_it_ends_when_nobody_reads(plan: Plan, tmp_path: Path) -> None:
    endless = run("endless", group(operations=None), seconds=1e6)
    with start(tmp_path) as process:
        try:
            send(process, plan(endless))
            assert process.stdout is not None
            process.stdout.readline()
            process.stdout.close()
            assert process.wait(SECONDS_TO_WAIT) == 1
        finally:
            process.kill()


def test_files_appear_in_its_folder_only(do: Do, tmp_path: Path) -> None:
    do(LOAD, FLUSH, SETTLE, REPORT)
    assert {path.name for path in tmp_path.iterdir()} == {"db"}


def send(process: Any, given: Json) -> None:
    process.stdin.write(json.dumps(given))
    process.stdin.close()
