"""Loads: their parameters, what is refused, and the numbers that follow from them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lsmtune.workloads import WORKLOADS, Workload


@pytest.mark.parametrize("name", sorted(WORKLOADS.keys() - {"trace"}))
def test_a_load_has_its_parameters_and_no_others(name: str) -> None:
    load = Workload(name=name)
    own = WORKLOADS[name].parameters
    assert Workload.model_validate(load.model_dump()) == load
    given = load.model_dump(exclude_none=True).keys()
    assert {key for key, value in own.items() if value is not None} <= given
    assert given <= {"name", "num", "key_size", "value_size", "threads", "compression_ratio", *own}


def test_a_parameter_of_another_load_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"readrandom 'scan_length'.*num, key_size"):
        Workload(name="readrandom", scan_length=5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "nosuch"}, "workload 'nosuch'.*fillrandom, "),
        ({"name": "trace"}, "trace = "),
        ({"name": "mix", "mix": {"get": 0.5, "put": 0.4}}, "0.9;.* 1"),
        ({"name": "mix", "mix": {"get": 0.5, "delete": 0.5}}, "delete"),
        ({"name": "readrandom", "present": 2}, "less than or equal to 1"),
        ({"name": "tpcc", "value_size": 100}, "tpcc 'value_size'.*warehouses"),
        ({"name": "oltp_read_write", "warehouses": 2}, "oltp_read_write 'warehouses'.*tables"),
        (
            {"name": "readrandomwriterandom", "operations": 500, "duration_s": 5},
            "operations .*duration_s",
        ),
        ({"name": "fillrandom", "duration_s": 5}, "fillrandom 'duration_s'.*operations"),
        ({"name": "fillrandom", "tombstone_every": 50}, "tombstone_every .*tombstone_width"),
        ({"name": "readrandom", "tombstones": 5}, "^(?s:.)*tombstones: .*tombstone_every"),
    ],
)
def test_what_makes_no_load_is_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        Workload.model_validate(given)


@given(present=st.floats(0.05, 0.99), num=st.integers(1000, 10**8))
def test_so_many_random_writes_leave_that_share_of_keys(present: float, num: int) -> None:
    load = Workload(name="readrandom", num=num, present=present)
    left = 1 - (1 - 1 / num) ** load.build_writes
    assert math.isclose(left, present, abs_tol=2 / math.sqrt(num) / 10 + 1e-3)


def test_all_keys_are_written_once() -> None:
    assert Workload(name="readrandom", num=5000).build_writes == 5000


def test_reads_write_no_user_bytes_but_those_that_build() -> None:
    load = Workload(name="readrandom", num=1000, operations=500)
    assert load.user_bytes == 1000 * 1040
    assert Workload(name="overwrite", num=1000, operations=500).user_bytes == 1500 * 1040


def test_deletes_leave_what_they_do_not_hit() -> None:
    load = Workload(name="deleterandom", num=10_000, operations=10_000)
    assert load.distinct_bytes == pytest.approx(10_000 * 1040 / math.e, rel=1e-3)


def test_what_the_clock_ends_has_no_number_of_operations() -> None:
    timed = Workload(name="readrandomwriterandom", num=1000, duration_s=60)
    assert timed.client_operations is None
    assert timed.user_bytes == 2 * 1000 * 1040
    assert Workload(name="readrandomwriterandom", num=1000).client_operations == 1000


def test_a_load_of_sql_tells_its_own_parameters_alone() -> None:
    assert Workload(name="tpcc").told == {
        "name": "tpcc", "threads": 8, "direct_reads": True, "warehouses": 2, "families": False,
    }  # fmt: skip
    assert Workload(name="oltp_write_only", num=9000).told["num"] == 9000
    assert Workload(name="tpcc").column_families == ()
    assert "cf_stock" in Workload(name="tpcc", families=True).column_families
