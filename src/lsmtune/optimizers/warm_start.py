"""A search that begins with what an earlier study of a similar load has found."""

from collections.abc import Sequence

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, Optimizer, seen
from lsmtune.optimizers.earlier import Earlier, Trend, best_configs, nearest, trend
from lsmtune.optimizers.gp_ucb import GpUcb

_STARTS = 4
"""So many of the earlier study's best configs are tried here."""
_PATIENCE = 2
"""So many of them in a row may lose to the base before the rest are left out."""


class WarmStart:
    """Tries the best configs of the earlier study whose load is most alike, then searches.

    Which study that is follows from all that was measured, anew before each trial. Its data stay
    with `gp-ucb` as a trend, for as long as they explain what is measured here; any other
    optimizer has the configs alone.
    """

    def __init__(self, search: Optimizer, studies: Sequence[Earlier]) -> None:
        self.name = search.name
        self.summary = search.summary
        self._search = search
        self._studies = tuple(studies)
        self._trends: dict[str, Trend | None] = {}

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A config of the earlier study while they do well, then the search's own."""
        study = nearest(space, self._studies, history)
        found = self._trend(space, study)
        if found is None:
            return self._search.ask(space, history, seed)
        tried = seen(history)
        for start in best_configs(space, study, found, _STARTS):
            if start not in tried and not _loses(history):
                return start
        if isinstance(self._search, GpUcb):
            return self._search.ask_along(space, history, seed, found)
        return self._search.ask(space, history, seed)

    def _trend(self, space: KnobSpace, study: Earlier) -> Trend | None:
        """The study's trend, which nothing that happens here changes: made once."""
        if study.study not in self._trends:
            self._trends[study.study] = trend(space, study)
        return self._trends[study.study]


def _loses(history: Sequence[Observation]) -> bool:
    """Whether starts are over: as many as there are, or too many in a row below the base."""
    trials = history[1:]
    last = trials[-_PATIENCE:]
    lost = len(last) == _PATIENCE and all(o.value is None or o.value >= 1 for o in last)
    return len(trials) >= _STARTS or lost
