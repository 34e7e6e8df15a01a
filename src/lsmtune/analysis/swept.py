"""Results of a controlled experiment: cells against the baseline, and effects of the factors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

import numpy as np

from lsmtune.analysis.importance import several_hosts
from lsmtune.analysis.measurable import disturbed_text, flushes_text, too_few_flushes
from lsmtune.analysis.upgrade_plan import compares_winner
from lsmtune.engine_traits import ENGINES, predicts
from lsmtune.errors import UserError
from lsmtune.experiment import Sweep
from lsmtune.host_levels import THIS_MACHINE, HostLevels
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Config, Settings
from lsmtune.learning.factorial import FactorialFit, fit_factorial
from lsmtune.metrics.definitions import METRICS, shown_metrics
from lsmtune.stats import (
    Interval,
    geometric_mean,
    geometric_mean_interval,
    mean_interval,
    ratio_interval,
)
from lsmtune.study_keys import DEFAULT_ENGINE, VERSION
from lsmtune.trials import Origin
from lsmtune.workloads import Kind

_FEWEST_PAIRS = 2


@dataclass(frozen=True, slots=True)
class SweptRun:
    """Measured run: its block, its cell (None: the baseline) and its metrics.

    `is_disturbed`: other processes disturbed it, and it was kept all the same. `host` is where it
    ran.
    """

    block: int
    cell: tuple[int, ...] | None
    metrics: Mapping[str, float]
    is_disturbed: bool = False
    host: str = THIS_MACHINE


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell and one metric: the mean over the blocks, and the ratio to the baseline.

    `interval` is that of the mean, see `SweptMetric`. It and the ratio are None if fewer than two
    runs exist. `disturbed` is the number of runs that were disturbed and kept. `few_flushes` is
    the number of runs that flushed too seldom to measure the metric; interval and ratio are then
    None too.
    """

    levels: tuple[str, ...]
    runs: int
    mean: float
    interval: Interval | None
    ratio: Interval | None
    disturbed: int = 0
    few_flushes: int = 0


