"""The loads of go-ycsb: published ratios, YCSB's definitions, and every property told."""

from math import isclose

import pytest

from lsmtune.engines.tikv.loads import loading, probing, running
from lsmtune.engines.tikv.settings import Cluster
from lsmtune.trials import Protocol
from lsmtune.workloads import WORKLOADS, Workload
from lsmtune.workloads.ycsb import YCSB

NAMES = [one.name for one in YCSB]
KINDS = ("read", "update", "insert", "scan", "readmodifywrite")
WRITING = ("update", "insert", "readmodifywrite")
PROPERTIES = {
    "recordcount", "operationcount", "insertstart", "insertcount", "threadcount", "workload",
    "table", "fieldcount", "fieldlength", "fieldlengthdistribution", "readallfields",
    "writeallfields", "dataintegrity", "requestdistribution", "minscanlength", "maxscanlength",
    "scanlengthdistribution", "insertorder", "zeropadding", "keyprefix", "batch.size", "target",
    "warmuptime", "dropdata", "verbose", "silence", "measurementtype", "measurement.interval",
    "outputstyle", "debug.pprof", "histogram.percentiles.export",
    "core_workload_insertion_retry_limit", "core_workload_insertion_retry_interval",
    *(f"{kind}proportion" for kind in KINDS),
    "tikv.pd", "tikv.type", "tikv.conncount", "tikv.batchsize", "tikv.apiversion",
    "tikv.async_commit", "tikv.one_pc",
}  # fmt: skip
"""go-ycsb's pkg/prop/prop.go and db/tikv, but for other distributions and files of measurements."""


def told(name: str, **changes: object) -> dict[str, str]:
    load = Workload.model_validate({"name": name, "threads": 8, **changes})
    return dict(running(load, Cluster(), "t"))


@pytest.mark.parametrize("name", NAMES)
def test_every_property_is_told(name: str) -> None:
    load = Workload(name=name)
    parts = probing(load, Cluster(), "t", Protocol())
    for properties in (running(load, Cluster(), "t"), loading(load, Cluster(), "t"),
                       *parts.values()):  # fmt: skip
        assert properties.keys() == PROPERTIES
        assert properties["debug.pprof"].startswith("127.0.0.1:")
        assert isclose(sum(float(properties[f"{kind}proportion"]) for kind in KINDS), 1)
        assert properties["fieldlength"] == "100"


@pytest.mark.parametrize(
    ("name", "distribution", "keys", "operations", "scan"),
    [
        # github.com/tikv/auto-tikv, workloads/: recordcount, operationcount
        ("writeheavy", "zipfian", 80_000_000, 5_000_000, None),
        ("pntlookup80", "zipfian", 160_000_000, 5_000_000, None),
        ("shortscan", "uniform", 80_000_000, 200_000, 100),
        ("longscan", "uniform", 80_000_000, 20_000, 100_000),
    ],
)
def test_autotikvs_loads_are_those_that_it_published(
    name: str, distribution: str, keys: int, operations: int, scan: int | None
) -> None:
    found = told(name, num=80_000_000)
    assert found["requestdistribution"] == distribution
    assert (int(found["recordcount"]), int(found["operationcount"])) == (keys, operations)
    assert int(found["insertcount"]) == keys
    assert scan is None or found["minscanlength"] == found["maxscanlength"] == str(scan)
    asked = {kind for kind in KINDS if float(found[f"{kind}proportion"])}
    assert len(asked) == 1
    small = told(name, num=800_000)
    assert int(small["recordcount"]) * 100 == keys
    assert int(small["operationcount"]) * 100 == operations


def test_the_small_lookup_is_the_one_that_was_published() -> None:
    found = told("smallpntlookup", num=1_000_000)
    assert (found["recordcount"], found["operationcount"]) == ("1000000", "50000")


def test_half_of_the_keys_that_are_looked_up_have_no_record() -> None:
    load = Workload(name="pntlookup80", num=5000)
    assert loading(load, Cluster(), "t")["insertcount"] == "5000"
    assert running(load, Cluster(), "t")["recordcount"] == "10000"


@pytest.mark.parametrize(
    ("name", "distribution", "shares"),
    [
        ("ycsb_a", "zipfian", {"read": 0.5, "update": 0.5}),
        ("ycsb_b", "zipfian", {"read": 0.95, "update": 0.05}),
        ("ycsb_c", "zipfian", {"read": 1}),
        ("ycsb_d", "latest", {"read": 0.95, "insert": 0.05}),
        ("ycsb_e", "zipfian", {"scan": 0.95, "insert": 0.05}),
        ("ycsb_f", "zipfian", {"read": 0.5, "readmodifywrite": 0.5}),
    ],
)
def test_ycsbs_loads_are_as_they_are_defined(
    name: str, distribution: str, shares: dict[str, float]
) -> None:
    found = told(name, num=4000)
    assert found["requestdistribution"] == distribution
    assert {k: float(found[f"{k}proportion"]) for k in KINDS if k in shares} == shares
    assert found["operationcount"] == found["recordcount"] == "4000"
    if name == "ycsb_e":
        assert (found["minscanlength"], found["maxscanlength"]) == ("1", "100")


def test_parameters_of_the_load_are_told() -> None:
    found = told("ycsb_e", num=3000, value_size=500, operations=200, scan_length=7)
    assert found["fieldlength"] == "50"
    assert found["operationcount"] == "1600"  # of eight clients
    assert found["maxscanlength"] == "7"
    cluster = Cluster(pd="a:1,b:2", api="txn")
    properties = running(Workload(name="ycsb_a"), cluster, "t")
    assert (properties["tikv.pd"], properties["tikv.type"]) == ("a:1,b:2", "txn")


@pytest.mark.parametrize("name", [name for name in NAMES if WORKLOADS[name].kind == "mixed"])
def test_the_share_of_writes_is_known(name: str) -> None:
    load = Workload(name=name, num=100_000)
    share = (load.written_bytes or 0) / (100_000 * load.record_bytes)
    expected = sum(float(told(name)[f"{kind}proportion"]) for kind in WRITING)
    assert share == pytest.approx(expected, rel=0.01)
