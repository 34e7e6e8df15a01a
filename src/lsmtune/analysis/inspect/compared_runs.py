"""Runs of the same benchmark before and after a change, and how their loads differ."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from lsmtune.analysis.inspect.inspection import Inspection, Load, Totals
from lsmtune.analysis.inspect.judging import JudgedPair, Judgement, Sample, judge
from lsmtune.metrics.benchmark_run import PART, BenchmarkRun, Fact

MAIN = "ops_per_s"
"""The metric whose verdict is the verdict of a benchmark."""

_METRICS = ("ops_per_s", "micros_per_op", "mb_per_s")
_OF_THROUGHPUT = ("ops_per_s", "mb_per_s")
_OF_STORE = ("stall_percent", "stalls", "write_amp", "w_amp_table", "live_sst_bytes",
             "peak_rss_bytes")  # fmt: skip
_LATENCY = re.compile(r"(?:\w+_)?(?:p\d+|max)_us")
_OF_LOAD = {
    "records": 1.0, "key_bytes": 1.0, "value_bytes": 1.0, "compressed_value_bytes": 1.0,
    "threads": 1.1, "found_percent": 1.05, "write_limit_bytes_s": 1.0, "read_limit_ops_s": 1.0,
    "duration_limit_s": 1.0, "tree_bytes": 2.0,
}  # fmt: skip
"""Facts about the load, and the largest ratio that is no difference.

`threads` may be computed from rounded numbers, and from threads that ended at different times."""
_OF_MACHINE = ("cpu", "build")
_FOLDER = "db_path"
_NAMED = ("version", "githash", "compression", "memtable", _FOLDER)
_LENGTH = ("operations", "duration_s")
_FAR = 1.15
_SIZES = {"key_bytes", "value_bytes", "found_percent"}
_FAR_SIZE = 1.1
"""Of the bytes per operation, which are computed from rounded numbers."""
_DETAIL = re.compile(r"\.[tv]\d+(?=\.|$)")
"""Threads and size of values in the name of a test of benchmark.sh."""
_TWO = 2


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that differs between the runs before and after; all values of each side.

    With `is_load`, the difference of the results may come from it: another load, another machine
    or a slow build. Another version does not count, because it often is the question.
    `benchmarks` have it; empty means all.
    """

    name: str
    before: tuple[Fact, ...]
    after: tuple[Fact, ...]
    is_load: bool
    benchmarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedBenchmark:
    """A benchmark that both sides ran; `metrics` by name, and the differences of its load."""

    name: str
    metrics: Mapping[str, JudgedPair]
    differences: tuple[Difference, ...]

    @property
    def main(self) -> JudgedPair | None:
        """The operations per second."""
        return self.metrics.get(MAIN)

    @property
    def verdict(self) -> Judgement:
        """The verdict on the operations per second."""
        return self.main.verdict if self.main is not None else "not_comparable"


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The benchmarks of both sides, and the names of those that only one side ran."""

    benchmarks: tuple[ComparedBenchmark, ...] = ()
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    copies: tuple[int, int] = (0, 0)
    """Runs of each side that are equal to another one in every digit, and count once."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All differences, those of the load first; one that several benchmarks have once."""
        groups: dict[Difference, list[str]] = {}
        for benchmark in self.benchmarks:
            for difference in benchmark.differences:
                groups.setdefault(difference, []).append(benchmark.name)
        every = len(self.benchmarks)
        found = (
            replace(difference, benchmarks=() if len(names) == every else tuple(names))
            for difference, names in groups.items()
        )
        return tuple(sorted(found, key=lambda difference: not difference.is_load))


