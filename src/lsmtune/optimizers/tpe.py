"""The tree-structured Parzen estimator: what good configs have in common that others have not."""

from collections.abc import Sequence

import numpy as np
from optuna.samplers import BaseSampler, TPESampler

from lsmtune.knobs.types import Knob
from lsmtune.optimizers.optuna_adapter import OptunaOptimizer

_FEWEST_SHARE = 0.2
_TRIALS_A_KNOB = 4
"""With this many trials a knob the sampler proposes for all knobs, up to the most."""
_MOST_KNOBS = 26
"""Bounds the work of a proposal."""


def tpe() -> OptunaOptimizer:
    """Multivariate TPE (Bergstra et al. 2011, Falkner et al. 2018; Ozaki et al. 2022).

    While the history is short for the number of knobs, only some, drawn at random, are proposed
    for, as in dynamically dimensioned search (Tolson & Shoemaker 2007) and TuRBO (Eriksson et
    al. 2019).
    """
    summary = "multivariate tree-structured Parzen estimator (Optuna); the default"
    return OptunaOptimizer("tpe", summary, _sampler, choose)


def choose(knobs: Sequence[Knob], trials: int, rng: np.random.Generator) -> list[Knob]:
    """A random share of the knobs that grows with the history; at least one of them."""
    share = max(_FEWEST_SHARE, trials / (_TRIALS_A_KNOB * len(knobs)))
    wanted = int(np.clip(rng.binomial(len(knobs), min(1, share)), 1, _MOST_KNOBS))
    return [knobs[i] for i in sorted(rng.choice(len(knobs), wanted, replace=False))]


def _sampler(seed: int) -> BaseSampler:
    # Nothing runs while we ask, so that there is nobody to tell liars' values.
    return TPESampler(multivariate=True, n_startup_trials=1, constant_liar=False, seed=seed)
