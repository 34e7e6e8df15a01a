"""Verdict on pairs of runs: decides whether they show a gain."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, isinf, log, log10
from statistics import median
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from lsmtune.limits import TINY, Limit, parse_limit
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Metrics, Objective, log_deviation
from lsmtune.stats import Interval, of_several, ratio_interval
from lsmtune.units import GIB, KIB, MIB

Pair = tuple[Metrics, Metrics]
"""The metrics of winner and baseline, measured together with one workload seed."""

FEWEST = 2
"""The minimum number of pairs for an interval."""

CONFIDENCE = 0.95
"""Confidence of the intervals that a claim depends on."""
_FIRST_LOOK, _LAST_LOOK = 3, 5
"""Numbers of pairs after which a verification at another scale may end without a gain."""

_NEAR = 0.5

UNKNOWN = Interval(1.0, 1e-9, 1e9)
"""The interval of a ratio that was not measured."""

Side = Literal["better", "worse", "undecided"]


State = Literal["kept", "broken", "undecided", "unknown"]
_LimitAsText = Annotated[
    Limit,
    BeforeValidator(lambda found: parse_limit(found) if isinstance(found, str) else found),
    PlainSerializer(str),
]


class LimitCheck(BaseModel):
    """A limit, checked over all pairs, or without pairs on the medians of the search.

    `use` is the geometric mean of measured value / bound, and `low` to `high` its 95 % interval;
    above 1 the limit is broken. All three are None if the metric is missing in a run; then
    the state is "unknown" and `why` gives the reason. Medians have no interval. `limit` is the
    checked limit and `asked` the tighter one, if noise made a default bound grow. `deviation` is
    the reason for it: the standard deviation of the log of the metric between runs of the baseline,
    None if the bound has not grown. `required` is False for a default limit on reads that only the
    read probe makes: a gain can be claimed while it is undecided. So it can if the limit
    `can_be_open`, a default limit of a running store, and `use` is at most 1. `default` is False
    for one that the user gave.
    """

    model_config = ConfigDict(frozen=True)
    limit: _LimitAsText
    state: State
    use: float | None
    low: float | None = None
    high: float | None = None
    asked: _LimitAsText | None = None
    deviation: float | None = None
    required: bool = True
    can_be_open: bool = False
    default: bool = False
    why: str | None = None

    @property
    def holds(self) -> bool:
        """True if the limit is kept."""
        return self.state == "kept"

    @property
    def forbids_gain(self) -> bool:
        """True if no gain can be claimed because of this limit."""
        if self.state != "undecided":
            return self.state != "kept"
        return self.required and not self._is_open

    @property
    def may_turn(self) -> bool:
        """True if the limit is open, and more pairs may well find that it forbids a gain.

        Its median keeps the bound by less than half of the half width of its interval: then the
        median of twice as many pairs breaks the bound with a probability above 3 %.
        """
        if not self._is_open or not self.use or not self.low:
            return False
        return -log(self.use) < _NEAR * log(self.use / self.low)

    @property
    def _is_open(self) -> bool:
        kept = self.use is not None and self.use <= 1
        return self.state == "undecided" and self.can_be_open and kept

    @property
    def value(self) -> float | None:
        """The measured value that the limit bounds, see `Limit.measured`; None if unknown."""
        return None if self.use is None else self.limit.measured(self.use)

    @property
    def interval(self) -> Interval | None:
        """The value with its 95 % interval; None without pairs of runs."""
        if self.use is None or self.low is None or self.high is None:
            return None
        low, high = sorted(self.limit.measured(use) for use in (self.low, self.high))
        return Interval(self.limit.measured(self.use), low, high)

    @property
    def is_exceeded(self) -> bool:
        """Whether the value or its interval is beyond the limit; also if it is unknown."""
        if (value := self._worst) is None:
            return True
        bound = 1.0 if self.limit.plus else self.limit.bound
        return value > bound if self.limit.relation == "<=" else value < bound

    @property
    def relaxed(self) -> str:
        """A limit, as text of --limit, that the measured value keeps.

        If an interval was measured, its whole interval keeps the limit. It is never tighter than
        the limit that was checked.
        """
        limit, value = self.limit, self._worst
        if value is None:
            return f"{limit.metric} <= none"
        loosest = max if limit.relation == "<=" else min
        if limit.plus:
            worst = loosest(value, 1.0)
            bound, plus = (_outward(worst * part, limit) for part in (limit.bound, limit.plus))
            return str(replace(limit, bound=bound, plus=plus))
        is_size = METRICS[limit.metric].unit == "bytes" and not limit.times_base
        value = loosest(value, limit.bound)
        factor = next((f for f in (GIB, MIB, KIB) if value >= f), 1) if is_size else 1
        bound = _outward(value / factor, limit) * factor
        return str(replace(limit, bound=float(round(bound) if is_size else bound)))

    @property
    def _worst(self) -> float | None:
        """The measured value, or the worse end of its interval."""
        if (interval := self.interval) is None:
            return self.value
        return interval.high if self.limit.relation == "<=" else interval.low


def _outward(value: float, limit: Limit) -> float:
    """Return the value with two digits, rounded to the side that is allowed more."""
    step = 10.0 ** (floor(log10(max(value, TINY))) - 1)
    digits = ceil(value / step) if limit.relation == "<=" else floor(value / step)
    return float(f"{digits * step:.12g}")


class Verdict(BaseModel):
    """Result of judging the pairs.

    `ratios` are winner / baseline; a metric that was zero or missing in a run has none. `goals`
    has the interval of each objective and `objective` that of their geometric mean, both turned
    so that below 1 is a gain. `claim` is "gain" only if the whole interval of `objective` is below
    1, no interval in `goals` is entirely above 1, and no limit forbids it. `better` and `worse`
    name the objective's metrics whose own interval excludes 1. `from_zero` has the metrics that
    have no ratio because the baseline has 0 in all pairs, but the winner never: the winner's
    median.
    `notes` list what could not be judged.
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
    from_zero: dict[str, float] = {}

    @property
    def half_width(self) -> float:
        """Half the width of the objective's interval, relative to its estimate: 0.05 is ± 5 %."""
        return self.objective.relative_half_width

    @property
    def waits_for_constraints(self) -> bool:
        """True if more pairs may save or deny a gain, because they may decide limits.

        Undecided limits are all that forbids it, or an open limit may turn. Other open limits cost
        no pairs: the claim counts them. Pairs until all limits are decided would double most
        verifications.
        """
        forbidding = {check.state for check in self.limits if check.forbids_gain}
        gains = self.objective.high < 1 and not self.lost_goals
        if not gains or forbidding - {"undecided"}:
            return False
        return bool(forbidding) or any(check.may_turn for check in self.limits)

    @property
    def lost_goals(self) -> tuple[str, ...]:
        """The objectives that are proven worse than the baseline, if there are several."""
        several = len(self.goals) > 1
        return tuple(name for name, goal in self.goals.items() if several and goal.low > 1)


