"""Facts of a study in words: machine, workload, objective."""

from collections.abc import Iterator, Mapping
from typing import Any

from lsmtune.engine_traits import ENGINES
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Goal, Objective
from lsmtune.report.text.words import listed
from lsmtune.units import format_bytes
from lsmtune.workloads import Benchmark, Workload

Fact = tuple[str, tuple[str, ...]]
"""A term and its description, line by line."""


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
