"""Runs of benchmarks in a text, with what the statistics below a result say of the store."""

from contextlib import suppress

from lsmtune.analysis.inspect.assemble import assemble
from lsmtune.errors import ParseError
from lsmtune.metrics.benchmark_run import BenchmarkRun
from lsmtune.metrics.db_bench import BenchmarkResult
from lsmtune.metrics.db_bench_runs import RunText, parse_runs
from lsmtune.metrics.log_dump import parse_stats_dump
from lsmtune.metrics.log_reader import LogContent, TimedDump
from lsmtune.metrics.report_tsv import is_report, parse_report
from lsmtune.metrics.statistics import parse_statistics

REPORT = "report of benchmark.sh"
"""The kind of text that RocksDB's tools/benchmark.sh writes."""
_OF_STATISTICS = ("Uptime(secs):", "Compaction Stats [", " COUNT : ")


def read_runs(text: str, faults: list[str]) -> tuple[BenchmarkRun, ...]:
    """Return the runs in the order of the text; `faults` gets a sentence for each left out."""
    if is_report(text):
        report = parse_report(text)
        faults += report.faults
        if not report.runs:
            faults.append("the report contains no test that can be read")
        return report.runs
    return tuple(_with_totals(found) for found in parse_runs(text, faults))


def last_results(runs: tuple[BenchmarkRun, ...]) -> dict[str, BenchmarkResult]:
    """Return the last result of each test of a report, in the form of db_bench's results."""
    return {
        run.benchmark: BenchmarkResult(
            name=run.benchmark,
            micros_per_op=run.values.get("micros_per_op", 1e6 / run.values["ops_per_s"]),
            ops_per_s=round(run.values["ops_per_s"]),
            elapsed_s=run.values.get("uptime_s"),
            operations=None,
            rate_mb_s=run.values.get("mb_per_s"),
            found=None,
            looked_up=None,
            latencies={},
        )
        for run in runs
    }


def only_version(runs: tuple[BenchmarkRun, ...]) -> str | None:
    """Return the version of RocksDB if all runs have the same."""
    versions = {str(run.setup.get("version", "")) for run in runs}
    return (versions.pop() or None) if len(versions) == 1 else None


def _with_totals(found: RunText) -> BenchmarkRun:
    """Add what the statistics below a result say, if no other benchmark ran before it."""
    run = found.run
    if not found.is_first or not any(mark in found.text for mark in _OF_STATISTICS):
        return run
    content, dump = LogContent(dump_text=found.text), parse_stats_dump(found.text)
    content.dumps = [TimedDump(0, dump)] if dump else []
    with suppress(ParseError):  # the reader of the whole text names the damaged line
        content.statistics = parse_statistics(found.text)
    totals = assemble("", "", content).totals
    values = {
        "write_amp": totals.write_amp,
        "w_amp_table": totals.w_amp_table,
        "stall_percent": totals.stall_percent,
    }
    known = {name: value for name, value in values.items() if value is not None}
    return BenchmarkRun(
        run.benchmark, {**run.values, **known}, run.setup, run.repeats, run.deviation
    )
