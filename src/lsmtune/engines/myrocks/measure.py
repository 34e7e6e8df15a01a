"""From what server, sysbench and RocksDB's statistics say to a measurement in named units."""

from collections.abc import Mapping
from dataclasses import dataclass

from lsmtune.engines.debt import charged, debt_of
from lsmtune.engines.myrocks.loads import Run, is_of_records
from lsmtune.engines.myrocks.options import plain_knobs, read_settings, variable_of
from lsmtune.engines.myrocks.server import Server, ServerFiles
from lsmtune.engines.read_back import check_as_given, is_as_wanted, newest_options
from lsmtune.engines.tickers import (
    BUILD_METRICS,
    cache_metrics,
    read_metrics,
    table_sums,
    time_metrics,
    write_metrics,
)
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DEFAULT_FAMILY, PLAIN, knob_name
from lsmtune.knobs.option_text import NAMELESS_FILTER, option_place
from lsmtune.knobs.types import Settings, Value
from lsmtune.metrics.compaction_table import (
    CompactionTable,
    parse_compaction_tables,
    parse_stall_summary,
)
from lsmtune.metrics.log_jobs import Job, LevelBytes, bytes_by_level
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.metrics.options_file import parse_options
from lsmtune.metrics.statistics import Statistics, parse_statistics
from lsmtune.units import KIB, MIB
from lsmtune.workloads import Workload

_SYSTEM = "__system__"
"""MyRocks' own column family; its dictionary is no data of the load's."""
_MICROS = 1e6


@dataclass(frozen=True, slots=True)
class Snapshot:
    """RocksDB's statistics and tables at a moment, cumulative since the server has started."""

    statistics: Statistics
    tables: tuple[CompactionTable, ...]
    stalls: Mapping[str, int]

    def since(self, before: "Snapshot") -> Statistics:
        """What was counted since another moment."""
        return self.statistics.since(before.statistics)


