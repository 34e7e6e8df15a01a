"""From what db_bench, its LOG and its directory say to a measurement in named units."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.debt import charged, debt_of
from lsmtune.engines.rocksdb.client import HeldRun
from lsmtune.engines.rocksdb.loads import LATENCIES
from lsmtune.engines.tickers import (
    BUILD_METRICS,
    cache_metrics,
    read_metrics,
    table_levels,
    table_sums,
    ticker,
    write_metrics,
)
from lsmtune.engines.times import time_metrics
from lsmtune.metrics.compaction_table import (
    CompactionTable,
    parse_compaction_tables,
    parse_stall_summary,
)
from lsmtune.metrics.db_bench import (
    BenchmarkResult,
    LatencyHistogram,
    parse_banner,
    parse_results,
)
from lsmtune.metrics.level_bytes import bytes_by_level
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.measurement import Measurement
from lsmtune.metrics.statistics import Statistics, parse_statistics
from lsmtune.system.process import ExitStatus
from lsmtune.trials import Status
from lsmtune.workloads import Workload

_MICROS = 1e6
_PROBES = {"readrandom": "get", "readmissing": "get_missing", "seekrandom": "scan"}
_KEEPS_ALL = {"fillrandom", "fillseq", "overwrite"}
"""Loads after which every key that was written has a record."""


@dataclass(frozen=True, slots=True)
class LoadOutput:
    """What a held load left to be read: also the building of a database is one."""

    run: HeldRun
    benchmark: str
    stdout: str
    stderr: str
    log: LogContent
    database: Path


@dataclass(frozen=True, slots=True)
class ProbeOutput:
    """What a probe left to be read."""

    exit: ExitStatus
    stdout: str


@dataclass(frozen=True, slots=True)
class _Run:
    """A load's output, read."""

    output: LoadOutput
    statistics: Statistics
    result: BenchmarkResult
    table: CompactionTable
    version: str
    assertions_enabled: bool


def measure(
    load: Workload,
    output: LoadOutput,
    probe: ProbeOutput | None,
    built: Mapping[str, float],
    as_run: Mapping[str, str],
) -> Measurement:
    """The measurement of a trial; TrialFailedError when something that must be there is not.

    `built` is what building the database has cost: it stands for the writes of a load that only
    reads. A load of writes has a probe of reads.
    """
    run = _read(output)
    peak_rss = max(output.run.exit.peak_rss_bytes, probe.exit.peak_rss_bytes if probe else 0)
    metrics = {
        **built,
        **_space(run, load),
        **_times(run, load),
        **(_writes(run) if ticker(run.statistics, "rocksdb.bytes.written") else {}),
        **_latencies(run.result),
        **(_probe(probe.stdout, load) if probe else read_metrics(run.statistics)),
        "peak_rss_bytes": peak_rss,
    }
    stalls = parse_stall_summary(output.stdout)
    return Measurement(
        metrics=metrics,
        levels=table_levels(run.table, bytes_by_level(output.log.ledger.jobs)),
        stalls={cause: count for cause, count in stalls.counts.items() if count},
        engine_version=run.version,
        assertions_enabled=run.assertions_enabled,
        as_run=dict(as_run),
    )


def with_debt(
    load: Workload, measurement: Measurement, output: LoadOutput, settled: LoadOutput
) -> Measurement:
    """The measurement with what it has cost to settle the store behind the load.

    The levels are those that reads have found, and those of the settled store behind writes.
    """
    run, jobs = _read(settled), settled.log.ledger.jobs
    metrics = charged(measurement.metrics, debt_of(jobs), to_build=load.kind == "read")
    both = bytes_by_level([*output.log.ledger.jobs, *jobs])
    levels = measurement.levels if load.kind == "read" else table_levels(run.table, both)
    peaks = {"peak_space_bytes": float(settled.run.peak_space_bytes),
             "peak_rss_bytes": float(settled.run.exit.peak_rss_bytes)}  # fmt: skip
    metrics |= {name: max(peak, metrics[name]) for name, peak in peaks.items()}
    metrics["cpu_s"] += settled.run.exit.cpu_s
    return measurement.model_copy(update={"metrics": metrics, "levels": levels})


def measure_build(output: LoadOutput, operations: int) -> dict[str, float]:
    """What building a database has cost, in the metrics that a read load takes from it."""
    run = _read(output)
    written = _writes(run)
    kept = {name: written[name] for name in BUILD_METRICS}
    return {**kept, "build_s": _seconds(run, operations) + _settle_s(run)}


