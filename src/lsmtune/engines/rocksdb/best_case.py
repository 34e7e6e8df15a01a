"""Bounds of a running trial: the best value that each metric can still reach."""

import math
from dataclasses import dataclass

from lsmtune.workloads import Records, Workload

_BEFORE_THE_LOAD_S = 0.5
"""Upper bound of the time of db_bench from opening the database to the first operation."""
_PRINTABLE_CHARACTERS = 95
_DICTIONARY_SHARE = 0.9
"""Share of the values that a dictionary cannot save.

db_bench takes its values from 1 MiB of text. A dictionary that lsmtune sets contains at most a
tenth of this text.
"""
_DRAWN_LESS = 0.98
"""Lower bound of distinct records of random writes, relative to the expected number (n >= 1000)."""


@dataclass(frozen=True, slots=True)
class SoFar:
    """Progress of a trial: seconds of the load, seconds of load and settling, written bytes."""

    load_s: float
    total_s: float
    table_bytes: int
    peak_space_bytes: int


@dataclass(frozen=True, slots=True)
class BestCase:
    """Bounds of the metrics of a load: the final values cannot be better.

    Times and written bytes only grow. The live tables contain at least the entropy of the values:
    the share `compression_ratio` of each value is random printable characters (RandomString in
    util/random.cc), which no codec makes smaller than their entropy.
    """

    load: Workload

    def bounds(self, so_far: SoFar) -> dict[str, float]:
        """Return the bounds by metric."""
        load_s = max(0.0, so_far.load_s - _BEFORE_THE_LOAD_S)
        total_s = max(0.0, so_far.total_s - _BEFORE_THE_LOAD_S)
        operations = self.load.client_operations
        bounds = {
            "load_s": load_s,
            "total_s": total_s,
            "peak_space_bytes": float(so_far.peak_space_bytes),
        }
        if load_s > 0 and operations is not None:
            bounds["throughput_ops_s"] = operations * self.load.threads / load_s
            bounds["sustained_ops_s"] = operations * self.load.threads / total_s
        if (written := self.load.most_written_bytes) is not None:
            bounds["write_amp"] = so_far.table_bytes / written
        if (least := self.least_live_bytes()) is not None:
            bounds["live_sst_bytes"] = least
        return bounds

    def least_live_bytes(self) -> float | None:
        """Return the minimum size of the live tables after the load; None if it is unknown."""
        load = self.load
        definition = load.definition_of(Records)
        if not definition.keeps_all:
            return None
        if load.write_skew is not None and not definition.prepared:
            return None  # with few different keys, chance changes their number by more
        distinct = (load.distinct_bytes or 0.0) / load.record_bytes
        entropy = math.log2(_PRINTABLE_CHARACTERS) / 8
        value = load.value_size * load.compression_ratio * entropy * _DICTIONARY_SHARE
        return _DRAWN_LESS * distinct * value
