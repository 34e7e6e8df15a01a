"""Model of screened runs that replaces the engine: thousands of trials in minutes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np

from lsmtune.batch import BatchLine
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.models import Fitted, fitted_model
from lsmtune.limits import LATENCIES_OF_COUNTS, known_limits
from lsmtune.objective import Metrics, Objective, median_metrics, run_noise
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.points import Points

MODEL = "gradient boosting"
"""Neither a Gaussian process nor a forest: it favours none of the optimizers."""
_FEWEST = 100
_SEED = 1


@dataclass(frozen=True)
class Modelled:
    """Predictions of what the engine measures for a config, learnt from screened runs.

    `_slack` is the factor by which each metric of a run may differ by chance (see `run_noise`).
    """

    space: KnobSpace
    objective: Objective
    _slack: Metrics
    _points: Points
    _models: Mapping[str, Fitted]

    @cached_property
    def noise(self) -> Metrics:
        """Standard deviation of the logarithm of each metric over runs of one config."""
        return {name: log(self._slack.get(name, 1.0)) / 2 for name in self._models}

    def metrics(self, config: Config) -> dict[str, float]:
        """Return the expected metrics, without noise."""
        row = self._points.matrix([config])
        return {name: float(model.predict(row)[0]) for name, model in self._models.items()}

    def run(self, config: Config, rng: np.random.Generator) -> dict[str, float]:
        """Return the metrics of a run, with the noise of the engine's runs."""
        expected = self.metrics(config)
        return {n: v * float(np.exp(rng.normal(0, self.noise[n]))) for n, v in expected.items()}

    def observe(self, config: Config, run: Metrics, base: Metrics) -> Observation:
        """Return a run for the optimizer; limits are violated only beyond the noise."""
        values, violation = self.objective.values(run, base), self._violation(run, base)
        return Observation(config, values, violation, metrics=run)

    def _violation(self, run: Metrics, base: Metrics) -> float:
        return self.objective.violation(run, base, self._slack)

    def first(self, rng: np.random.Generator, runs: int) -> tuple[Observation, Metrics]:
        """Return the baseline, measured `runs` times, and its medians."""
        config = self.space.default()
        found = [self.run(config, rng) for _ in range(runs)]
        base = median_metrics(found)
        values = tuple(self.objective.values(run, base) for run in found)
        return replace(self.observe(config, base, base), runs=values), base

    def cost(self, config: Config) -> float:
        """Return the noise-free cost of a config; 1, the baseline's, if it violates limits."""
        expected, base = self.metrics(config), self.metrics(self.space.default())
        if self._violation(expected, base) > 0:
            return 1.0
        return self.objective.value(expected, base)


def modelled(
    lines: Sequence[BatchLine], catalogue: Catalogue, space: KnobSpace, objective: Objective
) -> Modelled:
    """Return the model of measured lines, whose knobs have the scale of the space.

    UserError if there are too few lines or if they lack a metric of the objective. A limit on
    a missing metric is left out.
    """
    groups = _by_config(lines, catalogue, space)
    if len(groups) < _FEWEST:
        raise UserError(
            f"compare: {len(groups)} screened configs are too few for a model; at least {_FEWEST} "
            "are needed (`lsmtune screen` measures more)"
        )
    runs = [line.metrics for group in groups.values() for line in group]
    known = set.intersection(*(set(metrics) for metrics in runs))
    if missing := [name for name in objective.metrics if name not in known]:
        raise UserError(
            f"compare: the screened runs have no value of {', '.join(missing)}; available metrics: "
            f"{', '.join(sorted(known))}"
        )
    # Filters can avoid all lookups for missing keys. The model has no zeros.
    zero_counts = {n for n in LATENCIES_OF_COUNTS if any(run.get(n) == 0 for run in runs)}
    asked = replace(objective, limits=known_limits(objective.limits, known - zero_counts))
    names = dict.fromkeys([*asked.metrics, *(limit.metric for limit in asked.limits)])
    if zero := [name for name in names if any(metrics[name] <= 0 for metrics in runs)]:
        raise UserError(
            f"compare: the metric {zero[0]} is 0 in some screened runs, but the model needs "
            "values above 0; use another metric"
        )
    seen_space = _as_screened(space, list(groups))
    points = Points(seen_space.knobs)
    matrix = points.matrix(list(groups))
    medians = [median_metrics([line.metrics for line in group]) for group in groups.values()]
    models = {
        name: fitted_model(MODEL, _SEED, matrix, np.array([median[name] for median in medians]))
        for name in names
    }
    repeated = [[line.metrics for line in group] for group in groups.values() if len(group) > 1]
    return Modelled(seen_space, asked, run_noise(repeated, of_runs=1), points, models)


def _by_config(
    lines: Sequence[BatchLine], catalogue: Catalogue, space: KnobSpace
) -> dict[Config, list[BatchLine]]:
    defaults = {knob.name: knob.default for knob in catalogue.knobs}
    groups: dict[Config, list[BatchLine]] = {}
    for line in lines:
        if line.metrics:
            names = (knob.name for knob in space.knobs)
            config = Config({name: line.knobs.get(name, defaults[name]) for name in names})
            groups.setdefault(config, []).append(line)
    return groups


def _as_screened(space: KnobSpace, configs: Sequence[Config]) -> KnobSpace:
    """Return the space with only the screened choices; the model cannot predict others."""
    knobs = (
        knob.restricted(tuple({config[knob.name] for config in configs}))
        if knob.kind == "categorical"
        else knob
        for knob in space.knobs
    )
    return replace(space, knobs=tuple(knobs))