def _read(output: LoadOutput) -> _Run:
    if output.log.ledger.running:
        reason = "a flush or compaction was still running when db_bench ended"
        raise TrialFailedError(Status.UNREADABLE, reason)
    # A replayed trace has a second, empty column family.
    found = parse_compaction_tables(output.stdout)
    tables = [table for table in found if table.column_family == "default"]
    banner = parse_banner(output.stdout, output.stderr)
    result = parse_results(output.stdout).get(output.benchmark)
    if not tables or banner.rocksdb_version is None:
        raise TrialFailedError(
            Status.UNREADABLE,
            "the output of db_bench lacks the compaction table or the RocksDB version",
        )
    if result is None:
        raise TrialFailedError(
            Status.UNREADABLE,
            f"db_bench printed no result of the benchmark {output.benchmark}",
        )
    return _Run(
        output,
        parse_statistics(output.stdout),
        result,
        tables[-1],
        banner.rocksdb_version,
        bool(banner.assertions_enabled),
    )


def _space(run: _Run, load: Workload) -> dict[str, float]:
    # Values that are kept apart in blob files are live data like any other.
    files = [*run.output.database.glob("*.sst"), *run.output.database.glob("*.blob")]
    live = sum(file.stat().st_size for file in files)
    if not live:
        raise TrialFailedError(Status.UNREADABLE, "the database has no data files after the load")
    metrics = {
        "live_sst_bytes": float(live),
        "peak_space_bytes": float(run.output.run.peak_space_bytes),
    }
    if load.distinct_bytes is not None:
        metrics["space_amp"] = live / load.distinct_bytes
    return metrics


def _writes(run: _Run) -> dict[str, float]:
    flushes = sum(job.kind == "flush" for job in run.output.log.ledger.jobs)
    return {**write_metrics(run.statistics), **table_sums(run.table), "flushes": float(flushes)}


def _times(run: _Run, load: Workload) -> dict[str, float]:
    operations = _operations(run, load)
    load_s = _seconds(run, operations / load.threads)
    metrics = {
        **time_metrics(operations, load_s, _settle_s(run)),
        "stall_percent": 100 * ticker(run.statistics, "rocksdb.stall.micros") / _MICROS / load_s,
        "cpu_s": run.output.run.exit.cpu_s,
    }
    if run.result.rate_mb_s is not None:
        metrics["rate_mb_s"] = run.result.rate_mb_s
    if run.result.found is not None and run.result.looked_up:
        metrics["get_found"] = run.result.found / run.result.looked_up
    return metrics


def _seconds(run: _Run, operations: float) -> float:
    """How long a benchmark took; old versions only print the time of one of its operations.

    `operations` are those of each client.
    """
    if run.result.elapsed_s is not None:
        return run.result.elapsed_s
    return run.result.micros_per_op * operations / _MICROS


def _settle_s(run: _Run) -> float:
    last = (run.output.log.ledger.last_finished_micros or 0) / _MICROS
    return max(0.0, last - run.output.run.load_end_s)


def _operations(run: _Run, load: Workload) -> int:
    """Operations of all clients; counted where not given: of a trace db_bench says "1"."""
    if load.client_operations is not None:
        return load.client_operations * load.threads
    names = ("number.keys.written", "number.keys.read", "number.db.seek")
    return sum(ticker(run.statistics, f"rocksdb.{name}") for name in names)


def _latencies(result: BenchmarkResult) -> dict[str, float]:
    return {
        f"{LATENCIES[kind]}_{what}_us": value
        for kind, latency in result.latencies.items()
        if kind in LATENCIES
        for what, value in _told(latency)
    }


def _told(latency: LatencyHistogram) -> Iterator[tuple[str, float]]:
    """The mean and the percentiles, by what stands for them in a metric's name."""
    yield "mean", latency.average_us
    yield from latency.percentiles.items()


def _probe(stdout: str, load: Workload) -> dict[str, float]:
    results = parse_results(stdout)
    if missing := _PROBES.keys() - results.keys():
        raise TrialFailedError(
            Status.UNREADABLE,
            f"db_bench printed no result of these benchmarks: {', '.join(sorted(missing))}",
        )
    hits = results["readrandom"]
    keeps_all = load.name in _KEEPS_ALL and load.tombstone_every is None
    if keeps_all and hits.found != hits.looked_up:
        raise TrialFailedError(
            Status.UNREADABLE,
            f"gets after the load found only {hits.found} of {hits.looked_up} keys of the load",
        )
    metrics = {
        f"{prefix}_{what}_us": value
        for name, prefix in _PROBES.items()
        for what, value in _told(_latency(results[name]))
    }
    return metrics | cache_metrics(parse_statistics(stdout))


def _latency(result: BenchmarkResult) -> LatencyHistogram:
    if result.latency is None:
        reason = f"db_bench printed no latencies of the benchmark {result.name}"
        raise TrialFailedError(Status.UNREADABLE, reason)
    return result.latency
