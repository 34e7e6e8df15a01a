"""One adapter that makes samplers of Optuna optimizers of lsmtune."""

from collections.abc import Callable, Sequence

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState, create_trial

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.random_search import RandomSearch

_TRIES = 20
_FEWEST_SHARE = 0.2
_TRIALS_A_KNOB = 4
"""With this many trials a knob the sampler's proposals are taken whole."""
_IN_RANGE = "in range"
_CONSTRAINT = "limits"

optuna.logging.set_verbosity(optuna.logging.WARNING)

MakeSampler = Callable[[int], BaseSampler]
"""Makes a sampler from a seed."""


class OptunaOptimizer:
    """A sampler of Optuna, asked with the history as its finished trials.

    The advised starts of the space come first, then neighbours of the best config so far until
    `startup` trials are measured: a dozen random configs tell too little in 25 dimensions. After
    that the sampler proposes. While the history is short for the number of knobs, only some knobs,
    drawn at random, take the proposed value and the others keep the best config's, as in
    dynamically dimensioned search (Tolson & Shoemaker 2007) and TuRBO (Eriksson et al. 2019).
    What comes out is made legal; a config that has been tried gives way to another draw.
    """

    def __init__(self, name: str, summary: str, startup: int, make_sampler: MakeSampler) -> None:
        self.name = name
        self.summary = summary
        self._startup = startup
        self._make_sampler = make_sampler

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next config to try, as the class says."""
        tried = seen(history)
        history = [told for told in history if _fits(space, told.config)]
        if (start := next((s for s in space.starts() if s not in tried), None)) is not None:
            return start
        if sum(observation.value is not None for observation in history) <= self._startup:
            return _new_neighbour(space, history, tried, seed)
        distributions = _distributions(space.knobs)
        study = self._study(space, history, distributions, seed)
        rng = np.random.default_rng([seed, len(history), 1])
        best = min((o for o in history if o.value is not None), key=_rank).config
        share = max(_FEWEST_SHARE, len(history) / (_TRIALS_A_KNOB * len(space.knobs)))
        for _ in range(_TRIES):
            proposed = _values(space.knobs, study.ask(distributions).params)
            taken = {name: value for name, value in proposed.items() if rng.random() < share}
            config = space.legalise({**best, **taken})
            if config not in tried:
                return config
        return _new_neighbour(space, history, tried, seed)

    def _study(
        self,
        space: KnobSpace,
        history: Sequence[Observation],
        distributions: dict[str, BaseDistribution],
        seed: int,
    ) -> optuna.Study:
        sampler_seed = int(np.random.default_rng([seed, len(history)]).integers(2**31))
        study = optuna.create_study(sampler=self._make_sampler(sampler_seed))
        study.add_trials([_told(space.knobs, seen_, distributions) for seen_ in history])
        return study


def tpe() -> OptunaOptimizer:
    """Multivariate tree-structured Parzen estimator (Bergstra et al. 2011, Falkner et al. 2018)."""

    def make(seed: int) -> BaseSampler:
        return TPESampler(multivariate=True, n_startup_trials=1, seed=seed)

    return OptunaOptimizer(
        "tpe", "multivariate tree-structured Parzen estimator (Optuna); the default", 8, make
    )


def _fits(space: KnobSpace, config: Config) -> bool:
    """Whether the space has such values: an earlier host may have allowed others."""
    return all(knob.allows(config[knob.name]) for knob in space.knobs)


def _new_neighbour(
    space: KnobSpace, history: Sequence[Observation], tried: frozenset[Config], seed: int
) -> Config:
    """An untried neighbour of the best config so far; a random config where there is none."""
    rng = np.random.default_rng([seed, len(history)])
    measured = [observation for observation in history if observation.value is not None]
    best = min(measured, key=_rank, default=None)
    if best is not None:
        for _ in range(_TRIES):
            if (config := space.neighbour(best.config, rng)) not in tried:
                return config
    return RandomSearch().ask(space, history, seed)


def _rank(observation: Observation) -> float:
    """The value, made worse by as much as the worst limit is exceeded."""
    value = float("inf") if observation.value is None else observation.value
    return value * (1 + max(0.0, observation.violation or 0.0))


def _told(
    knobs: Sequence[Knob], observation: Observation, distributions: dict[str, BaseDistribution]
) -> FrozenTrial:
    failed = observation.value is None
    return create_trial(
        state=TrialState.FAIL if failed else TrialState.COMPLETE,
        value=observation.value,
        params=_params(knobs, observation.config),
        distributions=distributions,
        constraints=None if failed else {_CONSTRAINT: observation.violation or 0.0},
    )


def _distributions(knobs: Sequence[Knob]) -> dict[str, BaseDistribution]:
    found: dict[str, BaseDistribution] = {}
    for knob in knobs:
        found[knob.name] = _distribution(knob)
        if knob.special:
            found[_special_name(knob)] = CategoricalDistribution([_IN_RANGE, *knob.special_values])
    return found


def _distribution(knob: Knob) -> BaseDistribution:
    if not knob.is_range:
        return CategoricalDistribution(knob.values)
    low, high = knob.bounds()
    if knob.kind == "int":
        return IntDistribution(int(low), int(high), log=knob.log)
    return FloatDistribution(low, high, log=knob.log)


def _special_name(knob: Knob) -> str:
    return f"{knob.name}:special"


def _values(knobs: Sequence[Knob], params: dict[str, Value]) -> dict[str, Value]:
    return {
        knob.name: special
        if (special := params.get(_special_name(knob), _IN_RANGE)) != _IN_RANGE
        else params[knob.name]
        for knob in knobs
    }


def _params(knobs: Sequence[Knob], config: Config) -> dict[str, Value]:
    """The config in Optuna's terms; a special value leaves its range at the middle."""
    params: dict[str, Value] = {}
    for knob in knobs:
        value = config[knob.name]
        special = knob.is_range and value in knob.special_values
        params[knob.name] = _middle(knob) if special else value
        if knob.special:
            params[_special_name(knob)] = value if special else _IN_RANGE
    return params


def _middle(knob: Knob) -> int | float:
    low, high = knob.bounds()
    return knob.clip((low * high) ** 0.5 if knob.log else (low + high) / 2)
