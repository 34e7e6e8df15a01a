"""Make the home that every later version has to open: python tests/contract/make_homes.py VERSION.

It is made once for each version of the stored data, by that version, and then kept as it is.
Trials are computed by rule, so that the same version makes the same numbers.
"""

import gzip
import json
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

from scripted import engine, failing, measurement  # noqa: E402

from lsmtune.engines.rocksdb.options import own_options  # noqa: E402
from lsmtune.spec import make_spec  # noqa: E402
from lsmtune.store.home import Home  # noqa: E402
from lsmtune.studies.study import open_study  # noqa: E402
from lsmtune.studies.verify import verify_contenders  # noqa: E402
from lsmtune.trials import Status, TrialResult, TrialSpec  # noqa: E402

CAPTURED = FOLDER.parent / "data" / "captured"
OPTIONS = (CAPTURED / "rocksdb-7.8.3-level" / "OPTIONS").read_text()
OPTIONS_OF_MYROCKS = own_options((CAPTURED / "myrocks-6.29-OPTIONS").read_text())
METRICS = (
    "write_amp", "w_amp_table", "flush_write_bytes", "compact_write_bytes", "live_sst_bytes",
    "peak_space_bytes", "load_s", "settle_s", "total_s", "throughput_ops_s", "sustained_ops_s",
    "stall_s", "stall_percent", "write_p99_us", "get_p99_us", "get_missing_p99_us", "scan_p99_us",
    "get_mean_us", "read_amp", "disk_bytes", "peak_rss_bytes",
)  # fmt: skip
HOST = {
    "cpu_model": "Example CPU", "logical_cpus": 2, "memory_bytes": 8 << 30,
    "kernel": "6.1.0", "os_name": "Example Linux", "boot_id": "0",
    "storage": {"fs_type": "ext4", "device": None}, "max_open_files": 1024,
}  # fmt: skip
SMALL: dict[str, Any] = {
    "optimizer": "random", "trials": 3, "base_runs": 1, "finalists": 1, "repeats": 0,
    "pairs": 0, "max_pairs": 0, "early_stop": False,
    "objective": "write_amp", "limits": ["live_sst_bytes <= 1.1 * base"],
    "knobs": "block_size,compression_type,write_buffer_size",
}  # fmt: skip
CRASHED = TrialResult(status=Status.CRASHED, reason="db_bench was killed by signal 9")
CUT = TrialResult(
    status=Status.CUT, reason="write_amp is beyond its limit", bounds={"write_amp": 90.0}
)


def few(trial: TrialSpec) -> TrialResult:
    """Return a result with the metrics that the stored home needs, to keep it small."""
    return measurement(trial, METRICS)


def add(
    home: Home,
    name: str,
    script: Callable[[TrialSpec], TrialResult] = few,
    options: str = OPTIONS,
    **settings: Any,
) -> None:
    """Run one study; an interruption by its script ends it."""
    spec = make_spec({**SMALL, "study": name, **settings}, name)
    system = engine(spec.engine, options, script)
    with (
        suppress(KeyboardInterrupt),
        open_study(home, spec, system, lambda _: None) as study,
    ):
        study.tune()
        if spec.pairs:
            verify_contenders(study)


def main(version: str) -> None:
    """Write the home of that version."""
    folder = FOLDER / "homes" / version
    with tempfile.TemporaryDirectory() as temporary:
        tempfile.tempdir = temporary
        with Home(folder, create=True) as home:
            add(home, "finished", failing({3: CRASHED, 4: CUT}, few), trials=5)
            add(home, "interrupted", failing({4: None}, few))
            add(home, "verified", pairs=6, max_pairs=6)
            add(home, "front", objective=["write_amp", "throughput_ops_s"], limits=[])
            add(
                home, "server", options=OPTIONS_OF_MYROCKS, engine="myrocks",
                workload={"name": "oltp_write_only", "duration_s": 2},
                knobs="default.block_size,cache_size,default.write_buffer_size",
            )  # fmt: skip
            add(
                home, "cluster", options="", engine="tikv", scale="1",
                workload={"name": "ycsb_a", "num": 20_000}, knobs="online", objective="get_mean_us",
                limits=[],
            )  # fmt: skip
            add(
                home, "stores", options="", engine="embedded",
                workload={"name": "fillrandom", "num": 5000, "value_size": 100},
                knobs="write_buffer_size,compression_type,store", objective="disk_bytes", limits=[],
            )  # fmt: skip
    _tidy(folder)


def _tidy(folder: Path) -> None:
    """Leave the packed database, with facts of no machine, and the evidence of one trial."""
    with sqlite3.connect(folder / "lsmtune.sqlite3") as database:
        database.execute("UPDATE study SET host = ?", (json.dumps(HOST),))
        database.execute("UPDATE study SET created_at = '2026-01-01T00:00:00.000+00:00'")
        database.execute("UPDATE trial SET started_at = '2026-01-01T00:00:00.000+00:00'")
        database.execute("UPDATE trial SET duration_s = 1.0")
    database.close()
    database = sqlite3.connect(folder / "lsmtune.sqlite3", isolation_level=None)
    database.execute("PRAGMA journal_mode = DELETE")
    database.execute("VACUUM")
    database.close()
    data = (folder / "lsmtune.sqlite3").read_bytes()
    (folder / "lsmtune.sqlite3.gz").write_bytes(gzip.compress(data, mtime=0))
    (folder / "lsmtune.sqlite3").unlink()
    for study in (folder / "evidence").iterdir():
        for trial in study.iterdir():
            if (study.name, trial.name) != ("verified", "00001"):
                shutil.rmtree(trial)
        if study.name != "verified":
            study.rmdir()
    for leftover in (*folder.glob("*.lock"), *folder.glob("work/*")):
        leftover.unlink()
    for leftover in ("work", "templates"):
        if (folder / leftover).exists():
            (folder / leftover).rmdir()


if __name__ == "__main__":
    main(sys.argv[1])
