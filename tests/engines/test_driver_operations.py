"""Operations, keys and sizes of the driver, on a stand-in for RocksDB's library."""

from typing import Any

import pytest

from fakes.driving import NEEDS_COMPILER, NEEDS_DRIVER, Do, Driven, Json, group, run
from lsmtune.workloads.key_values import skewed_keys

pytestmark = [NEEDS_DRIVER, NEEDS_COMPILER]
IN_ORDER = {"kind": "sequential"}
UNIQUE = {"kind": "unique"}
LOAD = run("load", group(keys=UNIQUE))
APPENDS = "merge_operator=stringappend"


def told(driven: Driven, phase: str, operation: str) -> Json:
    assert driven.returncode == 0, driven
    operations: Json = driven.one("run", phase=phase)["operations"][operation]
    return operations


def reads(name: str = "read", operation: str = "get", **fields: Any) -> Json:
    return run(name, group(operation, check_every=1, **fields))


def test_unique_keys_are_all_written_by_clients_together(do: Do) -> None:
    load = run("load", group(keys=UNIQUE, clients=4, operations=250))
    driven = do(load, reads(keys=IN_ORDER, must_find=True))
    assert told(driven, "read", "get")["checked"] == 1000


@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "exponential", "range": 10},
        {"kind": "latest"},
        {"kind": "hot_ranges", "ranges": 5, "hot_share": 0.9, "hot_keys": 0.2},
    ],
    ids=lambda keys: keys["kind"],
)
def test_skewed_keys_are_among_the_others(keys: Json, do: Do) -> None:
    driven = do(LOAD, run("use", group(keys=keys, mix={"get": 1, "put": 1}, must_find=True)))
    assert told(driven, "use", "get")["count"] == told(driven, "use", "get")["records"]


def test_skewed_puts_touch_as_many_keys_as_their_distribution_says(do: Do) -> None:
    skew = 6.0
    puts = run("puts", group(keys={"kind": "exponential", "range": skew}))
    driven = do(puts, reads(keys=IN_ORDER))
    found = told(driven, "read", "get")["records"]
    assert found == pytest.approx(skewed_keys(1000, 1000, skew), rel=0.1)


def test_writes_may_have_other_keys_than_reads(do: Do) -> None:
    hot = {"kind": "exponential", "range": 20}
    both = group(keys={"kind": "uniform"}, write_keys=hot, mix={"get": 1, "put": 1})
    driven = do(run("use", both), reads("written", keys=IN_ORDER))
    written = told(driven, "written", "get")["records"]
    assert written == pytest.approx(skewed_keys(1000, 500, 20), rel=0.2)
    # Uniform gets find few of the keys, skewed ones nearly always one of the hot keys.
    assert told(driven, "use", "get")["records"] < 0.3 * told(driven, "use", "get")["count"]


@pytest.mark.parametrize("keys", ["keys", "write_keys"])
def test_keys_of_writes_and_the_kind_latest_exclude_each_other(keys: str, do: Do) -> None:
    given = {"keys": {"kind": "uniform"}, "write_keys": {"kind": "uniform"}}
    failed = do(run("load", group(**{**given, keys: {"kind": "latest"}}))).one("failed")
    assert failed["kind"] == "plan"
    assert "write_keys: not allowed" in failed["message"]


@pytest.mark.parametrize(
    ("operation", "name"), [("get", "get_missing"), ("multi_get", "multi_get")]
)
def test_missing_keys_are_not_found(operation: str, name: str, do: Do) -> None:
    driven = do(LOAD, reads(operation=operation, missing=True))
    assert list(driven.one("run", phase="read")["operations"]) == [name]
    missing = told(driven, "read", name)
    assert (missing["count"], missing["records"]) == (1000, 0)


def test_a_key_that_should_be_missing_fails_the_plan(do: Do) -> None:
    others = run("others", group(keys=UNIQUE), key_size=17)
    failed = do(others, reads(missing=True)).one("failed")
    assert failed["kind"] == "wrong"


def test_read_modify_write_reads_and_writes(do: Do) -> None:
    half = group("read_modify_write", keys=IN_ORDER, operations=500, check_every=1)
    driven = do(run("new", half), run("old", half), reads(keys=IN_ORDER))
    new, old = (told(driven, phase, "read_modify_write") for phase in ("new", "old"))
    assert (new["count"], new["records"], new["checked"]) == (500, 0, 0)
    assert (old["count"], old["records"], old["checked"]) == (500, 500, 500)
    assert told(driven, "read", "get")["records"] == 500


@pytest.mark.parametrize("operation", ["read_modify_write", "multi_get"])
def test_other_gets_are_checked_too(operation: str, do: Do) -> None:
    for fault, must_find in (("SWAPS", False), ("LOSES", True)):
        again = reads(operation=operation, must_find=must_find)
        assert do(LOAD, again, fault=fault, existing=True).one("failed")["kind"] == "wrong"


def test_a_multi_get_asks_for_several_keys(do: Do) -> None:
    batched = reads(operation="multi_get", keys=UNIQUE, operations=40, batch=25, must_find=True)
    found = told(do(LOAD, batched), "read", "multi_get")
    assert (found["count"], found["records"], found["checked"]) == (40, 1000, 1000)


