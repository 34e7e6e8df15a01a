"""All runs in a text of db_bench: several outputs one after the other, repeats, and their means.

Besides what `db_bench.py` reads, the formats are those of `CombinedStats` and of the loop over the
repeats in tools/db_bench_tool.cc, and the flags of a command line above a result.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt

from lsmtune.errors import ParseError
from lsmtune.metrics.benchmark_run import (
    PART,
    BenchmarkRun,
    Fact,
    bytes_per_operation,
    heading,
    percentile_name,
    threads_of,
)
from lsmtune.metrics.db_bench import VERSION, BenchmarkResult, result_at, result_lines

_SUMMARY = re.compile(
    r"(?P<name>[A-Za-z]\S*) \[AVG +(?P<runs>\d{1,6}) runs\] *: *(?P<ops>\d{1,20})"
    r"(?: \(\D{1,4}(?P<half>\d{1,20})\))? ops/sec"
    r"(?:; *\d+\.\d+ ms/op)?(?:; *(?P<rate>\d+\.\d+)(?: \(\D{1,4}\d+\.\d+\))? MB/sec)?"
)
_OF_95_PERCENT = 1.959964
"""db_bench prints this number of standard errors behind the mean (CalcConfidence95)."""
_WARM_UP = re.compile(r"Warming up benchmark by running (\d{1,6}) times")
_BANNER: tuple[tuple[str, re.Pattern[str], Callable[[str], Fact]], ...] = (
    ("version", re.compile(VERSION), str),
    ("cpu", re.compile(r"CPU:\s+(\d.*)"), str),
    ("key_bytes", re.compile(r"Keys:\s+(\d{1,12}) bytes each"), int),
    ("value_bytes", re.compile(r"Values:\s+(\d{1,12})(?: avg)? bytes each"), int),
    ("records", re.compile(r"Entries:\s+(\d{1,20})"), int),
    ("write_limit_bytes_s", re.compile(r"Write rate:\s+(\d{1,20}) bytes/second"), int),
    ("read_limit_ops_s", re.compile(r"Read rate:\s+(\d{1,20}) ops/second"), int),
    ("compression", re.compile(r"Compression:\s+(\S+)"), str),
    ("memtable", re.compile(r"Memtablerep:\s+(\S+)"), str),
)
_FIRST_FACTS = ("version", "key_bytes")
"""Facts at the beginning of a banner: newer versions print the version to another stream."""
_FIRST_WORDS = ("RocksDB:", "LevelDB:", "Keys:")
_FIRST_LETTERS = frozenset("RLCKVEWMD")
"""First letters of the lines of a banner: most lines of a long text begin with others."""
_COMPRESSED = re.compile(r"Values:\s+\d+.* \((\d{1,12}) bytes after compression\)")
_PATH = re.compile(r"DB path: \[(.*)\]")
_SLOW_BUILDS = {
    "WARNING: Assertions are enabled": "with assertions",
    "WARNING: Optimization is disabled": "not optimized",
}
_PROGRAM = re.compile(r"(?:^|[\s/])db_bench\b")
_FLAG = re.compile(r"(?<!\S)--?([a-z]\w*)=(\"[^\"]*\"|'[^']*'|\S+)")
_FACT_OF_FLAG = {
    "num": "records", "key_size": "key_bytes", "value_size": "value_bytes", "threads": "threads",
    "compression_type": "compression", "db": "db_path", "duration": "duration_limit_s",
}  # fmt: skip
_WITHOUT_EFFECT = frozenset({
    "benchmarks", "histogram", "report_file", "seed", "statistics", "stats_dump_period_sec",
    "stats_interval", "stats_interval_seconds", "stats_per_interval", "undefok", "perf_level",
    "report_interval_seconds", "wal_dir", "options_file", "progress_reports",
})  # fmt: skip
"""Flags of the command line that name no option and no load."""
_MARKUP = " \t\r>|*`"
"""What mails and pages put in front of a line."""
_MOST_DIGITS = 18
_DUMP = "Uptime(secs):"
_RANKS = {"p50": "50", "p75": "75", "p99": "99", "p999": "99.9", "p9999": "99.99"}


@dataclass(frozen=True, slots=True)
class RunText:
    """A run, and the text between its result and the next one.

    `is_first` means that no other benchmark ran in the process before, so that the statistics in
    the text are of this run alone.
    """

    run: BenchmarkRun
    text: str
    is_first: bool


@dataclass(slots=True)
class _Process:
    """The runs of one call of db_bench."""

    setup: dict[str, Fact] = field(default_factory=dict)
    runs: list[RunText] = field(default_factory=list)
    means: dict[str, BenchmarkRun] = field(default_factory=dict)
    warm_ups: int = 0
    results: int = 0

    def result(self) -> Iterator[RunText]:
        """Give the runs; of a benchmark whose single runs are missing, their mean."""
        counts = {name: sum(r.run.benchmark == name for r in self.runs) for name in self.means}
        means = {name: run for name, run in self.means.items() if counts[name] < run.repeats}
        yield from (text for text in self.runs if text.run.benchmark not in means)
        for run in means.values():
            yield RunText(replace(run, setup={**self.setup, **run.setup}), "", is_first=False)


def has_means(text: str) -> bool:
    """Return whether the text has the mean of several runs of a benchmark."""
    return any(_SUMMARY.match(line.strip(_MARKUP)) for line in text.splitlines() if "[AVG" in line)


def parse_runs(text: str, faults: list[str]) -> list[RunText]:
    """Read all runs in the order of the text; `faults` gets a sentence per unreadable result."""
    lines = [line.strip(_MARKUP) for line in text.splitlines()]
    results = set(result_lines(lines))
    process, processes, part = _Process(), list[_Process](), dict[str, Fact]()
    for at, line in enumerate(lines):
        if (found := heading(line)) is not None:
            part = {PART: found}
        if (found or _begins_process(line)) and (process.runs or process.means):
            processes.append(process)
            process = _Process()
        process.setup |= part
        _take_setup(process.setup, line, lines[at - 1] if at else "")
        if warm_up := _WARM_UP.search(line):
            process.warm_ups = int(warm_up[1])
        if (mean := _SUMMARY.match(line)) is not None:
            process.means[mean["name"]] = _mean(mean)
        if at in results:
            if _ran_before(process, line):
                processes.append(process)
                process = _Process(dict(process.setup))
            _take_result(process, lines, at, _end(lines, at, results), faults)
    runs = [text for one in [*processes, process] for text in one.result()]
    return _with_common(runs, text)


def _begins_process(line: str) -> bool:
    """Return whether the line is the first of a call of db_bench."""
    if line.startswith(_FIRST_WORDS):
        return any(pattern.match(line) for name, pattern, _ in _BANNER if name in _FIRST_FACTS)
    return _is_command(line)


def _is_command(line: str) -> bool:
    if "db_bench" not in line:
        return False
    return _PROGRAM.search(line) is not None and _FLAG.search(line) is not None


def _ran_before(process: _Process, line: str) -> bool:
    """Return whether the benchmark ran before the last statistics: outputs were put together."""
    if not process.runs or _DUMP not in process.runs[-1].text:
        return False
    return any(line.startswith((f"{one.run.benchmark} ", f"{one.run.benchmark}:"))
               for one in process.runs)  # fmt: skip


def _end(lines: Sequence[str], at: int, results: set[int]) -> int:
    """Return the index behind the text that belongs to the result in a line."""
    for end in range(at + 1, len(lines)):
        if end in results or _begins_process(lines[end]) or heading(lines[end]):
            return end
    return len(lines)


def _take_setup(setup: dict[str, Fact], line: str, before: str) -> None:
    if line[:1] in _FIRST_LETTERS:
        setup |= _banner_facts(line)
    if _is_command(line) or line.startswith("--") or before.endswith("\\"):
        for name, text in _FLAG.findall(line):
            if name not in _WITHOUT_EFFECT:
                value = text.strip("\"'")
                fact = _FACT_OF_FLAG.get(name, f"--{name}")
                is_number = value.isdecimal() and len(value) <= _MOST_DIGITS
                setup[fact] = int(value) if is_number else value


def _banner_facts(line: str) -> Iterator[tuple[str, Fact]]:
    for name, pattern, read in _BANNER:
        if match := pattern.match(line):
            yield name, read(match[1])
    if match := _COMPRESSED.match(line):
        yield "compressed_value_bytes", int(match[1])
    if match := _PATH.match(line):
        yield "db_path", match[1]
    for warning, build in _SLOW_BUILDS.items():
        if line.startswith(warning):
            yield "build", build


def _take_result(
    process: _Process, lines: Sequence[str], start: int, end: int, faults: list[str]
) -> None:
    try:
        result = result_at(lines, start, end)
    except ParseError as error:
        faults.append(f"a result is left out: {error}")
        return
    process.results += 1
    if process.warm_ups:
        process.warm_ups -= 1
        return
    if result.ops_per_s <= 0:
        faults.append(f"a result is left out: {result.name} ran no operation")
        return
    run = BenchmarkRun(result.name, _values(result), _setup(result) | process.setup)
    text = "\n".join([*lines[start:end], ""])
    process.runs.append(RunText(run, text, is_first=process.results == 1))


def _values(result: BenchmarkResult) -> dict[str, float]:
    values: dict[str, float] = {"ops_per_s": float(result.ops_per_s)}
    values["micros_per_op"] = result.micros_per_op
    if result.rate_mb_s is not None:
        values["mb_per_s"] = result.rate_mb_s
    for operation, histogram in result.latencies.items():
        prefix = "" if len(result.latencies) == 1 else f"{operation}_"
        for name, rank in _RANKS.items():
            if name in histogram.percentiles:
                values[prefix + percentile_name(rank)] = histogram.percentiles[name]
        values[f"{prefix}max_us"] = histogram.max_us
    return values


def _setup(result: BenchmarkResult) -> dict[str, Fact]:
    """Return what the result says of the load."""
    setup: dict[str, Fact] = {}
    if (threads := threads_of(result.ops_per_s, result.micros_per_op)) is not None:
        setup["threads"] = threads
    if (size := bytes_per_operation(result.ops_per_s, result.rate_mb_s)) is not None:
        setup["bytes_per_op"] = size
    operations = result.operations
    if operations is None and result.latency is not None:
        operations = result.latency.count
    if operations:
        setup["operations"] = operations
        setup["duration_s"] = result.elapsed_s or operations / result.ops_per_s
    if result.found is not None and result.looked_up:
        setup["found_percent"] = 100 * result.found / result.looked_up
    return setup


def _mean(match: re.Match[str]) -> BenchmarkRun:
    """Return the mean of repeats; the deviation is computed from the interval behind it."""
    runs, ops = int(match["runs"]), float(match["ops"])
    values = {"ops_per_s": ops} | ({"mb_per_s": float(match["rate"])} if match["rate"] else {})
    deviation = None
    if match["half"] and ops:
        deviation = int(match["half"]) / _OF_95_PERCENT * sqrt(runs) / ops
    return BenchmarkRun(match["name"], values, {}, runs, deviation)


def _with_common(found: Sequence[RunText], text: str) -> list[RunText]:
    """Return the runs with the only version of the text, if it stands after the results."""
    pattern = next(pattern for name, pattern, _ in _BANNER if name == "version")
    versions = {m[1] for line in text.splitlines() if (m := pattern.match(line.strip(_MARKUP)))}
    if len(versions) != 1 or any("version" in one.run.setup for one in found):
        return list(found)
    version: dict[str, Fact] = {"version": versions.pop()}
    return [replace(one, run=replace(one.run, setup={**one.run.setup, **version})) for one in found]
