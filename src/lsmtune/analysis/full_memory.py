"""Memory of the full-size tree with the winner of a study."""

from dataclasses import dataclass

from lsmtune.knobs.memory import Memory
from lsmtune.spaces import KnobSpaces
from lsmtune.study.ranking import Candidate

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class FullMemory:
    """The memory that a full-size tree needs at most, in bytes.

    `estimate` has it by consumer, and `measured_bytes` is the sum with the measured size of filters
    and indexes; None without a measurement. `keys` is the number of distinct keys; None if it is
    unknown.
    """

    estimate: Memory
    measured_bytes: float | None
    limit_bytes: int
    keys: float | None

    @property
    def table_bytes_per_million_keys(self) -> float:
        """Bytes of filters and indexes outside the block cache per million keys."""
        tables = self.estimate.filters + self.estimate.indexes
        return tables * _MILLION / self.keys if self.keys else 0.0


def full_memory_of(spaces: KnobSpaces, winner: Candidate | None) -> FullMemory | None:
    """Return the memory with the winner; None without one, and if the study does not check it."""
    if winner is None or spaces.ground.rule is None:
        return None
    space = spaces.at()
    limit = space.full_size.memory
    records = limit.records
    return FullMemory(
        space.full_memory(winner.trial.config),
        winner.metrics.get("memory_bytes"),
        limit.limit_bytes,
        None if records is None else records.count,
    )
