"""Trials of a running store on the libraries of RocksDB that are installed on this machine."""

import json
import os
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from fakes.driving import NEEDS_DRIVER
from fakes.installed import ENGINES, OLDEST_AND_NEWEST
from fakes.rig import Rig
from fakes.traces import processes_of
from lsmtune.engines.base import Outcome, Watch
from lsmtune.engines.libraries.installed import Installed
from lsmtune.engines.rocksdb.driver import running_plan
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.statistics import parse_statistics
from lsmtune.spec import StudySettings
from lsmtune.system.host import free_bytes
from lsmtune.trials import LatencyLimit, Running, Status
from lsmtune.workloads import Workload
from robustness.user import disk

pytestmark = [NEEDS_DRIVER, pytest.mark.slow]

NUM = 20_000
OVERWRITE = Workload(name="overwrite", num=NUM)
STEPS = Running(rate=2000, capacity_s=0.5, calm_s=0.5, window_s=1.5)
OF_THE_WINDOW = {
    "write_amp", "wal_inclusive_write_amp", "live_sst_bytes", "peak_space_bytes",
    "scan_sorted_runs", "level0_files", "pending_bytes", "memtable_bytes", "get_data_blocks",
    "get_missing_data_blocks", "stall_s", "stall_percent", "cpu_us_per_op", "behind_s", "overload",
    "old_percent",
}  # fmt: skip
OF_ALL = {"capacity_ops_s", "driver_cpu_percent", "others_cpu_percent", "peak_rss_bytes"}


def phases() -> tuple[Watch, list[str]]:
    told: list[str] = []
    return Watch(told.append), told


@pytest.fixture(scope="module")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """The newest library; all tests copy the same store."""
    if not ENGINES:
        pytest.skip("no library is installed: lsmtune engines install rocksdb")
    return rig_of(ENGINES[-1], tmp_path_factory.mktemp("newest"))


def rig_of(engine: Installed, folder: Path) -> Rig:
    return Rig("", folder, StudySettings(library=str(engine.library)))


def run(rig: Rig, load: Workload = OVERWRITE, steps: Running = STEPS, **changes: Any) -> Outcome:
    return rig.run({**rig.base, **changes}, load, running=steps)


def metrics(outcome: Outcome) -> dict[str, float]:
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    return outcome.result.metrics


@OLDEST_AND_NEWEST
def test_overwrites_are_measured_and_watched_by_reads(engine: Installed, tmp_path: Path) -> None:
    rig = rig_of(engine, tmp_path)
    watch, told = phases()
    outcome = rig.run(None, OVERWRITE, watch, running=STEPS)
    m = metrics(outcome)
    assert m.keys() >= OF_THE_WINDOW | OF_ALL
    assert m.keys() >= {f"{kind}_p99_us" for kind in ("write", "get", "get_missing", "scan")}
    assert not m.keys() & {"throughput_ops_s", "load_s", "settle_s", "total_s", "read_cost"}
    assert 0 < m["scan_sorted_runs"] <= m["level0_files"] + 7
    assert 0 < m["get_data_blocks"] < m["scan_sorted_runs"] + 2
    assert m["live_sst_bytes"] <= m["peak_space_bytes"]
    assert m["cpu_us_per_op"] > 1
    measurement = outcome.result.measurement
    assert measurement is not None
    assert measurement.engine_version == engine.record.version
    assert 10 < len(measurement.window) <= 80
    rates = [moment.write_bytes_s for moment in measurement.window]
    assert 0.3 < sum(rates) / len(rates) / (2000 * OVERWRITE.record_bytes) < 1.7
    assert {"LOG", "OPTIONS", "template-stdout.txt", "running-stdout.txt"} <= set(outcome.evidence)
    assert told[0] == "build"
    assert [phase for phase in told if phase != "report"][1:] == [
        "turn", "capacity", "settle", "calm", "window"
    ]  # fmt: skip
    assert processes_of(tmp_path) == []


def test_a_template_is_built_once_for_each_tree(newest: Rig) -> None:
    steps = Running(rate=None, capacity_s=0.2, turn_over=0)
    watch, told = phases()
    for seed in (7, 8, 9, 7):
        load = Workload(name="overwrite", num=5000)
        metrics(newest.run(None, load, watch, seed=seed, running=steps))
    assert told.count("build") == 2
    assert len(list((newest.folder / "templates").iterdir())) <= 2


def test_without_a_rate_only_the_capacity_is_measured(newest: Rig) -> None:
    outcome = run(newest, steps=Running(rate=None, capacity_s=0.5))
    m = metrics(outcome)
    assert m.keys() >= OF_ALL
    assert not m.keys() & OF_THE_WINDOW
    assert m["capacity_ops_s"] > 100


@pytest.mark.parametrize(("most_us", "keeps"), [(1e9, True), (0.001, False)])
def test_the_capacity_within_a_latency(
    most_us: float, keeps: bool, newest: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_plan, "RATE_S", 0.2)
    within = LatencyLimit(metric="write_p50_us", most_us=most_us)
    steps = Running(rate=None, capacity_s=0.5, calm_s=0, turn_over=0, within=within)
    m = metrics(run(newest, steps=steps))
    assert (m["capacity_ops_s"] > 100) == keeps
    assert keeps or m["capacity_ops_s"] == 0


