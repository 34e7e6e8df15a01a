"""Each workload is one class, and what it says of itself fits together."""

from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsmtune.engine_traits import ENGINES, engines_of, offered_workloads, refusal
from lsmtune.engines.rocksdb.db_bench.command import build_phase, load_phase
from lsmtune.knobs.catalogue import load as load_catalogue
from lsmtune.metrics.definitions import METRICS
from lsmtune.spec import make_spec
from lsmtune.workloads import PROBED, WORKLOADS, Kind, Records, Workload
from lsmtune.workloads.records import RECORDS
from lsmtune.workloads.workload import OPTIONAL, check_workload
from lsmtune.workloads.ycsb import YCSB

NAMES = sorted(WORKLOADS.built_in)
DRIVEN = [one.name for one in RECORDS if not one.needs_db_bench]
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "num": st.integers(1000, 10**8),
    "key_size": st.integers(8, 1024),
    "value_size": st.integers(1, 1000).map(lambda size: 10 * size),
    "threads": st.integers(1, 64),
    "operations": st.integers(100, 10**7),
    "duration_s": st.integers(1, 10**5),
    "present": st.floats(0.05, 1),
    "scan_length": st.integers(1, 1000),
    "get_percent": st.integers(1, 99),
    "write_rate_bytes_s": st.integers(1024, 1 << 30),
    "write_skew": st.floats(0.1, 100),
    "skew": st.floats(0.1, 100),
    "warehouses": st.integers(1, 100),
    "families": st.booleans(),
    "tables": st.integers(1, 100),
    "mix": st.sampled_from([{"get": 1.0}, {"put": 1.0}, {"get": 0.25, "put": 0.5, "scan": 0.25}]),
}


@st.composite
def loads(draw: st.DrawFn, names: list[str]) -> Workload:
    """Draw a workload with some of its parameters."""
    name = draw(st.sampled_from(names))
    definition = WORKLOADS[name]
    has = [key for key in VALUES if definition.has(key)]
    chosen = draw(st.sets(st.sampled_from(has))) if has else set()
    chosen -= {"operations"} if "duration_s" in chosen else set()
    table = {key: draw(VALUES[key]) for key in sorted(chosen)}
    if definition.has("tombstone_every") and draw(st.booleans()):
        table |= {"tombstone_every": draw(st.integers(10, 10**6)), "tombstone_width": 10}
    return Workload.model_validate(
        {"name": name, **table, **({"trace": "FILE"} if name == "trace" else {})}
    )


@given(load=loads(NAMES))
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_facts_of_a_workload_fit_together(load: Workload) -> None:
    definition = load.definition
    assert load.user_bytes >= (load.written_bytes or 0) >= 0
    assert (load.written_bytes or 0) <= (load.most_written_bytes or float("inf"))
    if load.kind == "read":
        assert load.written_bytes is None
    assert 0 <= (load.distinct_bytes or 0) <= load.num * load.record_bytes * (1 + 1e-9)
    if load.duration_s is not None:
        assert load.client_operations is None
    elif definition.size is not None and load.trace is None:
        assert (load.client_operations or 0) >= 1
    if definition.size is not None:
        key, number = definition.size
        assert definition.has(key.removeprefix("workload."))
        assert number >= 1
    kinds = definition.measured_kinds
    assert len(set(kinds)) == len(kinds)
    assert all(f"{kind}_p99_us" in METRICS for kind in kinds)
    assert next(definition.problems(), None) is None
    assert Workload.model_validate_json(load.model_dump_json()) == load
    assert Workload.model_validate(load.told) == load
    assert load.model_copy() == load


@given(load=loads(DRIVEN), seed=st.integers(0, 10**6))
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_db_bench_and_the_driver_run_the_same_operations(load: Workload, seed: int) -> None:
    definition = load.definition_of(Records)
    flags = dict(flag.removeprefix("--").split("=") for flag in load_phase(load).flags)
    clients = definition.clients(seed)
    first = clients[0]
    assert first["clients"] == load.threads
    assert first.get("operations") == load.client_operations
    assert {client["seed"] for client in clients} >= {seed}
    assert sum(first["mix"].values()) > 0
    counts = {"writes", "reads", "deletes"} & flags.keys()
    assert {int(flags[name]) for name in counts} <= {load.client_operations}
    writes = load.kind != "read"
    assert ("range_delete" in first) == (writes and load.tombstone_every is not None)
    assert ("max_num_range_tombstones" in flags) == ("range_delete" in first)
    assert (len(clients) > 1) == (load.write_rate_bytes_s is not None)
    assert build_phase(load).threads == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_definition_is_complete(name: str) -> None:
    definition = WORKLOADS[name]
    check_workload(definition)
    assert definition.kind in get_args(Kind)
    assert definition.parameters.keys() <= OPTIONAL
    for engine in engines_of(name):
        assert any(name == one for one in ENGINES[engine].workload_names)
    if name in offered_workloads():
        assert definition.knobs in {p.name for p in load_catalogue(engines_of(name)[0]).presets}
        assert definition.objective is not None


@pytest.mark.parametrize("name", [one.name for one in YCSB])
def test_the_shares_of_a_workload_are_whole(name: str) -> None:
    shares = next(one.shares for one in YCSB if one.name == name)
    whole = shares.read + shares.update + shares.insert + shares.scan + shares.modify
    assert whole == pytest.approx(1)
    kinds = {"get": shares.read, "write": shares.update + shares.insert, "scan": shares.scan}
    own = WORKLOADS[name].measured
    assert {kind for kind, share in kinds.items() if share} <= {*own}


@given(load=loads(["fillrandom", "fillseq"]), engine=st.sampled_from(["myrocks", "embedded"]))
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_an_engine_says_what_it_cannot_run(load: Workload, engine: str) -> None:
    if load.name not in ENGINES[engine].workload_names:
        return
    lacked = [key for key in ENGINES[engine].lacks if getattr(load, key) is not None]
    reason = refusal(engine, load)
    assert refusal("rocksdb", load) is None
    assert (reason is not None) == bool(
        lacked or not len(str(load.num - 1)) <= load.key_size <= 500
    )
    if reason is not None:
        assert engine in reason
        with pytest.raises(Exception, match="engine"):
            make_spec({"engine": engine, "workload": load.model_dump()}, "")


def test_reads_of_the_probe_are_measured() -> None:
    assert all(f"{kind}_p99_us" in METRICS for kind in PROBED)
