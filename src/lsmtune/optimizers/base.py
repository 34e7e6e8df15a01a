"""The contract of an optimizer: ask with a history and the pending runs, get a config."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config


@dataclass(frozen=True, slots=True)
class Observation:
    """What became of a config: the canonical one, that really ran.

    `values` has one number a goal (lower is better, 1 is the base) and `violation` says by how
    much the worst limit was exceeded (at most 0: none was); both are None for a failed trial.
    A trial that was `cut` ended early because it could no longer win: its values are only lower
    bounds of what it would have come to. The base is part of the history. `metrics` are all that
    the engine measured, by name; empty where nothing was. Of a config that ran several times
    `runs` are the values of each run: they tell how far two runs of one config differ. A `pending`
    run is still under way and has no values; `with_pending` adds it.
    """

    config: Config
    values: tuple[float, ...] | None
    violation: float | None
    cut: bool = False
    metrics: Mapping[str, float] = field(default_factory=dict)
    runs: tuple[tuple[float, ...], ...] = ()
    pending: bool = False

    @property
    def value(self) -> float | None:
        """The geometric mean of the values; with one goal that value. None for a failed trial."""
        return None if self.values is None else math.prod(self.values) ** (1 / len(self.values))

    @property
    def is_measured(self) -> bool:
        """Whether the values are what the config came to, not bounds of it."""
        return self.values is not None and not self.cut


class Optimizer(Protocol):
    """Decides which config to try next. The same history and seed give the same config.

    `ask` returns a legal, canonical config of the space that is not in the history while the
    space has others. It does no I/O and keeps nothing between calls, so a study that goes on asks
    again with its history. What a failed or a cut trial counts for is the optimizer's to decide:
    histories hold only what was measured.
    """

    name: str
    summary: str

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next config to try."""


def seen(history: Sequence[Observation]) -> frozenset[Config]:
    """The configs that have been tried."""
    return frozenset(observation.config for observation in history)


FEWEST = 5
"""Measured runs without which an earlier study tells nothing."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier study's runs in the knobs of the space that is searched now, its base first.

    The values are of the objective that is asked for now, against that study's own base.
    """

    study: str
    observations: tuple[Observation, ...]


def with_pending(history: Sequence[Observation], pending: Iterable[Config]) -> list[Observation]:
    """Return the history with pending runs at its end.

    `pending` are the configs under way, in any order: they are sorted by hash. A config that has
    ended in the history is left out. Without pending configs the history is returned unchanged.

    An optimizer is a pure function of the history. Without pending runs in it, four hosts that ask
    at once would get the same config. Each kind of optimizer uses them so:

    - `guided` and `gp-ucb`, also after a warm start: the Gaussian process assumes that a pending
      run results in what the process predicts (Desautels, Krause, Burdick: GP-BUCB, 2014; "kriging
      believer": Ginsbourger, Le Riche, Carraro, 2010). The predicted means stay the same, and
      configs near a pending one are less uncertain. Neither the fit of the process nor the
      comparison of `guided` with a process without simulator sees an invented value.
    - `tpe` and `gp-ucb-autotikv`: a pending run is scored as a failed one, the worst. This is the
      constant liar of Optuna's TPE, whose pending trials are always among the bad ones.
    - `nsga2`, `genetic` and `cdbtune` select parents and learn from ended runs only. `bestconfig`
      and `genetic-jin2022` count a pending run as a member of its round, ranked last.
    - `random` only avoids pending configs.

    A pending run is never the best config so far, and the advised starts and their neighbours go
    on until eight runs have ended with values. A fixed value for Gaussian processes was rejected:
    until something is measured it is the baseline's, which says that every prediction of the
    simulator is wrong. The expectation over possible results (BoTorch, Ax) needs random samples
    per ask; it would save little, since means stay the same here too.

    Limits: with a host for each trial, a search learns nothing. Pending runs that have the order
    of rounds or generations take their places at the end of the history, whichever ends first.
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