def compare_runs(before: Iterable[Inspection], after: Iterable[Inspection]) -> ComparedRuns:
    """Compare the runs of each benchmark that both sides ran."""
    every = [[run for log in side for run in log.runs] for side in (before, after)]
    single = [_without_copies(runs) for runs in every]
    old, new = (_by_name(runs) for runs in single)
    pairs = {name: (name, name) for name in old if name in new}
    pairs = pairs | {
        base: names
        for base, names in _pairs_by_base(old.keys() - new.keys(), new.keys() - old.keys()).items()
        if base not in pairs
    }
    used = set(chain.from_iterable(pairs.values()))
    return ComparedRuns(
        tuple(_compared(name, old[first], new[second]) for name, (first, second) in pairs.items()),
        tuple(name for name in old if name not in used),
        tuple(name for name in new if name not in used),
        (len(every[0]) - len(single[0]), len(every[1]) - len(single[1])),
    )


def two_sides(log: Inspection) -> tuple[Inspection, Inspection] | None:
    """Split the runs of one text below the headings `before` and `after`, or of two versions.

    Without two versions, two commits or two job ids count, in the order of the text. None for
    another text. What the statistics of the text say belongs to one side at most and is left out.
    """
    for fact in (PART, "version", "githash", "job_id"):
        values = list(dict.fromkeys(run.setup.get(fact) for run in log.runs))
        if len(values) != _TWO or None in values:
            continue
        bare = replace(log, load=Load(), totals=Totals(), levels=(), tickers={}, dumps=())
        first, second = (_of_fact(bare, fact, value) for value in values)
        return first, second
    return None


def _of_fact(log: Inspection, fact: str, value: Fact | None) -> Inspection:
    """Return the runs with a value of a fact."""
    runs = tuple(run for run in log.runs if run.setup.get(fact) == value)
    versions = {str(run.setup.get("version", "")) for run in runs}
    version = (versions.pop() or None) if len(versions) == 1 else None
    return replace(log, name=f"{log.name}, {value}", version=version, runs=runs)


def _without_copies(runs: Sequence[BenchmarkRun]) -> list[BenchmarkRun]:
    """Return each run once: two runs never agree in every digit, but a text may be pasted twice."""
    seen: dict[object, BenchmarkRun] = {}
    for run in runs:
        facts = (*run.values.items(), *run.setup.items())
        seen.setdefault((run.benchmark, frozenset(facts)), run)
    return list(seen.values())


def _by_name(runs: Iterable[BenchmarkRun]) -> dict[str, list[BenchmarkRun]]:
    found: dict[str, list[BenchmarkRun]] = {}
    for run in runs:
        found.setdefault(run.benchmark, []).append(run)
    return found


