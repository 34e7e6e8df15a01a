"""The measurement of a trial, from the output of its programs, its LOG and its folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.debt import charged, debt_of
from lsmtune.engines.rocksdb.bench import Latency, LoadOutput, ProbeOutput
from lsmtune.engines.templates import Template
from lsmtune.engines.tickers import (
    BUILD_METRICS,
    cache_metrics,
    read_metrics,
    sorted_runs,
    table_levels,
    table_sums,
    ticker,
    time_metrics,
    write_metrics,
)
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.metrics.log_jobs import bytes_by_level
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.measurement import Measurement
from lsmtune.trials import Status
from lsmtune.workloads import Records, Workload

_MICROS = 1e6
_ON = ("1", "true")


def measure(
    load: Workload,
    output: LoadOutput,
    probe: ProbeOutput | None,
    built: Template,
    as_run: Mapping[str, str],
) -> Measurement:
    """Return the measurement of a trial; TrialFailedError if a result is missing.

    `built` has the costs of building the database, which are the write metrics of a load that only
    reads, and its tables. A load of writes has a read probe.
    """
    peak_rss = max(output.run.exit.peak_rss_bytes, probe.exit.peak_rss_bytes if probe else 0)
    metrics = {
        **built.metrics,
        **_space(output, load),
        **_table_readers(output, {**built.tables, **metadata_bytes(output.log)}),
        **_times(output),
        **(_writes(output) if ticker(output.statistics, "rocksdb.bytes.written") else {}),
        **dict(latency_metrics(output.result.latencies)),
        **(_probe(probe, load) if probe else read_metrics(output.statistics)),
        "peak_rss_bytes": peak_rss,
    }
    return Measurement(
        metrics=metrics,
        levels=table_levels(output.table, bytes_by_level(output.log.ledger.jobs)),
        stalls={cause: count for cause, count in output.stalls.items() if count},
        engine_version=output.version,
        assertions_enabled=output.assertions_enabled,
        as_run=dict(as_run),
    )


def with_debt(
    load: Workload,
    measurement: Measurement,
    output: LoadOutput,
    settled: LoadOutput,
    built: Template,
) -> Measurement:
    """Return the measurement with the costs of settling the store after the load.

    Levels and open tables are those before settling for a load of reads, and those after it for
    writes.
    """
    jobs = settled.log.ledger.jobs
    metrics = charged(measurement.metrics, debt_of(jobs), to_build=load.kind == "read")
    both = bytes_by_level([*output.log.ledger.jobs, *jobs])
    levels = measurement.levels
    if load.kind != "read":
        levels = table_levels(settled.table, both)
        logs = [metadata_bytes(part.log) for part in (output, settled)]
        metrics |= _table_readers(settled, {**built.tables, **logs[0], **logs[1]})
    peaks = {"peak_space_bytes": float(settled.run.peak_space_bytes),
             "peak_rss_bytes": float(settled.run.exit.peak_rss_bytes)}  # fmt: skip
    metrics |= {name: max(peak, metrics[name]) for name, peak in peaks.items()}
    metrics["cpu_s"] += settled.run.exit.cpu_s
    return measurement.model_copy(update={"metrics": metrics, "levels": levels})


def with_sorted_runs(measurement: Measurement) -> Measurement:
    """Return the measurement with the sorted runs of its tree, which the read probe reads."""
    runs = float(sorted_runs(measurement.levels))
    metrics = {**measurement.metrics, "scan_sorted_runs": runs}
    return measurement.model_copy(update={"metrics": metrics})


def measure_build(output: LoadOutput) -> Template:
    """Return the costs of building a database, as metrics of a load that only reads."""
    written = _writes(output)
    kept = {name: written[name] for name in BUILD_METRICS}
    costs = {**kept, "build_s": output.result.seconds + _settle_s(output)}
    return Template(metrics=costs, tables=metadata_bytes(output.log))


def _space(output: LoadOutput, load: Workload) -> dict[str, float]:
    # Values in blob files are live data too.
    files = [*output.database.glob("*.sst"), *output.database.glob("*.blob")]
    live = sum(file.stat().st_size for file in files)
    if not live:
        raise TrialFailedError(Status.UNREADABLE, "the database has no data files after the load")
    metrics = {
        "live_sst_bytes": float(live),
        "peak_space_bytes": float(output.run.peak_space_bytes),
    }
    if load.distinct_bytes is not None:
        metrics["space_amp"] = live / load.distinct_bytes
    return metrics


def _table_readers(output: LoadOutput, tables: Mapping[int, int]) -> dict[str, float]:
    """Return the memory of open tables as RocksDB reports it, else computed from its LOG."""
    found = output.table_readers_bytes
    if found is None:
        found = readers_bytes(output.log, output.database, tables)
    return {} if found is None else {"table_readers_bytes": float(found)}


def _writes(output: LoadOutput) -> dict[str, float]:
    jobs = output.log.ledger.jobs
    flushes = sum(job.kind == "flush" for job in jobs)
    written = write_metrics(output.statistics, jobs)
    return {**written, **table_sums(output.table), "flushes": float(flushes)}


def _times(output: LoadOutput) -> dict[str, float]:
    result = output.result
    stall_s = ticker(output.statistics, "rocksdb.stall.micros") / _MICROS
    metrics = {
        **time_metrics(result.operations, result.seconds, _settle_s(output)),
        "stall_percent": 100 * stall_s / result.seconds,
        "cpu_s": output.run.exit.cpu_s,
    }
    if result.rate_mb_s is not None:
        metrics["rate_mb_s"] = result.rate_mb_s
    if result.found is not None and result.looked_up:
        metrics["get_found"] = result.found / result.looked_up
    return metrics


def _settle_s(output: LoadOutput) -> float:
    last = (output.log.ledger.last_finished_micros or 0) / _MICROS
    return max(0.0, last - output.run.load_end_s)


def latency_metrics(latencies: Mapping[str, Latency]) -> Iterator[tuple[str, float]]:
    """Return mean and percentiles by the name of their metric."""
    for prefix, latency in latencies.items():
        yield f"{prefix}_mean_us", latency.mean_us
        for percentile, value in latency.percentiles.items():
            yield f"{prefix}_{percentile}_us", value


def check_found(found: int | None, looked_up: int | None) -> None:
    """Raise TrialFailedError if gets of keys that the load wrote did not find all of them."""
    if found != looked_up:
        raise TrialFailedError(
            Status.UNREADABLE,
            f"gets after the load found only {found} of {looked_up} keys of the load",
        )


def _probe(probe: ProbeOutput, load: Workload) -> dict[str, float]:
    hits = probe.gets
    keeps_all = load.definition_of(Records).keeps_all and load.tombstone_every is None
    if keeps_all:
        check_found(hits.found, hits.looked_up)
    (missing,) = probe.missing.latencies.values()  # db_bench calls them gets
    latencies = {
        "get": hits.latencies["get"],
        "get_missing": missing,
        "scan": probe.scans.latencies["scan"],
    }
    counts = {f"{kind}_data_blocks": run.data_blocks / run.looked_up
              for kind, run in (("get", hits), ("get_missing", probe.missing))
              if run.data_blocks is not None and run.looked_up}  # fmt: skip
    return dict(latency_metrics(latencies)) | cache_metrics(probe.statistics) | counts


def metadata_bytes(log: LogContent) -> dict[int, int]:
    """Return the bytes of index and filter of each table that was made, by number of its file.

    Partitions of indexes and filters are always in the block cache. The memory outside is then the
    top level of the index; that of the filter is too small to matter (PartitionedFilterBlockReader
    in table/block_based/partitioned_filter_block.cc).
    """
    split = _is_on(log, "partition_filters")
    return {
        number: (table.top_level_bytes or table.index_bytes)
        + (0 if split and table.top_level_bytes else table.filter_bytes)
        for number, table in log.ledger.tables.items()
    }


def readers_bytes(log: LogContent, database: Path, tables: Mapping[int, int]) -> int | None:
    """Return the bytes of indexes and filters that the live tables have outside the block cache.

    `tables` has the bytes of each table. None if it lacks a live table.
    """
    if _is_on(log, "cache_index_and_filter_blocks"):
        return 0
    sizes = [tables.get(int(file.stem)) for file in database.glob("*.sst")]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _is_on(log: LogContent, name: str) -> bool:
    return log.options.families.get(DEFAULT_FAMILY, {}).get(name) in _ON
