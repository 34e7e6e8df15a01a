"""From the output of db_bench to the records of a trial."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.rocksdb.bench import (
    Files,
    HeldRun,
    Latency,
    LoadOutput,
    Part,
    ProbeOutput,
    RunResult,
)
from lsmtune.engines.rocksdb.db_bench.command import Phase
from lsmtune.engines.tickers import counted_operations, data_block_lookups
from lsmtune.metrics.compaction_table import parse_compaction_tables, parse_stall_summary
from lsmtune.metrics.db_bench import BenchmarkResult, parse_banner, parse_results
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.statistics import Statistics, parse_statistics
from lsmtune.system.process import ExitStatus
from lsmtune.trials import Status

_MICROS = 1e6
_LATENCIES = {"write": "write", "update": "write", "delete": "write", "read": "get", "seek": "scan"}
"""Names of operations in db_bench, and the prefix of their metrics."""
_OTHER_BLOCKS = (
    "block_cache_index_hit_count", "block_cache_filter_hit_count", "index_block_read_count",
    "filter_block_read_count", "compression_dict_block_read_count",
)  # fmt: skip
"""Counters of blocks that are not data blocks."""
_PROBES = ("readrandom", "readmissing", "seekrandom")


def load_output(
    run: HeldRun, phase: Phase, operations: int | None, part: Part, log: LogContent
) -> LoadOutput:
    """Return the results that a load printed; TrialFailedError if one is missing.

    `operations` is the number of operations of all clients. If it is None, the number is taken
    from RocksDB's statistics.
    """
    stdout = part.files.stdout_text()
    # A replayed trace has a second, empty column family.
    found = parse_compaction_tables(stdout)
    tables = [table for table in found if table.column_family == "default"]
    banner = parse_banner(stdout, part.files.stderr_text())
    result = parse_results(stdout).get(phase.benchmark)
    if not tables or banner.rocksdb_version is None:
        reason = "the output of db_bench lacks the compaction table or the RocksDB version"
        raise TrialFailedError(Status.UNREADABLE, reason)
    if result is None:
        reason = f"db_bench printed no result of the benchmark {phase.benchmark}"
        raise TrialFailedError(Status.UNREADABLE, reason)
    statistics = parse_statistics(stdout)
    if operations is None:  # db_bench prints 1 for a replayed trace
        operations = counted_operations(statistics)
    return LoadOutput(
        run=run,
        result=_result(result, operations, phase.threads),
        statistics=statistics,
        table=tables[-1],
        stalls=parse_stall_summary(stdout).counts,
        version=banner.rocksdb_version,
        assertions_enabled=bool(banner.assertions_enabled),
        log=log,
        database=part.database,
    )


def probe_output(status: ExitStatus, files: Files) -> ProbeOutput:
    """Return the results that the read probe printed; TrialFailedError if one is missing."""
    stdout = files.stdout_text()
    results = parse_results(stdout)
    if missing := set(_PROBES) - results.keys():
        reason = f"db_bench printed no result of these benchmarks: {', '.join(sorted(missing))}"
        raise TrialFailedError(Status.UNREADABLE, reason)
    statistics = parse_statistics(stdout)
    gets, missing_keys, scans = (
        replace(
            _result(_timed(results[name]), 0, 1),
            data_blocks=_data_blocks(results[name].perf_context, statistics),
        )
        for name in _PROBES
    )
    return ProbeOutput(status, gets, missing_keys, scans, statistics)


def _data_blocks(counters: Mapping[str, int], statistics: Statistics) -> float | None:
    """Return the lookups of data blocks in a benchmark; None if db_bench did not count them.

    The counters are those of one benchmark, the statistics are those of the whole process. Blocks
    of other kinds are subtracted: they have counters of their own, except dictionaries that were
    found in the block cache. With dictionaries in the block cache, RocksDB looks up one before
    each data block. So the share of data blocks is taken from the statistics.
    """
    if "block_read_count" not in counters:
        return None
    found = sum(counters.get(name, 0) for name in ("block_cache_hit_count", "block_read_count"))
    found -= sum(counters.get(name, 0) for name in _OTHER_BLOCKS)
    dictionaries = statistics.tickers.get("rocksdb.block.cache.compression.dict.hit", 0)
    blocks = data_block_lookups(statistics)
    return found * blocks / (blocks + dictionaries) if dictionaries else float(found)


def _result(result: BenchmarkResult, operations: int, clients: int) -> RunResult:
    """Return the result. Old versions print only the time per operation, not the seconds."""
    seconds = result.elapsed_s
    if seconds is None:
        seconds = result.micros_per_op * operations / clients / _MICROS
    return RunResult(
        seconds=seconds,
        operations=operations,
        rate_mb_s=result.rate_mb_s,
        found=result.found,
        looked_up=result.looked_up,
        latencies=dict(_latencies(result)),
    )


def _latencies(result: BenchmarkResult) -> Iterator[tuple[str, Latency]]:
    for kind, histogram in result.latencies.items():
        if kind in _LATENCIES:
            yield _LATENCIES[kind], Latency(histogram.average_us, histogram.percentiles)


def _timed(result: BenchmarkResult) -> BenchmarkResult:
    if result.latency is None:
        reason = f"db_bench printed no latencies of the benchmark {result.name}"
        raise TrialFailedError(Status.UNREADABLE, reason)
    return result
