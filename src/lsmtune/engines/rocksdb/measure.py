"""From what db_bench, its LOG and its directory say to a measurement in named units."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.rocksdb.client import LoadRun
from lsmtune.metrics.compaction_table import (
    CompactionTable,
    LevelRow,
    parse_compaction_tables,
    parse_stall_summary,
)
from lsmtune.metrics.db_bench import BenchmarkResult, parse_banner, parse_results
from lsmtune.metrics.level_bytes import LevelBytes, bytes_by_level
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.metrics.rocksdb_log import LogSummary
from lsmtune.metrics.statistics import Statistics, parse_statistics
from lsmtune.system.process import ExitStatus
from lsmtune.trials import Status, TrialSpec
from lsmtune.workloads import Workload

_MICROS = 1e6
_PROBES = {"readrandom": "get", "readmissing": "get_missing", "seekrandom": "scan"}


@dataclass(frozen=True, slots=True)
class LoadOutput:
    """What a load left to be read."""

    run: LoadRun
    stdout: str
    stderr: str
    log: LogSummary
    database: Path


@dataclass(frozen=True, slots=True)
class ProbeOutput:
    """What a probe left to be read."""

    exit: ExitStatus
    stdout: str


def measure(
    spec: TrialSpec, load: LoadOutput, probe: ProbeOutput, as_run: Mapping[str, str]
) -> Measurement:
    """The measurement of a trial; TrialFailedError when something that must be there is not."""
    if load.log.running_jobs:
        raise TrialFailedError(Status.UNREADABLE, "the tree had not settled when db_bench ended")
    statistics = parse_statistics(load.stdout)
    tables = parse_compaction_tables(load.stdout)
    stalls = parse_stall_summary(load.stdout)
    banner = parse_banner(load.stdout, load.stderr)
    if not tables or banner.rocksdb_version is None:
        raise TrialFailedError(Status.UNREADABLE, "db_bench printed no table of compactions")
    return Measurement(
        metrics={
            **_amplification(statistics, tables[-1], load, spec.workload),
            **_times(load, statistics, spec.workload),
            **_latencies("write", _result(load.stdout, spec.workload.name)),
            **_probe(probe.stdout),
            "peak_space_bytes": load.run.peak_space_bytes,
            "peak_rss_bytes": max(load.run.exit.peak_rss_bytes, probe.exit.peak_rss_bytes),
        },
        levels=_levels(tables[-1], load.log),
        stalls={cause: count for cause, count in stalls.counts.items() if count},
        engine_version=banner.rocksdb_version,
        assertions_enabled=bool(banner.assertions_enabled),
        as_run=dict(as_run),
    )


def _result(stdout: str, benchmark: str) -> BenchmarkResult:
    result = parse_results(stdout).get(benchmark)
    if result is None:
        raise TrialFailedError(Status.UNREADABLE, f"db_bench printed no result of {benchmark}")
    return result


def _ticker(statistics: Statistics, name: str) -> int:
    value = statistics.tickers.get(name)
    if value is None:
        raise TrialFailedError(Status.UNREADABLE, f"db_bench printed no statistic {name}")
    return value


def _amplification(
    statistics: Statistics, table: CompactionTable, load: LoadOutput, workload: Workload
) -> dict[str, float]:
    flushed = _ticker(statistics, "rocksdb.flush.write.bytes")
    compacted = _ticker(statistics, "rocksdb.compact.write.bytes")
    logged = _ticker(statistics, "rocksdb.wal.bytes")
    user = _ticker(statistics, "rocksdb.bytes.written")
    live = sum(file.stat().st_size for file in load.database.glob("*.sst"))
    if not user or not live:
        raise TrialFailedError(Status.UNREADABLE, "the load wrote nothing")
    metrics = {
        "write_amp": (flushed + compacted) / user,
        "wal_inclusive_write_amp": (flushed + compacted + logged) / user,
        "flush_write_bytes": flushed,
        "compact_write_bytes": compacted,
        "live_sst_bytes": live,
        "space_amp": live / workload.distinct_bytes,
    }
    if table.sum is not None and table.sum.w_amp_table is not None:
        metrics["w_amp_table"] = table.sum.w_amp_table
    return metrics


def _times(load: LoadOutput, statistics: Statistics, workload: Workload) -> dict[str, float]:
    result = _result(load.stdout, workload.name)
    load_s = result.micros_per_op * workload.num / _MICROS
    settle_s = max(0.0, (load.log.last_finished_micros or 0) / _MICROS - load.run.load_end_s)
    stall_s = _ticker(statistics, "rocksdb.stall.micros") / _MICROS
    metrics = {
        "load_s": load_s,
        "settle_s": settle_s,
        "total_s": load_s + settle_s,
        "throughput_ops_s": float(result.ops_per_s),
        "sustained_ops_s": workload.operations / (load_s + settle_s),
        "stall_s": stall_s,
        "stall_percent": 100 * stall_s / load_s,
        "cpu_s": load.run.exit.cpu_s,
    }
    if result.rate_mb_s is not None:
        metrics["rate_mb_s"] = result.rate_mb_s
    compaction_cpu = statistics.histograms.get("rocksdb.compaction.times.cpu_micros")
    if compaction_cpu is not None and compaction_cpu.sum is not None:
        metrics["compaction_cpu_s"] = compaction_cpu.sum / _MICROS
    return metrics


def _latencies(prefix: str, result: BenchmarkResult) -> dict[str, float]:
    if result.latency is None:
        raise TrialFailedError(Status.UNREADABLE, f"db_bench printed no latencies of {result.name}")
    return {f"{prefix}_{p}_us": value for p, value in result.latency.percentiles.items()}


def _probe(stdout: str) -> dict[str, float]:
    results = {prefix: _result(stdout, name) for name, prefix in _PROBES.items()}
    hits = results["get"]
    if hits.found != hits.looked_up:
        raise TrialFailedError(
            Status.UNREADABLE,
            f"the probe's gets found only {hits.found} of {hits.looked_up} keys that were written",
        )
    latencies = [_latencies(prefix, result) for prefix, result in results.items()]
    reads = sum(result.operations or 0 for result in results.values())
    metrics = {name: value for group in latencies for name, value in group.items()}
    return metrics | _cache_use(parse_statistics(stdout), reads)


def _cache_use(statistics: Statistics, reads: int) -> dict[str, float]:
    metrics = {"read_amp": _ticker(statistics, "rocksdb.block.cache.miss") / max(1, reads)}
    spared = _ticker(statistics, "rocksdb.bloom.filter.useful")
    metrics["bloom_useful"] = spared / max(1, reads)
    for kind in ("data", "index", "filter"):
        hit = _ticker(statistics, f"rocksdb.block.cache.{kind}.hit")
        miss = _ticker(statistics, f"rocksdb.block.cache.{kind}.miss")
        if hit + miss:
            metrics[f"cache_hit_{kind}"] = hit / (hit + miss)
    return metrics


def _levels(table: CompactionTable, log: LogSummary) -> tuple[Level, ...]:
    moved = bytes_by_level(log.events)
    return tuple(_level(row, moved.get(int(row.level[1:]), LevelBytes())) for row in table.rows)


def _level(row: LevelRow, moved: LevelBytes) -> Level:
    return Level(
        level=row.level,
        files=row.files or 0,
        size_bytes=row.size_bytes or 0,
        read_bytes=moved.read,
        write_bytes=moved.written,
        w_amp_table=row.w_amp_table,
    )
