"""The contract of an optimizer: ask with a history, get a config."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config


@dataclass(frozen=True, slots=True)
class Observation:
    """What became of a config: the canonical one, that really ran.

    `value` is the objective (lower is better, 1 is the base) and `violation` by how much the
    worst limit was exceeded (at most 0: none was); both None for a failed trial. The base is
    part of the history.
    """

    config: Config
    value: float | None
    violation: float | None


class Optimizer(Protocol):
    """Decides which config to try next. The same history and seed give the same config.

    `ask` returns a legal, canonical config of the space that is not in the history while the
    space has others. It does no I/O and keeps nothing between calls.
    """

    name: str
    summary: str

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next config to try."""


def seen(history: Sequence[Observation]) -> frozenset[Config]:
    """The configs that have been tried."""
    return frozenset(observation.config for observation in history)
