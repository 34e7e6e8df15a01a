"""Numbers and names as the page writes them: no more digits than the measurement carries."""

import re
from dataclasses import dataclass
from math import floor, log10
from typing import Literal

from lsmtune.knobs.types import Knob, Value
from lsmtune.metrics.definitions import METRICS
from lsmtune.stats import Interval
from lsmtune.units import MIB, format_bytes, format_duration

_DIGITS = 3
_MAX_DECIMALS = 4
_LABELS = {
    "write_amp": "write amplification",
    "wal_inclusive_write_amp": "write amplification with the log",
    "live_sst_bytes": "live space",
    "peak_space_bytes": "peak space",
    "space_amp": "space amplification",
    "load_s": "load",
    "settle_s": "settling",
    "total_s": "load + settle",
    "throughput_ops_s": "throughput",
    "sustained_ops_s": "sustained throughput",
    "stall_s": "stall time",
    "build_s": "time to build",
    "read_amp": "read amplification",
    "block_reads": "blocks read",
    "cache_hit_data": "data blocks found in the cache",
    "cache_hit_index": "index blocks found in the cache",
    "cache_hit_filter": "filter blocks found in the cache",
    "memtable_hit": "gets that a memtable answered",
    "compact_read_bytes": "bytes read by compactions",
    "background_jobs": "flushes and compactions",
    "background_s": "time of flushes and compactions",
    "bloom_useful": "reads spared by filters",
}
_LATENCIES = {
    "write": "writes", "get": "gets", "get_missing": "gets that miss", "scan": "scans",
    "new_order": "new orders", "payment": "payments", "order_status": "looks at an order",
    "delivery": "deliveries", "stock_level": "looks at the stock", "transaction": "transactions",
}  # fmt: skip
_PERCENTILE = re.compile(r"(\w+)_p(\d\d)(\d*)_us")
_MEAN = re.compile(r"(\w+)_mean_us")

TIMES = "\N{MULTIPLICATION SIGN}"

Side = Literal["better", "worse", "undecided"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio with the bounds of its interval; without bounds where it rests on single runs."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, interval: Interval) -> "Ratio":
        """The ratio that an interval describes."""
        return cls(interval.median, interval.low, interval.high)

    def inverse(self) -> "Ratio":
        """The ratio seen from the other side."""
        if self.low is None or self.high is None:
            return Ratio(1 / self.value)
        return Ratio(1 / self.value, 1 / self.high, 1 / self.low)

    def gain(self, metric: str) -> "Ratio":
        """The ratio turned so that below 1 is better for the metric."""
        return self.inverse() if METRICS[metric].better == "higher" else self

    @property
    def side(self) -> Side:
        """What the interval proves of a turned ratio; nothing if it includes 1 or is missing."""
        if self.high is not None and self.high < 1:
            return "better"
        if self.low is not None and self.low > 1:
            return "worse"
        return "undecided"

    def __str__(self) -> str:
        return self.text()

    def text(self, unit: str = TIMES) -> str:
        """The ratio and, in brackets, its interval; `unit` stands after the ratio."""
        if self.low is None or self.high is None:
            return f"{number(self.value)} {unit}"
        digits = _decimals(self.low, self.high)
        value, low, high = (f"{x:.{digits}f}" for x in (self.value, self.low, self.high))
        return f"{value} {unit} ({low}\N{EN DASH}{high})"


def _decimals(low: float, high: float) -> int:
    """Decimals that show the interval's first digit, and never round a bound onto 1."""
    half = (high - low) / 2
    decimals = min(max(-floor(log10(half)), 0), _MAX_DECIMALS) if half > 0 else _DIGITS
    while decimals < _MAX_DECIMALS and any(x != 1 and round(x, decimals) == 1 for x in (low, high)):
        decimals += 1
    return decimals


def number(value: float) -> str:
    """A number with three significant digits: `2.68`, `32,500`."""
    rounded = float(f"{value:.{_DIGITS}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10**_DIGITS else f"{rounded:g}"


def quantity(value: float, unit: str) -> str:
    """A number with its unit, as people read it: `76.3 MiB`, `4.2 s`, `32,500 ops/s`."""
    if unit == "bytes":
        size, name = format_bytes(value).split(" ")
        return f"{number(float(size))} {name}"
    if unit == "s":
        return format_duration(value)
    return number(value) if unit == "ratio" else f"{number(value)} {unit_text(unit)}"


def metric_value(metric: str, value: float) -> str:
    """A metric's value with its unit."""
    return quantity(value, METRICS[metric].unit)


def unit_text(unit: str) -> str:
    """The unit as it is written in a text."""
    return "µs" if unit == "us" else unit


def knob_value(knob: Knob, value: Value) -> str:
    """A knob's value in words: its size, its choice by name, or what a special value means."""
    special = next((s.meaning for s in knob.special if s.value == value), None)
    if special is not None:
        return special
    if knob.labels and value in knob.choices:
        return knob.labels[knob.choices.index(value)]
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if knob.unit == "bytes":
        return format_bytes(value)
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    return text if value < 0 or knob.unit in ("", "ratio", "level") else f"{text} {knob.unit}"


def unbroken(text: str) -> str:
    """The text in which no line ends between a number, its sign and its interval."""
    joined = text.replace("\N{EN DASH}", "\N{EN DASH}\N{WORD JOINER}")
    return re.sub(rf" (?={TIMES}|%)|(?<=[{TIMES}±]) ", "\N{NO-BREAK SPACE}", joined)


def label(metric: str) -> str:
    """The metric's name in a sentence."""
    latency = _PERCENTILE.fullmatch(metric)
    mean = _MEAN.fullmatch(metric)
    if mean is not None:
        return f"mean latency of {_LATENCIES[mean[1]]}"
    if latency is None:
        return _LABELS.get(metric, metric.replace("_", " "))
    share = f"{latency[2]}.{latency[3]}" if latency[3] else latency[2]
    return f"{share} % latency of {_LATENCIES[latency[1]]}"


def drawn_unit(metric: str) -> tuple[float, str]:
    """By what a picture divides a metric's values, and the unit of its axis."""
    unit = METRICS[metric].unit
    return MIB if unit == "bytes" else 1.0, {"bytes": "MiB", "ratio": ""}.get(unit, unit)


def sentence_start(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def listed(parts: list[str]) -> str:
    """The parts as a list in a sentence: `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def option_value(value: Value) -> str:
    """A knob's value as the engine spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 trial`, `16 trials`, `no trials`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
