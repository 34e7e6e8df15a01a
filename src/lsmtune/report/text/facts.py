"""Facts of a study in words: machine, workload, objective, rate of a running store."""

from collections.abc import Iterator, Mapping
from typing import Any

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.study_view import Pace
from lsmtune.engine_traits import ENGINES
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Goal, Objective
from lsmtune.report.text.words import listed, number
from lsmtune.units import format_bytes, format_duration
from lsmtune.workloads import Benchmark, Workload

Fact = tuple[str, tuple[str, ...]]
"""A term and its description, line by line."""

_HALF = (0.45, 0.55)
_LATE = 0.02
"""A median lateness above this share of the window breaks the rate."""


def host_text(host: Mapping[str, Any]) -> Iterator[str]:
    """Return the recorded facts of the host, one per line."""
    for key, value in host.items():
        words = key.replace("_", " ")
        if isinstance(value, Mapping):
            yield from (f"{words} {text}" for text in host_text(value))
        elif key.endswith("_bytes") and isinstance(value, int | float):
            yield f"{words.removesuffix(' bytes')}: {format_bytes(value)}"
        elif value is not None and key != "boot_id":
            shown = ("yes" if value else "no") if isinstance(value, bool) else value
            yield f"{words}: {shown}"


def workload_text(
    load: Workload, engine: str | None = None, *, is_endless: bool = False
) -> Iterator[str]:
    """Return the workload and its parameters, one per line; with the engine, what that runs."""
    given = load.told
    if not is_endless and load.definition.prepared and load.client_operations is not None:
        given["operations"] = load.client_operations
    yield f"{given.pop('name')}: {what_runs(load, engine).replace('`', '')}"
    yield from (_parameter_text(name, value) for name, value in given.items())


def what_runs(load: Workload, engine: str | None) -> str:
    """Return what a workload does; a benchmark of an engine is what the engine is."""
    if engine is not None and isinstance(load.definition, Benchmark) and engine in ENGINES:
        return ENGINES[engine].summary
    return load.definition.what


_UNITS = {"key_size": " bytes", "value_size": " bytes", "duration_s": " s"}
_PARAMETERS = {
    "num": "records",
    "operations": "operations per thread",
    "duration_s": "duration",
    "compression_ratio": "compressed size / uncompressed size of values",
    "present": "share of keys that exist",
    "direct_reads": "direct reads, without the page cache",
    "get_percent": "share of gets (%)",
    "write_rate_bytes_s": "write rate",
    "transactions_s": "transactions per second",
}


def _parameter_text(name: str, value: Any) -> str:
    words = _PARAMETERS.get(name, name.replace("_", " "))
    if isinstance(value, Mapping):
        return f"{words}: {listed([f'{share:g} {part}' for part, share in value.items()])}"
    if isinstance(value, bool):
        return f"{words}: {'yes' if value else 'no'}"
    if name.endswith("_bytes_s"):
        return f"{words}: {format_bytes(value)}/s"
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{words}: {text}{_UNITS.get(name, '')}"


def objective_text(objective: Objective) -> Iterator[str]:
    """Return the objectives, one per line."""
    if objective.pareto:
        yield "several objectives: the result is a Pareto front, from which you choose a trial"
    yield from map(_goal_text, objective.goals)


def _goal_text(goal: Goal) -> str:
    if len(goal.metrics) == 1:
        return f"{goal.name}: {METRICS[goal.name].better} is better"
    if goal.name == "balanced":
        return f"balanced: geometric mean of trial / baseline in {listed([*goal.metrics])}"
    return (
        f"{goal.name}: fitness = 1000 × the sum of the relative gains in "  # noqa: RUF001
        f"{listed([*goal.metrics])}; charts show e^(-fitness / 4000), below 1 is a gain"
    )


def rate_text(pace: Pace) -> str:
    """Return the rate in short: `24,000 operations/s`."""
    return f"{number(pace.ops_s)} operations/s"


def pace_text(pace: Pace) -> str:
    """Return the rate, its writes, and how much of the baseline's capacity it is."""
    text = f"{rate_text(pace)} ({number(pace.written_bytes_s / 1e6)} MB/s of writes)"
    if pace.share is not None:
        is_half = _HALF[0] <= pace.share <= _HALF[1]
        share = "half" if is_half else f"{100 * pace.share:.0f} %"
        text += f", {share} of what the baseline can take here"
    return text if pace.given else f"{text}; not your rate"


def pace_sentence(pace: Pace) -> str:
    """Return what all metrics of a running store are."""
    return (
        f"All metrics are of a window of {format_duration(pace.window_s)} of a store that runs at "
        f"{pace_text(pace)}. Sizes and sorted runs are means over the window. A p50 counts from "
        "the start of an operation, and a p99 from the time at which it was due."
    )


def overload_text(claim: Claim) -> str:
    """Return that a trial cannot keep the rate, and how far it is behind."""
    pace = claim.view.shown_pace
    rate = "the rate" if pace is None else rate_text(pace)
    behind = (row.winner for row in claim.all_rows if row.metric.name == "behind_s")
    late = next(behind, None) or 0.0
    if pace is not None and late > _LATE * pace.window_s:
        return f"cannot keep {rate}: at the end {late:.2g} s behind"
    return f"cannot keep {rate}: the work that compactions owe grows"
