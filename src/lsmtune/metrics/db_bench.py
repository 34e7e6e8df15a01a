"""Parser of db_bench's output: its banner and the result of each benchmark.

The formats are those of `Stats::Report`, `PrintHeader` and `PrintWarnings` in
tools/db_bench_tool.cc and of `HistogramStat::ToString` in monitoring/histogram.cc.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from lsmtune.errors import ParseError

_INT = r"\d{1,20}"
_RESULT = re.compile(
    rf"(?P<name>[A-Za-z]\S*)\s*:?\s+(?P<micros>\d+\.\d+) micros/op +(?P<ops>{_INT}) ops/sec"
    rf"(?: (?P<seconds>\d+\.\d+) seconds (?P<operations>{_INT}) operations)?;(?P<message>.*)"
)
_RATE = re.compile(r"(\d+\.\d+) MB/s")
_FOUND = re.compile(rf"\(({_INT}) of ({_INT}) found\)")
_OPERATION = re.compile(r"Microseconds per (.+):")
_HISTOGRAM = re.compile(
    rf"Count: (?P<count>{_INT}) +Average: (?P<average>\d+\.\d+) +StdDev: (?P<std>\d+\.\d+)\n"
    r"Min: (?P<min>\d+(?:\.\d+)?) +Median: (?P<median>\d+\.\d+) +Max: (?P<max>\d+(?:\.\d+)?)\n"
    r"Percentiles: (?P<percentiles>.*)"
)
_HISTOGRAM_LINES = 3
_PERF_CONTEXT = "PERF_CONTEXT:"
_COUNTER = re.compile(rf"(\w+) = ({_INT})(?=,|$)")
_PERCENTILE = re.compile(r"P(\d+(?:\.\d+)?): (\d+\.\d\d)")
VERSION = r"(?:RocksDB:\s+[Vv]ersion |LevelDB:\s+version (?!0|1\.))(\d+(?:\.\d+)*)"
"""Up to 3.10, RocksDB's db_bench says LevelDB, whose own versions are 1.x."""
_VERSION = re.compile(rf"^[ \t]*{VERSION}", re.MULTILINE)
_COMPRESSION = re.compile(r"^[ \t]*Compression: (\S+)", re.MULTILINE)
_WARNING = re.compile(r"^[ \t]*(WARNING: .*\S)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LatencyHistogram:
    """The latencies of one kind of operation, in microseconds.

    `percentiles` is keyed p50, p75, p99, p999 and p9999 (99.99 %). RocksDB interpolates them
    within buckets that grow by half, so they are good to some ten percent; minimum, maximum and
    average are exact, with the start of the thread in the first operation (`Stats::Start`): on a
    busy machine some milliseconds that are no operation's.
    """

    count: int
    average_us: float
    std_us: float
    min_us: float
    median_us: float
    max_us: float
    percentiles: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class BenchmarkResult:
    """The result line of one benchmark and the histograms below it.

    `ops_per_s` counts the operations of all threads; `micros_per_op` is the time of one thread
    for one of its operations. `rate_mb_s` is in MiB of user data a second. `elapsed_s` and
    `operations` are printed by newer versions, `found` of `looked_up` only by reads, and
    `latencies`, keyed by db_bench's word for the operation (`write`, `read`, `seek`), only with
    `--histogram`. `perf_context` has the counters of the threads that ran the benchmark, by
    RocksDB's names (monitoring/perf_context.cc). It is empty without `--perf_level`.
    """

    name: str
    micros_per_op: float
    ops_per_s: int
    elapsed_s: float | None
    operations: int | None
    rate_mb_s: float | None
    found: int | None
    looked_up: int | None
    latencies: Mapping[str, LatencyHistogram]
    perf_context: Mapping[str, int] = field(default_factory=dict)

    @property
    def latency(self) -> LatencyHistogram | None:
        """The histogram if there is exactly one; a mixed benchmark has one for each operation."""
        histograms = list(self.latencies.values())
        return histograms[0] if len(histograms) == 1 else None


@dataclass(frozen=True, slots=True)
class Banner:
    """Facts about the build, printed before the first benchmark.

    With `assertions_enabled` or `optimization_disabled`, times can only be compared with times of
    the same build. Both are None if the output contains no banner. `warnings` are all lines that
    begin with `WARNING:`, each once.
    """

    rocksdb_version: str | None
    compression: str | None
    assertions_enabled: bool | None
    optimization_disabled: bool | None
    warnings: tuple[str, ...]


def is_result_line(line: str, benchmark: str) -> bool:
    """Return whether the line is the result of that benchmark."""
    match = _RESULT.match(line.strip())
    return match is not None and match["name"] == benchmark


def parse_results(stdout: str, unreadable: list[str] | None = None) -> dict[str, BenchmarkResult]:
    """Read the benchmarks' results by name; of a benchmark that ran several times, the last.

    Of an output that was cut off, what is whole is read. A line with micros/op and ops/sec that
    is not a result line, or a benchmark's histogram that is none, is a ParseError. If there is a
    list `unreadable`, the error is added to it, and only this line or histogram is left out.
    """
    lines = [line.strip() for line in stdout.splitlines()]
    results: dict[str, BenchmarkResult] = {}
    for start, end in pairwise([*result_lines(lines), len(lines)]):
        try:
            result = result_at(lines, start, end, unreadable)
        except ParseError as error:
            if unreadable is None:
                raise
            unreadable.append(str(error))
            continue
        results[result.name] = result
    return results


def result_lines(lines: Sequence[str]) -> list[int]:
    """Return the indexes of the lines that are results, readable or not."""
    return [at for at, line in enumerate(lines) if "micros/op" in line and "ops/sec" in line]


def parse_banner(stdout: str, stderr: str) -> Banner:
    """Parse the banner; old versions print it to stdout, newer ones to stderr."""
    version = _VERSION.search(stdout) or _VERSION.search(stderr)
    compression = _COMPRESSION.search(stdout)
    warnings = tuple(dict.fromkeys(_WARNING.findall(stdout)))
    return Banner(
        rocksdb_version=version[1] if version else None,
        compression=compression[1] if compression else None,
        assertions_enabled=_warned(warnings, "Assertions are enabled") if compression else None,
        optimization_disabled=_warned(warnings, "Optimization is disabled")
        if compression
        else None,
        warnings=warnings,
    )


def _warned(warnings: tuple[str, ...], words: str) -> bool:
    return any(words in warning for warning in warnings)


def result_at(
    lines: Sequence[str], start: int, end: int, unreadable: list[str] | None = None
) -> BenchmarkResult:
    """Read the result in a line, and what follows it before `end`; the lines are stripped.

    A line that is not a result, or a histogram that is none, is a ParseError. If there is a list
    `unreadable`, a histogram that is none is added to it instead.
    """
    line = lines[start]
    if line[:1].isdigit():  # a document wrapped the line behind the benchmark's name
        line = " ".join(lines[max(start - 1, 0) : start + 1])
    match = _RESULT.match(line)
    if match is None:
        raise ParseError(f"db_bench output: line {start + 1} is not a result line: {line!r}")
    rate = _RATE.search(match["message"])
    found = _FOUND.search(match["message"])
    return BenchmarkResult(
        name=match["name"],
        micros_per_op=float(match["micros"]),
        ops_per_s=int(match["ops"]),
        elapsed_s=float(match["seconds"]) if match["seconds"] else None,
        operations=int(match["operations"]) if match["operations"] else None,
        rate_mb_s=float(rate[1]) if rate else None,
        found=int(found[1]) if found else None,
        looked_up=int(found[2]) if found else None,
        latencies=_latencies(lines, start, end, unreadable),
        perf_context=_perf_context(lines[start:end]),
    )


def _perf_context(lines: Sequence[str]) -> dict[str, int]:
    """Read the line after the heading. Only the last line of an output may be truncated."""
    if _PERF_CONTEXT not in lines[:-1]:
        return {}
    counters = lines[lines.index(_PERF_CONTEXT) + 1]
    return {name: int(count) for name, count in _COUNTER.findall(counters)}


def _latencies(
    lines: Sequence[str], start: int, end: int, unreadable: list[str] | None
) -> dict[str, LatencyHistogram]:
    latencies = {}
    for at in range(start, end):
        operation = _OPERATION.fullmatch(lines[at])
        try:
            histogram = _histogram(lines, at + 1) if operation else None
        except ParseError as error:
            if unreadable is None:
                raise
            unreadable.append(str(error))
            continue
        if operation and histogram:
            latencies[operation[1]] = histogram
    return latencies


def _histogram(lines: Sequence[str], start: int) -> LatencyHistogram | None:
    """Read the three lines from `start`; None when the output ends within them."""
    end = start + _HISTOGRAM_LINES
    match = _HISTOGRAM.match("\n".join(lines[start:end]))
    if match:
        return _latency_histogram(match)
    if end >= len(lines):
        return None
    raise ParseError(f"db_bench output: line {start + 1} is not the start of a histogram")


def _latency_histogram(match: re.Match[str]) -> LatencyHistogram:
    return LatencyHistogram(
        count=int(match["count"]),
        average_us=float(match["average"]),
        std_us=float(match["std"]),
        min_us=float(match["min"]),
        median_us=float(match["median"]),
        max_us=float(match["max"]),
        percentiles={
            "p" + rank.replace(".", ""): float(value)
            for rank, value in _PERCENTILE.findall(match["percentiles"])
        },
    )
