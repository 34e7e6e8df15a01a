"""An open store of RocksDB that is tuned: its options really change while the load runs."""

from pathlib import Path

import pytest

from fakes.driving import NEEDS_DRIVER
from fakes.rig import Rig
from fakes.traces import processes_of
from lsmtune.engines.base import LiveEngine, Places, TrialFailedError, Watch
from lsmtune.engines.libraries.installed import (
    DEFAULT_VERSION,
    engine_of_version,
    installed_engines,
)
from lsmtune.metrics.options_file import parse_options
from lsmtune.spec import make_spec
from lsmtune.trials import Protocol, Status, TrialSpec

pytestmark = NEEDS_DRIVER


@pytest.fixture
def rig(installed: Path, tmp_path: Path) -> Rig:
    engine = engine_of_version(installed_engines(installed), DEFAULT_VERSION)
    assert engine is not None
    load = {"name": "readwhilewriting", "num": 5_000, "direct_reads": False}
    given = {"library": str(engine.library), "workload": load, "online": {}}
    return Rig("", tmp_path, make_spec(given, "test"))


@pytest.mark.slow
def test_options_of_an_open_store_are_changed(rig: Rig) -> None:
    assert isinstance(rig.engine, LiveEngine)
    assert not rig.ground.base.fixed_online
    work = rig.folder / "live"
    work.mkdir()
    trial = TrialSpec(settings=rig.base, base_settings=rig.base, workload=rig.spec.workload,
                      protocol=Protocol(), seed=7)  # fmt: skip
    places = Places(work, rig.folder / "templates")
    wanted = {"write_buffer_size": 512 << 10, "compression_type": "zstd", "max_background_jobs": 4}
    changed = rig.space.settings({**rig.space.default(), **wanted})
    with rig.engine.serve(trial, rig.ground.base, places, Watch(lambda _: None)) as live:
        window = live.window(1)
        live.change(changed)
        options = sorted((work / "db").glob("OPTIONS-*"))[-1].read_text()
        with pytest.raises(TrialFailedError) as refused:
            live.change({**changed, "max_bytes_for_level_base": -5})
        live.change(rig.base)
        after = live.window(1)
    assert refused.value.status in (Status.REFUSED, Status.MISMATCH)
    for each in (window, after):
        metrics = each.metrics
        assert metrics["throughput_ops_s"] > 0
        assert metrics["get_p50_us"] <= metrics["get_p99_us"]
        assert "write_p99_us" not in metrics
        # RocksDB goes on while its counters are read one after the other.
        assert each.traits["bytes per get"] == pytest.approx(1024, abs=8)
        assert each.traits["bytes per write"] == pytest.approx(16 + 1024 + 16, abs=8)
    told = parse_options(options)
    assert told.get("DBOptions", "max_background_jobs") == "4"
    assert told.get('CFOptions "default"', "write_buffer_size") == str(512 << 10)
    assert told.get('CFOptions "default"', "compression") == "kZSTD"
    assert processes_of(work) == []
