"""Runs that are still under way when the next config is asked for.

An optimizer is a pure function of the history. Without pending runs in it, four hosts that ask at
once would get the same config. `with_pending` adds them, and each kind of optimizer uses them so:

- `guided` and `gp-ucb`, also after a warm start: the Gaussian process assumes that a pending run
  results in what the process predicts (Desautels, Krause, Burdick: GP-BUCB, 2014; "kriging
  believer": Ginsbourger, Le Riche, Carraro, 2010). The predicted means stay the same, and configs
  near a pending one are less uncertain. Neither the fit of the process nor the comparison of
  `guided` with a process without simulator sees an invented value.
- `tpe` and `gp-ucb-autotikv`: a pending run is scored as a failed one, the worst. This is the
  constant liar of Optuna's TPE, whose pending trials are always among the bad ones.
- `nsga2`, `genetic` and `cdbtune` select parents and learn from ended runs only. `bestconfig` and
  `genetic-jin2022` count a pending run as a member of its round, ranked last.
- `random` only avoids pending configs.

A pending run is never the best config so far, and the advised starts and their neighbours go on
until eight runs have ended with values. A fixed value for Gaussian processes was rejected: until
something is measured it is the baseline's, which says that every prediction of the simulator is
wrong. The expectation over possible results (BoTorch, Ax) needs random samples per ask; it would
save little, since means stay the same here too.

Limits: with a host for each trial, a search learns nothing. Pending runs that have the order of
rounds or generations take their places at the end of the history, whichever ends first.
"""

from collections.abc import Iterable, Sequence

from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, seen


def with_pending(history: Sequence[Observation], pending: Iterable[Config]) -> list[Observation]:
    """Return the history with pending runs at its end.

    `pending` are the configs under way, in any order: they are sorted by hash. A config that has
    ended in the history is left out. Without pending configs the history is returned unchanged.
    """
    waiting = frozenset(pending)
    # The tried configs are many, and mostly nothing waits.
    open_ = waiting - seen(history) if waiting else waiting
    added = sorted(open_, key=lambda config: config.hash)
    return [*history, *(Observation(config, None, None, pending=True) for config in added)]


def ended(history: Sequence[Observation]) -> Sequence[Observation]:
    """Return the history without its pending runs."""
    return [observation for observation in history if not observation.pending]


def pending_configs(history: Sequence[Observation]) -> list[Config]:
    """Return the configs of the pending runs of a history."""
    return [observation.config for observation in history if observation.pending]