@dataclass(frozen=True, slots=True)
class SweptMetric:
    """One metric: the baseline, the cells in their order, and the effects of the factors.

    The means are `geometric`, with intervals computed on logarithms, if the values of all runs are
    positive. Otherwise they are arithmetic, and an interval that would begin below 0 begins at 0.
    If the runs are of several hosts, they are means of levelled values. `fit` is None if the runs
    are too few, or if a cell flushed too seldom to measure the metric.
    """

    metric: str
    base: Cell
    cells: tuple[Cell, ...]
    fit: FactorialFit | None
    geometric: bool

    @property
    def few_flushes(self) -> int:
        """The number of runs of the cells that flushed too seldom to measure the metric."""
        return sum(cell.few_flushes for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Swept:
    """Results of an experiment.

    `factors` holds the levels of each factor in words, `knobs` the knobs that it sets. `warnings`
    lists effects that cannot be separated, and cells that the engine changed. `engine` is the
    engine that ran, or "simulated". `libraries` are RocksDB's libraries that ran, by version, the
    baseline's first; empty if a program ran instead. `versions` are the versions by level of the
    factor that sets them. `hosts` are the hosts that ran, if they are several whose speed matters.
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
    engine: str = DEFAULT_ENGINE
    libraries: Mapping[str, Origin] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()

    def version(self, levels: tuple[str, ...]) -> str:
        """Return the version that ran the cell with these levels, or the baseline (no levels)."""
        named = (self.versions[level] for level, factor in zip(levels, self.knobs, strict=False)
                 if VERSION in self.knobs[factor])  # fmt: skip
        return next(named, next(iter(self.libraries)))

    @property
    def is_simulated(self) -> bool:
        """True if the runs were simulated, not measured."""
        return predicts(self.engine)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Runs of an experiment: those that were measured, those that failed, and the configs.

    `failures` has the cell (None: the baseline) and the reason of each failed run. `libraries` are
    RocksDB's libraries that ran, by version, the baseline's first.
    """

    name: str
    kind: Kind
    runs: Sequence[SweptRun]
    failures: Sequence[tuple[tuple[int, ...] | None, str]]
    configs: Mapping[tuple[int, ...], Config]
    libraries: Mapping[str, Origin] = field(default_factory=dict)


def analyse(experiment: Sweep, catalogue: Catalogue, outcome: Outcome) -> Swept:
    """Return what the runs show; UserError if a metric was not measured."""
    names = experiment.metrics or shown_metrics(
        "sweep", outcome.kind, ENGINES[catalogue.engine].measured
    )
    levels = experiment.level_names(catalogue)
    hosts = several_hosts((run.host for run in outcome.runs), catalogue.engine)
    return Swept(
        name=outcome.name,
        factors=levels,
        knobs={factor: tuple(knobs) for factor, knobs in experiment.factors.items()},
        fixed=experiment.fixed_values(catalogue),
        blocks=experiment.repeats,
        runs=len(outcome.runs),
        failed=len(outcome.failures),
        metrics=tuple(
            _metric(metric, list(levels.values()), outcome.runs, hosts) for metric in names
        ),
        warnings=tuple(_warnings(experiment, catalogue, outcome)),
        engine=catalogue.engine,
        libraries=outcome.libraries,
        versions={
            name: str(version)
            for factor, knobs in experiment.factors.items()
            for name, version in zip(levels[factor], knobs.get(VERSION, ()), strict=False)
        },
        hosts=hosts,
    )


def block_ratio(
    found: Mapping[int, float], other: Mapping[int, float], confidence: float = 0.95
) -> Interval | None:
    """Return the ratio of two cells by their values in each block.

    None if fewer than two blocks have both values, or if one of the values is not positive.
    """
    pairs = [(found[block], other[block]) for block in sorted(found.keys() & other.keys())]
    if len(pairs) < _FEWEST_PAIRS or any(min(pair) <= 0 for pair in pairs):
        return None
    found_values, other_values = zip(*pairs, strict=True)
    return ratio_interval(found_values, other_values, confidence)


def _metric(
    metric: str, levels: Sequence[tuple[str, ...]], runs: Sequence[SweptRun], hosts: Sequence[str]
) -> SweptMetric:
    """Return the metric. The fit has the host as a factor, so it needs no levelled values."""
    measured = [run for run in runs if metric in run.metrics]
    told = _levelled(metric, measured) if hosts else measured
    base = [run for run in told if run.cell is None]
    if not base:
        raise UserError(
            f"sweep: no run of the baseline has a value of the metric {metric}; set `metrics` in "
            "the table [sweep] to other metrics"
        )
    geometric = all(run.metrics[metric] > 0 for run in told)
    summed_base = _summed(metric, (), base, None, geometric=geometric)
    compared = [] if summed_base.few_flushes else base
    by_cell: dict[tuple[int, ...], list[SweptRun]] = {}
    for run in told:
        if run.cell is not None:
            by_cell.setdefault(run.cell, []).append(run)
    cells = tuple(
        _summed(metric, tuple(names[at] for names, at in zip(levels, cell, strict=True)),
                found, _ratio(metric, found, compared), geometric=geometric)
        for cell, found in sorted(by_cell.items())
    )  # fmt: skip
    few = any(cell.few_flushes for cell in cells)
    fit = None if few else _fit(metric, measured, has_hosts=bool(hosts))
    return SweptMetric(metric, summed_base, cells, fit, geometric)


def _levelled(metric: str, runs: Sequence[SweptRun]) -> list[SweptRun]:
    """Return the runs with the metric as if all hosts had the same speed."""
    base: dict[str | None, list[Mapping[str, float]]] = {}
    for run in runs:
        if run.cell is None:
            base.setdefault(run.host, []).append({metric: run.metrics[metric]})
    levels = HostLevels(base)
    return [
        replace(run, metrics={
            **run.metrics, **levels.levelled(run.host, {metric: run.metrics[metric]})
        })
        for run in runs
    ]  # fmt: skip


def _summed(
    metric: str,
    levels: tuple[str, ...],
    runs: Sequence[SweptRun],
    ratio: Interval | None,
    *,
    geometric: bool,
) -> Cell:
    values = [run.metrics[metric] for run in runs]
    interval = _mean_interval(values, geometric=geometric) if len(values) > 1 else None
    few = too_few_flushes(run.metrics for run in runs) if METRICS[metric].needs_flushes else 0
    return Cell(
        levels,
        runs=len(values),
        mean=geometric_mean(values) if geometric else fsum(values) / len(values),
        interval=None if few else interval,
        ratio=None if few else ratio,
        disturbed=sum(run.is_disturbed for run in runs),
        few_flushes=few,
    )


def _mean_interval(values: Sequence[float], *, geometric: bool) -> Interval:
    """Return the mean with its interval, which is never below 0, because no metric is."""
    if geometric:
        return geometric_mean_interval(values)
    found = mean_interval(values)
    return replace(found, low=max(found.low, 0.0))


def _ratio(metric: str, found: Sequence[SweptRun], base: Sequence[SweptRun]) -> Interval | None:
    """Return the ratio to the mean of the baseline in the same block; None without one.

    It compares with the baseline on the same host. If a host was lost before it had run the
    baseline, it compares with the levelled runs of the others.
    """
    pairs: list[tuple[float, list[float]]] = []
    for run in found:
        block = [b for b in base if b.block == run.block]
        same = [b for b in block if b.host == run.host] or block
        if same:
            pairs.append((run.metrics[metric], [b.metrics[metric] for b in same]))
    if len(pairs) < _FEWEST_PAIRS or any(v <= 0 or min(others) <= 0 for v, others in pairs):
        return None
    means = [geometric_mean(others) for _, others in pairs]
    return ratio_interval([value for value, _ in pairs], means)


def _fit(metric: str, told: Sequence[SweptRun], *, has_hosts: bool) -> FactorialFit | None:
    """Return the effects of the factors; None if the runs are too few."""
    runs = [run for run in told if run.cell is not None]
    if not runs:
        return None
    levels = np.array([run.cell for run in runs], dtype=int)
    try:
        return fit_factorial(
            levels,
            [run.block for run in runs],
            np.array([run.metrics[metric] for run in runs]),
            [run.host for run in runs] if has_hosts else (),
        )
    except ValueError:
        return None


def _warnings(experiment: Sweep, catalogue: Catalogue, outcome: Outcome) -> list[str]:
    warnings = [
        f"Factor {factor} changes {', '.join([*knobs][:-1])} and {[*knobs][-1]} together, so this "
        "experiment cannot show the effect of each knob alone."
        for factor, knobs in experiment.factors.items()
        if len(knobs) > 1 and not compares_winner(experiment)
    ]
    same: dict[Config, tuple[int, ...]] = {}
    for cell, config in outcome.configs.items():
        asked = experiment.values(cell, catalogue)
        for name, value in asked.items():
            if config[name] != value:
                warnings.append(
                    f"the engine changes the value of {name} from {value} to {config[name]}"
                )
        if config in same:
            warnings.append(
                f"the combinations {_cell(experiment, catalogue, same[config])} and "
                f"{_cell(experiment, catalogue, cell)} run with the same config, so this "
                "experiment cannot compare these combinations"
            )
        same.setdefault(config, cell)
    for failed, reason in dict(outcome.failures).items():
        count = sum(cell == failed for cell, _ in outcome.failures)
        where = (
            "the baseline"
            if failed is None
            else f"the combination {_cell(experiment, catalogue, failed)}"
        )
        warnings.append(f"{where} failed {count} of {experiment.repeats} times: {reason}")
    if few := too_few_flushes(run.metrics for run in outcome.runs):
        warnings.append(flushes_text(few, len(outcome.runs)))
    if disturbed := disturbed_text(sum(run.is_disturbed for run in outcome.runs)):
        warnings.append(disturbed)
    return list(dict.fromkeys(warnings))


def _cell(experiment: Sweep, catalogue: Catalogue, cell: tuple[int, ...]) -> str:
    names = experiment.level_names(catalogue).values()
    return "/".join(levels[level] for levels, level in zip(names, cell, strict=True))
