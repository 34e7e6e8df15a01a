"""What earlier studies measured, and which of them was under a load like this one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.learning.mapping import Measured, distances
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.points import Points

FEWEST = 5
"""Measured runs without which an earlier study tells nothing."""
_ALL_RUNS = 30
"""So many runs of the study that goes on are enough to tell its load."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier study's runs in the knobs of the space that is searched now, its base first.

    The values are of the objective that is asked for now, against that study's own base.
    """

    study: str
    observations: tuple[Observation, ...]


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
