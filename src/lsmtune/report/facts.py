"""The facts of a study in words: its machine, its load, what was asked of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Goal, Objective
from lsmtune.report.words import listed
from lsmtune.units import format_bytes
from lsmtune.workloads import Workload

Fact = tuple[str, tuple[str, ...]]
"""A term and what is to be said of it, line by line."""


def host_text(host: Mapping[str, Any]) -> Iterator[str]:
    """The host's facts as they were recorded, nested ones flattened."""
    for key, value in host.items():
        words = key.replace("_", " ")
        if isinstance(value, Mapping):
            yield from (f"{words} {text}" for text in host_text(value))
        elif key.endswith("_bytes") and isinstance(value, int | float):
            yield f"{words.removesuffix(' bytes')}: {format_bytes(value)}"
        elif value is not None and key != "boot_id":
            yield f"{words}: {value}"


def workload_text(load: Workload) -> Iterator[str]:
    """The load and all its parameters, those that it has not left out."""
    given = load.told
    if load.preset.prepared and load.client_operations is not None:
        given["operations"] = load.client_operations
    yield f"{given.pop('name')}: {load.preset.what.replace('`', '')}"
    yield from (_parameter_text(name, value) for name, value in given.items())


_UNITS = {"key_size": " bytes", "value_size": " bytes", "duration_s": " s"}
_PARAMETERS = {
    "num": "records",
    "operations": "operations of each thread",
    "duration_s": "time that the load lasts",
    "compression_ratio": "size of compressed values",
    "present": "share of the keys that exist",
    "direct_reads": "reads pass by the page cache",
    "get_percent": "operations that are gets (%)",
    "write_rate_bytes_s": "write rate",
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
    """What was asked for, a line a goal."""
    if objective.pareto:
        yield "several goals at once: the front of trials that no other beats in all of them"
    yield from map(_goal_text, objective.goals)


def _goal_text(goal: Goal) -> str:
    if len(goal.metrics) == 1:
        return f"{goal.name}: {METRICS[goal.name].better} is better"
    if goal.name == "balanced":
        return f"balanced: geometric mean of the ratios to the base in {listed([*goal.metrics])}"
    return (
        f"{goal.name}: fitness, 1000 × the sum of the shares gained on the base in "  # noqa: RUF001
        f"{listed([*goal.metrics])}; drawn as e^(-fitness / 4000), so that below 1 is a gain"
    )
