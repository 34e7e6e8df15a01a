"""Which RocksDB a prediction is for, and which real runs say how good it is."""

import json
from pathlib import Path

import pytest

pytest.importorskip("lsmsim", reason="the native core is not built here")

from lsmtune.simulator import (
    COMPARED,
    MODELLED_VERSION,
    RUNNING_COMPARED,
    Run,
    modelled_text,
    nearest_compared,
    predict,
)
from lsmtune.workloads import Workload

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "simulator.json"
LOAD = Workload(num=100_000)
SMALL_MEMTABLES = {
    "write_buffer_size": 64 << 10, "max_bytes_for_level_base": 64 << 20,
    "level0_file_num_compaction_trigger": 2,
}  # fmt: skip
"""From 9.0 on, RocksDB merges such small files with each other instead of with a large level."""


def written(version: str) -> float:
    (told,) = predict([Run(LOAD, SMALL_MEMTABLES, version=version)])
    return told.metrics["write_amp"]


def test_a_run_follows_the_rules_of_its_version() -> None:
    (usual,) = predict([Run(LOAD, SMALL_MEMTABLES)])
    assert usual.metrics["write_amp"] == written(MODELLED_VERSION) == written("6.29.5")
    assert written("11.8.1") < 0.6 * written(MODELLED_VERSION)


def test_a_version_that_is_none_is_told() -> None:
    (told,) = predict([Run(LOAD, {}, version="new")])
    assert told.error is not None
    assert told.error.startswith("version: new")


@pytest.mark.parametrize(
    ("version", "nearest"),
    [("6.29.5", "7.8.3"), ("7.10.2", "7.8.3"), ("8.10.2", "7.8.3"), ("9.11.2", "11.8.1"),
     ("10.1.3", "11.8.1"), ("11.8.1", "11.8.1"), ("12.0.1", "11.8.1")],
)  # fmt: skip
def test_the_nearest_version_with_real_runs_counts(version: str, nearest: str) -> None:
    assert nearest_compared(version).version == nearest
    text = modelled_text(version)
    assert version in text
    assert nearest in text


def test_the_errors_are_those_that_were_measured() -> None:
    found = json.loads(RESULTS.read_text())
    metrics = {MODELLED_VERSION: found["metrics"]}
    metrics |= {version: own["metrics"] for version, own in found["versions"].items()}
    measured = {v: round(own["write_amp"]["median_error"], 3) for v, own in metrics.items()}
    assert measured == {each.version: each.write_amp_error for each in COMPARED}


def test_no_error_on_running_stores_is_claimed_without_a_measurement() -> None:
    measured = {}
    if (path := RESULTS.with_name("running_simulator.json")).exists():
        found = json.loads(path.read_text())
        measured[found["rocksdb"]] = round(found["metrics"]["write_amp"]["median_error"], 3)
    assert measured == {each.version: each.write_amp_error for each in RUNNING_COMPARED}
