"""One trial of an embedded store: write, settle, open again, read."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.engines.base import TrialFailedError, Watch
from lsmtune.engines.embedded.plans import load_plan, probe_plan, settle_plan
from lsmtune.engines.read_back import check_as_given, first_log, is_as_wanted, newest_options
from lsmtune.engines.rocksdb.bench import Files, HeldRun, evidence_of
from lsmtune.engines.rocksdb.driver.client import Client, Event
from lsmtune.engines.rocksdb.driver.output import PERCENTILES, one
from lsmtune.engines.rocksdb.driver.plans import GETS, LOAD, MISSING, SCANS
from lsmtune.engines.rocksdb.measure import check_found
from lsmtune.engines.rocksdb.options import read_settings
from lsmtune.engines.tickers import table_levels, time_metrics
from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.compaction_table import parse_compaction_tables, parse_stall_summary
from lsmtune.metrics.log_jobs import bytes_by_level
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.system.process import ExitStatus
from lsmtune.system.workdir import directory_bytes
from lsmtune.trials import Status, TrialSpec
from lsmtune.units import MIB

_TABLES = ("*.sst", "*.ldb", "data.mdb")
_PARTS = ("load", "settle", "probe")

_LEVELDB_HEAD = "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)"
_LEVELDB_ROW = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*")
"""Level, files, size (MB), time (s), read (MB), written (MB): db/db_impl.cc of LevelDB."""


@dataclass(frozen=True, slots=True)
class Part:
    """A process of the driver that has ended, and its events."""

    exit: ExitStatus
    events: Sequence[Event]

    def number(self, event: str, name: str) -> float:
        """Return a number of an event; TrialFailedError without it."""
        value = one(self.events, event).get(name)
        if not isinstance(value, int | float):
            reason = f"the driver printed no {name} in the event {event}"
            raise TrialFailedError(Status.UNREADABLE, reason)
        return float(value)


@dataclass(frozen=True, slots=True)
class Run:
    """The parts of a trial, and the sizes of the settled store in bytes.

    `disk_bytes` is the size of all files, `table_bytes` that of the files with records, and
    `peak_bytes` the largest size of the folder.
    """

    load: Part
    settle: Part
    probe: Part
    disk_bytes: int
    table_bytes: int
    peak_bytes: int


class Trial:
    """A trial in a work directory; `run` runs it, `evidence` returns its files."""

    def __init__(self, library: str, spec: TrialSpec, workdir: Path) -> None:
        self._library = library
        self._spec = spec
        self._workdir = workdir
        self.database = workdir / "db"

    def run(self, watch: Watch) -> Run:
        """Run all parts; TrialFailedError if one fails."""
        held, events = self.load(watch)
        load = Part(held.exit, events)
        settle = self._part("settle", settle_plan(self._spec))
        disk_bytes, table_bytes = self._sizes()
        watch.phase("probe")
        probe = self._part("probe", probe_plan(self._spec))
        peak_bytes = max(held.peak_space_bytes, disk_bytes)
        return Run(load, settle, probe, disk_bytes, table_bytes, peak_bytes)

    def load(self, watch: Watch) -> tuple[HeldRun, list[Event]]:
        """Write the records; return the run and its events. TrialFailedError if it fails."""
        watch.phase("load")
        client = self._client("load", load_plan(self._spec))
        return client.run_held(LOAD, self._spec.protocol, watch, None)

    def evidence(self) -> dict[str, Path]:
        """Return the files that exist, by the name under which they are kept."""
        return evidence_of(self._workdir, _PARTS, self.database)

    def _part(self, name: str, plan: Mapping[str, Any]) -> Part:
        what = f"lsmtune stopped the driver in the step {name}"
        return Part(*self._client(name, plan).run_to_end(what, self._spec.protocol))

    def _client(self, name: str, plan: Mapping[str, Any]) -> Client:
        return Client(self._library, plan, self.database, Files.of(self._workdir, name))

    def _sizes(self) -> tuple[int, int]:
        tables = [path for pattern in _TABLES for path in self.database.glob(pattern)]
        return directory_bytes(self.database), sum(path.stat().st_size for path in tables)


def measure(spec: TrialSpec, run: Run, folder: Path, others_cpu_percent: float) -> Measurement:
    """Return the measurement of a trial; TrialFailedError if a result is missing."""
    store, load = str(spec.settings["store"]), spec.workload
    sent = one(run.load.events, "run", LOAD)
    operations, load_s = sent["operations"]["put"]["count"], sent["seconds"]
    written = sum(part.number("ended", "disk_write_bytes") for part in (run.load, run.settle))
    user_bytes = operations * load.record_bytes
    metrics = {
        **time_metrics(operations, load_s, _settle_s(run)),
        "rate_mb_s": user_bytes / MIB / load_s,
        "disk_write_bytes": written,
        "disk_write_amp": written / user_bytes,
        "disk_bytes": float(run.disk_bytes),
        "live_sst_bytes": float(run.table_bytes),
        "peak_space_bytes": float(run.peak_bytes),
        "cpu_s": run.load.exit.cpu_s + run.settle.exit.cpu_s,
        "peak_rss_bytes": float(max(p.exit.peak_rss_bytes for p in (run.load, run.probe))),
        "others_cpu_percent": others_cpu_percent,
        **_latencies(run),
    }
    if load.distinct_bytes is not None:
        metrics["space_amp"] = run.table_bytes / load.distinct_bytes
    levels = _LEVELS[store](run, folder)
    if levels is not None:
        metrics["write_amp"] = sum(level.write_bytes or 0 for level in levels) / user_bytes
    return Measurement(
        metrics=metrics,
        levels=levels or (),
        stalls={c: n for c, n in parse_stall_summary(_words(run.load)).counts.items() if n},
        engine_version=f"{store} {one(run.load.events, 'opened')['version']}",
        assertions_enabled=False,
        as_run=_as_run(spec.settings, folder) if store == "rocksdb" else {},
    )


def _settle_s(run: Run) -> float:
    """Return the seconds of work after the load: to flush, to compact, to open the store again."""
    flushes = [event["seconds"] for event in run.load.events if event["event"] == "flushed"]
    return float(sum(flushes)) + sum((
        run.load.number("settled", "seconds"),
        run.settle.number("opened", "seconds"),
        run.settle.number("settled", "seconds"),
    ))  # fmt: skip


def _latencies(run: Run) -> Mapping[str, float]:
    sent = {
        "write": (run.load, LOAD, "put"),
        "get": (run.probe, GETS, "get"),
        "get_missing": (run.probe, MISSING, "get_missing"),
        "scan": (run.probe, SCANS, "scan"),
    }
    gets = one(run.probe.events, "run", GETS)["operations"]["get"]
    check_found(gets["records"], gets["count"])
    return {
        f"{prefix}_{p}_us": one(part.events, "run", phase)["operations"][kind][f"{p}_us"]
        for prefix, (part, phase, kind) in sent.items()
        for p in PERCENTILES
    }


def _words(part: Part) -> str:
    """Return the store's text about its levels."""
    report = one(part.events, "report")
    return "\n".join((*report["tables"].values(), report["database"]))


