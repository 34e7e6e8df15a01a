"""Importance of knobs: which knobs change which metric, from measured runs to records."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from lsmtune.analysis.measurable import too_few_flushes
from lsmtune.batch import BatchLine
from lsmtune.engine_traits import predicts
from lsmtune.errors import UserError
from lsmtune.host_levels import HOST, THIS_MACHINE
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Knob
from lsmtune.learning.effects import GroupMean, Interaction, interactions, main_effect
from lsmtune.learning.factors import Cell, Design, Factor, Floats
from lsmtune.learning.importance import cross_validated, lasso_ranks, mdi, ped_anova, permutation
from lsmtune.learning.models import FOREST, Accuracy, fitted_model, forest, held_out_accuracy
from lsmtune.learning.variance import Noise, multi_factor, noise, one_way_p
from lsmtune.metrics.definitions import METRICS
from lsmtune.stats import Interval
from lsmtune.study_keys import DEFAULT_ENGINE
from lsmtune.workloads import Workload

LOAD_FACTORS = ("num", "key_size", "value_size", "threads", "compression_ratio")
"""Parameters of the workload that are factors if they vary."""

SIGNIFICANT = 0.05
NOTABLE = 0.01
"""A knob that explains less than this share of the variance is of no use for tuning."""
MIN_R2 = 0.3
"""Below this held-out R² the model predicts so little that its order of knobs is chance."""

MANY_CONFIGS = 200
"""With more configs, one cross-validation judges each model on enough runs."""
_FEWEST_CONFIGS = 30
_INTERACTING = 5
_RANKING_MODEL = "extra trees"


@dataclass(frozen=True, slots=True)
class KnobImportance:
    """Importance of one knob for one metric, by every method.

    `permutation` is the loss of held-out R² without the knob. `mdi`, `ped_anova` and
    `eta_squared` are shares of 1. `anova_p` tests the knob alone, `multi_p` among all knobs
    (corrected for their number). `effect` holds the means by value.
    """

    knob: str
    mdi: float
    permutation: Interval
    ped_anova: float
    anova_p: float
    multi_p: float
    eta_squared: float
    lasso_rank: int
    effect: tuple[GroupMean, ...]

    @property
    def is_seen(self) -> bool:
        """True if the model predicts notably worse without the knob."""
        return self.permutation.low > 0 and self.permutation.median >= NOTABLE

    @property
    def is_significant(self) -> bool:
        """True if the analysis of variance over all knobs finds a main effect."""
        return self.multi_p < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class MetricImportance:
    """One metric: how well it can be predicted, and its knobs, the most important first.

    `model` was chosen by cross-validation. `accuracy` is measured on runs that the model has not
    seen. `forest_r2` is that of the paper's random forest over the same folds, `r2_oob` its
    out-of-bag estimate. `noise` is None if no config ran twice. `runs` have a value of the metric,
    and `missing_runs` have none.
    """

    metric: str
    model: str
    accuracy: Accuracy
    forest_r2: Interval
    r2_oob: float
    noise: Noise | None
    knobs: tuple[KnobImportance, ...]
    interactions: tuple[Interaction, ...]
    runs: int = 0
    missing_runs: int = 0

    @property
    def is_predictable(self) -> bool:
        """True if the model predicts well enough to name knobs."""
        return self.accuracy.r2.median >= MIN_R2


@dataclass(frozen=True, slots=True)
class Importance:
    """Importance for all metrics of one set of runs.

    `load_factors` are varied parameters of the workload. `ranking` orders the knobs over all
    metrics. `engine` is the engine that ran, or "simulated". `few_flushes` is the number of runs
    that wrote too little to measure write amplification. `hosts` are the hosts that ran, if they
    are several whose speed matters. Then the host is a factor.
    """

    runs: int
    configs: int
    failed: int
    load_factors: tuple[str, ...]
    ranking: tuple[str, ...]
    metrics: tuple[MetricImportance, ...]
    engine: str = DEFAULT_ENGINE
    few_flushes: int = 0
    hosts: tuple[str, ...] = ()

    @property
    def other_factors(self) -> tuple[str, ...]:
        """Factors that are no knobs: parameters of the workload, and the host."""
        return _other_factors(self.load_factors, self.hosts)

    @property
    def is_simulated(self) -> bool:
        """True if the runs were simulated, not measured."""
        return predicts(self.engine)

    def top(self, count: int) -> tuple[str, ...]:
        """Return the first knobs of the ranking."""
        return self.ranking[:count]

    def headline_knobs(self, count: int = 3) -> tuple[str, ...]:
        """Return the knobs that a headline may name; none if no metric can be predicted.

        A named knob is needed to predict at least one metric. Metrics below `MIN_R2` are left out.
        """
        shares: dict[str, float] = {}
        for metric in filter(lambda metric: metric.is_predictable, self.metrics):
            total = sum(max(0.0, knob.permutation.median) for knob in metric.knobs) or 1.0
            for knob in metric.knobs:
                if knob.is_seen and knob.knob not in self.other_factors:
                    share = knob.permutation.median / total
                    shares[knob.knob] = shares.get(knob.knob, 0.0) + share
        return tuple(sorted(shares, key=lambda name: -shares[name])[:count])


def _other_factors(load: tuple[str, ...], hosts: tuple[str, ...]) -> tuple[str, ...]:
    return (*load, HOST) if hosts else load


@dataclass(frozen=True)
class Runs:
    """Measured runs as a table: factors and metrics of the first run of each config.

    A metric can be analysed if at least `fewest` configs have a value of it. The `hosts` are those
    of `Importance`.
    """

    design: Design
    load_factors: tuple[str, ...]
    first: tuple[BatchLine, ...]
    groups: tuple[tuple[BatchLine, ...], ...]
    failed: int
    catalogue: Catalogue
    fewest: int
    hosts: tuple[str, ...] = ()

    @property
    def other_factors(self) -> tuple[str, ...]:
        """Factors that are no knobs: parameters of the workload, and the host."""
        return _other_factors(self.load_factors, self.hosts)

    @property
    def number(self) -> int:
        """Number of the runs."""
        return sum(map(len, self.groups))

    @property
    def metrics(self) -> list[str]:
        """Metrics that enough configs have."""
        names = ({name for run in group for name in run.metrics} for group in self.groups)
        found = Counter(name for of_config in names for name in of_config)
        return sorted(name for name, configs in found.items() if configs >= self.fewest)

    def having(self, metric: str) -> "Runs":
        """Return the runs with a value of the metric; UserError if too few configs have one."""
        lines = [line for group in self.groups for line in group if metric in line.metrics]
        if len(lines) == self.number:
            return self
        if metric not in self.metrics:
            raise UserError(
                f"metric {metric!r}: fewer than {self.fewest} configs have a value of this metric; "
                f"use another metric: {', '.join(self.metrics) or 'none has enough values'}"
            )
        return runs_of(lines, self.catalogue, self.fewest)

    def outcome(self, metric: str) -> Floats:
        """Return the metric of each first run; each run must have it (`having`)."""
        return np.array([line.metrics[metric] for line in self.first])

    def noise(self, metric: str) -> Noise | None:
        """Return the noise of the metric, from the configs that ran more than once on a host."""
        values: dict[tuple[int, str], list[float]] = {}
        for place, group in enumerate(self.groups):
            for line in group:
                host = _host(line) if self.hosts else ""
                values.setdefault((place, host), []).append(line.metrics[metric])
        return noise(list(values.values()), self.outcome(metric))


def runs_of(
    lines: Iterable[BatchLine], catalogue: Catalogue, fewest: int = _FEWEST_CONFIGS
) -> Runs:
    """Return the runs as a table; UserError if there are too few or if no knob varies."""
    groups: dict[str, list[BatchLine]] = {}
    failed = 0
    for line in lines:
        if line.metrics:
            key = f"{sorted(line.knobs.items())} {line.workload.model_dump_json()}"
            groups.setdefault(key, []).append(line)
        else:
            failed += 1
    first = tuple(group[0] for group in groups.values())
    if len(first) < fewest:
        raise UserError(
            f"importance: the ranking needs at least {fewest} measured configs, but only "
            f"{len(first)} were measured; measure more configs with `lsmtune screen`"
        )
    load = [f for name in LOAD_FACTORS if (f := _load_factor(name, first)) is not None]
    knobs = [f for knob in catalogue.knobs if (f := _knob_factor(knob, first)) is not None]
    if not knobs:
        raise UserError(
            "importance: every knob has the same value in all runs; measure different values with "
            "`lsmtune screen`"
        )
    names = tuple(factor.name for factor in load)
    runs = tuple(map(tuple, groups.values()))
    hosts = several_hosts((_host(line) for group in runs for line in group), catalogue.engine)
    of_first = tuple(map(_host, first))
    varies = bool(hosts) and len(set(of_first)) > 1
    host = [Factor(HOST, of_first, ordered=False)] if varies else []
    design = Design((*knobs, *load, *host))
    return Runs(design, names, first, runs, failed, catalogue, fewest, hosts)


def several_hosts(names: Iterable[str], engine: str) -> tuple[str, ...]:
    """Return the hosts of runs if they are several whose speed matters, else none."""
    hosts = tuple(sorted(set(names)))
    return () if len(hosts) == 1 or predicts(engine) else hosts


def _host(line: BatchLine) -> str:
    return line.host or THIS_MACHINE


def _knob_factor(knob: Knob, lines: Sequence[BatchLine]) -> Factor | None:
    cells: tuple[Cell, ...] = tuple(line.knobs.get(knob.name, knob.default) for line in lines)
    if len(set(cells)) == 1:
        return None
    special = tuple(cell for cell in set(cells) if knob.is_range and _is_special(knob, cell))
    return Factor(knob.name, cells, knob.is_range, knob.log, special, knob.unit)


def _is_special(knob: Knob, cell: Cell) -> bool:
    """Return whether a value has no place on the knob's scale: a logarithm needs more than 0."""
    has_no_logarithm = knob.log and not isinstance(cell, str) and cell <= 0
    return cell in knob.special_values or has_no_logarithm


