"""A search that begins with what an earlier study of a similar load has found."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.mapping import Measured, distances
from lsmtune.optimizers.algorithms.gp_ucb import GpUcb
from lsmtune.optimizers.base import Earlier, Observation, Optimizer, seen
from lsmtune.optimizers.expectation import joined
from lsmtune.optimizers.judgement import chosen_trials
from lsmtune.optimizers.points import Points

_STARTS = 2
"""So many of the earlier study's configs are tried here, while it is like this one."""
_MOST_RUNS = 500
"""So many runs of an earlier study are looked at."""
_ALL_RUNS = 30
"""So many runs of the study that goes on are enough to tell its load."""


class WarmStart:
    """Tries the best configs of the earlier study whose load is most alike, then searches.

    Which study that is follows from all that was measured, anew before each trial. `gp-ucb` goes
    on with its runs beside its own; any other optimizer has the configs alone.
    """

    def __init__(self, search: Optimizer, studies: Sequence[Earlier]) -> None:
        self.name = search.name
        self.summary = search.summary
        self._search = search
        self._studies = tuple(
            replace(study, observations=tuple(chosen_trials(study.observations, _MOST_RUNS)))
            for study in studies
        )

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A config of the earlier study while it is like this one, then the search's own."""
        study = _nearest(space, self._studies, history)
        if len(history) <= _STARTS:
            start = _best(space, study, history)
            if start is not None:
                return start
        if isinstance(self._search, GpUcb):
            return self._search.ask_beside(space, history, seed, study)
        return self._search.ask(space, history, seed)


def _best(space: KnobSpace, study: Earlier, history: Sequence[Observation]) -> Config | None:
    """The config of the earlier study, within its limits and made legal, that promises most.

    None where it is unlike this one, or none promises more than the best so far.
    """
    within = [o for o in study.observations if o.is_measured and (o.violation or 0.0) <= 0]
    legal = dict.fromkeys(space.adopted(o.config) for o in within)
    configs = [config for config in legal if config not in seen(history)]
    expected = joined(space, history, study)
    if expected is None or not configs or not expected.is_known_before:
        return None
    mean, _ = expected.predict(Points(space.knobs).places(configs))
    promised = mean.mean(axis=1)
    best = int(np.argmin(promised))
    return configs[best] if promised[best] < expected.values.mean(axis=1).min() else None


def _nearest(
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
