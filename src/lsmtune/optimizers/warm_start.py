"""A search that begins with what an earlier study of a similar load has found."""

from collections.abc import Iterator, Sequence

import numpy as np

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.mapping import Measured, distances
from lsmtune.optimizers.base import Observation, Optimizer, seen
from lsmtune.optimizers.earlier import Earlier
from lsmtune.optimizers.expectation import expectation
from lsmtune.optimizers.gp_ucb import GpUcb
from lsmtune.optimizers.points import Points

_STARTS = 4
"""So many of the earlier study's configs are tried here, while it is like this one."""
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
        self._studies = tuple(studies)

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A config of the earlier study while it is like this one, then the search's own."""
        study = _nearest(space, self._studies, history)
        if len(history) <= _STARTS:
            tried = seen(history)
            start = next((c for c in _best(space, study, history) if c not in tried), None)
            if start is not None:
                return start
        if isinstance(self._search, GpUcb):
            return self._search.ask_beside(space, history, seed, study)
        return self._search.ask(space, history, seed)


def _best(space: KnobSpace, study: Earlier, history: Sequence[Observation]) -> Iterator[Config]:
    """The earlier study's configs within its limits, made legal, those first that promise most.

    None once it proves unlike this one.
    """
    within = [o for o in study.observations if o.is_measured and (o.violation or 0.0) <= 0]
    configs = list(dict.fromkeys(o.config for o in within))
    expected = expectation(space, history, study)
    if expected is None or not configs or not expected.is_alike:
        return
    mean, _ = expected.predict(Points(space.knobs).places(configs))
    for at in np.argsort(mean.mean(axis=1), kind="stable"):
        yield space.adopted(configs[at])


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
