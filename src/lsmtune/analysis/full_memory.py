"""Memory of the full-size tree with the winner of a study, and the size of its block cache."""

from dataclasses import dataclass

from lsmtune.analysis.ground import ground_of
from lsmtune.knobs.memory import Memory
from lsmtune.spaces import assumed_cache_bytes, knob_space
from lsmtune.spec import StudySpec
from lsmtune.store.ranking import Candidate
from lsmtune.store.records import StoredStudy

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


def full_memory_of(
    study: StoredStudy, spec: StudySpec, winner: Candidate | None
) -> FullMemory | None:
    """Return the memory with the winner; None without one, and if the study does not check it."""
    if winner is None or study.rule is None or study.base is None:
        return None
    space = knob_space(spec, ground_of(spec, study.base, study.rule))
    limit = space.full_size.memory
    records = limit.records
    return FullMemory(
        space.full_memory(winner.trial.config),
        winner.metrics.get("memory_bytes"),
        limit.limit_bytes,
        None if records is None else records.count,
    )


def assumed_cache_of(study: StoredStudy, spec: StudySpec) -> int | None:
    """Return the size of the block cache that lsmtune assumed for the user's file, if it did."""
    if study.base is None:
        return None
    return assumed_cache_bytes(spec, ground_of(spec, study.base, study.rule))
