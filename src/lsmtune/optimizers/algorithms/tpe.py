"""The tree-structured Parzen estimator: what good configs have in common that others have not."""

from collections.abc import Sequence

import numpy as np
from optuna.samplers import BaseSampler, TPESampler

from lsmtune.knobs.types import Knob
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.judgement import chosen_trials
from lsmtune.optimizers.optuna_adapter import Choice, OptunaOptimizer

_FEWEST_SHARE = 0.2
_TRIALS_A_KNOB = 4
"""With this many trials a knob the proposals are taken whole."""
_MOST_TRIALS = 500
"""It learns from so many trials. With more of them too few knobs would get a proposal."""
_MOST_VALUES = 5000
_VALUES_A_KNOB = 50
"""A proposal is made from so many values of tried configs, each knob counting for some more: that
bounds its work, to some hundredths of a second."""


def tpe() -> OptunaOptimizer:
    """Multivariate TPE (Bergstra et al. 2011, Falkner et al. 2018; Ozaki et al. 2022).

    While the history is short for the number of knobs, only some, drawn at random, take the
    proposed value, as in dynamically dimensioned search (Tolson & Shoemaker 2007) and TuRBO
    (Eriksson et al. 2019). They are proposed together with knobs that do not: in few dimensions
    TPE explores, in many it stays close to what was good.
    """
    summary = (
        "multivariate tree-structured Parzen estimator (Optuna); default for workloads "
        "that the simulator cannot run"
    )
    return OptunaOptimizer("tpe", summary, _sampler, choose, _selected)


def choose(knobs: Sequence[Knob], trials: int, rng: np.random.Generator) -> Choice:
    """As many knobs as the work allows; of them a share that grows with the history is taken."""
    drawn = [knobs[i] for i in rng.permutation(len(knobs))]
    share = max(_FEWEST_SHARE, trials / (_TRIALS_A_KNOB * len(knobs)))
    wanted = max(1, int(rng.binomial(len(knobs), min(1, share))))
    asked = drawn[: max(1, _MOST_VALUES // (_VALUES_A_KNOB + trials))]
    return Choice(asked, asked[:wanted])


def _selected(history: Sequence[Observation]) -> Sequence[Observation]:
    return chosen_trials(history, _MOST_TRIALS)


def _sampler(seed: int) -> BaseSampler:
    # Pending runs are in the history already, scored as failed.
    return TPESampler(multivariate=True, n_startup_trials=1, constant_liar=False, seed=seed)


make = tpe
