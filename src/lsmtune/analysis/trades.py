"""What a winner costs, and what a default limit costs: better configs that break exactly one."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import log, sqrt

from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Objective
from lsmtune.stats import Interval
from lsmtune.study.history import History
from lsmtune.study.ranking import LEAST_PROBABILITY, Candidate, Scorer
from lsmtune.verdict import LimitCheck, Verdict, side_of

_MOST = 3
_ERRORS = 2
"""A better config is better by at least this number of standard errors."""
_LATENCY = re.compile(r"(.+)_(mean|p75|p999|p9999)_us")
"""Metrics of latencies other than p50 and p99."""


_ENOUGH = 6
"""This number of pairs proves a change from 0: by chance, one of 64 studies would show it."""
_PRICED = re.compile(
    r"write_amp|(live_sst|peak_space|memory)_bytes|cpu_us_per_op|capacity_ops_s|stall_s"
    r"|get_data_blocks|get_missing_data_blocks|scan_sorted_runs|\w+_(p50|p99|p999)_us"
)
"""Metrics that users pay for: a gain that makes one of them much worse has a price."""
_PRICE = 1.1
_BELOW_A_FLOOR = ("overload", "behind_s")
"""Metrics that say nothing while they are small; a limit says when they are large."""
LEAST_COST = 0.005
"""A smaller relative change costs nobody anything, also if it is proven."""


@dataclass(frozen=True, slots=True)
class Trade:
    """A config of the search that is better than the winner, and breaks one default limit.

    `value` is its objective / baseline over `runs` runs, and `ratios` have it for each metric of
    the objective. `check` is the limit.
    """

    trial: int
    runs: int
    value: float
    ratios: Mapping[str, float]
    check: LimitCheck


def trades(history: History, winner: Candidate | None) -> tuple[Trade, ...]:
    """Return at most three such configs, each for another limit, the best first.

    Without a winner, they are better than the baseline. A config that was verified is left out:
    its verification says more.
    """
    objective = history.objective
    if objective.pareto:
        return ()
    scorer, verdicts, found = history.scorer, history.verdicts, dict[str, Trade]()
    value, runs = (1.0, len(scorer.base_runs)) if winner is None else (winner.value, winner.runs)
    for candidate in history.candidates:
        error = scorer.value_deviation * sqrt(1 / candidate.runs + 1 / runs)
        if log(candidate.value) > log(value) - _ERRORS * error:
            continue
        broken = None if candidate.trial.number in verdicts else _only_broken(scorer, candidate)
        if broken is not None:
            found.setdefault(str(broken.limit), _trade(scorer, candidate, objective, broken))
    return tuple(found.values())[:_MOST]


def _only_broken(scorer: Scorer, candidate: Candidate) -> LimitCheck | None:
    """Return the one default limit that the candidate probably breaks, if it keeps the others."""
    chances = scorer.kept_each(candidate)
    broken = [place for place, chance in enumerate(chances) if chance <= 1 - LEAST_PROBABILITY]
    if len(broken) != 1 or not scorer.limits[broken[0]].default:
        return None
    others = 1.0
    for place, chance in enumerate(chances):
        others *= chance if place != broken[0] else 1.0
    return scorer.checks(candidate)[broken[0]] if others >= LEAST_PROBABILITY else None


def _trade(scorer: Scorer, candidate: Candidate, objective: Objective, broken: LimitCheck) -> Trade:
    ratios = {
        name: candidate.metrics[name] / scorer.base[name]
        for name in objective.metrics
        if scorer.base[name] > 0
    }
    return Trade(candidate.trial.number, candidate.runs, candidate.value, ratios, broken)


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
    costs = [] if verdict is None else _all_costs(verdict)
    worse = {cost.metric for cost in costs}
    return tuple(cost for cost in costs if not _is_told(cost.metric, worse))


def _all_costs(verdict: Verdict) -> list[Cost]:
    found = {
        name: ratio
        for name, ratio in verdict.ratios.items()
        if METRICS[name].better is not None
        and name not in _BELOW_A_FLOOR
        and side_of(name, ratio) == "worse"
        and abs(ratio.median - 1) >= LEAST_COST
    }
    added = {
        name: value
        for name, value in verdict.from_zero.items()
        if METRICS[name].better == "lower" and verdict.pairs >= _ENOUGH
    }
    ranked = sorted(found.items(), key=lambda item: -abs(log(item[1].median)))
    return [
        *(Cost(name, None, value) for name, value in added.items()),
        *(Cost(name, ratio) for name, ratio in ranked),
    ]


def price_of(verdict: Verdict | None) -> tuple[Cost, ...]:
    """Return the costs without a limit that are proven larger than a tenth, the worst first.

    A limit says already how much of a metric may be lost. The verdict stays as it is, so winner and
    exported file do not depend on the price.
    """
    if verdict is None:
        return ()
    limited = {check.limit.metric for check in verdict.limits}
    return tuple(
        cost
        for cost in _all_costs(verdict)
        if _PRICED.fullmatch(cost.metric)
        and cost.metric not in limited
        and (cost.ratio is None or turned(cost.metric, cost.ratio).low > _PRICE)
    )


def turned(name: str, ratio: Interval) -> Interval:
    """Return a ratio so that above 1 is worse for the metric."""
    if METRICS[name].better == "lower":
        return ratio
    return Interval(1 / ratio.median, 1 / ratio.high, 1 / ratio.low)


def _is_told(name: str, worse: set[str]) -> bool:
    """Return whether p50 or p99 of the same operations says the same."""
    found = _LATENCY.fullmatch(name)
    return found is not None and not worse.isdisjoint({f"{found[1]}_p50_us", f"{found[1]}_p99_us"})
