"""The engine on the real db_bench: what comes out is consistent, and the rules are RocksDB's."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import psutil
import pytest

from lsmtune.engines.base import Outcome
from lsmtune.engines.rocksdb import RocksDB
from lsmtune.knobs.constraints import Context, normalise
from lsmtune.knobs.types import Settings
from lsmtune.spec import StudySpec
from lsmtune.trials import Protocol, Status, TrialSpec
from lsmtune.workloads import Workload

pytestmark = pytest.mark.db_bench

ENGINE = RocksDB("db_bench")
BASE = ENGINE.base_settings(Fraction(1, 64))
OPEN_FILES = 1_048_576


def run(workdir: Path, settings: Settings, num: int = 20_000, **limits: float) -> Outcome:
    spec = TrialSpec(
        settings=settings,
        workload=Workload(num=num),
        protocol=Protocol(probe_reads=500, **limits),
        seed=7,
    )
    return ENGINE.run(spec, workdir, lambda phase: None)


def test_a_trial_measures_what_happened(tmp_path: Path) -> None:
    outcome = run(tmp_path, BASE)
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
    assert not [p for p in psutil.process_iter() if str(tmp_path) in " ".join(_argv(p))]


def _argv(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_the_written_bytes_are_those_of_the_log(tmp_path: Path) -> None:
    outcome = run(tmp_path, BASE)
    measurement = outcome.result.measurement
    assert measurement is not None
    m = measurement.metrics
    written = sum(level.write_bytes or 0 for level in measurement.levels)
    assert written == pytest.approx(m["flush_write_bytes"] + m["compact_write_bytes"], rel=0.001)
    assert any(level.read_bytes for level in measurement.levels)


def test_universal_compaction_does_not_hang(tmp_path: Path) -> None:
    settings = {**BASE, "compaction_style": 1, "level0_file_num_compaction_trigger": 3}
    outcome = run(tmp_path, settings, silence_limit_s=30)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"cache_index_and_filter_blocks": True, "cache_size": 0}, "block cache is disabled"),
        ({"min_level_to_compress": 9}, "min_level_to_compress"),
        ({"compression_type": "nosuch"}, "nosuch"),
    ],
)
def test_what_rocksdb_refuses_is_told_in_its_own_words(
    tmp_path: Path, changes: Settings, word: str
) -> None:
    result = run(tmp_path, {**BASE, **changes}, num=1000).result
    assert result.status is Status.REFUSED
    assert word in str(result.reason)


@pytest.mark.parametrize(
    "changes",
    [
        {"min_write_buffer_number_to_merge": 8},
        {"level0_slowdown_writes_trigger": 2},
        {"level0_stop_writes_trigger": 3},
        {"open_files": 1_000_000_000},
    ],
)
def test_what_rocksdb_changes_silently_is_noticed_and_foreseen(
    tmp_path: Path, changes: Settings
) -> None:
    given = {**BASE, **changes}
    silently_changed = run(tmp_path / "a", _made(tmp_path / "a", given), num=1000).result
    assert silently_changed.status is Status.MISMATCH
    assert next(iter(changes)) in str(silently_changed.reason)
    limit = StudySpec().space(ENGINE.catalogue, BASE, _soft_limit()).open_files
    foreseen = normalise(given, Context(BASE, limit))
    as_foreseen = run(tmp_path / "b", _made(tmp_path / "b", foreseen), num=1000).result
    assert as_foreseen.status is Status.COMPLETE, as_foreseen.reason


def _soft_limit() -> int:
    return psutil.Process().rlimit(psutil.RLIMIT_NOFILE)[0]


def _made(path: Path, settings: Settings) -> Settings:
    path.mkdir()
    return settings


def test_configs_of_the_space_run_as_they_were_given(tmp_path: Path) -> None:
    space = StudySpec().space(ENGINE.catalogue, BASE, _soft_limit())
    space = replace(space, memory=replace(space.memory, limit_bytes=1 << 30))
    rng = np.random.default_rng(5)
    for number in range(8):
        folder = tmp_path / str(number)
        folder.mkdir()
        config = space.sample(rng)
        result = run(folder, space.settings(config), num=2000).result
        assert result.status is Status.COMPLETE, (config, result.reason)


def test_a_trial_over_its_time_limit_is_ended(tmp_path: Path) -> None:
    result = run(tmp_path, BASE, num=2_000_000, wall_limit_s=1.0).result
    assert result.status is Status.TIMED_OUT
    assert not [p for p in psutil.process_iter() if str(tmp_path) in " ".join(_argv(p))]


def test_describe_reads_version_and_build(tmp_path: Path) -> None:
    facts = ENGINE.describe(tmp_path)
    assert facts.version.count(".") >= 1
    assert isinstance(facts.assertions_enabled, bool)