def lost_early(pairs: Sequence[Pair], objective: Objective) -> Verdict | None:
    """Return the verdict if fewer pairs than a gain needs prove already that there is none.

    A limit is broken, or the objective is worse. Each look at the objective and at each
    limit has its own share of the error of 5 % (Bonferroni), so that a config with a gain is
    rarely given up. None while more pairs are needed.
    """
    if len(pairs) < _FIRST_LOOK:
        return None
    looks = _LAST_LOOK - _FIRST_LOOK + 1
    sure = judge(pairs, objective, of_several(looks * (1 + len(objective.limits))))
    is_broken = any(check.state == "broken" for check in sure.limits)
    return judge(pairs, objective) if is_broken or sure.objective.low > 1 else None


def judge(pairs: Sequence[Pair], objective: Objective, confidence: float = CONFIDENCE) -> Verdict:
    """Judge at least two pairs with t-intervals on the log ratios, 95 % by default.

    A pair that lacks a metric of the objective is ignored for the objective.
    """
    if len(pairs) < FEWEST:
        raise ValueError(f"a verdict needs at least 2 pairs, got {len(pairs)}")
    counted = [pair for pair in pairs if not _lacking(objective.metrics, pair)]
    overall = _interval([objective.value(*pair) for pair in counted], confidence)
    goals = {
        goal.name: _interval([goal.value(*pair) for pair in counted], confidence)
        for goal in objective.goals
    }
    known = METRICS.among(name for pair in pairs for run in pair for name in run)
    ratios = {name: _ratio(name, pairs) for name in known if _has_ratio(name, pairs)}
    limits = tuple(_check(limit, pairs, objective, confidence) for limit in objective.limits)
    asked = {name: ratios[name] for name in objective.metrics if name in ratios}
    gain = (
        overall.high < 1
        and all(goal.low <= 1 for goal in goals.values())
        and not any(limit.forbids_gain for limit in limits)
    )
    return Verdict(
        pairs=len(pairs),
        claim="gain" if gain else "no gain",
        objective=overall,
        goals=goals,
        ratios=ratios,
        better=tuple(name for name, ratio in asked.items() if side_of(name, ratio) == "better"),
        worse=tuple(name for name, ratio in asked.items() if side_of(name, ratio) == "worse"),
        limits=limits,
        notes=tuple(_notes(objective, pairs)),
        from_zero={
            name: median(best[name] for best, _ in pairs)
            for name in known
            if all(best.get(name, 0) > 0 and base.get(name) == 0 for best, base in pairs)
        },
    )


