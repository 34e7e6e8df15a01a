"""Runs are predicted by the native core: what it says, what it refuses."""

import re
import signal
import time
from dataclasses import replace

import pytest

pytest.importorskip("lsmsim", reason="the native core is not built here")

from lsmtune.errors import UserError
from lsmtune.simulator import Probe, Run, RunningStore, predict, recorded
from lsmtune.workloads import Workload

LOAD = Workload(num=100_000)
SMALL = {"write_buffer_size": 1 << 20, "max_bytes_for_level_base": 4 << 20,
         "target_file_size_base": 1 << 20}  # fmt: skip


def test_the_same_run_is_predicted_alike_in_any_company() -> None:
    run = Run(LOAD, SMALL, 3)
    (alone,) = predict([run])
    together = predict([Run(LOAD, SMALL, 2), run, Run(LOAD, {}, 3), run])
    assert together[1] == together[3] == alone
    assert together[0] != alone


def test_compression_is_seen_in_what_lives_and_not_in_what_the_user_wrote() -> None:
    plain, packed = predict(
        [Run(LOAD, {**SMALL, "compression_type": codec}) for codec in ("none", "zstd")]
    )
    assert plain.metrics["live_sst_bytes"] > 1.8 * packed.metrics["live_sst_bytes"]
    assert plain.metrics["wal_inclusive_write_amp"] == plain.metrics["write_amp"] + 1


def test_predict_with_a_wrong_constant_raises_user_error() -> None:
    with pytest.raises(UserError, match=r"^calibration: .*--calibrate"):
        predict([Run(LOAD, SMALL)], {"cores": "two"})


def test_predict_reports_a_wrong_value_without_its_place_in_json() -> None:
    (wrong,) = predict([Run(LOAD, {"write_buffer_size": -5})])
    assert "-5" in str(wrong.error)
    assert "column" not in str(wrong.error)


def test_a_run_that_cannot_be_told_has_an_error_and_stops_no_other() -> None:
    asked = [
        Run(Workload(name="readrandom"), {}),
        Run(LOAD, {"compaction_style": 3}),
        Run(Workload(num=100_000, tombstone_every=100, tombstone_width=10), {}),
        Run(LOAD, SMALL),
    ]
    *wrong, right = predict(asked)
    assert re.search("readrandom.*available: .*fillrandom", str(wrong[0].error))
    assert "compaction_style: 3" in str(wrong[1].error)
    assert "tombstone_every, tombstone_width" in str(wrong[2].error)
    assert right.error is None
    assert right.metrics["write_amp"] > 1


def test_reads_are_told_where_they_are_asked_for() -> None:
    (blind,) = predict([Run(LOAD, SMALL)])
    assert not any(name.startswith(("get", "scan", "cache")) for name in blind.metrics)
    plain, filtered, packed = (
        told.metrics
        for told in predict(
            [
                Run(LOAD, {**SMALL, **knobs}, probe=Probe(5000, 10))
                for knobs in ({}, {"bloom_bits": 10}, {"compression_type": "zlib"})
            ]
        )
    )
    assert filtered["get_missing_p50_us"] < 0.5 * plain["get_missing_p50_us"]
    assert filtered["bloom_useful"] > 0 == plain["bloom_useful"]
    assert packed["get_p50_us"] > 1.5 * plain["get_p50_us"]
    assert plain["scan_p50_us"] > plain["get_p50_us"]


def test_overwrites_find_a_store_that_was_built() -> None:
    (filled,), (overwritten,) = (
        predict([Run(Workload(name=name, num=100_000), SMALL)])
        for name in ("fillrandom", "overwrite")
    )
    # All keys live, where random fills leave one in e out.
    assert overwritten.metrics["live_sst_bytes"] > 1.4 * filled.metrics["live_sst_bytes"]
    assert overwritten.metrics["write_amp"] > filled.metrics["write_amp"]


@pytest.mark.parametrize("name", ["fillrandom", "overwrite"])
def test_skewed_writes_merge_into_fewer_records(name: str) -> None:
    skews = (None, 5.0, 11.5)
    loads = [Workload(name=name, num=100_000, write_skew=skew) for skew in skews]
    told = predict([Run(load, SMALL, probe=Probe(5000, 10)) for load in loads])
    metrics = [prediction.metrics for prediction in told]
    assert [prediction.error for prediction in told] == [None] * 3
    write_amps = [each["write_amp"] for each in metrics]
    assert write_amps == sorted(write_amps, reverse=True)
    assert write_amps[2] < 0.7 * write_amps[0]
    assert metrics[2]["read_amp"] < metrics[0]["read_amp"]
    live = [each["live_sst_bytes"] for each in metrics]
    if name == "overwrite":
        assert live[2] == pytest.approx(live[0], rel=0.3)
    else:
        expected = (loads[2].distinct_bytes or 0) / (loads[0].distinct_bytes or 1)
        assert live[2] / live[0] == pytest.approx(expected, rel=0.2)


