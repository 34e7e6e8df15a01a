"""Whether pairs of runs show a gain: the one place that decides what lsmtune may claim."""

from collections.abc import Sequence
from math import isinf
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Limit, Metrics, Objective
from lsmtune.stats import Interval, geometric_mean, ratio_interval

Pair = tuple[Metrics, Metrics]
"""The metrics of best and base, measured together under one workload seed."""

FEWEST = 2
"""Pairs without which there is no interval."""

UNKNOWN = Interval(1.0, 1e-9, 1e9)
"""Stands for a ratio that was not measured: it may be anything."""


class LimitCheck(BaseModel):
    """A limit and the mean use of it over the pairs: above 1 it is broken.

    A limit that could not be checked has no `use` and does not hold; `why` says what is missing.
    """

    model_config = ConfigDict(frozen=True)
    limit: str
    use: float | None
    holds: bool
    why: str | None = None


class Verdict(BaseModel):
    """What the pairs show. Every ratio is best / base; `objective` is below 1 for a gain.

    `goals` has the interval of each goal, below 1 for a gain too, and `objective` that of their
    geometric mean. `claim` is "gain" only if the objective's whole interval lies below 1, no
    goal's whole interval lies above 1, and every limit holds. `better` and `worse` name the
    objective's metrics whose own interval excludes 1. A metric that was zero or missing in any
    run has no ratio. `notes` say what could not be judged.
    """

    model_config = ConfigDict(frozen=True)
    pairs: int
    claim: Literal["gain", "no gain"]
    objective: Interval
    goals: dict[str, Interval]
    ratios: dict[str, Interval]
    better: tuple[str, ...]
    worse: tuple[str, ...]
    limits: tuple[LimitCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def half_width(self) -> float:
        """The objective's interval as a share: 0.05 reads ± 5 %."""
        return self.objective.relative_half_width

    @property
    def lost_goals(self) -> tuple[str, ...]:
        """Of several goals those that are shown to be worse than the base."""
        several = len(self.goals) > 1
        return tuple(name for name, goal in self.goals.items() if several and goal.low > 1)


def judge(pairs: Sequence[Pair], objective: Objective) -> Verdict:
    """The verdict over at least two pairs (t-intervals of 95 % on the log ratios).

    A pair in which a metric of the objective is missing does not count towards it.
    """
    if len(pairs) < FEWEST:
        raise ValueError(f"a verdict needs at least 2 pairs, got {len(pairs)}")
    counted = [pair for pair in pairs if not _lacking(objective.metrics, pair)]
    overall = _interval([objective.value(*pair) for pair in counted])
    goals = {
        goal.name: _interval([goal.value(*pair) for pair in counted]) for goal in objective.goals
    }
    ratios = {name: _ratio(name, pairs) for name in METRICS if _has_ratio(name, pairs)}
    limits = tuple(_check(limit, pairs) for limit in objective.limits)
    asked = {name: ratios[name] for name in objective.metrics if name in ratios}
    gain = (
        overall.high < 1
        and all(goal.low <= 1 for goal in goals.values())
        and all(limit.holds for limit in limits)
    )
    return Verdict(
        pairs=len(pairs),
        claim="gain" if gain else "no gain",
        objective=overall,
        goals=goals,
        ratios=ratios,
        better=tuple(name for name, ratio in asked.items() if _gain(name, ratio).high < 1),
        worse=tuple(name for name, ratio in asked.items() if _gain(name, ratio).low > 1),
        limits=limits,
        notes=tuple(_notes(objective, pairs)),
    )


def _interval(values: Sequence[float]) -> Interval:
    if len(values) < FEWEST:
        return UNKNOWN
    return ratio_interval(values, [1.0] * len(values))


def _lacking(names: Sequence[str], pair: Pair) -> list[str]:
    return [name for name in names if any(name not in run for run in pair)]


def _notes(objective: Objective, pairs: Sequence[Pair]) -> list[str]:
    lacking = [name for pair in pairs for name in _lacking(objective.metrics, pair)]
    return [_missing_text(name, lacking.count(name), pairs) for name in dict.fromkeys(lacking)]


def _missing_text(name: str, count: int, pairs: Sequence[Pair]) -> str:
    return f"{name} is missing in {count} of {len(pairs)} pairs"


def _has_ratio(name: str, pairs: Sequence[Pair]) -> bool:
    return all(run.get(name, 0) > 0 for pair in pairs for run in pair)


def _ratio(name: str, pairs: Sequence[Pair]) -> Interval:
    return ratio_interval([best[name] for best, _ in pairs], [base[name] for _, base in pairs])


def _gain(name: str, ratio: Interval) -> Interval:
    if METRICS[name].better == "higher":
        return Interval(1 / ratio.median, 1 / ratio.high, 1 / ratio.low)
    return ratio


def _check(limit: Limit, pairs: Sequence[Pair]) -> LimitCheck:
    uses = [limit.ratio(best, base) for best, base in pairs]
    if unknown := sum(map(isinf, uses)):
        why = _missing_text(limit.metric, unknown, pairs)
        return LimitCheck(limit=str(limit), use=None, holds=False, why=why)
    use = geometric_mean(uses)
    return LimitCheck(limit=str(limit), use=use, holds=use <= 1)
