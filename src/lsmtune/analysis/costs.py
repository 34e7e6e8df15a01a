"""What a winner costs: the metrics that are proven worse."""

import re
from dataclasses import dataclass
from math import log

from lsmtune.metrics.definitions import METRICS
from lsmtune.stats import Interval
from lsmtune.verdict import Verdict, side_of

_LATENCY = re.compile(r"(.+)_(mean|p75|p999|p9999)_us")
"""Metrics of latencies other than p50 and p99."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A metric that is proven worse: winner / baseline."""

    metric: str
    ratio: Interval


def costs_of(verdict: Verdict | None) -> tuple[Cost, ...]:
    """Return the metrics that are proven worse, without those that say the same."""
    if verdict is None:
        return ()
    found = [
        Cost(name, ratio)
        for name, ratio in verdict.ratios.items()
        if METRICS[name].better is not None and side_of(name, ratio) == "worse"
    ]
    names = {cost.metric for cost in found}
    worse = [cost for cost in found if not _is_told(cost.metric, names)]
    return tuple(sorted(worse, key=lambda cost: -abs(log(cost.ratio.median))))


def _is_told(name: str, worse: set[str]) -> bool:
    """Return whether p50 or p99 of the same operations says the same."""
    found = _LATENCY.fullmatch(name)
    return found is not None and not worse.isdisjoint({f"{found[1]}_p50_us", f"{found[1]}_p99_us"})
