"""Limits in words, for sentences and for cells of tables, and what a default limit costs."""

from math import expm1, log

from lsmtune.analysis.trades import Trade
from lsmtune.limits import TINY, Limit
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.metric_words import label, metric_value
from lsmtune.report.text.step_text import StepText
from lsmtune.report.text.words import TIMES, listed, number
from lsmtune.verdict import LimitCheck

_LE, _GE = "\N{LESS-THAN OR EQUAL TO}", "\N{GREATER-THAN OR EQUAL TO}"

TRADES_TITLE = "What a limit costs"


def limit_text(limit: Limit) -> str:
    """Return a limit in words: the metric, the relation and the bound."""
    relation = _LE if limit.relation == "<=" else _GE
    plus = f" + {metric_value(limit.metric, limit.plus)}" if limit.plus else ""
    return f"{label(limit.metric)} {relation} {value_text(limit, limit.bound)}{plus}"


def value_text(limit: Limit, value: float) -> str:
    """Return a value of a limit: a multiple of the baseline, or with the metric's unit."""
    return f"{short_value(limit, value)}{' baseline' if limit.times_base else ''}"


def measured_text(check: LimitCheck) -> str:
    """Return the measured value of a limit, with its 95 % interval if it is known."""
    if check.value is None:
        return "nothing"
    value = measured_value(check, check.value)
    if check.limit.times_base and not check.limit.plus:
        value += " baseline"
    if check.interval is None:
        return value
    ends = (short_value(check.limit, end) for end in (check.interval.low, check.interval.high))
    return f"{value} (95 % interval {' to '.join(ends)})"


def measured_value(check: LimitCheck, value: float) -> str:
    """Return a measured value in short: with a number in the bound, a multiple of the bound."""
    return short_value(check.limit, value) + (" the limit" if check.limit.plus else "")


def constraint_cell(check: LimitCheck) -> str:
    """Return a limit and whether it is kept, for a cell of the table."""
    relation = _LE if check.limit.relation == "<=" else _GE
    text = f"{relation} {bound_text(check.limit)}"
    if check.asked is not None:
        text += f" instead of {bound_text(check.asked)}"
    if check.state == "unknown" or check.value is None:
        text += ": not checked"
    elif check.state == "broken":
        text += f": broken, {measured_value(check, check.value)}"
    else:
        text += f": {check.state}"
    if check.asked is not None and check.deviation is not None:
        text += f"; the baseline itself varies by {100 * expm1(check.deviation):.0f} %"
    return text


def bound_text(limit: Limit) -> str:
    """Return a bound in short: a factor, with the number that is added, or a value with unit."""
    bound = short_value(limit, limit.bound)
    if not limit.plus:
        return bound
    is_size = METRICS[limit.metric].unit == "bytes"
    return f"{bound} + {metric_value(limit.metric, limit.plus) if is_size else number(limit.plus)}"


def short_value(limit: Limit, value: float) -> str:
    """Return the value with three digits, or more if it would look like the bound."""
    if not limit.times_base:
        return metric_value(limit.metric, value)
    close = value != limit.bound and float(f"{value:.3g}") == limit.bound
    return f"{value:{'.6g' if close else '.3g'}} {TIMES}"


def trade_step(trade: Trade) -> StepText:
    """Return what a config gains that breaks a limit, and the flag that allows it."""
    limit = trade.check
    gains = [
        f"{label(name)} {number(ratio)} {TIMES}"
        for name, ratio in trade.ratios.items()
        if name != limit.limit.metric
    ]
    runs = "measured once" if trade.runs == 1 else f"the median of {trade.runs} runs"
    text = (
        f"With {excess_text(limit)}: {listed(gains)}, {runs} (trial {trade.trial}). To allow it, "
        "start a new study with this flag:"
    )
    return StepText(text, None, f'--limit "{limit.relaxed}"')


def excess_text(check: LimitCheck) -> str:
    """Return what a config does to the metric of a limit: `15 % more live space`."""
    name = label(check.limit.metric)
    if check.value is None:
        return f"an unknown {name}"
    if not check.limit.times_base or check.limit.plus:
        return f"{name} at {measured_value(check, check.value)} (limit {bound_text(check.limit)})"
    return changed(check.limit.metric, check.value)


def changed(metric: str, ratio: float) -> str:
    """Return a change in words: `15 % more live space`, `2.1 x p99 latency of scans`."""
    name, percent = label(metric), 100 * abs(ratio - 1)
    amount = f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"  # noqa: PLR2004 - two digits
    if ratio >= 2:  # noqa: PLR2004 - from here on a factor is easier to read
        return f"{number(ratio)} {TIMES} {name}"
    side = "more" if ratio > 1 else "less"
    if metric.endswith("_us"):
        side = "higher" if ratio > 1 else "lower"
    return f"{amount} % {side} {name}"


def best_gain(trade: Trade) -> str:
    """Return the largest gain of a trade in words."""
    turned = {
        name: max(ratio, TINY) if METRICS[name].better == "lower" else 1 / max(ratio, TINY)
        for name, ratio in trade.ratios.items()
        if name != trade.check.limit.metric
    }
    best = min(turned, key=lambda name: log(turned[name]))
    return changed(best, trade.ratios[best])
