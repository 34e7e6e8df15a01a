"""The engine on the real db_bench: what comes out is consistent, and the rules are RocksDB's."""

from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np
import pytest

from engines.counts import check_counts, check_filtered
from fakes.patience import PATIENCE_S
from fakes.rig import Rig
from fakes.traces import processes_of
from lsmtune.engines.base import Watch
from lsmtune.knobs.constraints import Context, normalise
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_jobs import Job, bytes_by_level
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings
from lsmtune.trials import Status
from lsmtune.workloads import Workload

pytestmark = pytest.mark.db_bench


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Rig:
    return Rig("db_bench", tmp_path_factory.mktemp("db_bench"))


def test_a_trial_measures_what_happened(rig: Rig) -> None:
    outcome = rig.run()
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    measurement = outcome.result.measurement
    assert measurement is not None
    m = measurement.metrics
    assert m["total_s"] == pytest.approx(m["load_s"] + m["settle_s"])
    assert m["sustained_ops_s"] == pytest.approx(20_000 / m["total_s"])
    # db_bench frames each put in a batch of its own: 16 bytes on top of key and value.
    user_bytes = 20_000 * (16 + 1024 + 16)
    written = m["flush_write_bytes"] + m["compact_write_bytes"]
    assert m["write_amp"] == pytest.approx(written / user_bytes, rel=0.01)
    assert m["wal_inclusive_write_amp"] == pytest.approx(m["write_amp"] + 1, rel=0.01)
    in_levels = sum(level.size_bytes for level in measurement.levels)
    assert in_levels == pytest.approx(m["live_sst_bytes"], rel=0.02)
    assert m["peak_space_bytes"] >= m["live_sst_bytes"]
    assert m["write_p50_us"] <= m["write_p99_us"] <= m["write_p9999_us"]
    assert measurement.as_run["write_buffer_size"] == "1048576"
    assert set(outcome.evidence) == {
        "load-stdout.txt", "load-stderr.txt", "probe-stdout.txt", "probe-stderr.txt",
        "LOG", "OPTIONS",
    }  # fmt: skip
    assert processes_of(rig.folder) == []
    check_counts(measurement)


def test_filters_lower_the_counted_reads(rig: Rig) -> None:
    result = rig.run({**rig.base, "bloom_bits": 10.0}).result
    assert result.status is Status.COMPLETE, result.reason
    check_filtered(result.metrics)


def test_the_written_bytes_are_those_of_the_log(rig: Rig) -> None:
    outcome = rig.run()
    measurement = outcome.result.measurement
    assert measurement is not None
    m = measurement.metrics
    written = sum(level.write_bytes or 0 for level in measurement.levels)
    assert written == pytest.approx(m["flush_write_bytes"] + m["compact_write_bytes"], rel=0.001)
    assert any(level.read_bytes for level in measurement.levels)


def test_universal_compaction_does_not_hang(rig: Rig) -> None:
    settings = {"compaction_style": 1, "level0_file_num_compaction_trigger": 3}
    outcome = rig.run(rig.space.settings(settings), silence_limit_s=PATIENCE_S)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"mmap_read": True, "use_direct_reads": True}, "direct I/O reads"),
    ],
)
def test_what_rocksdb_refuses_is_told_in_its_own_words(
    rig: Rig, changes: Settings, word: str
) -> None:
    result = rig.run({**rig.base, **changes}, Workload(num=1000)).result
    assert result.status is Status.REFUSED
    assert word in str(result.reason)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"min_write_buffer_number_to_merge": 8},
        {"level0_slowdown_writes_trigger": 2},
        {"level0_stop_writes_trigger": 3},
        {"open_files": 1_000_000_000},
    ],
)
def test_what_rocksdb_changes_silently_is_noticed_and_foreseen(rig: Rig, changes: Settings) -> None:
    given = {**rig.base, **changes}
    silently_changed = rig.run(given, Workload(num=1000)).result
    assert silently_changed.status is Status.MISMATCH
    assert next(iter(changes)) in str(silently_changed.reason)
    foreseen = normalise(given, Context(rig.base, rig.ground.open_files))
    as_foreseen = rig.run(foreseen, Workload(num=1000)).result
    assert as_foreseen.status is Status.COMPLETE, as_foreseen.reason


