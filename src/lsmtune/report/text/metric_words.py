"""Metrics, ratios of their values and states of runs, for people."""

from dataclasses import dataclass
from math import floor, log10

from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.words import TIMES, number, quantity
from lsmtune.stats import Interval
from lsmtune.trials import Status
from lsmtune.units import MIB

_DIGITS = 3
_MAX_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio with the bounds of its 95 % interval, or without bounds if it is not verified."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, found: Interval | float) -> "Ratio":
        """Return the ratio of an interval, or of a value that is not verified."""
        if isinstance(found, Interval):
            return cls(found.median, found.low, found.high)
        return cls(found)

    def inverse(self) -> "Ratio":
        """Return 1 / ratio."""
        if self.low is None or self.high is None:
            return Ratio(1 / self.value)
        return Ratio(1 / self.value, 1 / self.high, 1 / self.low)

    def gain(self, metric: str) -> "Ratio":
        """Return the ratio turned so that below 1 is better for the metric."""
        return self.inverse() if METRICS[metric].better == "higher" else self

    def __str__(self) -> str:
        return self.text()

    def text(self, unit: str = TIMES) -> str:
        """Return the ratio, `unit` and, in brackets, the interval."""
        if self.low is None or self.high is None:
            return f"{number(self.value)} {unit}"
        digits = _decimals(self.low, self.high)
        value, low, high = (f"{x:.{digits}f}" for x in (self.value, self.low, self.high))
        return f"{value} {unit} ({low}\N{EN DASH}{high})"

    @property
    def parts(self) -> tuple[str, str]:
        """The ratio with its unit, and the interval without brackets; "" if there is none."""
        ratio, _, interval = self.text().partition(" (")
        return ratio, interval.removesuffix(")")

    def sentence(self, of: str = "the baseline") -> str:
        """Return the ratio to `of` and its interval, for a sentence."""
        ratio, _, interval = self.text().partition(" (")
        low, _, high = interval[:-1].partition("\N{EN DASH}")
        return f"{ratio} {of}" + (f" (95 % interval {low} to {high})" if interval else "")


def _decimals(low: float, high: float) -> int:
    """Return decimals that show the interval's first digit and never round a bound to 1.

    There are at least two below 10.
    """
    half = (high - low) / 2
    least = 2 if high < 10 else 0  # noqa: PLR2004 - 0.55 and 1.5, not 12.34
    decimals = min(max(-floor(log10(half)), least), _MAX_DECIMALS) if half > 0 else _DIGITS
    while decimals < _MAX_DECIMALS and any(
        (x != 1 and round(x, decimals) == 1) or (x > 0 and round(x, decimals) == 0)
        for x in (low, high)
    ):
        decimals += 1
    return decimals


def metric_value(metric: str, value: float) -> str:
    """Return a metric's value with its unit."""
    return quantity(value, METRICS[metric].unit)


def label(metric: str) -> str:
    """Return the metric's name for a sentence."""
    return METRICS[metric].told if metric in METRICS else metric.replace("_", " ")


def drawn_unit(metric: str) -> tuple[float, str]:
    """Return the divisor of a metric's values in a chart, and the unit of the axis."""
    unit = METRICS[metric].unit
    return MIB if unit == "bytes" else 1.0, {"bytes": "MiB", "ratio": ""}.get(unit, unit)


def status_text(status: Status) -> str:
    """Return the status as a word of a sentence."""
    return "pruned" if status is Status.CUT else status.value.replace("_", " ")
