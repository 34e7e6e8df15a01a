"""What a controlled experiment has shown: cells against the base, and what each factor does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log

import numpy as np

from lsmtune.errors import UserError
from lsmtune.experiment import Sweep
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Config, Settings
from lsmtune.learning.factorial import FactorialFit, fit_factorial
from lsmtune.stats import Interval, mean_interval, ratio_interval
from lsmtune.workloads import Kind

DEFAULT_METRICS: Mapping[Kind, tuple[str, ...]] = {
    "write": ("write_amp", "live_sst_bytes", "total_s", "rate_mb_s", "stall_s"),
    "read": ("throughput_ops_s", "read_amp", "live_sst_bytes"),
    "mixed": ("sustained_ops_s", "write_amp", "live_sst_bytes"),
}


@dataclass(frozen=True, slots=True)
class SweptRun:
    """A run that was measured: its block, its cell (None: the base) and its metrics."""

    block: int
    cell: tuple[int, ...] | None
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell in one metric: its mean over the blocks, and its ratio to the base.

    `interval` holds the mean; it and the ratio are None where fewer than two runs were measured.
    """

    levels: tuple[str, ...]
    runs: int
    mean: float
    interval: Interval | None
    ratio: Interval | None


@dataclass(frozen=True, slots=True)
class SweptMetric:
    """One metric: the base, the cells in their order, and what the factors do."""

    metric: str
    base: Cell
    cells: tuple[Cell, ...]
    fit: FactorialFit | None


@dataclass(frozen=True, slots=True)
class Swept:
    """An experiment's outcome.

    `factors` are the levels of each in words, `knobs` what each factor sets. `warnings` tell
    what cannot be told apart, and cells that the engine makes of others than were asked for.
    """

    name: str
    factors: Mapping[str, tuple[str, ...]]
    knobs: Mapping[str, tuple[str, ...]]
    fixed: Settings
    blocks: int
    runs: int
    failed: int
    metrics: tuple[SweptMetric, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an experiment: the runs that were measured, those that failed, the configs.

    `failures` has the cell (None: the base) and the reason of each run that failed.
    """

    name: str
    kind: Kind
    runs: Sequence[SweptRun]
    failures: Sequence[tuple[tuple[int, ...] | None, str]]
    configs: Mapping[tuple[int, ...], Config]


def analyse(experiment: Sweep, catalogue: Catalogue, outcome: Outcome) -> Swept:
    """What the runs show; UserError where a metric was not measured."""
    names = experiment.metrics or DEFAULT_METRICS[outcome.kind]
    levels = experiment.level_names(catalogue)
    return Swept(
        name=outcome.name,
        factors=levels,
        knobs={factor: tuple(knobs) for factor, knobs in experiment.factors.items()},
        fixed=experiment.fixed_values(catalogue),
        blocks=experiment.repeats,
        runs=len(outcome.runs),
        failed=len(outcome.failures),
        metrics=tuple(_metric(metric, list(levels.values()), outcome.runs) for metric in names),
        warnings=tuple(_warnings(experiment, catalogue, outcome)),
    )


def _metric(
    metric: str, levels: Sequence[tuple[str, ...]], runs: Sequence[SweptRun]
) -> SweptMetric:
    told = [run for run in runs if metric in run.metrics]
    base = [run for run in told if run.cell is None]
    if not base:
        raise UserError(f"sweep: no run of the base has measured {metric}")
    by_cell: dict[tuple[int, ...], list[SweptRun]] = {}
    for run in told:
        if run.cell is not None:
            by_cell.setdefault(run.cell, []).append(run)
    cells = tuple(
        _summed(metric, tuple(names[at] for names, at in zip(levels, cell, strict=True)),
                found, _ratio(metric, found, base))
        for cell, found in sorted(by_cell.items())
    )  # fmt: skip
    return SweptMetric(metric, _summed(metric, (), base, None), cells, _fit(metric, told))


def _summed(
    metric: str, levels: tuple[str, ...], runs: Sequence[SweptRun], ratio: Interval | None
) -> Cell:
    values = [run.metrics[metric] for run in runs]
    interval = mean_interval(values) if len(values) > 1 else None
    return Cell(levels, len(values), fsum(values) / len(values), interval, ratio)


def _ratio(metric: str, found: Sequence[SweptRun], base: Sequence[SweptRun]) -> Interval | None:
    """The ratio to the base's mean of the same block; None where that is no ratio."""
    pairs = [
        (run.metrics[metric], beside)
        for run in found
        if (beside := [b.metrics[metric] for b in base if b.block == run.block])
    ]
    if len(pairs) < 2 or any(value <= 0 or min(beside) <= 0 for value, beside in pairs):  # noqa: PLR2004
        return None
    means = [exp(fsum(log(value) for value in beside) / len(beside)) for _, beside in pairs]
    return ratio_interval([value for value, _ in pairs], means)


def _fit(metric: str, told: Sequence[SweptRun]) -> FactorialFit | None:
    """What the factors do; None where there are too few runs to tell from noise."""
    runs = [run for run in told if run.cell is not None]
    if not runs:
        return None
    levels = np.array([run.cell for run in runs], dtype=int)
    try:
        return fit_factorial(
            levels, [run.block for run in runs], np.array([run.metrics[metric] for run in runs])
        )
    except ValueError:
        return None


def _warnings(experiment: Sweep, catalogue: Catalogue, outcome: Outcome) -> list[str]:
    warnings = [
        f"{' and '.join(knobs)} move together in the factor {factor}: which of them does what "
        "cannot be told from this experiment"
        for factor, knobs in experiment.factors.items()
        if len(knobs) > 1
    ]
    alike: dict[Config, tuple[int, ...]] = {}
    for cell, config in outcome.configs.items():
        asked = experiment.values(cell, catalogue)
        for name, value in asked.items():
            if config[name] != value:
                warnings.append(f"the engine makes {name} = {config[name]} of {name} = {value}")
        if config in alike:
            warnings.append(
                f"the cells {_cell(experiment, catalogue, alike[config])} and "
                f"{_cell(experiment, catalogue, cell)} are one config to the engine"
            )
        alike.setdefault(config, cell)
    for failed, reason in dict(outcome.failures).items():
        count = sum(cell == failed for cell, _ in outcome.failures)
        where = "the base" if failed is None else f"the cell {_cell(experiment, catalogue, failed)}"
        warnings.append(f"{where} failed {count} of {experiment.repeats} times: {reason}")
    return list(dict.fromkeys(warnings))


def _cell(experiment: Sweep, catalogue: Catalogue, cell: tuple[int, ...]) -> str:
    names = experiment.level_names(catalogue).values()
    return "/".join(levels[level] for levels, level in zip(names, cell, strict=True))
