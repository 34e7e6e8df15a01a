"""Limits of a study, checked on its winner."""

from dataclasses import dataclass, replace
from math import ceil, floor, isinf, log10

from lsmtune.limits import TINY, Limit, parse_limit
from lsmtune.metrics.definitions import METRICS
from lsmtune.stats import Interval
from lsmtune.units import GIB, KIB, MIB
from lsmtune.verdict import LimitCheck, State


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit, checked on the winner.

    `value` is the measured value that `limit` bounds: a multiple of the whole bound if
    `limit.plus`, a multiple of the baseline if `limit.times_base`, else a number in the metric's
    unit. `interval` is its 95 % interval, or None without verification. `asked` is the tighter
    bound that the noise of the runs forbids, and `deviation` the standard deviation of the log of
    the metric between runs of the baseline. `forbids_gain`: no gain can be claimed because of it.
    `why` says why it is unknown. `default`: the user did not give it.
    """

    limit: Limit
    state: State
    value: float | None
    why: str | None = None
    interval: Interval | None = None
    asked: Limit | None = None
    deviation: float | None = None
    forbids_gain: bool = False
    default: bool = False

    def relaxed(self) -> str:
        """Return a limit, as text of --limit, that the measured value keeps.

        If an interval was measured, its whole interval keeps the limit. It is never tighter than
        the limit that was checked.
        """
        if (value := self._worst) is None:
            return f"{self.limit.metric} <= none"
        is_size = METRICS[self.limit.metric].unit == "bytes" and not self.limit.times_base
        loosest = max if self.limit.relation == "<=" else min
        if self.limit.plus:
            return self._all_relaxed(loosest(value, 1.0))
        value = loosest(value, self.limit.bound)
        factor = next((f for f in (GIB, MIB, KIB) if value >= f), 1) if is_size else 1
        bound = _outward(value / factor, self.limit) * factor
        return str(replace(self.limit, bound=float(round(bound) if is_size else bound)))

    @property
    def is_exceeded(self) -> bool:
        """Whether the value or its interval is beyond the limit; also if it is unknown."""
        if (value := self._worst) is None:
            return True
        bound = 1.0 if self.limit.plus else self.limit.bound
        return value > bound if self.limit.relation == "<=" else value < bound

    @property
    def _worst(self) -> float | None:
        """The measured value, or the worse end of its interval."""
        if self.interval is None:
            return self.value
        return self.interval.high if self.limit.relation == "<=" else self.interval.low

    def _all_relaxed(self, value: float) -> str:
        """Return the limit with factor and number times the value, rounded outward."""
        parts = (_outward(value * part, self.limit) for part in (self.limit.bound, self.limit.plus))
        bound, plus = parts
        return str(replace(self.limit, bound=bound, plus=plus))


def checked(check: LimitCheck) -> Constraint:
    """Return a limit that pairs of runs have checked."""
    limit = parse_limit(check.limit)
    asked = None if check.asked is None else parse_limit(check.asked)
    if check.use is None:
        return Constraint(limit, "unknown", None, check.why, forbids_gain=check.forbids_gain)
    interval = None
    if check.low is not None and check.high is not None:
        ends = sorted(limit.measured(use) for use in (check.low, check.high))
        interval = Interval(limit.measured(check.use), *ends)
    return Constraint(
        limit,
        check.state,
        limit.measured(check.use),
        interval=interval,
        asked=asked,
        deviation=check.deviation,
        forbids_gain=check.forbids_gain,
        default=check.default,
    )


def constraint_of(limit: Limit, use: float) -> Constraint:
    """Return a limit that medians of the search keep or break."""
    if isinf(use):
        return Constraint(limit, "unknown", None, _missing(limit), forbids_gain=True)
    state: State = "kept" if use <= 1 else "broken"
    return Constraint(limit, state, limit.measured(use), forbids_gain=state == "broken")


def _outward(value: float, limit: Limit) -> float:
    """Return the value with two digits, rounded to the side that is allowed more."""
    step = 10.0 ** (floor(log10(max(value, TINY))) - 1)
    digits = ceil(value / step) if limit.relation == "<=" else floor(value / step)
    return float(f"{digits * step:.12g}")


def _missing(limit: Limit) -> str:
    """Return why a limit cannot be checked: a run lacks its metric."""
    runs = "the trial or the baseline has" if limit.times_base else "the trial has"
    return f"{runs} no value of the metric {limit.metric}"
