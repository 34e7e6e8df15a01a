"""One adapter that makes samplers of Optuna optimizers of lsmtune.

A knob becomes a parameter of its name. One with special values becomes two: a choice between
them and the range, and the range, in whose middle a config with a special value stands.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.judgement import incumbent, judged
from lsmtune.optimizers.opening import nearby, opening, within

_TRIES = 10
_CONSTRAINT = "limits"

optuna.logging.set_verbosity(optuna.logging.WARNING)

MakeSampler = Callable[[int], BaseSampler]
"""Makes a sampler from a seed."""


@dataclass(frozen=True, slots=True)
class Choice:
    """For which knobs the sampler proposes values, and which of them take theirs."""

    asked: Sequence[Knob]
    taken: Sequence[Knob]


Choose = Callable[[Sequence[Knob], int, np.random.Generator], Choice]
"""Chooses among the knobs, given how many trials the sampler has."""

Select = Callable[[Sequence[Observation]], Sequence[Observation]]
"""Selects the trials that the sampler has: with thousands of them an ask would take too long."""


class OptunaOptimizer:
    """A sampler of Optuna, asked with the history as its finished trials.

    After the opening the sampler proposes; knobs that `choose` does not let take the proposed value
    keep that of the best config. What comes out is made legal; a config that has been tried gives
    way to another.
    """

    def __init__(
        self, name: str, summary: str, make_sampler: MakeSampler, choose: Choose, select: Select
    ) -> None:
        self.name = name
        self.summary = summary
        self._make_sampler = make_sampler
        self._choose = choose
        self._select = select

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next config to try, as the class says."""
        rng = np.random.default_rng([seed, len(history)])
        if (first := opening(space, history, rng, seed)) is not None:
            return first
        if (best := incumbent(history, rng)) is None:
            return nearby(space, history, rng, seed)
        kept, tried = within(space, best), seen(history)
        sampler = self._make_sampler(int(rng.integers(2**31)))
        learnt = self._select(history)
        told = _Finished(learnt)
        for _ in range(_TRIES):
            choice = self._choose(space.knobs, len(learnt), rng)
            config = space.legalise({**kept, **_proposed(sampler, choice, told)})
            if config not in tried:
                return config
        return nearby(space, history, rng, seed)


class _Told(InMemoryStorage):
    """A storage with given trials, which it neither checks nor copies: that took most of an ask."""

    def __init__(self, trials: list[FrozenTrial]) -> None:
        super().__init__()
        self._trials = trials

    def get_all_trials(
        self, study_id: int, deepcopy: bool = True, states: Container[TrialState] | None = None
    ) -> list[FrozenTrial]:
        """The given trials, themselves."""
        return [trial for trial in self._trials if states is None or trial.state in states]


class _Finished:
    """A history as finished trials of some of the knobs."""

    def __init__(self, history: Sequence[Observation]) -> None:
        self._judged = judged(history)
        self._knobs: Sequence[Knob] = ()
        self._trials: list[FrozenTrial] = []

    def trials(self, knobs: Sequence[Knob]) -> list[FrozenTrial]:
        """The trials, without configs that this host does not allow.

        Asked for the same knobs again, it gives the same trials: to make them takes most of an ask.
        """
        if knobs != self._knobs:
            self._knobs, self._trials = knobs, []
            params = to_params(knobs, [told.config for told in self._judged])
            for told, values in zip(self._judged, params, strict=True):
                if values is not None:
                    trial = _trial(len(self._trials), TrialState.COMPLETE)
                    trial.values = told.values
                    trial.params = values
                    trial.set_constraint(_CONSTRAINT, told.violation)
                    self._trials.append(trial)
        return self._trials


def _proposed(sampler: BaseSampler, choice: Choice, told: _Finished) -> dict[str, Value]:
    """What the sampler proposes, of the knobs that take it.

    The methods that Optuna documents for samplers are called as its own `ask` calls them.
    """
    trials = told.trials(choice.asked)
    goals = len(trials[0].values) if trials else 1
    study = optuna.create_study(
        storage=_Told(trials), sampler=sampler, directions=["minimize"] * goals
    )
    asked = _trial(len(trials), TrialState.RUNNING)
    space = distributions(choice.asked)
    params = sampler.sample_relative(study, asked, space)
    for name, distribution in space.items():
        if name not in params:
            params[name] = sampler.sample_independent(study, asked, name, distribution)
    return to_values(choice.taken, params)


def _trial(number: int, state: TrialState) -> FrozenTrial:
    return FrozenTrial(
        number=number, trial_id=number, state=state, value=None, params={}, distributions={},
        user_attrs={}, system_attrs={}, intermediate_values={},
        datetime_start=None, datetime_complete=None,
    )  # fmt: skip


_IN_RANGE = "in range"
_MOST_COUNTED = 64
"""Whole numbers of a wider range are taken for a continuum, which costs a tenth of the time."""


def distributions(knobs: Sequence[Knob]) -> dict[str, BaseDistribution]:
    """The parameters of the knobs, those with a single value left out."""
    found: dict[str, BaseDistribution] = {}
    for knob in knobs:
        found[knob.name] = _distribution(knob)
        if knob.special:
            found[_special_name(knob)] = CategoricalDistribution([_IN_RANGE, *knob.special_values])
    return {name: distribution for name, distribution in found.items() if not distribution.single()}


def to_params(
    knobs: Sequence[Knob], configs: Sequence[Mapping[str, Value]]
) -> list[dict[str, Value] | None]:
    """The parameters that stand for each config's values of these knobs.

    None for a config with a value that a search would not draw: an earlier host may have allowed
    it. Each value is looked at once, however many configs have it.
    """
    codes = [
        {value: _code(knob, value) for value in {config[knob.name] for config in configs}}
        for knob in knobs
    ]
    return [
        _joined(code[config[knob.name]] for knob, code in zip(knobs, codes, strict=True))
        for config in configs
    ]


def to_values(knobs: Sequence[Knob], params: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the knobs that the parameters stand for."""
    values: dict[str, Value] = {}
    for knob in knobs:
        special = params.get(_special_name(knob), _IN_RANGE)
        if special != _IN_RANGE:
            values[knob.name] = special
        elif knob.name in params:
            value = params[knob.name]
            values[knob.name] = knob.clip(float(value)) if knob.is_range else value
    return values


def _distribution(knob: Knob) -> BaseDistribution:
    if not knob.is_range:
        return CategoricalDistribution(knob.drawn)
    low, high = knob.bounds()
    if knob.kind == "int" and high - low < _MOST_COUNTED:
        return IntDistribution(int(low), int(high), log=knob.log)
    return FloatDistribution(low, high, log=knob.log)


def _code(knob: Knob, value: Value) -> dict[str, Value] | None:
    if not knob.allows(value) or not (knob.is_range or value in knob.drawn):
        return None
    if not knob.special:
        return {knob.name: value}
    if value in knob.special_values:
        return {knob.name: _middle(knob), _special_name(knob): value}
    return {knob.name: value, _special_name(knob): _IN_RANGE}


def _joined(codes: Iterable[dict[str, Value] | None]) -> dict[str, Value] | None:
    joined: dict[str, Value] = {}
    for code in codes:
        if code is None:
            return None
        joined |= code
    return joined


def _special_name(knob: Knob) -> str:
    return f"{knob.name}:special"


def _middle(knob: Knob) -> int | float:
    low, high = knob.bounds()
    return knob.clip((low * high) ** 0.5 if knob.log else (low + high) / 2)