def snapshot(server: Server) -> Snapshot:
    """The statistics of this moment."""
    text = server.status()
    tables = [t for t in parse_compaction_tables(text) if t.column_family != _SYSTEM]
    stalls = parse_stall_summary(text).counts
    return Snapshot(parse_statistics(text), tuple(tables), stalls)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a load left to be measured; `end_s` is when it ended, `settled_s` when it was settled.

    Both are Unix seconds; `cpu_s` is the CPU time of the server meanwhile. `before`, `ended` and
    `after` are what was counted when the load began, when it ended, and when all had settled.
    """

    run: Run
    before: Snapshot
    ended: Snapshot
    after: Snapshot
    end_s: float
    settled_s: float
    cpu_s: float
    peak_space_bytes: int
    as_run: Mapping[str, str]
    client_cpu_s: float
    disk_write_bytes: int
    disk_bytes: int


@dataclass(frozen=True, slots=True)
class Probed:
    """What the probe of reads came to: latencies, and what RocksDB counted meanwhile."""

    latencies: Mapping[str, float]
    counted: Statistics
    client_cpu_s: float


def measure(
    load: Workload,
    files: ServerFiles,
    loaded: Loaded,
    probed: Probed | None,
    metrics: Mapping[str, float],
) -> Measurement:
    """The measurement of a trial whose server has stopped; `metrics` are those known already.

    What reads cost is that of the probe, where there is one. Of a load that only reads the tree is
    the one that it has found; what was still to be settled behind it is of the building.
    """
    run, reads = loaded.run, load.kind == "read"
    counted_to = loaded.ended if reads else loaded.after
    counted = counted_to.since(loaded.before)
    live = sum(path.stat().st_size for path in files.store.glob("*.sst"))
    log = read_log(read_lines(files.store / "LOG", []))
    jobs = [job for job in log.ledger.jobs if _is_of_load(job, loaded)]
    settle_s = 0.0 if reads else _settle_s(jobs, loaded)
    found = {
        **metrics,
        **run.metrics(),
        **time_metrics(run.transactions, run.load_s, settle_s),
        **({} if reads else _writes(counted, loaded)),
        **({} if reads else {"flushes": float(sum(job.kind == "flush" for job in jobs))}),
        **(read_metrics(counted) if probed is None else cache_metrics(probed.counted)),
        **({} if probed is None else probed.latencies),
        **(_of_records(load, loaded, live) if is_of_records(load) else {}),
        "live_sst_bytes": float(live),
        "disk_write_bytes": float(loaded.disk_write_bytes),
        "disk_bytes": float(loaded.disk_bytes),
    }
    return Measurement(
        metrics=charged(found, debt_of(jobs), to_build=True) if reads else found,
        levels=_levels(counted_to.tables, bytes_by_level(jobs)),
        stalls={cause: count for cause, count in counted_to.stalls.items() if count},
        engine_version=log.version or "unknown",
        assertions_enabled=False,
        as_run=dict(loaded.as_run),
    )


def _settle_s(jobs: list[Job], loaded: Loaded) -> float:
    last_s = max((job.finished_micros or 0 for job in jobs), default=0) / _MICROS
    return max(0.0, last_s - loaded.end_s)


def _writes(counted: Statistics, loaded: Loaded) -> dict[str, float]:
    """What the writes of a load have cost until all had settled."""
    found = write_metrics(counted)
    sums = [table_sums(table) for table in loaded.after.tables]
    return {
        **found,
        "stall_percent": 100 * found["stall_s"] / loaded.run.load_s,
        "background_jobs": sum(told.get("background_jobs", 0.0) for told in sums),
        "background_s": sum(told.get("background_s", 0.0) for told in sums),
    }


def measure_build(built: Snapshot) -> dict[str, float]:
    """What building a database has cost, in the metrics that a read load takes from it."""
    written = write_metrics(built.statistics)
    return {name: written[name] for name in BUILD_METRICS}


def _of_records(load: Workload, loaded: Loaded, live_bytes: int) -> dict[str, float]:
    """What can be told where the size of the records is known."""
    user_bytes = loaded.run.transactions * load.record_bytes
    found = {
        "rate_mb_s": user_bytes / MIB / loaded.run.load_s,
        "disk_write_amp": loaded.disk_write_bytes / user_bytes,
    }
    if load.distinct_bytes is not None:
        found["space_amp"] = live_bytes / load.distinct_bytes
    return found


def _is_of_load(job: Job, loaded: Loaded) -> bool:
    """Whether a job belongs to the load: not to MyRocks' dictionary, not to the server's end."""
    ended_s = (job.finished_micros or 0) / _MICROS
    return job.family != _SYSTEM and ended_s <= loaded.settled_s


def _levels(
    tables: tuple[CompactionTable, ...], moved: Mapping[int, LevelBytes]
) -> tuple[Level, ...]:
    """The levels of all column families together."""
    found: dict[str, Level] = {}
    for row in (row for table in tables for row in table.rows):
        bytes_moved = moved.get(int(row.level[1:]), LevelBytes())
        before = found.get(row.level)
        found[row.level] = Level(
            level=row.level,
            files=(row.files or 0) + (before.files if before else 0),
            size_bytes=(row.size_bytes or 0) + (before.size_bytes if before else 0),
            read_bytes=bytes_moved.read,
            write_bytes=bytes_moved.written,
            w_amp_table=row.w_amp_table if len(tables) == 1 else None,
        )
    return tuple(found[level] for level in sorted(found))


def read_back(catalogue: Catalogue, settings: Settings, server: Server) -> dict[str, str]:
    """The options as the server runs them, by knob name; TrialFailedError when they are others."""
    text, variables = newest_options(server.files.store).read_text(), server.variables()
    actual = read_settings(catalogue, text, variables)
    sections = parse_options(text).sections
    plain = {knob.name: knob for knob in plain_knobs()}
    as_run: dict[str, str] = {}
    differing: list[str] = []
    for knob in catalogue.knobs:
        if knob.name not in settings:
            continue
        family = PLAIN.family(knob.name)
        if family is None:
            as_run[knob.name] = variables.get(variable_of(knob), "")
        else:
            section, key = option_place(plain[PLAIN.option(knob.name)], family)
            as_run[knob.name] = sections.get(section, {}).get(key, "")
        told = as_run[knob.name] or "missing"
        ran = actual.get(knob.name)
        if told == NAMELESS_FILTER:
            # MyRocks' RocksDB writes down that there is a filter, not how many bits it has.
            ran = settings[knob.name] if _has_filter(settings, family) else -1
        if not _same(knob.name, settings[knob.name], ran):
            differing.append(
                f"option {knob.name} is {told}, but the trial set {settings[knob.name]}"
            )
    check_as_given("MyRocks", differing)
    return as_run


def _has_filter(settings: Settings, family: str | None) -> bool:
    bits = settings.get(knob_name(family or DEFAULT_FAMILY, "bloom_bits"), -1)
    return not isinstance(bits, str) and bits > 0


def _same(name: str, wanted: Value, actual: Value | None) -> bool:
    if name == "cache_size" and isinstance(wanted, int):
        return actual in (wanted, wanted - wanted % KIB)  # a server that starts takes whole KiB
    return is_as_wanted(PLAIN.option(name), wanted, actual)
