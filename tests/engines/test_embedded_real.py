"""The engine of embedded stores on the real ones: the same records in each, and nothing left."""

import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from engines.measured_names import EMBEDDED
from fakes.patience import eventually
from fakes.rig import Rig
from fakes.stores import NEEDS_STORES
from lsmtune.engines.base import Watch
from lsmtune.engines.embedded import engine as embedded
from lsmtune.engines.libraries.installed import default_engine, installed_engines
from lsmtune.errors import UserError
from lsmtune.knobs.types import Value
from lsmtune.spec import StudySettings
from lsmtune.system.host import CpuMeter, CpuUse
from lsmtune.trials import Status
from lsmtune.units import MIB
from lsmtune.workloads import Workload

pytest.importorskip("lsmsim", reason="the native core is not built here")
pytestmark = NEEDS_STORES
STORES = ("rocksdb", "leveldb", "lmdb")
SMALL = Workload(num=30_000, value_size=100)


@pytest.fixture(scope="module")
def rig(on_disk: Path, installed: Path) -> Rig:
    usual = default_engine(installed_engines(installed))
    assert usual is not None
    spec = StudySettings(engine="embedded", workload=SMALL, scale="1", library=str(usual.library))
    return Rig("", on_disk, spec, protocol={"quiet_s": 0.05})


def drivers_in(folder: Path) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "cwd"])
        if "lsmsim.drive()" in " ".join(process.info["cmdline"] or [])
        and (process.info["cwd"] or "").startswith(str(folder))
    ]


@pytest.mark.parametrize("store", STORES)
def test_a_trial_measures_what_happened(rig: Rig, store: str) -> None:
    phases: list[str] = []
    outcome = rig.run(rig.base | {"store": store}, watch=Watch(phases.append))
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    measurement = outcome.result.measurement
    assert measurement is not None
    m = measurement.metrics
    assert phases == ["load", "settle", "probe"]
    assert m["total_s"] == pytest.approx(m["load_s"] + m["settle_s"])
    assert m["throughput_ops_s"] == pytest.approx(SMALL.num / m["load_s"])
    assert m["rate_mb_s"] == pytest.approx(SMALL.num * SMALL.record_bytes / m["load_s"] / MIB)
    assert m["disk_bytes"] >= m["live_sst_bytes"] > 0
    assert m["disk_write_bytes"] >= m["live_sst_bytes"] / 2
    assert m["disk_write_amp"] * SMALL.num * SMALL.record_bytes == pytest.approx(
        m["disk_write_bytes"]
    )
    assert m.keys() >= EMBEDDED
    for prefix in ("write", "get", "get_missing", "scan"):
        assert 0 < m[f"{prefix}_p50_us"] <= m[f"{prefix}_p99_us"] <= m[f"{prefix}_p9999_us"]
    assert measurement.engine_version.startswith(f"{store} ")
    assert "unknown" not in measurement.engine_version
    assert {"load-stdout.txt", "settle-stdout.txt", "probe-stdout.txt"} <= set(outcome.evidence)
    assert drivers_in(rig.folder) == []


@pytest.mark.slow
def test_lsm_stores_tell_their_levels_and_a_tree_has_none(rig: Rig) -> None:
    load = SMALL.model_copy(update={"num": 150_000})
    for store in ("rocksdb", "leveldb"):
        measurement = rig.run(rig.base | {"store": store}, load).result.measurement
        assert measurement is not None
        in_levels = sum(level.size_bytes for level in measurement.levels)
        # LevelDB tells whole MiB, and neither what is still in memory.
        assert in_levels == pytest.approx(measurement.metrics["live_sst_bytes"], rel=0.4)
        assert 0.3 < measurement.metrics["write_amp"] < measurement.metrics["disk_write_amp"]
    measurement = rig.run(rig.base | {"store": "lmdb"}).result.measurement
    assert measurement is not None
    assert measurement.levels == ()
    assert "write_amp" not in measurement.metrics


def test_lmdb_has_each_record_once(rig: Rig) -> None:
    load = Workload(name="fillseq", num=20_000, value_size=100)
    rig.run(rig.base | {"store": "lmdb"}, load)
    told = (rig.folder / f"run{rig.runs}" / "load-stdout.txt").read_text()
    assert "records 20000\\n" in told


