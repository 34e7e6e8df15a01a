"""What a winner costs: the metrics that are proven worse."""

import re
from dataclasses import dataclass
from math import log

from lsmtune.metrics.definitions import METRICS
from lsmtune.stats import Interval
from lsmtune.verdict import Verdict, side_of

_LATENCY = re.compile(r"(.+)_(mean|p75|p999|p9999)_us")
"""Metrics of latencies other than p50 and p99."""


_ENOUGH = 6
"""This number of pairs proves a change from 0: by chance, one of 64 studies would show it."""
LEAST_COST = 0.005
"""A smaller relative change costs nobody anything, also if it is proven."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A metric that is proven worse: winner / baseline.

    If the baseline has 0, there is no ratio but the `value` of the winner.
    """

    metric: str
    ratio: Interval | None
    value: float | None = None


def costs_of(verdict: Verdict | None) -> tuple[Cost, ...]:
    """Return the metrics that are proven worse by 0.5 % or more; of the same, one."""
    if verdict is None:
        return ()
    found = {
        name: ratio
        for name, ratio in verdict.ratios.items()
        if METRICS[name].better is not None
        and side_of(name, ratio) == "worse"
        and abs(ratio.median - 1) >= LEAST_COST
    }
    added = {
        name: value
        for name, value in verdict.from_zero.items()
        if METRICS[name].better == "lower" and verdict.pairs >= _ENOUGH
    }
    worse = {*found, *added}
    ranked = sorted(found.items(), key=lambda item: -abs(log(item[1].median)))
    costs = [*(Cost(name, None, value) for name, value in added.items()),
             *(Cost(name, ratio) for name, ratio in ranked)]  # fmt: skip
    return tuple(cost for cost in costs if not _is_told(cost.metric, worse))


def _is_told(name: str, worse: set[str]) -> bool:
    """Return whether p50 or p99 of the same operations says the same."""
    found = _LATENCY.fullmatch(name)
    return found is not None and not worse.isdisjoint({f"{found[1]}_p50_us", f"{found[1]}_p99_us"})
