"""`lsmtune sweep` on two installed versions of RocksDB."""

import csv
import json
from pathlib import Path

import pytest

from lsmtune.cli.main import run
from lsmtune.engines.libraries.installed import Installed, installed_engines
from lsmtune.store.home import Home
from lsmtune.trials import Role

pytest.importorskip("lsmsim", reason="the native core is not built here")

EXPERIMENT = """\
[workload]
name = "fillrandom"
num = 2000
[protocol]
probe_reads = 100
[sweep]
repeats = 2
metrics = ["live_sst_bytes", "total_s"]
[sweep.factors.upgrade]
rocksdb = {versions}
[sweep.factors.memtable]
write_buffer_size = ["256KiB", "4MiB"]
"""


@pytest.fixture
def two(installed: Path, monkeypatch: pytest.MonkeyPatch) -> list[Installed]:
    """The oldest and the newest version that are installed."""
    engines = installed_engines(installed)
    if engines[0].record.version == engines[-1].record.version:
        pytest.skip("one version is installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed.parent.parent))
    return [engines[0], engines[-1]]


@pytest.mark.slow
def test_each_row_is_of_the_version_of_its_level(
    two: list[Installed], tmp_path: Path, capsys: pytest.CaptureFixture[str], crowd: None
) -> None:
    versions = [engine.record.version for engine in two]
    file, table, page = (tmp_path / name for name in ("up.toml", "up.csv", "up.html"))
    file.write_text(EXPERIMENT.format(versions=json.dumps(versions)))
    home = tmp_path / "home"
    flags = ["--home", str(home), "--csv", str(table), "--page", str(page), "--json"]
    assert run(["sweep", str(file), *flags]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["runs"], document["failed"]) == (10, 0)
    hashes = {engine.record.version: engine.record.sha256 for engine in two}
    libraries = document["libraries"].items()
    assert {version: origin["sha256"] for version, origin in libraries} == hashes
    with Home(home, create=False) as opened:
        trials = opened.trials(opened.study("up"))
    for trial in trials:
        measurement = trial.result.measurement
        assert measurement is not None
        assert measurement.engine_version == trial.spec.settings["rocksdb"]
    # Each version runs with the block cache that it has by default.
    caches = {t.spec.settings["rocksdb"]: t.spec.settings["cache_size"] for t in trials}
    assert caches == {v: (32 if int(v.partition(".")[0]) >= 8 else 8) << 20 for v in versions}
    assert {t.config["rocksdb"] for t in trials if t.role is Role.BASE} == {versions[0]}
    rows = list(csv.DictReader(table.open()))
    assert [(row["upgrade"], row["RocksDB"], row["SHA-256"]) for row in rows[1:]] == [
        (version, version, hashes[version]) for version in versions for _ in range(2)
    ]
    assert all(content in page.read_text() for content in hashes.values())
