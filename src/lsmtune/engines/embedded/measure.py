"""From what the driver and the stores say to a measurement in named units."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.embedded.driver import DriverRun
from lsmtune.engines.read_back import check_as_given, first_log, is_as_wanted, newest_options
from lsmtune.engines.rocksdb.options import read_settings
from lsmtune.engines.tickers import table_levels
from lsmtune.engines.times import time_metrics
from lsmtune.knobs.catalogue import load as load_catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.compaction_table import parse_compaction_tables, parse_stall_summary
from lsmtune.metrics.level_bytes import bytes_by_level
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.trials import Status, TrialSpec
from lsmtune.units import MIB

_PERCENTILES = ("p50", "p75", "p99", "p999", "p9999")
_LEVELDB_HEAD = "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)"
_LEVELDB_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*")
"""Level, files, size (MB), time (s), read (MB), written (MB): db/db_impl.cc of LevelDB."""
_MEGA = 1e6


def measure(
    spec: TrialSpec, run: DriverRun, folder: Path, others_cpu_percent: float
) -> Measurement:
    """The measurement of a trial; TrialFailedError when something that must be there is not."""
    store, load = str(spec.settings["store"]), spec.workload
    operations, load_s = run.number("load", "operations"), run.number("load", "seconds")
    written = run.number("settle", "disk_write_bytes")
    user_bytes = operations * load.record_bytes
    metrics = {
        **time_metrics(operations, load_s, run.number("settle", "seconds")),
        "rate_mb_s": user_bytes / _MEGA / load_s,
        "disk_write_bytes": written,
        "disk_write_amp": written / user_bytes,
        "disk_bytes": float(run.space.disk_bytes),
        "live_sst_bytes": float(run.space.table_bytes),
        "peak_space_bytes": float(run.space.peak_bytes),
        "cpu_s": run.number("settle", "cpu_s"),
        "peak_rss_bytes": float(run.exit.peak_rss_bytes),
        "others_cpu_percent": others_cpu_percent,
        **_latencies(run),
    }
    if load.distinct_bytes is not None:
        metrics["space_amp"] = run.space.table_bytes / load.distinct_bytes
    levels = _LEVELS[store](run, folder)
    if levels is not None:
        metrics["write_amp"] = sum(level.write_bytes or 0 for level in levels) / user_bytes
    return Measurement(
        metrics=metrics,
        levels=levels or (),
        stalls={c: n for c, n in parse_stall_summary(run.words["loaded"]).counts.items() if n},
        engine_version=f"{store} {run.version}",
        assertions_enabled=False,
        as_run=_as_run(spec.settings, folder) if store == "rocksdb" else {},
    )


def _latencies(run: DriverRun) -> Mapping[str, float]:
    parts = {"write": "load", "get": "get", "get_missing": "get_missing", "scan": "scan"}
    return {
        f"{prefix}_{p}_us": run.number(part, p)
        for prefix, part in parts.items()
        for p in _PERCENTILES
    }


def _as_run(settings: Settings, folder: Path) -> dict[str, str]:
    """What RocksDB's OPTIONS file says of the settings, but for the cache, which it lacks.

    The other stores write down none.
    """
    actual = read_settings(load_catalogue("rocksdb"), newest_options(folder).read_text())
    told = {name: actual[name] for name in settings if name in actual and name != "cache_size"}
    check_as_given("RocksDB", [
        f"option {name} is {value}, but the trial set {settings[name]}"
        for name, value in told.items()
        if not is_as_wanted(name, settings[name], value)
    ])  # fmt: skip
    return {name: str(value) for name, value in told.items()}


def _rocksdb_levels(run: DriverRun, folder: Path) -> tuple[Level, ...]:
    """Its table, with the bytes of each job from its LOG."""
    tables = parse_compaction_tables(run.words["loaded"])
    if not tables:
        raise TrialFailedError(Status.UNREADABLE, "RocksDB printed no compaction table")
    jobs = read_log(read_lines(first_log(folder), [])).ledger.jobs
    return table_levels(tables[0], bytes_by_level(jobs))


def _leveldb_levels(run: DriverRun, folder: Path) -> tuple[Level, ...]:
    """Its tables, in whole MiB: it counts anew when it is opened again."""
    before, after = (_leveldb_rows(run.words[part]) for part in ("loaded", "reopened"))
    none = (0, 0, 0, 0)
    return tuple(
        Level(
            level=f"L{level}",
            files=after.get(level, none)[0],
            size_bytes=after.get(level, none)[1] * MIB,
            read_bytes=sum(rows.get(level, none)[2] for rows in (before, after)) * MIB,
            write_bytes=sum(rows.get(level, none)[3] for rows in (before, after)) * MIB,
            w_amp_table=None,
        )
        for level in sorted(before.keys() | after.keys())
    )


def _leveldb_rows(text: str) -> dict[int, tuple[int, int, int, int]]:
    """Files, size, read and written of each level that was ever written to."""
    if _LEVELDB_HEAD not in text:
        raise TrialFailedError(Status.UNREADABLE, "LevelDB printed no compaction table")
    found = {}
    for line in text.splitlines():
        if row := _LEVELDB_ROW.fullmatch(line):
            level, files, size, _, read, written = map(int, row.groups())
            found[level] = (files, size, read, written)
    return found


def _no_levels(run: DriverRun, folder: Path) -> None:
    """A B+tree has none."""


_LEVELS: dict[str, Callable[[DriverRun, Path], tuple[Level, ...] | None]] = {
    "rocksdb": _rocksdb_levels,
    "leveldb": _leveldb_levels,
    "lmdb": _no_levels,
}