def _load_factor(name: str, lines: Sequence[BatchLine]) -> Factor | None:
    cells = tuple(_parameter(line.workload, name) for line in lines)
    return None if len(set(cells)) == 1 else Factor(name, cells, ordered=True)


def _parameter(workload: Workload, name: str) -> float | int:
    value: float | int = getattr(workload, name)
    return value


def knob_ranking(runs: Runs, metrics: Sequence[str], seed: int = 1) -> tuple[str, ...]:
    """Return the knobs in order of importance; each metric has the same weight.

    Importance is the held-out R² that extra trees lose without the knob. This is quick and ranks
    no worse than the model that predicts best.
    """
    shares = dict.fromkeys((factor.name for factor in runs.design.factors), 0.0)
    for metric in metrics:
        found = runs.having(metric)
        rankings = 1 if len(found.first) > MANY_CONFIGS else 2
        falls = permutation(found.design, found.outcome(metric), _RANKING_MODEL, rankings, seed)
        total = sum(max(0.0, fall.median) for fall in falls) or 1.0
        for factor, fall in zip(found.design.factors, falls, strict=True):
            shares[factor.name] += max(0.0, fall.median) / total
    knobs = [name for name in shares if name not in runs.other_factors]
    return tuple(sorted(knobs, key=lambda name: -shares[name]))