def _pairs_by_base(old: Iterable[str], new: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Pair tests whose names differ in the threads or the size of values only."""
    bases = [{_DETAIL.sub("", name): name for name in sorted(names)} for names in (old, new)]
    counts = [Counter(_DETAIL.sub("", name) for name in names) for names in (old, new)]
    return {
        base: (name, bases[1][base])
        for base, name in bases[0].items()
        if counts[0][base] == counts[1][base] == 1
    }


def _compared(
    name: str, before: Sequence[BenchmarkRun], after: Sequence[BenchmarkRun]
) -> ComparedBenchmark:
    differences = tuple(_differences(before, after))
    has_other_load = any(difference.is_load for difference in differences)
    metrics = {}
    for metric in _metrics_of((*before, *after)):
        samples = [_sample(metric, runs) for runs in (before, after)]
        if all(sample.values for sample in samples):
            judged = judge(metric, *samples)
            metrics[metric] = (
                replace(judged, verdict="depends_on_load") if has_other_load else judged
            )
    return ComparedBenchmark(name, metrics, differences)


def _metrics_of(runs: Sequence[BenchmarkRun]) -> list[str]:
    names = list(dict.fromkeys(name for run in runs for name in run.values))
    latencies = [name for name in names if _LATENCY.fullmatch(name)]
    return [name for name in (*_METRICS, *latencies, *_OF_STORE) if name in names]


def _sample(metric: str, runs: Sequence[BenchmarkRun]) -> Sample:
    values = tuple(run.values[metric] for run in runs if metric in run.values)
    means = [run for run in runs if run.repeats > 1]
    if len(runs) > 1 or not means:
        return Sample(values)
    (mean,) = means
    return Sample(values, mean.repeats, mean.deviation if metric in _OF_THROUGHPUT else None)


def _differences(
    before: Sequence[BenchmarkRun], after: Sequence[BenchmarkRun]
) -> Iterable[Difference]:
    names = dict.fromkeys(name for run in (*before, *after) for name in run.setup)
    flags = [name for name in names if name.startswith("--")]
    have_flags = all(any(_facts(flag, runs) for flag in flags) for runs in (before, after))
    named = set[str]()
    for name in (*_OF_LOAD, *_OF_MACHINE, *_NAMED, *flags):
        old, new = (_facts(name, runs) for runs in (before, after))
        is_known = (old and new) or (name in flags and have_flags)
        if name == _FOLDER and max(len(old), len(new)) > 1:
            continue  # each run had a folder of its own
        if is_known and _differ(name, old, new):
            named.add(name)
            is_load = name in _OF_LOAD or name in _OF_MACHINE
            yield Difference(name, old, new, is_load)
    sizes = [_numbers("bytes_per_op", runs) for runs in (before, after)]
    if not named & _SIZES and all(sizes) and _is_far(sizes[0], sizes[1], _FAR_SIZE):
        old, new = (tuple(map(round, side)) for side in sizes)
        yield Difference("bytes_per_op", old, new, is_load=True)
    if (built := _one_sided_build(before, after)) is not None:
        yield built
    if (length := _length_difference(before, after)) is not None:
        yield length


def _one_sided_build(
    before: Sequence[BenchmarkRun], after: Sequence[BenchmarkRun]
) -> Difference | None:
    """Return the slow build of one side: a fast build prints no warning, but a banner."""
    old, new = (_facts("build", runs) for runs in (before, after))
    has_banner = all(_facts("compression", runs) for runs in (before, after))
    if bool(old) == bool(new) or not has_banner:
        return None
    return Difference("build", old, new, is_load=True)


def _length_difference(
    before: Sequence[BenchmarkRun], after: Sequence[BenchmarkRun]
) -> Difference | None:
    """Return the duration, if neither the operations nor the duration were the same.

    With a fixed number of operations, the duration is a result, and the other way round. Reports
    contain the duration with a known error, and the operations computed from it.
    """
    pairs = [[_numbers(name, runs) for runs in (before, after)] for name in _LENGTH]
    if not all(old and new for old, new in pairs):
        return None
    shortest_s = min(_numbers("duration_s", (*before, *after)))
    error_s = max(_numbers("duration_error_s", (*before, *after)), default=0.0)
    most = _FAR * (1 + error_s / shortest_s)
    if not all(_is_far(old, new, most) for old, new in pairs):
        return None
    old, new = (_facts("duration_s", runs) for runs in (before, after))
    return Difference("duration_s", old, new, is_load=True)


def _facts(name: str, runs: Sequence[BenchmarkRun]) -> tuple[Fact, ...]:
    return tuple(dict.fromkeys(run.setup[name] for run in runs if name in run.setup))


def _numbers(name: str, runs: Sequence[BenchmarkRun]) -> list[float]:
    return [fact for fact in _facts(name, runs) if not isinstance(fact, str)]


def _differ(name: str, old: tuple[Fact, ...], new: tuple[Fact, ...]) -> bool:
    numbers = [[fact for fact in side if not isinstance(fact, str)] for side in (old, new)]
    if name in _OF_LOAD and all(numbers):
        return _is_far(numbers[0], numbers[1], _OF_LOAD[name])
    return {str(fact).lower() for fact in old} != {str(fact).lower() for fact in new}


def _is_far(old: Sequence[float], new: Sequence[float], most: float) -> bool:
    """Return whether a value of one side is far from all values of the other side."""
    return any(
        all(not _are_near(value, other, most) for other in others)
        for values, others in ((old, new), (new, old))
        for value in values
    )


def _are_near(one: float, other: float, most: float) -> bool:
    low, high = sorted((one, other))
    return high <= low * most