def test_a_core_that_ignores_the_skew_of_writes_predicts_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("lsmsim.known_parameters")
    load = Workload(name="overwrite", num=100_000, write_skew=9)
    skewed, plain = predict([Run(load, SMALL), Run(LOAD, SMALL)])
    assert "not modelled: write_skew" in str(skewed.error)
    assert plain.error is None


OVERWRITE = Workload(name="overwrite", num=100_000, value_size=1024)
RUNNING = RunningStore(
    SMALL, rate=5000, turn_over=1, capacity_s=1, calm_s=3, window_s=6
)  # fmt: skip


def test_a_running_store_is_predicted_at_its_rate() -> None:
    slow, fast, filled = (
        told.metrics
        for told in predict(
            [
                Run(OVERWRITE, SMALL, running=RUNNING),
                Run(OVERWRITE, SMALL, running=replace(RUNNING, rate=10**6)),
                Run(OVERWRITE, SMALL),
            ]
        )
    )
    assert slow["overload"] == 0.5
    assert fast["overload"] > 1
    assert slow["write_amp"] > 1
    assert slow["capacity_ops_s"] > RUNNING.rate
    assert slow["scan_sorted_runs"] > slow["level0_files"] > 0
    # Overwritten records live until they meet the new ones.
    assert 1 < slow["live_sst_bytes"] / filled["live_sst_bytes"] < 2
    assert {"load_s", "total_s", "throughput_ops_s"}.isdisjoint(slow)


def test_a_running_store_begins_with_the_levels_of_its_baseline() -> None:
    old = replace(RUNNING, baseline={**SMALL, "compression_type": "none"})
    within = [Run(OVERWRITE, SMALL, running=one) for one in (RUNNING, old)]
    few = Run(OVERWRITE, {**SMALL, "num_levels": 2}, running=RUNNING)
    same, other, refused = predict([*within, few])
    assert other.metrics["live_sst_bytes"] > 1.05 * same.metrics["live_sst_bytes"]
    assert "num_levels: 2" in str(refused.error)


def test_what_no_running_store_can_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = {**SMALL, "enable_blob_files": True}
    asked = [
        Run(LOAD, SMALL, running=RUNNING),
        Run(OVERWRITE, blobs, running=RUNNING),
        Run(OVERWRITE, SMALL, running=replace(RUNNING, baseline=blobs)),
        Run(OVERWRITE, blobs),
    ]
    loads, *files = predict(asked)
    assert "fillrandom" in str(loads.error)
    assert all("enable_blob_files" in str(told.error) for told in files)
    with pytest.raises(UserError, match="film"):
        recorded(Run(OVERWRITE, SMALL, running=RUNNING))
    monkeypatch.delattr("lsmsim.known_steps")
    (old,) = predict([Run(OVERWRITE, SMALL, running=RUNNING)])
    assert "too old" in str(old.error)


def test_without_a_block_cache_there_is_no_hit_rate() -> None:
    runs = [Run(LOAD, {**SMALL, "cache_size": n}, probe=Probe(5000, 10)) for n in (0, 8 << 20)]
    without, cached = (told.metrics for told in predict(runs))
    assert without["read_amp"] > cached["read_amp"]
    assert "cache_hit_data" in cached
    assert not any(name.startswith("cache_hit") for name in without)


def test_write_amplification_grows_with_the_number_of_records() -> None:
    found = predict([Run(Workload(num=num, value_size=1024), SMALL) for num in (10**6, 10**7)])
    small, large = (told.metrics["write_amp"] for told in found)
    assert large > 1.3 * small


def test_a_longer_run_than_any_that_was_compared_is_refused_with_the_largest_num() -> None:
    load = Workload(num=10**12, value_size=1024)
    (refused,) = predict([Run(load, SMALL)])
    largest = re.search(r"use at most (\d+)", str(refused.error))
    assert largest is not None
    (accepted,) = predict([Run(load.model_copy(update={"num": int(largest[1])}), SMALL)])
    assert accepted.error is None


def test_a_signal_ends_a_long_call() -> None:
    class StopError(Exception):
        pass

    def stop(*_: object) -> None:
        raise StopError

    run = Run(Workload(num=300_000, value_size=1024), SMALL)
    count = 20
    # CPU time, because other work takes wall time.
    begun = time.process_time()
    predict([run] * count)
    some_s = time.process_time() - begun
    before = signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, some_s)
        begun = time.process_time()
        with pytest.raises(StopError):
            predict([run] * (50 * count))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert time.process_time() - begun < 25 * some_s