def lasso_ranking(runs: Runs, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the knobs in the order of the Lasso path; each metric has the same weight.

    OtterTune ranks knobs this way (Van Aken et al. 2017). It does not find interactions.
    """
    names = [factor.name for factor in runs.design.factors]
    places = dict.fromkeys(names, 0)
    for metric in metrics:
        found = runs.having(metric)
        ranks = lasso_ranks(found.design, found.outcome(metric))
        placed = {f.name: rank for f, rank in zip(found.design.factors, ranks, strict=True)}
        for name in names:
            places[name] += placed.get(name, len(names))  # the last if these runs do not vary it
    knobs = [name for name in names if name not in runs.other_factors]
    return tuple(sorted(knobs, key=lambda name: places[name]))


def usual_repeats(runs: Runs) -> int:
    """Return the usual number of cross-validations."""
    return 1 if len(runs.first) > MANY_CONFIGS else 3


def find_importance(runs: Runs, metrics: Sequence[str], repeats: int, seed: int = 1) -> Importance:
    """Return the importance of every factor; `repeats` is the number of cross-validations."""
    found = tuple(_metric_importance(runs, metric, repeats, seed) for metric in metrics)
    ranking = knob_ranking(runs, metrics, seed)
    return Importance(
        runs.number,
        len(runs.first),
        runs.failed,
        runs.load_factors,
        ranking,
        found,
        runs.catalogue.engine,
        too_few_flushes(line.metrics for group in runs.groups for line in group),
        runs.hosts,
    )


def _metric_importance(measured: Runs, metric: str, repeats: int, seed: int) -> MetricImportance:
    runs = measured.having(metric)
    design, outcome = runs.design, runs.outcome(metric)
    matrix = design.matrix
    accuracy, falls = cross_validated(design, outcome, repeats, seed)
    fitted_forest = forest(seed).fit(matrix, outcome)
    fitted = fitted_model(accuracy.model, seed, matrix, outcome)
    order = sorted(range(len(falls)), key=lambda place: -falls[place].median)
    by_impurity = mdi(design, fitted_forest)
    best = ped_anova(design, outcome, lower_is_better=METRICS[metric].better != "higher")
    shares, ranks = multi_factor(design, outcome), lasso_ranks(design, outcome)
    knobs = tuple(
        KnobImportance(
            knob=design.factors[place].name,
            mdi=float(by_impurity[place]),
            permutation=falls[place],
            ped_anova=float(best[place]),
            anova_p=one_way_p(design.factors[place], outcome),
            multi_p=shares[place].p,
            eta_squared=shares[place].eta_squared,
            lasso_rank=ranks[place],
            effect=tuple(main_effect(design, place, outcome, fitted, seed)),
        )
        for place in order
    )
    return MetricImportance(
        metric=metric,
        model=accuracy.model,
        accuracy=accuracy,
        forest_r2=held_out_accuracy(FOREST, matrix, outcome, repeats, seed),
        r2_oob=float(fitted_forest.oob_score_),
        noise=runs.noise(metric),
        knobs=knobs,
        interactions=tuple(interactions(design, order[:_INTERACTING], fitted, seed)),
        runs=runs.number,
        missing_runs=measured.number - runs.number,
    )


def importance_document(importance: Importance) -> dict[str, object]:
    """Return the importance as a JSON document."""
    return {
        "runs": importance.runs,
        "configs": importance.configs,
        "failed": importance.failed,
        "few_flushes": importance.few_flushes,
        "load_factors": list(importance.load_factors),
        **({"hosts": list(importance.hosts)} if importance.hosts else {}),
        "top": list(importance.top(6)),
        "metrics": {metric.metric: _metric_document(metric) for metric in importance.metrics},
    }


def _metric_document(metric: MetricImportance) -> Mapping[str, object]:
    return {
        "runs": metric.runs,
        "missing_runs": metric.missing_runs,
        "model": metric.model,
        "models_chosen": metric.accuracy.chosen,
        "r2_holdout": asdict(metric.accuracy.r2),
        "r2_holdout_forest": asdict(metric.forest_r2),
        "r2_oob": metric.r2_oob,
        "noise": metric.noise and metric.noise.relative,
        "r2_ceiling": metric.noise and asdict(metric.noise.ceiling),
        "knobs": [
            {
                "knob": k.knob, "mdi": k.mdi, "permutation": k.permutation.median,
                "permutation_low": k.permutation.low, "permutation_high": k.permutation.high,
                "anova_p": k.anova_p, "anova_multi_p": k.multi_p, "eta_squared": k.eta_squared,
                "ped_anova": k.ped_anova, "lasso_rank": k.lasso_rank,
                "effect": [
                    {"values": g.group, "runs": g.runs, "mean": asdict(g.mean),
                     "modelled": g.modelled}
                    for g in k.effect
                ],
            }
            for k in metric.knobs
        ],
        "interactions": [
            {"knobs": [i.first, i.second], "strength": i.strength, "rows": i.rows,
             "columns": i.columns, "cells": i.cells}
            for i in metric.interactions
        ],
    }  # fmt: skip