@pytest.mark.slow
@pytest.mark.parametrize("knobs", ["core", "reads", "mixed", "space", "all"])
def test_configs_of_the_space_run_as_they_were_given(rig: Rig, knobs: str) -> None:
    space = knob_space(StudySettings(knobs=knobs), rig.ground)
    space = replace(space, memory=replace(space.memory, limit_bytes=1 << 30))
    rng = np.random.default_rng(5)
    # Some far-off configs of 7.8 stand still for good; that is data, not a mistake of ours.
    may_hang = knobs == "all"
    limits = {"silence_limit_s": 5 if may_hang else PATIENCE_S}
    for _ in range(3):
        config = space.sample(rng)
        result = rig.run(space.settings(config), Workload(num=2000), **limits).result
        hangs = may_hang and result.status is Status.TIMED_OUT
        assert hangs or result.status is Status.COMPLETE, (config, result.reason)


def test_a_trial_over_its_time_limit_is_ended(rig: Rig) -> None:
    result = rig.run(workload=Workload(num=2_000_000), wall_limit_s=1.0).result
    assert result.status is Status.TIMED_OUT
    assert processes_of(rig.folder) == []


def test_describe_reads_version_build_and_codecs(rig: Rig) -> None:
    assert rig.facts.version.count(".") >= 1
    assert isinstance(rig.facts.assertions_enabled, bool)
    assert "kSnappyCompression" in (rig.facts.codecs or ())


SMALL = {"num": 10_000, "operations": 4_000}
LOADS = {
    "fillseq": {"num": 10_000},
    "overwrite": SMALL,
    "updaterandom": SMALL,
    "deleterandom": SMALL,
    "rangedelete": {**SMALL, "tombstone_every": 100, "tombstone_width": 20},
    "readrandom": {**SMALL, "skew": 5.0},
    "readhalfmissing": SMALL,
    "scanshort": SMALL,
    "scanlong": {**SMALL, "operations": 100},
    "readwhilewriting": {**SMALL, "threads": 2},
    "readrandomwriterandom": {**SMALL, "get_percent": 30},
    "mix": {**SMALL, "mix": {"get": 0.5, "put": 0.3, "scan": 0.2}},
    "mixgraph": SMALL,
}
EXPECTED = {
    "write": {
        "write_amp",
        "write_p99_us",
        "stall_s",
        "get_p99_us",
        "get_missing_p99_us",
        "scan_p99_us",
        "get_data_blocks",
        "get_missing_data_blocks",
        "scan_sorted_runs",
    },
    "read": {"write_amp", "build_s", "read_amp", "bloom_useful"},
    "mixed": {"write_amp", "read_amp"},
}


