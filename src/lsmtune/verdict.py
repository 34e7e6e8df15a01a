"""Whether pairs of runs show a gain: the one place that decides what lsmtune may claim."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Limit, Metrics, Objective
from lsmtune.stats import Interval, geometric_mean, ratio_interval

Pair = tuple[Metrics, Metrics]
"""The metrics of best and base, measured together under one workload seed."""


class LimitCheck(BaseModel):
    """A limit and the mean use of it over the pairs: above 1 it is broken."""

    model_config = ConfigDict(frozen=True)
    limit: str
    use: float
    holds: bool


class Verdict(BaseModel):
    """What the pairs show. Every ratio is best / base; `objective` is below 1 for a gain.

    `claim` is "gain" only if the objective's whole interval lies below 1 and every limit holds.
    `better` and `worse` name the objective's metrics whose own interval excludes 1. A metric
    that was zero in any run has no ratio.
    """

    model_config = ConfigDict(frozen=True)
    pairs: int
    claim: Literal["gain", "no gain"]
    objective: Interval
    ratios: dict[str, Interval]
    better: tuple[str, ...]
    worse: tuple[str, ...]
    limits: tuple[LimitCheck, ...]

    @property
    def half_width(self) -> float:
        """The objective's interval as a share: 0.05 reads ± 5 %."""
        return self.objective.relative_half_width


def judge(pairs: Sequence[Pair], objective: Objective) -> Verdict:
    """The verdict over at least two pairs (t-intervals of 95 % on the log ratios)."""
    values = [objective.value(best, base) for best, base in pairs]
    overall = ratio_interval(values, [1.0] * len(values))
    ratios = {name: _ratio(name, pairs) for name in METRICS if _has_ratio(name, pairs)}
    limits = tuple(_check(limit, pairs) for limit in objective.limits)
    asked = {name: ratios[name] for name in objective.metrics if name in ratios}
    return Verdict(
        pairs=len(pairs),
        claim="gain" if overall.high < 1 and all(limit.holds for limit in limits) else "no gain",
        objective=overall,
        ratios=ratios,
        better=tuple(name for name, ratio in asked.items() if _gain(name, ratio).high < 1),
        worse=tuple(name for name, ratio in asked.items() if _gain(name, ratio).low > 1),
        limits=limits,
    )


def _has_ratio(name: str, pairs: Sequence[Pair]) -> bool:
    return all(run.get(name, 0) > 0 for pair in pairs for run in pair)


def _ratio(name: str, pairs: Sequence[Pair]) -> Interval:
    return ratio_interval([best[name] for best, _ in pairs], [base[name] for _, base in pairs])


def _gain(name: str, ratio: Interval) -> Interval:
    if METRICS[name].better == "higher":
        return Interval(1 / ratio.median, 1 / ratio.high, 1 / ratio.low)
    return ratio


def _check(limit: Limit, pairs: Sequence[Pair]) -> LimitCheck:
    use = geometric_mean([limit.ratio(best, base) for best, base in pairs])
    return LimitCheck(limit=str(limit), use=use, holds=use <= 1)
