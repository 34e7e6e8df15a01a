"""Sentences about what a default limit costs."""

from math import log

from lsmtune.analysis.trades import Trade
from lsmtune.limits import TINY
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.text.constraint_text import bound_text, measured_value
from lsmtune.report.text.metric_words import label
from lsmtune.report.text.step_text import StepText
from lsmtune.report.text.words import TIMES, listed, number
from lsmtune.verdict import LimitCheck

TRADES_TITLE = "What a limit costs"


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