@pytest.mark.slow
def test_range_tombstones_delete_what_was_written(rig: Rig) -> None:
    """Ten tombstones, each over a fifth of the keys, among the first half of the writes."""
    # So many keys that what may wait in level 0 is little beside what is deleted.
    num = 60_000
    some = {"tombstone_every": num // 20, "tombstone_width": num // 5, "tombstones": 10}
    live, found = [], []
    for deleting in ({}, some):
        writes = Workload(num=num, **deleting)
        result = rig.run(workload=writes, probe_reads=300).result
        assert result.status is Status.COMPLETE, result.reason
        live.append(result.metrics["live_sst_bytes"])
        reads = Workload(name="readrandom", operations=4000, present=0.63, num=num, **deleting)
        found.append(rig.run(workload=reads).result.metrics["get_found"])
    assert live[1] < 0.95 * live[0]
    assert found[0] == pytest.approx(0.63, abs=0.05)
    assert found[1] < found[0] - 0.04


@pytest.mark.slow
def test_range_tombstones_without_a_number_go_on_to_the_end(rig: Rig) -> None:
    """Each takes a twentieth of the keys; the twenty of them leave a good third, or e^-1."""
    every = {"tombstone_every": 1000, "tombstone_width": 1000}
    load = Workload(name="readrandom", operations=4000, num=20_000, **every)
    result = rig.run(workload=load).result
    assert result.status is Status.COMPLETE, result.reason
    # Written once, a key survives the tombstones behind it: 1 - e^-1 of all on average.
    assert result.metrics["get_found"] == pytest.approx(1 - exp(-1), abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADS)
def test_every_load_is_measured(rig: Rig, name: str) -> None:
    load = Workload.model_validate({"name": name, **LOADS[name]})
    outcome = rig.run(workload=load, probe_reads=300)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    metrics = outcome.result.metrics
    assert EXPECTED[load.kind] <= set(metrics)
    assert 1000 < metrics["table_readers_bytes"] < 0.1 * metrics["live_sst_bytes"]
    assert metrics["throughput_ops_s"] == pytest.approx(
        load.client_operations * load.threads / metrics["load_s"]
    )
    if load.distinct_bytes is not None:
        assert 0.4 < metrics["space_amp"] < 2.5  # values compress to half of their size


def test_what_is_left_to_be_compacted_is_settled_and_charged(rig: Rig) -> None:
    left = rig.space.settings({**rig.space.default(), "disable_auto_compactions": True})
    phases: list[str] = []
    outcome = rig.run(left, watch=Watch(phases.append))
    measurement = outcome.result.measurement
    assert measurement is not None, outcome.result.reason
    m, done = measurement.metrics, bytes_by_level(_jobs(outcome.evidence["LOG"]))
    assert phases == ["load", "settle", "settle", "probe"]
    assert measurement.as_run["disable_auto_compactions"] == "true"
    assert sum(moved.written for level, moved in done.items() if level > 0) == 0
    assert m["compact_write_bytes"] > 0.5 * m["flush_write_bytes"]
    assert m["write_amp"] * 20_000 * 1056 == pytest.approx(
        m["flush_write_bytes"] + m["compact_write_bytes"], rel=0.01
    )
    assert m["total_s"] == pytest.approx(m["load_s"] + m["settle_s"])
    assert m["sustained_ops_s"] == pytest.approx(20_000 / m["total_s"])
    assert m["throughput_ops_s"] == pytest.approx(20_000 / m["load_s"])
    # The tree is the settled one.
    assert {level.level for level in measurement.levels if level.size_bytes} - {"L0"}
    in_levels = sum(level.size_bytes for level in measurement.levels)
    assert in_levels == pytest.approx(m["live_sst_bytes"], rel=0.02)


def test_reads_meet_the_files_that_were_left(rig: Rig) -> None:
    left = rig.space.settings({**rig.space.default(), "disable_auto_compactions": True})
    load = Workload(name="readrandom", num=10_000, operations=20_000)
    found = {}
    for name, settings in (("left", left), ("compacted", rig.base)):
        measurement = rig.run(settings, load).result.measurement
        assert measurement is not None
        m = measurement.metrics
        files = sum(level.files for level in measurement.levels if level.level == "L0")
        found[name] = (files, m["compact_write_bytes"])
        assert m["total_s"] == pytest.approx(m["load_s"])
        # Both are of one client, but a busy machine also takes time between its gets.
        assert 0.05 < m["get_mean_us"] * m["throughput_ops_s"] / 1e6 < 1.5
    assert found["left"][0] > 5 > found["compacted"][0]
    assert found["left"][1] > 0  # what was left is settled behind the reads, and the building's


def _jobs(log: Path) -> list[Job]:
    return read_log(read_lines(log, [])).ledger.jobs
