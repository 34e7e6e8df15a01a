"""A home with small studies of several engines, made by rule, in a folder of a test's own."""

import json
import os
import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from fakes.by_rule import failing, measurement
from fakes.facts import HOST, OPEN_FILES
from fakes.fake_db_bench import install
from fakes.studies import open_study
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.engines.rocksdb.options import own_options
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify_contenders
from lsmtune.testing.scripted import Script, ScriptedEngine
from lsmtune.trials import Status, TrialResult, TrialSpec

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
OPTIONS = (CAPTURED / "rocksdb-7.8.3-level" / "OPTIONS").read_text()
OPTIONS_OF_MYROCKS = own_options((CAPTURED / "myrocks-6.29-OPTIONS").read_text())
CREATED = "2026-01-01T00:00:00.000+00:00"
_SMALL: dict[str, Any] = {
    "optimizer": "random", "trials": 3, "base_runs": 1, "finalists": 1, "repeats": 0,
    "pairs": 0, "max_pairs": 0, "early_stop": False, "simplify": False, "deploy_cores": 2,
    "workload": "fillrandom", "objective": "write_amp",
    "limits": ["live_sst_bytes <= 1.1 * base"],
    "knobs": "block_size,compression_type,write_buffer_size",
}  # fmt: skip
_CRASHED = TrialResult(status=Status.CRASHED, reason="db_bench was killed by signal 9")
_CUT = TrialResult(
    status=Status.CUT, reason="write_amp is beyond its limit", bounds={"write_amp": 90.0}
)


def _with_large_peaks(trial: TrialSpec) -> TrialResult:
    """Return results whose better configs have a larger peak of space."""
    found = measurement(trial)
    metrics = dict(found.metrics)
    metrics["peak_space_bytes"] *= (50 / metrics["cpu_us_per_op"]) ** 4
    measured = found.measurement and found.measurement.model_copy(update={"metrics": metrics})
    return found.model_copy(update={"measurement": measured})


def _studies() -> Iterator[tuple[dict[str, Any], Script, str]]:
    """Yield settings, results and OPTIONS of each study."""
    yield {"study": "finished", "trials": 5}, failing({3: _CRASHED, 4: _CUT}), OPTIONS
    yield {"study": "interrupted"}, failing({4: None}), OPTIONS
    yield {"study": "verified", "pairs": 6, "max_pairs": 6}, measurement, OPTIONS
    running = {"study": "running", "rocksdb": "11.8.1", "workload": "overwrite",
               "objective": "balanced", "limits": [], "pairs": 6, "max_pairs": 6}  # fmt: skip
    yield running, _with_large_peaks, OPTIONS
    goals = ["write_amp", "throughput_ops_s"]
    yield {"study": "front", "objective": goals, "limits": []}, measurement, OPTIONS
    server = {"study": "server", "trials": 8, "engine": "myrocks",
              "workload": {"name": "oltp_write_only", "duration_s": 2},
              "knobs": "default.block_size,cache_size,default.write_buffer_size"}  # fmt: skip
    yield server, measurement, OPTIONS_OF_MYROCKS
    cluster = {"study": "cluster", "engine": "tikv", "scale": "1", "knobs": "online",
               "workload": {"name": "ycsb_a", "num": 20_000}, "objective": "get_mean_us",
               "limits": []}  # fmt: skip
    yield cluster, measurement, ""
    stores = {"study": "stores", "engine": "embedded", "objective": "disk_bytes", "limits": [],
              "workload": {"name": "fillrandom", "num": 5000, "value_size": 100},
              "knobs": "write_buffer_size,compression_type,store"}  # fmt: skip
    yield stores, measurement, ""


def make_home(folder: Path) -> Path:
    """Make the home in a new folder; a test changes only copies of it."""
    with _with_open_files(), Home(folder, create=True) as home:
        for given, script, options in _studies():
            spec = make_spec({**_SMALL, **given}, "test")
            engine = ScriptedEngine(script, spec.engine, options)
            with suppress(KeyboardInterrupt), open_study(home, spec, engine) as study:
                run_search(study)
                if spec.pairs:
                    verify_contenders(study)
    with sqlite3.connect(folder / "lsmtune.sqlite3") as database:
        database.execute(
            "UPDATE study SET host = ?, created_at = ?", (json.dumps(asdict(HOST)), CREATED)
        )
        database.execute("UPDATE verification SET created_at = ?", (CREATED,))
        database.execute("UPDATE trial SET started_at = ?, duration_s = 1.0", (CREATED,))
    database.execute("PRAGMA journal_mode = DELETE")  # so that the file alone is the database
    database.close()
    return folder


@contextmanager
def _with_open_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def enter_home(made: Path, folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Make `folder` the current one, with a copy of a home and a db_bench that is never run."""
    shutil.copytree(made, folder / "home")
    patch.chdir(folder)
    patch.setenv("LSMTUNE_HOME", "home")
    program = install(folder / "bin")
    patch.setenv("LSMTUNE_DB_BENCH", str(program))
    patch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    patch.setattr(RocksDB, "run", lambda *_: pytest.fail("a trial was run"))
    return folder