@pytest.mark.parametrize("store", STORES)
def test_clients_side_by_side_write_all_they_should(rig: Rig, store: str) -> None:
    load = SMALL.model_copy(update={"threads": 3, "operations": 4000})
    m = rig.run(rig.base | {"store": store}, load).result.metrics
    assert m["throughput_ops_s"] == pytest.approx(12_000 / m["load_s"])


@pytest.mark.slow
@pytest.mark.parametrize("store", ["rocksdb", "leveldb"])
def test_the_settings_reach_the_stores(rig: Rig, store: str) -> None:
    """Without compression tables are larger, small memtables are flushed more often."""
    # Each key once: no compaction, early or late, changes how much data is live.
    once = Workload(name="fillseq", num=SMALL.num, value_size=100)

    def live(**settings: Value) -> float:
        result = rig.run(rig.base | {"store": store} | settings, once).result
        return result.metrics["live_sst_bytes"]

    assert live() < 0.9 * live(compression_type="none")
    assert live(bloom_bits=-1) < live(bloom_bits=20) - SMALL.num
    small = rig.run(rig.base | {"store": store, "write_buffer_size": 1 << 18}).result
    large = rig.run(rig.base | {"store": store, "write_buffer_size": 16 << 20}).result
    assert small.metrics["write_amp"] > 1.2 * large.metrics["write_amp"] > 0


def test_what_rocksdb_ran_is_read_back(rig: Rig) -> None:
    measurement = rig.run(rig.base | {"block_size": 8192}).result.measurement
    assert measurement is not None
    assert measurement.as_run["block_size"] == "8192"
    assert measurement.as_run["write_buffer_size"] == str(4 << 20)


def test_a_driver_that_is_killed_is_a_crash(rig: Rig) -> None:
    load = SMALL.model_copy(update={"operations": 50_000_000})

    def kill() -> None:
        printed = rig.folder / f"run{rig.runs}" / "load-stdout.txt"
        assert eventually(lambda: printed.exists() and '"phase"' in printed.read_text())
        for pid in drivers_in(rig.folder):
            psutil.Process(pid).send_signal(signal.SIGKILL)

    def phase(name: str) -> None:
        if name == "load":
            threading.Thread(target=kill).start()

    outcome = rig.run(workload=load, watch=Watch(phase))
    assert outcome.result.status is Status.CRASHED
    assert "SIGKILL" in str(outcome.result.reason)


def test_a_load_that_takes_too_long_is_ended(rig: Rig) -> None:
    load = SMALL.model_copy(update={"operations": 50_000_000})
    outcome = rig.run(workload=load, wall_limit_s=1)
    assert outcome.result.status is Status.TIMED_OUT
    assert drivers_in(rig.folder) == []


@pytest.mark.parametrize("store", STORES)
def test_a_store_that_cannot_open_is_refused(rig: Rig, store: str) -> None:
    assert rig.run(rig.base | {"store": store}).result.status is Status.COMPLETE
    again = rig.folder / f"run{rig.runs + 1}"
    again.mkdir()
    (rig.folder / f"run{rig.runs}" / "db").rename(again / "db")
    result = rig.run(rig.base | {"store": store}).result
    assert result.status is Status.REFUSED
    assert "open: " in str(result.reason)


def test_the_cpu_that_lsmtune_itself_uses_is_not_others(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_s: list[float] = []

    class Use(CpuUse):
        def others_cpu_percent(self, own_cpu_s: float) -> float:
            own_s.append(own_cpu_s)
            return 0.0

    class Recording(CpuMeter):
        def stop(self) -> CpuUse:
            return Use(0.0, 0.0)

    def busy(_: str) -> None:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass

    monkeypatch.setattr(embedded, "CpuMeter", Recording)
    result = rig.run(rig.base | {"store": "lmdb"}, watch=Watch(busy)).result
    assert result.status is Status.COMPLETE
    assert own_s[0] >= 3 * 0.2 + result.metrics["cpu_s"]  # loading, settling, probing


def test_it_reads_no_file_of_options(rig: Rig, tmp_path: Path) -> None:
    own = tmp_path / "OPTIONS"
    own.write_text("[DBOptions]\n")
    with pytest.raises(UserError, match=r"^base:.*embedded"):
        Rig("", tmp_path, rig.spec.model_copy(update={"base": str(own)}))
