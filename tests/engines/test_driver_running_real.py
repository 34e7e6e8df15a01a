"""The measurement of a running store by the driver, on the installed libraries of RocksDB."""

import os
import signal
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fakes.driving import (
    FLUSH,
    NEEDS_DRIVER,
    REPORT,
    SETTLE,
    Do,
    Driven,
    Json,
    Plan,
    drive,
    group,
    run,
    talk,
)
from fakes.installed import OLDEST_AND_NEWEST

pytestmark = [NEEDS_DRIVER, OLDEST_AND_NEWEST]
NUM = 20_000
RECORD = 116
"""Bytes of a key and its value."""
OPTIONS = (
    "write_buffer_size=131072;target_file_size_base=131072;max_bytes_for_level_base=524288;"
    "compression=kNoCompression;level_compaction_dynamic_level_bytes=false"
)
SORTED_RUNS = 8
"""More than the sorted runs of a settled store with these options."""


@pytest.fixture
def plan(real_plan: Plan) -> Plan:
    """Makes a plan for an installed library."""

    def make(*phases: Json, **fields: Any) -> Json:
        return real_plan(*phases, **{"options": OPTIONS, **fields})

    return make


@pytest.fixture
def do(plan: Plan, tmp_path: Path) -> Do:
    """Carries out phases on an installed library."""

    def carry_out(*phases: Json, **fields: Any) -> Driven:
        driven = drive(plan(*phases, **fields), tmp_path)
        assert driven.returncode == 0, driven
        return driven

    return carry_out


LOAD = run("load", group(operations=NUM, keys={"kind": "unique"}), num=NUM)


def paced(operation: str, per_second: float, **fields: Any) -> Json:
    return group(operation, operations=None, per_second=per_second, seed=9, **fields)


def window(*groups: Json, **fields: Any) -> Json:
    return run("window", *groups, **{"num": NUM, "seconds": 1, "sample_ms": 50, **fields})


def test_a_run_at_a_rate_is_counted_timed_and_sampled(do: Do) -> None:
    driven = do(LOAD, window(
        paced("put", 1000, clients=3), paced("get", 300, count_blocks=True),
        paced("get", 200, missing=True),
    ))  # fmt: skip
    told = driven.one("run", phase="window")
    for kind, rate in (("put", 1000), ("get", 300), ("get_missing", 200)):
        found = told["operations"][kind]
        # On a busy machine, some operations may still be due at the end.
        assert rate / 2 <= found["count"] <= rate + 1
        response = found["response"]
        for time_ in ("mean_us", "p50_us", "p99_us", "p999_us", "p9999_us"):
            # Both are rounded, by at most 1 %.
            assert response[time_] >= 0.98 * found[time_]
    assert told["operations"]["get_missing"]["records"] == 0
    assert "blocks" in told["operations"]["get"]
    assert not told["operations"].keys() - {"put", "get", "get_missing"}
    assert told["wakeup_us"]["count"] > 0
    assert told["cpu_s"]["calls"] > 0
    assert told["cpu_s"]["driver"] > 0
    assert told["cpu_s"]["background"] >= 0

    samples = driven.one("samples")
    del samples["event"], samples["time_s"]
    assert samples.pop("phase") == "window"
    assert len({len(values) for values in samples.values()}) == 1
    for name in ("second", "operations", "written_bytes"):
        assert all(one <= other for one, other in pairwise(samples[name]))
    operations = told["operations"]
    assert samples["operations"][-1] == sum(kind["count"] for kind in operations.values())
    assert samples["written_bytes"][-1] == RECORD * operations["put"]["count"]
    assert samples["second"][-1] == pytest.approx(told["seconds"], rel=0.5)
    assert all(len(levels) == 10 for levels in samples["level_files"])
    assert max(samples["memtable_bytes"]) > 0
    for live, folder in zip(samples["live_sst_bytes"], samples["folder_bytes"], strict=True):
        assert live > NUM * RECORD / 2
        assert folder > NUM * RECORD / 2


def test_a_rate_that_is_kept_is_not_behind_and_an_impossible_one_is(do: Do) -> None:
    behind = {}
    for rate in (100, 1e8):
        told = do(window(paced("put", rate)), existing=rate > 100).one("run")
        behind[rate] = told["behind_s"]
    assert 0 <= behind[100] < 0.5 < behind[1e8]


def test_a_stall_is_seen_by_response_times_alone(plan: Plan, tmp_path: Path) -> None:
    given = plan(window(paced("put", 500), seconds=3))
    with talk(given, tmp_path) as talking:
        talking.hear("second")
        os.kill(talking.process.pid, signal.SIGSTOP)
        time.sleep(1)
        os.kill(talking.process.pid, signal.SIGCONT)
        puts = talking.hear("run")["operations"]["put"]
    # A third of the operations was due while the driver stood still.
    stalled = puts["response"]["p999_us"]
    assert stalled > 0.8e6
    assert puts["response"]["p50_us"] < stalled / 3
    assert puts["p50_us"] < stalled / 10
    assert 500 <= puts["count"] <= 1501


def test_blocks_are_those_of_each_kind_of_read(do: Do) -> None:
    reads = {"operations": 2000, "keys": {"kind": "unique"}, "count_blocks": True}
    runs = [
        run("gets", group("get", **reads, must_find=True), num=NUM),
        run("missing", group("get", **reads, missing=True), num=NUM),
        run("scans", group("scan", **reads), num=NUM),
    ]
    driven = do(LOAD, FLUSH, SETTLE, REPORT, *runs)
    report = driven.one("report")
    levels = {level for _, level, _ in report["live_files"]}
    assert len(levels) > 1
    numbers = [number for number, _, _ in report["live_files"]]
    assert len(set(numbers)) == len(numbers)
    assert min(numbers) > 0
    assert sum(size for _, _, size in report["live_files"]) > NUM * RECORD / 2
    assert report["live_blob_bytes"] == report["pending_bytes"] == 0
    blocks = {
        name: per_operation(driven.one("run", phase=name)["operations"])
        for name in ("gets", "missing", "scans")
    }
    # Without filters, a get reads one block of each sorted run until it finds the key.
    assert 1 <= blocks["gets"]["data"] < blocks["missing"]["data"] < SORTED_RUNS
    assert 1 <= blocks["scans"]["data"] < 2 * SORTED_RUNS
    assert all(each["filter"] == 0 for each in blocks.values())


def test_blocks_of_filters_and_indexes_are_told_apart(do: Do) -> None:
    reads = group("get", operations=2000, missing=True, count_blocks=True)
    tables = "{filter_policy=bloomfilter:10:false;cache_index_and_filter_blocks=true}"
    driven = do(
        LOAD, FLUSH, run("missing", reads, num=NUM),
        options=f"{OPTIONS};block_based_table_factory={tables}",
    )  # fmt: skip
    blocks = per_operation(driven.one("run", phase="missing")["operations"])
    assert blocks["data"] < 0.5 < blocks["filter"] < 2 * SORTED_RUNS
    assert blocks["index"] < 0.5


def per_operation(operations: Mapping[str, Json]) -> dict[str, float]:
    """The blocks of each kind by the only operation of a run."""
    (found,) = operations.values()
    return {kind: count / found["count"] for kind, count in found["blocks"].items()}
