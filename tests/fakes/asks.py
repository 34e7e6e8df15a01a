"""An optimizer that asks for what it was told to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation


@dataclass
class Asks:
    """Asks for what it was told to, one after the other."""

    wanted: Sequence[Config]
    name: str = "asks"
    summary: str = ""
    histories: list[list[Observation]] = field(default_factory=list)

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        self.histories.append(list(history))
        return self.wanted[len(self.histories) - 1]
