"""The engine on installed libraries: what comes out is consistent, whatever the version."""

from pathlib import Path

import pytest

from engines.counts import check_counts, check_filtered
from fakes.rig import Rig
from lsmtune.engines.base import OwnBase
from lsmtune.engines.libraries.installed import Installed, installed_engines
from lsmtune.engines.rocksdb.options import rendered_options
from lsmtune.metrics.options_file import parse_options
from lsmtune.spaces import catalogue_in
from lsmtune.spec import StudySettings
from lsmtune.trials import Status
from lsmtune.workloads import WORKLOADS, Workload
from lsmtune.workloads.records import RECORDS

pytest.importorskip("lsmsim", reason="the native core is not built here")

ONLY_DB_BENCH = {"mixgraph", "trace"}
LOADS = [one.name for one in RECORDS if one.name not in ONLY_DB_BENCH]
FEW = Workload(num=5_000)


@pytest.fixture(scope="module", params=["oldest", "newest"])
def engine(request: pytest.FixtureRequest, installed: Path) -> Installed:
    """The oldest or the newest version that is installed."""
    engines = installed_engines(installed)
    return engines[0] if request.param == "oldest" else engines[-1]


@pytest.fixture(scope="module")
def rig(engine: Installed, installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(installed.parents[1]))
        spec = StudySettings(rocksdb=engine.record.version)
        return Rig("", tmp_path_factory.mktemp(engine.record.version), spec)


@pytest.fixture(scope="module")
def newest(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """The newest version, named by its file."""
    library = installed_engines(installed)[-1].library
    return Rig("", tmp_path_factory.mktemp("newest"), StudySettings(library=str(library)))


def test_a_trial_measures_what_happened(rig: Rig, engine: Installed) -> None:
    outcome = rig.run()
    measurement = outcome.result.measurement
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    assert measurement is not None
    assert measurement.engine_version == engine.record.version
    m = measurement.metrics
    assert m["total_s"] == pytest.approx(m["load_s"] + m["settle_s"])
    assert m["sustained_ops_s"] == pytest.approx(20_000 / m["total_s"])
    # Each put is a batch of its own: 16 bytes on top of key and value.
    user_bytes = 20_000 * (16 + 1024 + 16)
    written = m["flush_write_bytes"] + m["compact_write_bytes"]
    assert m["write_amp"] == pytest.approx(written / user_bytes, rel=0.01)
    in_levels = sum(level.size_bytes for level in measurement.levels)
    assert in_levels == pytest.approx(m["live_sst_bytes"], rel=0.02)
    moved = sum(level.write_bytes or 0 for level in measurement.levels)
    assert moved == pytest.approx(written, rel=0.001)
    assert m["peak_space_bytes"] >= m["live_sst_bytes"]
    assert m["write_p50_us"] <= m["write_p99_us"] <= m["write_p9999_us"]
    assert {"get_p99_us", "get_missing_p99_us", "scan_p99_us", "read_amp"} <= m.keys()
    assert measurement.as_run["write_buffer_size"] == str(rig.base["write_buffer_size"])
    assert {"LOG", "OPTIONS", "load-stdout.txt", "probe-stdout.txt"} <= set(outcome.evidence)
    check_counts(measurement)


@pytest.mark.slow
def test_skewed_overwrites_flush_less_than_uniform_ones(rig: Rig) -> None:
    # A memtable with many copies of few keys is a small file. Compactions also depend on when
    # they begin, so only flushed bytes are the same in each run.
    uniform, skewed = (
        rig.run(workload=Workload(name="overwrite", num=20_000, write_skew=skew)).result
        for skew in (None, 9.9)
    )
    assert skewed.status is Status.COMPLETE, skewed.reason
    flushed = skewed.metrics["flush_write_bytes"] / uniform.metrics["flush_write_bytes"]
    assert 0.5 < flushed < 0.7


@pytest.mark.slow
def test_a_skewed_fill_leaves_the_expected_number_of_records(rig: Rig) -> None:
    for skew in (None, 9.9):
        result = rig.run(workload=Workload(num=20_000, write_skew=skew)).result
        assert result.status is Status.COMPLETE, result.reason
        assert result.metrics["space_amp"] == pytest.approx(0.55, abs=0.25)


def test_filters_lower_the_counted_reads(rig: Rig) -> None:
    result = rig.run({**rig.base, "bloom_bits": 10.0}).result
    assert result.status is Status.COMPLETE, result.reason
    check_filtered(result.metrics)


def test_the_baseline_is_what_the_library_does_by_default(rig: Rig, engine: Installed) -> None:
    facts = rig.facts
    assert facts.version == engine.record.version
    assert facts.origin is not None
    assert facts.origin.sha256 == engine.record.sha256
    assert facts.codecs is not None
    assert {"kSnappyCompression", "kZSTD", "kLZ4Compression"} <= set(facts.codecs)
    newer = tuple(map(int, facts.version.split("."))) >= (8, 0, 0)
    settings = rig.ground.base.settings
    assert settings["level_compaction_dynamic_level_bytes"] is newer
    assert settings["cache_size"] == (32 << 20 if newer else 8 << 20)
    slow = settings["compression_type"] == "snappy"
    assert bool(rig.ground.base.notes) is slow


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADS)
def test_every_load_is_measured(name: str, newest: Rig) -> None:
    result = newest.run(workload=Workload(name=name, num=FEW.num)).result
    assert result.status is Status.COMPLETE, result.reason
    assert result.metrics["throughput_ops_s"] > 0
    assert 1000 < result.metrics["table_readers_bytes"] < 0.2 * result.metrics["live_sst_bytes"]
    if WORKLOADS[name].kind != "write":
        assert result.metrics.keys() & {"get_p99_us", "scan_p99_us", "write_p99_us"}


