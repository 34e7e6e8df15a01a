"""One adapter that makes samplers of Optuna optimizers of lsmtune."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np
import optuna
from optuna.samplers import BaseSampler
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.encoding import distributions, to_params, to_values
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
