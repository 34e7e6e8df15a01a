"""Constraints in words, for sentences and for cells of tables."""

from lsmtune.analysis.constraints import Constraint
from lsmtune.limits import Limit
from lsmtune.report.words import TIMES, label, metric_value

_LE, _GE = "\N{LESS-THAN OR EQUAL TO}", "\N{GREATER-THAN OR EQUAL TO}"


def limit_text(limit: Limit) -> str:
    """Return a constraint in words: the metric, the relation and the bound."""
    relation = _LE if limit.relation == "<=" else _GE
    return f"{label(limit.metric)} {relation} {value_text(limit, limit.bound)}"


def value_text(limit: Limit, value: float) -> str:
    """Return a value of a constraint: a multiple of the baseline, or with the metric's unit."""
    return f"{short_value(limit, value)}{' baseline' if limit.times_base else ''}"


def measured_text(check: Constraint) -> str:
    """Return the measured value of a constraint, with its 95 % interval if it is known."""
    if check.value is None:
        return "nothing"
    if check.interval is None:
        return value_text(check.limit, check.value)
    low, high = (short_value(check.limit, end) for end in (check.interval.low, check.interval.high))
    return f"{value_text(check.limit, check.value)} (95 % interval {low} to {high})"


def constraint_cell(check: Constraint) -> str:
    """Return a constraint and whether it is kept, for a cell of the table."""
    relation = _LE if check.limit.relation == "<=" else _GE
    bound = short_value(check.limit, check.limit.bound)
    text = f"{relation} {bound}: "
    if check.state == "unknown" or check.value is None:
        text += "not checked"
    elif check.state == "broken":
        text += f"broken, {short_value(check.limit, check.value)}"
    else:
        text += check.state
    return text


def short_value(limit: Limit, value: float) -> str:
    """Return the value with three digits, or more if it would look like the bound."""
    if not limit.times_base:
        return metric_value(limit.metric, value)
    close = value != limit.bound and float(f"{value:.3g}") == limit.bound
    return f"{value:{'.6g' if close else '.3g'}} {TIMES}"
