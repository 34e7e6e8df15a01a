"""The command that continues an interrupted study."""

import shlex
from typing import Any

import pytest

from lsmtune.analysis.continuing import continue_command
from lsmtune.limits import parse_limit
from lsmtune.spec import make_spec
from lsmtune.verdict import LimitCheck, State


@pytest.mark.parametrize(
    ("given", "command"),
    [
        ({}, "lsmtune tune --db-bench db_bench --optimizer tpe"),
        ({"workload": "mixgraph"}, "lsmtune tune --workload mixgraph --optimizer tpe"),
        ({"rocksdb": "8.10.2"}, "lsmtune tune --rocksdb 8.10.2 --optimizer tpe"),
        (
            {"rocksdb": "8.10.2", "rate": 700},
            "lsmtune tune --rocksdb 8.10.2 --rate 700 --optimizer tpe",
        ),
        ({"library": "a/b.so"}, "lsmtune tune --library a/b.so --optimizer tpe"),
        ({"study": "a", "trials": 9}, "lsmtune tune --optimizer tpe --trials 9 --study a"),
        (
            {"study": "a", "simplify": False},
            "lsmtune tune --optimizer tpe --study a --no-simplify",
        ),
        ({"budget": "20m"}, "lsmtune tune --db-bench db_bench --optimizer tpe --budget 20m"),
        (
            {
                "limits": ["write_amp <= 1.2 * base"],
                "workload": {"name": "fillrandom", "num": 5000},
            },
            "lsmtune tune --workload fillrandom --num 5000 --db-bench db_bench "
            "--limit 'write_amp <= 1.2 * base' --optimizer tpe",
        ),
        ({"early_stop": False}, None),
        ({"workload": {"name": "fillrandom", "value_size": 100}}, None),
    ],
)
def test_continue_command_has_the_flags_that_differ(
    given: dict[str, Any], command: str | None
) -> None:
    found = continue_command(make_spec(given, "test"))
    assert (found and shlex.split(found)) == (command and shlex.split(command))


@pytest.mark.parametrize(
    ("limit", "value", "relaxed"),
    [
        ("scan_p99_us <= 1.1 * base", 1.23, "scan_p99_us <= 1.3 * base"),
        ("scan_p99_us <= 1.1 * base", 1.1003, "scan_p99_us <= 1.2 * base"),
        ("scan_p99_us <= 2.06 * base", 1.0, "scan_p99_us <= 2.1 * base"),
        ("throughput_ops_s >= 0.95 * base", 1.18, "throughput_ops_s >= 0.95 * base"),
        ("get_p99_us <= 50", 123.4, "get_p99_us <= 130"),
        ("throughput_ops_s >= 0.95 * base", 0.8765, "throughput_ops_s >= 0.87 * base"),
        ("live_sst_bytes <= 300MiB", 314.7 * 2**20, "live_sst_bytes <= 320 MiB"),
        (
            "get_data_blocks <= 1.1 * base + 0.25",
            1.3,
            "get_data_blocks <= 1.5 * base + 0.33",
        ),
        ("scan_p99_us <= 1.1 * base", None, "scan_p99_us <= none"),
    ],
)
def test_relaxed_constraint_is_rounded_to_what_the_value_keeps(
    limit: str, value: float | None, relaxed: str
) -> None:
    asked = parse_limit(limit)
    of_bound = None if value is None else value / (1 if asked.plus else asked.bound)
    use = 1 / of_bound if of_bound and asked.relation == ">=" else of_bound
    state: State = "unknown" if use is None else "broken"
    assert LimitCheck(limit=asked, state=state, use=use).relaxed == relaxed
    again = parse_limit(relaxed)
    if value is not None and not again.plus:
        assert again.bound >= value if again.relation == "<=" else again.bound <= value