def _as_run(settings: Settings, folder: Path) -> dict[str, str]:
    """Return the settings in RocksDB's OPTIONS file, which does not contain the cache.

    TrialFailedError if they are not those of the trial. The other stores write no such file.
    """
    found = read_settings(rocksdb_catalogue(), newest_options(folder).read_text())
    actual = {name: found[name] for name in settings if name in found and name != "cache_size"}
    check_as_given("RocksDB", [
        f"option {name} is {value}, but the trial set {settings[name]}"
        for name, value in actual.items()
        if not is_as_wanted(name, settings[name], value)
    ])  # fmt: skip
    return {name: str(value) for name, value in actual.items()}


def _rocksdb_levels(run: Run, folder: Path) -> tuple[Level, ...]:
    """Return the levels of RocksDB's compaction table, with the bytes of the jobs in the LOG."""
    tables = parse_compaction_tables(_words(run.load))
    if not tables:
        raise TrialFailedError(Status.UNREADABLE, "RocksDB printed no compaction table")
    jobs = read_log(read_lines(first_log(folder), [])).ledger.jobs
    return table_levels(tables[0], bytes_by_level(jobs))


def _leveldb_levels(run: Run, folder: Path) -> tuple[Level, ...]:
    """Return LevelDB's levels, in whole MiB.

    LevelDB's counters start at zero when the store is opened again, so this adds both parts.
    """
    before, after = (_leveldb_rows(_words(part)) for part in (run.load, run.settle))
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
    """Return the number of files, and size, read and written data in MiB, by level."""
    if _LEVELDB_HEAD not in text:
        raise TrialFailedError(Status.UNREADABLE, "LevelDB printed no compaction table")
    found = {}
    for line in text.splitlines():
        if row := _LEVELDB_ROW.fullmatch(line):
            level, files, size, _, read, written = map(int, row.groups())
            found[level] = (files, size, read, written)
    return found


def _no_levels(run: Run, folder: Path) -> None:
    """Return no levels, because LMDB's B+tree has none."""


_LEVELS: dict[str, Callable[[Run, Path], tuple[Level, ...] | None]] = {
    "rocksdb": _rocksdb_levels,
    "leveldb": _leveldb_levels,
    "lmdb": _no_levels,
}
