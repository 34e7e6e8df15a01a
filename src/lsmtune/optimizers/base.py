"""The contract of an optimizer: ask with a history, get a config."""

import math
from collections.abc import Mapping, Sequence
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