def test_two_clients_do_twice_the_work(rig: Rig) -> None:
    load = Workload(num=FEW.num, threads=2)
    metrics = rig.run(workload=load).result.metrics
    assert metrics["throughput_ops_s"] * metrics["load_s"] == pytest.approx(2 * FEW.num)


def test_caches_and_limits_that_no_options_file_contains_are_made(rig: Rig) -> None:
    settings = {
        **rig.base, "cache_size": 1 << 21, "cache_type": "lru_cache",
        "cache_high_pri_pool_ratio": 0.25, "row_cache_size": 1 << 20,
        "rate_limiter_bytes_per_sec": 1 << 27, "bytes_per_sync": 1 << 20,
    }  # fmt: skip
    outcome = rig.run(settings, FEW)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    log = outcome.evidence["LOG"].read_text()
    assert "high_pri_pool_ratio: 0.250" in log
    assert "row_cache: None" not in log
    assert "rate_limiter: (nil)" not in log
    assert outcome.result.measurement is not None
    assert outcome.result.measurement.as_run["cache_size"] == str(1 << 21)


def test_knobs_that_no_options_file_contains_run(rig: Rig) -> None:
    others = {"cache_type": "hyper_clock_cache", "rate_limiter_auto_tuned": True,
              "cache_numshardbits": 2, "num_bottom_pri_threads": 1}  # fmt: skip
    known = {knob.name for knob in catalogue_in(rig.spec, rig.ground).knobs}
    changes = {name: value for name, value in others.items() if name in known}
    settings = {**rig.base, "rate_limiter_bytes_per_sec": 1 << 27, "bytes_per_sync": 1 << 20}
    result = rig.run(settings | changes, FEW).result
    assert result.status is Status.COMPLETE, result.reason


def test_what_rocksdb_changes_silently_is_a_mismatch(rig: Rig) -> None:
    result = rig.run({**rig.base, "level0_stop_writes_trigger": 3}, FEW).result
    assert result.status is Status.MISMATCH
    assert "level0_stop_writes_trigger" in str(result.reason)


def test_what_rocksdb_refuses_is_told_in_its_own_words(rig: Rig) -> None:
    result = rig.run({**rig.base, "mmap_read": True, "use_direct_reads": True}, FEW).result
    assert result.status is Status.REFUSED
    assert "direct I/O reads" in str(result.reason)


def test_compaction_debt_is_settled_and_charged(rig: Rig) -> None:
    settings = {**rig.base, "disable_auto_compactions": True}
    outcome = rig.run(settings)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    assert outcome.result.metrics["compact_write_bytes"] > 0
    assert "debt-stdout.txt" in outcome.evidence


def test_a_base_of_another_version_runs_without_what_this_one_lacks(
    rig: Rig, engine: Installed, installed: Path, tmp_path: Path
) -> None:
    others = [e for e in installed_engines(installed) if e.record.version != engine.record.version]
    if not others:
        pytest.skip("one version is installed")
    (tmp_path / "other").mkdir()
    other = Rig("", tmp_path / "other", StudySettings(library=str(others[-1].library)))
    text = rendered_options(
        rig.engine.catalogue, other.facts.options, {"write_buffer_size": 1 << 25}
    )
    folder = tmp_path / "mixed"
    folder.mkdir()
    base = rig.engine.base(rig.facts, OwnBase(text, "default"), folder)
    assert base.settings["write_buffer_size"] == 1 << 25
    assert parse_options(base.options).rocksdb_version == engine.record.version
    assert base.notes


def test_a_change_that_rocksdb_makes_silently_is_listed(rig: Rig, tmp_path: Path) -> None:
    text = rig.facts.options.replace(
        "level0_slowdown_writes_trigger=20", "level0_slowdown_writes_trigger=2"
    )
    base = rig.engine.base(rig.facts, OwnBase(text, "default"), tmp_path)
    assert [line.partition(" ")[0] for line in base.left_out] == ["level0_slowdown_writes_trigger"]