def test_a_mix_has_a_read_cost(newest: Rig) -> None:
    shares = {"get": 0.4, "get_missing": 0.2, "put": 0.3, "scan": 0.1}
    m = metrics(run(newest, Workload(name="mix", num=NUM, mix=shares)))
    product = (
        (m["get_data_blocks"] + 0.25) ** 4
        * (m["get_missing_data_blocks"] + 0.25) ** 2
        * (m["scan_sorted_runs"] + 1)
    )
    assert m["read_cost"] == pytest.approx(product ** (1 / 7))
    filtered = metrics(run(newest, Workload(name="mix", num=NUM, mix=shares), bloom_bits=10.0))
    assert filtered["get_missing_data_blocks"] < 0.3 * m["get_missing_data_blocks"]
    assert filtered["read_cost"] < m["read_cost"]


def test_a_mix_of_a_filled_store_has_gets_of_missing_keys(newest: Rig) -> None:
    shares = {"get": 0.5, "get_missing": 0.25, "put": 0.25}
    load = Workload(name="mix", num=5000, mix=shares)
    m = metrics(newest.run(workload=load))
    assert m.keys() >= {"get_p99_us", "get_missing_p99_us", "write_p99_us"}
    assert m["get_found"] == 1
    assert m["throughput_ops_s"] * m["load_s"] == pytest.approx(5000, rel=0.01)


@pytest.mark.parametrize(
    "load",
    [
        Workload(name="readwhilewriting", num=NUM),
        Workload(name="readrandomwriterandom", num=NUM, threads=2, write_skew=5),
        Workload(name="updaterandom", num=NUM, present=0.5),
        Workload(name="rangedelete", num=NUM),
    ],
    ids=lambda load: load.name,
)
def test_every_workload_runs_at_a_rate(load: Workload, newest: Rig) -> None:
    m = metrics(run(newest, load))
    assert m.keys() >= OF_ALL
    assert ("read_cost" in m) == bool(load.definition.read_shares)


def test_universal_compaction_is_measured(newest: Rig) -> None:
    # RocksDB sets the other two options with this style.
    fixed: dict[str, Any] = {
        "level_compaction_dynamic_level_bytes": False,
        "periodic_compaction_seconds": 2592000,
    }
    m = metrics(run(newest, compaction_style=1, **fixed))
    assert m["write_amp"] > 0
    assert m["pending_bytes"] == 0


def test_blob_files_count_as_written_and_as_space(newest: Rig) -> None:
    blobs: dict[str, Any] = {"enable_blob_files": True, "enable_blob_garbage_collection": True}
    outcome = run(newest, **blobs)
    m = metrics(outcome)
    # Every value is in a blob file, and every key was written three times since the opening.
    assert m["live_sst_bytes"] > 0.4 * NUM * 1040 * 0.5
    assert m["flush_write_bytes"] > 0.2 * 2000 * 1.5 * 1040 * 0.5
    assert m["old_percent"] < 30


def test_a_config_that_a_store_in_use_refuses_is_refused(newest: Rig) -> None:
    outcome = run(newest, num_levels=3)
    assert outcome.result.status is Status.REFUSED
    assert "num_levels" in (outcome.result.reason or "")
    # It can build a store of its own.
    own = STEPS.model_copy(update={"new_store": True})
    metrics(run(newest, steps=own, num_levels=3))


def test_a_rate_that_the_store_cannot_keep_is_an_overload(newest: Rig) -> None:
    m = metrics(run(newest, steps=STEPS.model_copy(update={"rate": 1e6})))
    assert m["overload"] > 1
    assert m["behind_s"] > 0.1
    assert m["write_p99_us"] > 10 * m["write_p50_us"]


def test_a_full_disk_in_the_window_is_told(tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 300 << 20) as place, Hog(place) as hog:

        def take_all(phase: str) -> None:
            if phase == "window":
                hog.start()

        rig = rig_of(ENGINES[-1], place)
        steps = STEPS.model_copy(update={"rate": 20_000, "window_s": 5.0})
        outcome = rig.run(None, OVERWRITE, Watch(take_all), running=steps)
        assert outcome.result.status is Status.OUT_OF_SPACE, outcome.result.reason
        assert processes_of(place) == []


class Hog:
    """Takes all space of a disk, also what others free later."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ballast"
        self._stop = Event()
        self._thread = Thread(target=self._take)

    def __enter__(self) -> "Hog":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def _take(self) -> None:
        taken = 0
        with self._file.open("wb") as file:
            while not self._stop.wait(0.002):
                if left := free_bytes(self._file):
                    with suppress(OSError):
                        os.posix_fallocate(file.fileno(), taken, left)
                        taken += left


def test_an_interruption_leaves_no_process(newest: Rig) -> None:
    def interrupt(phase: str) -> None:
        if phase == "capacity":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        newest.run(None, OVERWRITE, Watch(interrupt), running=STEPS)
    assert processes_of(newest.folder) == []


def test_counters_have_the_bytes_of_blob_files(newest: Rig) -> None:
    evidence = run(newest, enable_blob_files=True).evidence
    lines = evidence["running-stdout.txt"].read_text().splitlines()
    last = [event for line in lines if (event := json.loads(line))["event"] == "report"][-1]
    tickers = parse_statistics(last["statistics"] + "\n").tickers
    jobs = read_log(read_lines(evidence["LOG"], [])).ledger.jobs
    assert sum(job.blob_bytes for job in jobs) > NUM * 1024 * 0.3
    for kind, counter in (("flush", "flush"), ("compaction", "compact")):
        in_log = sum(job.written_bytes or 0 for job in jobs if job.kind == kind)
        # Jobs may have ended after the report.
        assert tickers[f"rocksdb.{counter}.write.bytes"] == pytest.approx(in_log, rel=0.1)
