"""The batch format: what is written can be read, and a bad line spoils no other."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.batch import BatchLine, as_flags, read_batch
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.space import value_at
from lsmtune.spec import make_spec
from lsmtune.trials import Running
from lsmtune.workloads import Workload

CATALOGUE = load("rocksdb")
HUGE = "9" * 200
TUNABLE = [knob for knob in CATALOGUE.knobs if knob.inert is None]


def read(tmp_path: Path, *lines: str) -> list[BatchLine]:
    file = tmp_path / "batch.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return read_batch(file)


@given(st.data())
def test_what_is_written_is_read_again(tmp_path_factory, data) -> None:  # type: ignore[no-untyped-def]
    knobs = data.draw(st.lists(st.sampled_from(TUNABLE), unique_by=lambda knob: knob.name))
    values = {k.name: value_at(k, data.draw(st.floats(0, 0.999))) for k in knobs}
    line = BatchLine("a", Workload(num=5000), values, {"write_amp": 2.5}, seed=7, rocksdb="8.10.2")
    file = tmp_path_factory.mktemp("batch") / "batch.jsonl"
    file.write_text(line.to_json() + "\n")
    assert read_batch(file) == [line]


def test_a_line_has_a_host_only_if_it_is_given(tmp_path: Path) -> None:
    lines = [BatchLine("a", metrics={"write_amp": 2.5}, host=host) for host in ("alpha", None)]
    assert read(tmp_path, *(line.to_json() for line in lines)) == lines
    assert "host" in lines[0].to_json()
    assert "host" not in lines[1].to_json()
    (wrong,) = read(tmp_path, '{"id": "a", "host": 5}')
    assert wrong.is_wrong


def test_a_line_of_a_running_store_has_a_rate(tmp_path: Path) -> None:
    load, base = Workload(name="overwrite", num=5000), {"write_buffer_size": 1 << 20}
    steps = Running(rate=5000)
    lines = [BatchLine("a", load, running=steps, base=one) for one in (base, None)]
    assert read(tmp_path, *(line.to_json() for line in lines)) == lines
    wrong = [
        '{"measure": "running"}',
        '{"measure": "running", "rate": "50%"}',
        '{"measure": "running", "rate": 0}',
        '{"measure": "running", "rate": 5, "base": 1}',
        '{"measure": "running", "rate": 5, "base": {"no_such_knob": 1}}',
        '{"measure": "settled"}',
        '{"rate": 5000}',
        '{"measure": "filled", "base": {}}',
    ]
    assert all(line.is_wrong for line in read(tmp_path, *wrong))


def test_what_is_left_out_has_defaults(tmp_path: Path) -> None:
    (line,) = read(tmp_path, "{}")
    assert (line.id, line.workload, line.knobs, line.error) == ("1", Workload(), {}, None)


def test_flags_are_what_db_bench_does_not_do_anyway() -> None:
    settings = CATALOGUE.defaults(1) | {"block_size": 8192, "unknown": 1}
    assert as_flags(settings, CATALOGUE) == {"block_size": 8192}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", ": Expecting property name"),
        ("[1]", "JSON object"),
        ('{"workload": {"name": "nothing"}}', "workload.name: .*'nothing'.*fillrandom"),
        ('{"workload": {"num": "many"}}', "workload.num = 'many'.*integer"),
        ('{"workload": {"nun": 5}}', "workload.nun: .*'nun'.*'num'.*value_size"),
        ('{"knobs": {"write_bufer_size": 1}}', "knobs: .*'write_bufer_size'.*'write_buffer_size'"),
        ('{"knobs": {"threads": 2}}', "knobs: threads .*workload"),
        ('{"knobs": {"compression_type": "lz5"}}', "knobs.compression_type: .*'lz5'.*none, snappy"),
        ('{"knobs": {"num_levels": 6.5}}', "knobs.num_levels: .*6.5 .*whole.*0 to 100"),
        (f'{{"knobs": {{"max_bytes_for_level_multiplier": {HUGE}}}}}', "multiplier: .*finite"),
        (f'{{"knobs": {{"block_size": {HUGE}}}}}', "block_size: .*finite"),
        (f'{{"metrics": {{"write_amp": {HUGE}}}}}', "write_amp: .*finite"),
        ('{"metrics": {"write_amp": NaN}}', "write_amp: .*finite"),
        ('{"seed": "x"}', "seed: 'x'.*integer"),
        ('{"seed": -1}', "seed: -1.*integer"),
        ('{"error": 5}', "error: 5 is not a text"),
        ('{"disturbance": []}', r"disturbance: \[\] is not a text"),
        ('{"id": "\\ud800"}', "surrogates"),
        ('{"engine": "leveldb"}', "engine: 'leveldb'.*fillrandom; .*rocksdb, "),
        ('{"engine": "embedded", "knobs": {"num_levels": 6}}', "knobs: .*'num_levels'.*store, "),
        ('{"knobs": []}', "knobs, metrics: "),
        ('{"metrics": {"write_amp": "low"}}', "metrics.write_amp: 'low'"),
    ],
)
def test_a_bad_line_says_what_is_wrong_and_spoils_no_other(
    tmp_path: Path, line: str, told: str
) -> None:
    bad, good = read(tmp_path, line, '{"id": "b", "knobs": {"num_levels": 6}}')
    assert bad.error is not None
    assert re.match(f"line 1: .*{told}", bad.error)
    assert (good.id, good.error, good.knobs) == ("b", None, {"num_levels": 6})
    assert json.loads(bad.to_json()).keys() == {"id", "error"}


def test_a_line_tells_an_engine_that_is_not_the_loads_own(tmp_path: Path) -> None:
    store = '{"engine": "embedded", "knobs": {"store": "lmdb"}}'
    (line,) = read(tmp_path, store)
    assert (line.engine, line.knobs) == ("embedded", {"store": "lmdb"})
    assert read(tmp_path, line.to_json()) == [line]
    (sql,) = read(tmp_path, '{"workload": {"name": "tpcc"}}')
    assert sql.engine == "myrocks"
    for own in (BatchLine("a"), sql):
        assert "engine" not in json.loads(own.to_json())
    with pytest.raises(UserError, match="embedded, rocksdb"):
        read(tmp_path, store, "{}")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^batch .*nowhere.*No such file"):
        read_batch(tmp_path / "nowhere")


def test_unknown_keys_of_a_line_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text('{"id": "a", "note": {"by": ["me"]}, "knobs": {"block_size": 8192}}\n')
    (line,) = read_batch(path)
    assert line.error is None
    assert json.loads(line.to_json())["note"] == {"by": ["me"]}


@pytest.mark.parametrize("name", [[], {}, 3, None])
def test_a_workload_name_that_is_no_text_is_a_mistake_of_the_user(
    name: object, tmp_path: Path
) -> None:
    (line,) = read(tmp_path, json.dumps({"workload": {"name": name}}))
    assert line.error
    with pytest.raises(UserError):
        make_spec({"workload": {"name": name}}, "test")


@pytest.mark.parametrize(
    ("knob", "value"),
    [("num_levels", 10**9), ("num_levels", -1), ("num_levels", "six"), ("num_levels", True),
     ("cache_size", -1), ("cache_size", "8MiB"), ("write_buffer_size", -4096),
     ("target_file_size_base", None), ("cache_numshardbits", 20), ("block_size", 1 << 33),
     ("cache_high_pri_pool_ratio", 1.5), ("bloom_bits", False), ("mmap_read", "yes")],
)  # fmt: skip
def test_values_that_rocksdb_refuses_are_named_with_line_and_knob(
    knob: str, value: Any, tmp_path: Path
) -> None:
    (*_, line) = read(tmp_path, "{}", json.dumps({"knobs": {knob: value}}))
    assert line.is_wrong
    assert re.match(f"line 2: knobs.{knob}: value {re.escape(repr(value))} ", str(line.error))


@pytest.mark.parametrize(
    ("knob", "value"),
    [("cache_size", 0), ("cache_size", 1000), ("num_levels", 0), ("block_size", 0),
     ("target_file_size_base", 1), ("max_write_buffer_number", 0), ("write_buffer_size", 1 << 40),
     ("level0_stop_writes_trigger", 10**6), ("block_size", 8192.0), ("compaction_pri", 3.0)],
)  # fmt: skip
def test_values_that_rocksdb_runs_with_are_read_also_outside_a_search(
    knob: str, value: float, tmp_path: Path
) -> None:
    (line,) = read(tmp_path, json.dumps({"knobs": {knob: value}, "metrics": {"write_amp": 3}}))
    assert line.error is None
    assert line.knobs == {knob: value}
    assert isinstance(line.knobs[knob], int)
    assert read(tmp_path, line.to_json()) == [line]


def test_what_is_null_is_missing(tmp_path: Path) -> None:
    nulls = {"id": None, "metrics": {"write_amp": None, "total_s": 5.5}, "error": None,
             "engine": None, "note": None}  # fmt: skip
    (line,) = read(tmp_path, json.dumps(nulls))
    assert (line.id, line.error, line.metrics) == ("1", None, {"total_s": 5.5})
    assert line.others == {"note": None}
    (empty,) = read(tmp_path, json.dumps({"workload": None, "knobs": None, "metrics": None}))
    assert (empty.error, empty.workload, empty.metrics) == (None, Workload(), {})


def test_a_failed_run_with_the_defaults_is_no_mistake(tmp_path: Path) -> None:
    failed, wrong = read(tmp_path, '{"id": "a", "error": "out of space"}', '{"seed": "x"}')
    assert (failed.error, failed.is_wrong) == ("out of space", False)
    assert wrong.is_wrong
