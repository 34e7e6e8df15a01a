"""NSGA-II: crossing of the configs that no other dominates."""

from collections.abc import Sequence

import numpy as np
from optuna.samplers import BaseSampler, NSGAIISampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from lsmtune.knobs.types import Knob
from lsmtune.optimizers.optuna_adapter import Choice, OptunaOptimizer

_POPULATION = 8
"""Small, so that budgets of some dozen trials see generations."""


def nsga2() -> OptunaOptimizer:
    """Non-dominated sorting genetic algorithm (Deb et al. 2002), for one goal or several."""
    summary = "genetic algorithm NSGA-II (Optuna), for several objectives"
    return OptunaOptimizer("nsga2", summary, _sampler, _all)


class _NumberedGenerations(NSGAIISampler):
    """NSGA-II whose generations follow from the order of the trials: nothing else is kept."""

    def get_trial_generation(self, study: Study, trial: FrozenTrial) -> int:
        """The trials in groups of the population's size."""
        return trial.number // _POPULATION

    def get_population(self, study: Study, generation: int) -> list[FrozenTrial]:
        """The trials of that group."""
        return study.get_trials(deepcopy=False)[generation * _POPULATION :][:_POPULATION]


def _sampler(seed: int) -> BaseSampler:
    return _NumberedGenerations(population_size=_POPULATION, seed=seed)


def _all(knobs: Sequence[Knob], _: int, __: np.random.Generator) -> Choice:
    return Choice(knobs, knobs)
