"""What earlier studies found: which of them is like this one, and what it leads to expect."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.learning.gaussian_process import GaussianProcess, fit_process
from lsmtune.learning.mapping import Measured, distances
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.outcomes import outcomes
from lsmtune.optimizers.points import Points

FEWEST = 5
"""Measured runs without which an earlier study tells nothing."""
_MOST_ROWS = 200
"""More rows of an earlier study are thinned out: a process takes the cube of them."""
_ALL_RUNS = 30
"""So many runs of the study that goes on are enough to tell its load."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier study's runs in the knobs of the space that is searched now, its base first.

    The values are of the objective that is asked for now, against that study's own base.
    """

    study: str
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """What an earlier study says of any config: how it stands among those that it has measured."""

    spread: float
    _points: Points
    _process: GaussianProcess
    _middle: float

    def at(self, places: Floats) -> Floats:
        """The expected logarithm of the value, in standard deviations from the study's mean."""
        mean, _ = self._process.predict(self._points.at(places))
        return (mean - self._middle) / self.spread


def trend(space: KnobSpace, earlier: Earlier) -> Trend | None:
    """The trend in an earlier study; None where it has too few runs, or all are alike."""
    configs, columns = outcomes(earlier.observations)
    values = columns.mean(axis=1)
    if len(values) < FEWEST or float(np.std(values)) == 0:
        return None
    rng, order = np.random.default_rng(len(values)), np.argsort(values, kind="stable")
    kept = np.union1d(order[: _MOST_ROWS // 2], rng.permutation(order)[: _MOST_ROWS // 2])
    points = Points(space.knobs)
    matrix, told = points.matrix([configs[at] for at in kept]), values[kept]
    process = fit_process(matrix, told, points.categorical)
    return Trend(float(np.std(told)), points, process, float(np.mean(told)))


def best_configs(space: KnobSpace, earlier: Earlier, found: Trend, count: int) -> list[Config]:
    """The configs of an earlier study that its trend expects most of, made legal here."""
    within = [o for o in earlier.observations if o.is_measured and (o.violation or 0.0) <= 0]
    configs = list(dict.fromkeys(o.config for o in within))
    if not configs:
        return []
    expected = found.at(Points(space.knobs).places(configs))
    ranked = [configs[at] for at in np.argsort(expected, kind="stable")]
    legal = (space.legalise(config) for config in ranked[: 2 * count])
    return [c for c in dict.fromkeys(legal) if c != space.default()][:count]


def nearest(
    space: KnobSpace, studies: Sequence[Earlier], history: Sequence[Observation]
) -> Earlier:
    """The study whose load is most like that of the history, by all that both have measured.

    The first of the studies where nothing can be compared.
    """
    here = [o for o in history if o.metrics][:_ALL_RUNS]
    there = [[o for o in study.observations if o.metrics] for study in studies]
    runs = [o.metrics for group in (here, *there) for o in group]
    if len(studies) == 1 or not here or not all(there):
        return studies[0]
    names = sorted(set.intersection(*(set(metrics) for metrics in runs)))
    if not names:
        return studies[0]
    points = Points(space.knobs)

    def measured(group: Sequence[Observation]) -> Measured:
        table = np.array([[o.metrics[name] for name in names] for o in group])
        return Measured(points.matrix([o.config for o in group]), table)

    far = distances(measured(here), [measured(group) for group in there])
    return studies[int(np.argmin(far))]
