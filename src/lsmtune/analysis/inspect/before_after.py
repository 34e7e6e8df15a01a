"""Did a change help? Files from before and after the change: LOGs, results, statistics, options."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from lsmtune.analysis.inspect.compared_options import ComparedOptions, Texts, compare_options
from lsmtune.analysis.inspect.compared_runs import (
    ComparedBenchmark,
    ComparedRuns,
    Difference,
    compare_runs,
    two_sides,
)
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.judging import JudgedPair, Judgement, Pair
from lsmtune.analysis.inspect.store_metrics import (
    load_differences,
    metric_pairs,
    unknown_rate,
    workload_pairs,
)

__all__ = [
    "Compared", "JudgedPair", "Judgement", "Pair", "Side", "compare", "compare_sides",
    "compared_document", "two_sides",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Side:
    """The files of one side: name, kind and version of each."""

    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    versions: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """What changed. `why` says why the sides are not comparable.

    `options` has the options that differ: text before and text after, None where it is unknown.
    `benchmarks` has the benchmarks that both sides ran, `differences` what differs between their
    loads and programs. `metrics` are of the stores: of LOGs and of statistics. Without
    `are_measured`, a side has nothing but options.
    """

    comparable: bool
    why: tuple[str, ...]
    workload: Mapping[str, Pair]
    metrics: Mapping[str, JudgedPair]
    options: Mapping[str, Texts]
    before: Side = field(default_factory=Side)
    after: Side = field(default_factory=Side)
    are_measured: bool = True
    differences: tuple[Difference, ...] = ()
    runs: ComparedRuns = field(default_factory=ComparedRuns)
    compared_options: ComparedOptions = field(default_factory=ComparedOptions)
    notes: tuple[str, ...] = ()

    @property
    def benchmarks(self) -> tuple[ComparedBenchmark, ...]:
        """The benchmarks that both sides ran."""
        return self.runs.benchmarks

    @property
    def has_measurements(self) -> bool:
        """Whether there is more to compare than options."""
        return bool(self.benchmarks or self.metrics or self.why)

    @property
    def store_metrics(self) -> dict[str, JudgedPair]:
        """The metrics that no benchmark has already; the rate of writes is a result of those."""
        known = {name for benchmark in self.benchmarks for name in benchmark.metrics}
        hidden = known | ({"writes_s"} if self.benchmarks else set())
        return {name: pair for name, pair in self.metrics.items() if name not in hidden}


def compare(before: Inspection, after: Inspection) -> Compared:
    """Compare two files."""
    return compare_sides([before], [after])


def compare_sides(before: Sequence[Inspection], after: Sequence[Inspection]) -> Compared:
    """Compare the files before with the files after.

    Results of the same benchmark are compared as they are. Rates of LOGs count per byte that
    clients wrote, or per read.
    """
    runs = compare_runs(before, after)
    workload = workload_pairs(before, after)
    measured = [any(_is_measured(log) for log in side) for side in (before, after)]
    metrics = metric_pairs(before, after) if all(measured) else {}
    why = tuple(_why(measured, runs, workload))
    if why:
        verdict: Judgement = "depends_on_load" if runs.benchmarks else "not_comparable"
        metrics = {name: replace(judged, verdict=verdict) for name, judged in metrics.items()}
    first, second = (_with_options(side) for side in (before, after))
    options = compare_options(first, second)
    rate = unknown_rate(workload) if metrics and not runs.benchmarks and not why else None
    return Compared(
        comparable=not why,
        why=why,
        workload=workload,
        metrics=metrics,
        options=options.differ,
        before=_side(before),
        after=_side(after),
        are_measured=all(measured),
        differences=runs.differences or _versions(before, after),
        runs=runs,
        compared_options=options,
        notes=(*_copies(runs), *_unchecked(rate), *_notes(before, after)),
    )


def _why(measured: Sequence[bool], runs: ComparedRuns, workload: Mapping[str, Pair]) -> list[str]:
    """Return why the sides are not comparable; benchmarks write as fast as they can."""
    if runs.benchmarks:
        loads = dict.fromkeys(one.name for one in runs.differences if one.is_load)
        return [f"the load differs: {', '.join(loads)}"] if loads else []
    if not any(measured):
        return []
    if not all(measured):
        side = "before" if measured[0] else "after"
        return [f"only the side {side} contains measurements"]
    if runs.only_before and runs.only_after:
        return ["no benchmark ran on both sides"]
    return load_differences(workload)


def _is_measured(log: Inspection) -> bool:
    return bool(
        log.runs or log.tickers or log.dumps or log.levels or log.jobs or log.stalls
        or log.totals.write_amp is not None
    )  # fmt: skip


def _with_options(side: Sequence[Inspection]) -> Inspection:
    """Return the first file with options."""
    return next((log for log in side if any(log.options.values())), side[0])


def _copies(runs: ComparedRuns) -> Iterator[str]:
    for word, count in zip(("before", "after"), runs.copies, strict=True):
        if count:
            yield (
                f"{count} of the runs {word} repeat another run in every digit; lsmtune counts "
                "each run once"
            )


def _unchecked(rate: str | None) -> Iterator[str]:
    if rate is not None:
        yield (
            f"both sides lack the rate of {rate}, so lsmtune cannot check that the loads are "
            "similar; compare only runs with the same load"
        )


def _notes(before: Sequence[Inspection], after: Sequence[Inspection]) -> list[str]:
    found = []
    for word, side in (("before", before), ("after", after)):
        given = [log for log in side if any(log.options.values())]
        differ = [log.name for log in given[1:] if compare_options(given[0], log).differ]
        if differ:
            found.append(
                f"the files {word} the change have different options; lsmtune compares those of "
                f"{given[0].name}"
            )
        for log in side:
            faults = [fault for fault in log.incomplete if "left out" in fault]
            found += [f"{log.name}: {fault}" for fault in faults]
    return found


def _versions(before: Sequence[Inspection], after: Sequence[Inspection]) -> tuple[Difference, ...]:
    """Return another version of LOGs and files of options."""
    old, new = (
        tuple(dict.fromkeys(log.version for log in side if log.version)) for side in (before, after)
    )
    if not old or not new or set(old) == set(new):
        return ()
    return (Difference("version", old, new, is_load=False),)


def _side(logs: Sequence[Inspection]) -> Side:
    return Side(
        tuple(log.name for log in logs),
        tuple(log.kind for log in logs),
        tuple(log.version for log in logs),
    )


def compared_document(compared: Compared) -> dict[str, Any]:
    """Return the comparison as JSON; unknown is null."""
    return {
        "comparable": compared.comparable,
        "why": list(compared.why),
        "workload": {name: asdict(pair) for name, pair in compared.workload.items()},
        "metrics": {name: _judged_document(pair) for name, pair in compared.metrics.items()},
        "options": [
            {"name": name, "before": before, "after": after}
            for name, (before, after) in compared.options.items()
        ],
        "before": _side_document(compared.before),
        "after": _side_document(compared.after),
        "differences": [asdict(one) for one in compared.differences],
        "benchmarks": [
            {
                "name": benchmark.name,
                "verdict": benchmark.verdict,
                "metrics": {n: _judged_document(pair) for n, pair in benchmark.metrics.items()},
            }
            for benchmark in compared.benchmarks
        ],
        "only_before": list(compared.runs.only_before),
        "only_after": list(compared.runs.only_after),
        "families_only_before": list(compared.compared_options.families[0]),
        "families_only_after": list(compared.compared_options.families[1]),
        "notes": list(compared.notes),
    }


def _judged_document(judged: JudgedPair) -> dict[str, Any]:
    interval = judged.interval
    return {
        "before": judged.values.before,
        "after": judged.values.after,
        "ratio": judged.values.ratio,
        "verdict": judged.verdict,
        "runs_before": judged.runs[0],
        "runs_after": judged.runs[1],
        "interval": interval and {
            "of": "difference" if judged.is_difference else "ratio",
            "low": interval.low, "high": interval.high,
        },
    }  # fmt: skip


def _side_document(side: Side) -> list[dict[str, Any]]:
    files = zip(side.names, side.kinds, side.versions, strict=True)
    return [{"name": name, "kind": kind, "version": version} for name, kind, version in files]