def _interval(values: Sequence[float], confidence: float) -> Interval:
    if len(values) < FEWEST:
        return UNKNOWN
    return ratio_interval(values, [1.0] * len(values), confidence)


def _lacking(names: Sequence[str], pair: Pair) -> list[str]:
    return [name for name in names if any(name not in run for run in pair)]


def _notes(objective: Objective, pairs: Sequence[Pair]) -> list[str]:
    lacking = [name for pair in pairs for name in _lacking(objective.metrics, pair)]
    return [_missing_text(name, lacking.count(name), pairs) for name in dict.fromkeys(lacking)]


def _missing_text(name: str, count: int, pairs: Sequence[Pair]) -> str:
    return f"{name} is missing in {count} of {len(pairs)} pairs of runs"


def _has_ratio(name: str, pairs: Sequence[Pair]) -> bool:
    return all(run.get(name, 0) > 0 for pair in pairs for run in pair)


def _ratio(name: str, pairs: Sequence[Pair]) -> Interval:
    return ratio_interval([best[name] for best, _ in pairs], [base[name] for _, base in pairs])


def side_of(name: str, ratio: Interval) -> Side:
    """Return what the ratio winner / baseline proves about the metric."""
    if ratio.low <= 1 <= ratio.high:
        return "undecided"
    higher = METRICS[name].better == "higher"
    return "better" if (ratio.low > 1) == higher else "worse"


def _check(
    limit: Limit, pairs: Sequence[Pair], objective: Objective, confidence: float
) -> LimitCheck:
    """Check a limit by the interval of its ratio."""
    noise = log_deviation(limit.metric, [[base for _, base in pairs]])
    values = [base[limit.metric] for _, base in pairs if limit.metric in base]
    middle = median(values) if values else None
    checked = limit
    if not objective.is_running:
        checked = limit.grown(noise, max(objective.most_pairs, len(pairs)), middle)
    uses = [checked.ratio(best, base) for best, base in pairs]
    if unknown := sum(map(isinf, uses)):
        return _unknown(limit, unknown, pairs)
    found = ratio_interval(uses, [1.0] * len(uses), confidence)
    state: State = "undecided"
    if found.high <= 1:
        state = "kept"
    elif found.low > 1:
        state = "broken"
    return LimitCheck(
        limit=checked,
        state=state,
        use=found.median,
        low=found.low,
        high=found.high,
        asked=None if checked == limit else limit,
        deviation=None if checked == limit else noise,
        required=not limit.probe,
        can_be_open=objective.is_running and limit.default,
        default=limit.default,
    )


def _unknown(limit: Limit, missing: int, pairs: Sequence[Pair]) -> LimitCheck:
    why = _missing_text(limit.metric, missing, pairs)
    return LimitCheck(limit=limit, state="unknown", use=None, why=why)
