"""NSGA-II: crossing of the configs that no other dominates."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from optuna.samplers import BaseSampler, NSGAIISampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from lsmtune.knobs.types import Knob
from lsmtune.optimizers.base import Observation, ended
from lsmtune.optimizers.judgement import best_first
from lsmtune.optimizers.optuna_adapter import Choice, OptunaOptimizer

_POPULATION = 8
"""Small, so that budgets of some dozen trials see generations."""
_MOST_TRIALS = 1000
"""So many trials are told to the sampler one by one."""


def nsga2() -> OptunaOptimizer:
    """Non-dominated sorting genetic algorithm (Deb et al. 2002), for one goal or several."""
    summary = "genetic algorithm NSGA-II (Optuna), for several objectives"
    return OptunaOptimizer("nsga2", summary, _sampler, _all, _newest_generations)


class _NumberedGenerations(NSGAIISampler):
    """NSGA-II whose generations follow from the order of the trials of one history."""

    def __init__(self, seed: int) -> None:
        super().__init__(population_size=_POPULATION, seed=seed)
        self._parents: list[list[FrozenTrial]] = [[]]

    def get_trial_generation(self, study: Study, trial: FrozenTrial) -> int:
        """The trials in groups of the population's size."""
        return trial.number // _POPULATION

    def get_population(self, study: Study, generation: int) -> list[FrozenTrial]:
        """The trials of that group."""
        return study.get_trials(deepcopy=False)[generation * _POPULATION :][:_POPULATION]

    def get_parent_population(self, study: Study, generation: int) -> list[FrozenTrial]:
        """The parents of that group, selected group by group.

        Optuna's own method calls itself once per group, which exceeds Python's recursion limit
        after some thousand trials.
        """
        while len(self._parents) <= generation:
            self._parents.append(self.select_parent(study, len(self._parents)))
        return self._parents[generation]


def _sampler(seed: int) -> BaseSampler:
    return _NumberedGenerations(seed)


def _newest_generations(history: Sequence[Observation]) -> Sequence[Observation]:
    """The newest trials in whole generations, after the best of all earlier ones.

    These are what the selection would keep of the earlier ones: with one goal exactly.
    """
    history = ended(history)
    first = max(0, len(history) - _MOST_TRIALS) // _POPULATION * _POPULATION
    best = islice(best_first(history[:first]), _POPULATION)
    return [*(history[at] for at in best), *history[first:]]


def _all(knobs: Sequence[Knob], _: int, __: np.random.Generator) -> Choice:
    return Choice(knobs, knobs)


make = nsga2