def test_an_error_of_a_multi_get_fails_the_plan(do: Do) -> None:
    failed = do(reads(operation="multi_get"), fault="FAILS").one("failed")
    assert failed["kind"] == "operation"
    assert "checksum" in failed["message"]


def test_single_deletes_delete(do: Do) -> None:
    drop = run("drop", group("single_delete", keys=UNIQUE, operations=300))
    driven = do(LOAD, drop, reads(keys=IN_ORDER))
    assert told(driven, "drop", "single_delete")["records"] == 300
    assert told(driven, "read", "get")["records"] == 700


def test_merges_append_and_are_checked(do: Do) -> None:
    thrice = [run(name, group("merge", keys=UNIQUE)) for name in ("first", "second", "third")]
    driven = do(*thrice, reads(keys=IN_ORDER, must_find=True), options=APPENDS)
    assert told(driven, "third", "merge")["records"] == 1000
    assert told(driven, "read", "get")["checked"] == 1000
    failed = do(LOAD, reads(), fault="SWAPS", options=APPENDS, existing=True).one("failed")
    assert failed["kind"] == "wrong"


def test_scans_go_backward(do: Do) -> None:
    backward = group("scan_backward", keys=IN_ORDER, operations=30, scan_length=20)
    found = told(do(LOAD, run("scan", backward)), "scan", "scan_backward")
    assert found["records"] == sum(min(key + 1, 20) for key in range(30))


def test_range_deletes_come_after_puts_of_each_client(do: Do) -> None:
    ranges = {"every": 100, "width": 7, "at_most": 3}
    puts = group(keys={"kind": "uniform"}, clients=2, operations=500, range_delete=ranges)
    driven = do(run("load", puts))
    assert told(driven, "load", "put")["count"] == 1000
    assert told(driven, "load", "range_delete")["count"] == 6


def test_a_range_delete_takes_the_next_key(do: Do) -> None:
    ranges = {"every": 400, "width": 50, "at_most": 9}
    puts = group(keys=IN_ORDER, operations=800, range_delete=ranges)
    driven = do(LOAD, run("puts", puts), reads(keys=IN_ORDER))
    # After 400 puts keys 400 to 449 go, of which the next puts write all but 400. After 800 puts
    # keys 801 to 850 go.
    assert told(driven, "puts", "range_delete")["count"] == 2
    assert told(driven, "read", "get")["records"] == 1000 - 1 - 50


def test_bytes_per_second_limit_all_clients_of_a_group(do: Do) -> None:
    rate = 100_000
    slow = group(operations=400, clients=2, bytes_per_second=rate)
    fast = group("get", operations=None)
    told_of = do(run("both", slow, fast)).one("run")
    made_up_s = 0.1
    expected = 800 * (16 + 100) / rate
    assert told_of["seconds"] >= expected - made_up_s
    assert told_of["operations"]["put"]["p50_us"] < 1e6 * expected / 800  # without the waits


def test_a_slow_group_ends_with_its_phase(do: Do) -> None:
    slow = group(operations=None, bytes_per_second=1)
    driven = do(run("both", slow, group("get", seed=8)))
    assert driven.returncode == 0, driven
    assert driven.one("run")["operations"]["put"]["count"] <= 1


@pytest.mark.parametrize(
    "sizes",
    [
        {"kind": "uniform", "low": 0, "high": 200},
        {"kind": "normal", "mean": 100, "deviation": 30},
        {"kind": "pareto", "k": 0.2615, "sigma": 25.45, "high": 1024},
    ],
    ids=lambda sizes: sizes["kind"],
)
def test_values_of_different_sizes_are_checked(sizes: Json, do: Do) -> None:
    load = run("load", group(keys=UNIQUE), value_size=sizes)
    read = reads(keys=IN_ORDER, must_find=True) | {"value_size": sizes}
    assert told(do(load, read), "read", "get")["checked"] == 1000
    other = reads("other") | {"value_size": 7}
    assert do(load, other, existing=True).one("failed")["kind"] == "wrong"


@pytest.mark.parametrize(
    ("phase", "kind", "words"),
    [
        (run("sums", group("merge")), "plan", "merge_operator=stringappend"),
        (run("drops", group("delete")), "library", "rocksdb_delete"),
        (run("drops", group("single_delete")), "plan", "once"),
        (run("ranges", group(mix={"put": 1, "range_delete": 1})), "plan", "range_delete"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_first_phase(
    phase: Json, kind: str, words: str, do: Do
) -> None:
    driven = do(run("load", group()), phase, fault="LACKS")
    failed = driven.one("failed")
    assert failed["kind"] == kind
    assert words in failed["message"]
    assert not driven.of("phase")


def test_the_end_of_a_run_wakes_clients_that_wait(do: Do) -> None:
    rare = group("put", operations=None, per_second=0.001)
    by_time, by_operations = run("some", rare, seconds=0.5), run("all", rare, group("get"))
    driven = do(by_time, by_operations)
    for told in driven.of("run"):
        assert told["operations"]["put"]["count"] == 0
        assert told["seconds"] < 60  # the first put is due within 1,000 s
    # counted from the start of the first client, some microseconds after that of the run
    assert driven.one("run", phase="some")["seconds"] >= 0.49
    assert driven.one("run", phase="some")["behind_s"] == 0
    assert driven.one("run", phase="all")["behind_s"] is None
