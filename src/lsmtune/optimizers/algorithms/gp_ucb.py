"""A Gaussian process with an upper confidence bound, as AutoTiKV and OtterTune have it, made right.

OtterTune: Van Aken, Pavlo, Gordon, Zhang (SIGMOD 2017); AutoTiKV: Wang (2019). The bound is
that of Srinivas, Krause, Kakade, Seeger (2010). Values are minimised here: it is a lower one.
"""

from collections.abc import Sequence
from math import log, sqrt
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.learning.factors import Floats
from lsmtune.optimizers.algorithms.random import RandomSearch
from lsmtune.optimizers.base import Earlier, Observation, seen
from lsmtune.optimizers.expectation import Expectation, expectation, joined
from lsmtune.optimizers.judgement import chebyshev
from lsmtune.optimizers.opening import ENOUGH, opening
from lsmtune.optimizers.points import CandidateSearch


class UcbOptions(BaseModel):
    """What can be asked of the optimizer: `gp-ucb:ucb=3,schedule=growing`.

    `ucb` is how many standard deviations a config is given for being unknown. The schedule keeps
    it, lets it grow with the logarithm of the trials, as the theory has it, or fall with their
    number. The `start` is what is advised and neighbours of it, or ten random configs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    ucb: float = Field(default=1.0, ge=0, le=100, description="0 to 100")
    schedule: Literal["constant", "growing", "falling"] = Field(
        default="constant", description="constant, growing, falling"
    )
    start: Literal["advised", "random"] = Field(default="advised", description="advised, random")

    def at(self, trials: int) -> float:
        """The coefficient after so many trials."""
        if self.schedule == "growing":
            return self.ucb * sqrt(log(max(trials, 3)) / log(ENOUGH))
        if self.schedule == "falling":
            return self.ucb * sqrt(ENOUGH / max(trials, ENOUGH))
        return self.ucb


class GpUcb:
    """Goes where the fitted process expects little, or knows little.

    The process has a length scale a knob, on the knobs' own scales, with categories without order.
    Candidates are spread over the space and near the best configs; the most promising are made
    legal and refined by smaller and smaller steps. Of several goals each proposal follows one
    random weighing (Knowles 2006).
    """

    name = "gp-ucb"
    summary = "Gaussian process with a confidence bound, based on OtterTune and AutoTiKV"

    _random_starts = 10

    def __init__(self, options: UcbOptions | None = None) -> None:
        self._options = options or UcbOptions()

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A start while there are any, then the config with the lowest bound."""
        if (first := self._start(space, history, seed)) is not None:
            return first
        return self._lowest(space, history, seed, expectation(space, history))

    def ask_beside(
        self, space: KnobSpace, history: Sequence[Observation], seed: int, earlier: Earlier
    ) -> Config:
        """As `ask`, with an earlier study's runs beside the history's while it is like this one."""
        expected = joined(space, history, earlier)
        if expected is None or not expected.is_known_before:
            return self.ask_alone(space, history, seed, expected)
        return self._lowest(space, history, seed, expected)

    def ask_alone(
        self,
        space: KnobSpace,
        history: Sequence[Observation],
        seed: int,
        expected: Expectation | None,
    ) -> Config:
        """As `ask`, with what the history alone leads to expect at hand."""
        first = self._start(space, history, seed)
        return first or self._lowest(space, history, seed, expected)

    def _lowest(
        self,
        space: KnobSpace,
        history: Sequence[Observation],
        seed: int,
        expected: Expectation | None,
    ) -> Config:
        if expected is None:
            return RandomSearch().ask(space, history, seed)
        values, rng = expected.values, np.random.default_rng([seed, len(history)])
        weights = rng.dirichlet(np.ones(values.shape[1]))
        ranked = np.argsort(chebyshev(values, values, weights), kind="stable")
        coefficient = self._options.at(len(history) - 1)

        def bound(places: Floats) -> Floats:
            mean, deviation = expected.predict(places)
            return chebyshev(mean - coefficient * deviation, values, weights)

        search = CandidateSearch(space, bound, seen(history), rng)
        return search.lowest(expected.places[ranked]) or RandomSearch().ask(space, history, seed)

    def _start(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config | None:
        if self._options.start == "advised":
            return opening(space, history, np.random.default_rng([seed, len(history)]), seed)
        if len(history) <= self._random_starts:
            return RandomSearch().ask(space, history, seed)
        return None


make = GpUcb
