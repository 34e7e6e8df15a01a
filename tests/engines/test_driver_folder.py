"""A trial with the options of a production store writes into its own folder only."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.driving import NEEDS_DRIVER
from fakes.installed import ENGINES
from lsmtune.engines.base import OwnBase, Places, Watch
from lsmtune.engines.libraries.installed import default_engine, loaded_library
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.knobs.types import Settings
from lsmtune.trials import Base, Protocol, Status, TrialSpec
from lsmtune.workloads import Workload

ENGINE = default_engine(ENGINES)
pytestmark = [
    NEEDS_DRIVER,
    pytest.mark.skipif(ENGINE is None, reason="no library is installed"),
]
PRODUCTION = """
[Version]
  rocksdb_version=8.10.2
  options_file_version=1.1
[DBOptions]
  max_background_jobs=4
  wal_dir={folder}/wal
  db_log_dir={folder}/log
  info_log_level=WARN_LEVEL
  max_log_file_size=1048576
  keep_log_file_num=10
  stats_dump_period_sec=0
  create_if_missing=false
[CFOptions "default"]
  comparator=shop.OrdersByDate
  write_buffer_size=1048576
  compression=kLZ4Compression
  table_factory=BlockBasedTable
[TableOptions/BlockBasedTable "default"]
  block_size=8192
  filter_policy=bloomfilter:10:false
"""
LEFT_OUT = {"wal_dir", "db_log_dir", "info_log_level", "comparator"}
CHANGING = "openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,link,symlink"
"""System calls that make, change or remove files."""
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|\b(mkdir|rename|unlink|link|symlink)(at|at2)?\(")
PATH = re.compile(r'"([^"]+)"')


@pytest.fixture
def production(tmp_path: Path) -> Path:
    """The folders of a production store, each with a file."""
    folder = tmp_path / "production"
    for name in ("wal", "log"):
        (folder / name).mkdir(parents=True)
        (folder / name / "000001.log").write_text(name)
    return folder


def trial(tmp_path: Path, production: Path) -> Base:
    """Run a trial with the production options as base, in the folder `trial`; return the base."""
    assert ENGINE is not None
    engine = library_engine(loaded_library(None, str(ENGINE.library)))
    for name in ("trial", "describe"):
        (tmp_path / name).mkdir()
    own = OwnBase(PRODUCTION.format(folder=production), "default")
    base = engine.base(engine.describe(tmp_path / "describe"), own, tmp_path / "describe")
    settings: Settings = {"write_buffer_size": 1 << 18, "block_size": 4096}
    spec = TrialSpec(
        settings=settings, base_settings=base.settings, workload=Workload(num=3000),
        protocol=Protocol(probe_reads=100, quiet_s=0.05), seed=7,
    )  # fmt: skip
    places = Places(tmp_path / "trial", tmp_path / "templates")
    result = engine.run(spec, base, places, Watch(lambda phase: None)).result
    assert result.status is Status.COMPLETE, result.reason
    assert result.measurement is not None
    assert result.metrics["flushes"] > 0
    return base


def contents(folder: Path) -> dict[Path, str]:
    return {path: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_production_folders_stay_as_they_are(tmp_path: Path, production: Path) -> None:
    before = contents(production)
    base = trial(tmp_path, production)
    assert contents(production) == before
    assert {path.name for path in tmp_path.iterdir()} <= {"production", "trial", "describe"}
    named = {line.partition(" = ")[0] for line in base.left_out}
    assert named >= LEFT_OUT


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Starts Python below strace from now on; the folder of what strace writes."""
    strace, folder = shutil.which("strace"), tmp_path / "trial" / "traces"
    if strace is None:
        pytest.skip("there is no strace")
    if subprocess.run([strace, "-o", "/dev/null", "true"], check=False).returncode != 0:
        pytest.skip("strace may not look at processes here")
    wrapper = tmp_path / "traced-python"
    wrapper.write_text(
        f"#!/bin/sh\nmkdir -p {folder}\n"
        f"exec {strace} -f --seccomp-bpf -qq -s 4096 -o {folder}/$$ -e trace={CHANGING} "
        f'{sys.executable} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(wrapper))
    return folder


def written(traces: Path) -> Iterator[Path]:
    """Yield each file that a traced process has made, changed or removed."""
    for trace in traces.iterdir():
        for line in trace.read_text().splitlines():
            if WRITES.search(line) and " = -1 " not in line:
                yield from (Path(text) for text in PATH.findall(line))


def test_nothing_is_written_outside_the_folder_of_the_trial(
    tmp_path: Path, production: Path, traced: Path
) -> None:
    trial(tmp_path, production)
    # Names of threads and the like are no files. Relative paths start in the trial's folder.
    files = {Path("/trial") / path for path in written(traced)}
    files -= {path for path in files if path.is_relative_to("/proc") or path == Path("/dev/null")}
    assert any(path.suffix == ".sst" for path in files)
    own = [tmp_path / "trial", tmp_path / "describe", Path("/trial")]
    assert [path for path in files if not any(path.is_relative_to(one) for one in own)] == []
