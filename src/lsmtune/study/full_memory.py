"""Memory of the full-size tree: what a run showed of it, and the limit on it."""

from fractions import Fraction

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.limits import Limit
from lsmtune.objective import Metrics
from lsmtune.rule import SizeRule
from lsmtune.spec import StudySettings
from lsmtune.units import parse_size

MEMORY = "memory_bytes"
"""Metric of the memory of the full-size tree."""
_READERS = "table_readers_bytes"
"""Metric of the index and filter blocks outside the block cache, in the tree of the run."""
_TOLERANCE = 1.02
"""A winner may exceed the limit by 2 %, because the number of live records varies."""


def full_memory(space: KnobSpace, config: Config, metrics: Metrics, scale: Fraction) -> float:
    """Return the memory of the full-size tree with a config, in bytes.

    A run of the config at that scale gave the metrics. Measured index and filter blocks grow with
    the tree; without a measurement, they are estimated.
    """
    found = space.full_memory(config)
    if _READERS not in metrics:
        return float(found.total)
    return found.memtables + found.caches + metrics[_READERS] / float(scale)


def memory_limits(spec: StudySettings, rule: SizeRule | None) -> tuple[Limit, ...]:
    """Return the limit on the measured memory of a new study; none for experiments."""
    if rule is None or spec.screen or spec.sweep or spec.online:
        return ()
    if spec.memory is None:
        return (Limit(MEMORY, "<=", _TOLERANCE, times_base=True),)
    return (Limit(MEMORY, "<=", _TOLERANCE * parse_size(spec.memory, "memory"), times_base=False),)
