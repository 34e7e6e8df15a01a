"""What a running trial can at best still reach: bounds that hold whatever happens next."""

import math
from dataclasses import dataclass

from lsmtune.workloads import Workload

_BEFORE_THE_LOAD_S = 0.5
"""More than db_bench takes between opening the database and the first operation."""
_PRINTABLE_CHARACTERS = 95
_DICTIONARY_SHARE = 0.9
"""What a dictionary cannot spare: db_bench cuts its values from 1 MiB of text, and no dictionary
that lsmtune sets holds more than a tenth of it."""
_DRAWN_LESS = 0.98
"""Random draws leave at most so many fewer distinct records than expected (n is >= 1000)."""


@dataclass(frozen=True, slots=True)
class SoFar:
    """How far a trial has come: seconds of load, and of load and settling, bytes made."""

    load_s: float
    total_s: float
    table_bytes: int
    peak_space_bytes: int


@dataclass(frozen=True, slots=True)
class BestCase:
    """The bounds of a load's metrics: none can be better in the end.

    Times and bytes written only grow, and so would the number of operations where it is not
    given. The live tables are
    no smaller than the records without what compression can take from db_bench's values: the
    share `compression_ratio` of each is random printable characters (RandomString in
    util/random.cc), which no codec makes smaller than their entropy.
    """

    load: Workload

    def bounds(self, so_far: SoFar) -> dict[str, float]:
        """The bounds by metric."""
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
        """The least that the load's live tables can take; None where that is unknown."""
        load = self.load
        if load.name not in ("fillrandom", "fillseq", "overwrite"):
            return None
        distinct = (load.distinct_bytes or 0.0) / load.record_bytes
        entropy = math.log2(_PRINTABLE_CHARACTERS) / 8
        value = load.value_size * load.compression_ratio * entropy * _DICTIONARY_SHARE
        return _DRAWN_LESS * distinct * value
