"""Headline of a claim: at most 12 words, and as many for the price of a gain."""

from collections.abc import Sequence
from math import log

from lsmtune.analysis.claim import Claim, Reason, Status
from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.analysis.trades import Cost
from lsmtune.limits import OVERLOAD
from lsmtune.report.text.constraint_text import best_gain, bound_text, changed, excess_text
from lsmtune.report.text.facts import overload_text, rate_text
from lsmtune.report.text.metric_words import label, metric_value
from lsmtune.report.text.rehearsal_text import deployment_problem
from lsmtune.report.text.words import TIMES, counted, listed, sentence_start
from lsmtune.verdict import LimitCheck, State

MAX_WORDS = 12
"""Without the scale, the rate and the open limits of a gain. Its price has as many."""

_SPEEDS = {
    "load_s": "loaded {}",
    "settle_s": "settled {}",
    "total_s": "done {}",
    "build_s": "built {}",
}
"""Times of phases: they are said as sooner or later."""
_STATES: dict[Reason, State] = {
    "constraint broken": "broken",
    "constraint unknown": "unknown",
    "constraint undecided": "undecided",
}
_FACTOR_FROM = 1.2
"""A time that changes by less is said in percent."""
_DOUBLE = 2.0


def headline_of(claim: Claim) -> str:
    """Return the claim in at most 12 words. It names proven changes only.

    A gain that is not verified at full size begins with its scale, and that of a running store has
    its rate. The worst of its price and the number of open limits follow.
    """
    view = claim.view
    if view.is_interrupted:
        return f"The search has not ended: {_progress(claim)}"
    if claim.gain:
        text, scale = f"{_gain(claim)}{_price(claim)}{_open(claim)}", claim.scale_of_gain
        where = [] if scale is None else [f"{scale} of the size"]
        where += [] if view.shown_pace is None else [rate_text(view.shown_pace)]
        return f"At {listed(where)}: {text}" if where else sentence_start(text)
    if (trade := _trade(claim)) is not None:
        return sentence_start(trade)
    if view.rehearsal is not None and not view.rehearsal.passed and claim.trial is not None:
        return f"Cannot be deployed: {deployment_problem(view.rehearsal)}"
    whose = "the picked" if view.picked else "the"
    texts: dict[Status, str] = {
        "loss": f"Loss: {_objective(claim)}",
        "no gain": f"No gain: {_why_not(claim)}",
        "not "
        "verified": f"Not verified: {whose} config of trial {claim.trial} looks {_looks(claim)}",
        "no search": _without_search(claim),
        "nothing found": f"Nothing found: {_none(claim)}",
    }
    return texts.get(claim.status, "No result yet: too few runs are measured")


def _price(claim: Claim) -> str:
    """Return what the gain costs, the worst first; what has no room is counted."""
    costs = [_cost(cost) for cost in claim.price]
    texts = [_first(costs, count) for count in range(len(costs), 0, -1)]
    fitting = (text for text in texts if len(text.split()) <= MAX_WORDS)
    return f"; price: {next(fitting, texts[-1])}" if costs else ""


def _first(costs: Sequence[str], count: int) -> str:
    more = len(costs) - count
    return listed([*costs[:count], *([f"{more} more"] if more else [])])


def _cost(cost: Cost) -> str:
    if cost.ratio is None:
        return (
            f"{metric_value(cost.metric, cost.value or 0.0)} of {label(cost.metric)} instead of 0"
        )
    return changed(cost.metric, cost.ratio.median)


def _open(claim: Claim) -> str:
    """Return how many limits neither a gain nor a loss depends on, because no run decides them."""
    if not claim.undecided:
        return ""
    return f" ({len(claim.undecided)} of {counted(len(claim.limits), 'limit')} open)"


def _trade(claim: Claim) -> str | None:
    """Return a gain together with the one default limit that it breaks; None if there is none."""
    if claim.status == "nothing found" and claim.view.trades:
        first = claim.view.trades[0]
        return _but(best_gain(first), first.check)
    broken = [check for check in claim.failed if check.state in ("broken", "undecided")]
    gains = claim.status == "no gain" and claim.objective is not None and claim.objective.high < 1
    if not gains or len(claim.failed) != 1 or not broken or not broken[0].default:
        return None
    rows = [row for row in claim.rows if row.role != "constraint" and row.side == "better"]
    ranked = sorted(rows, key=lambda row: -abs(log(row.ratio or 1)))
    return _but(change_text(ranked[0]) if ranked else _objective(claim), broken[0])


def _but(gain: str, check: LimitCheck) -> str:
    """Return a gain and the limit that is not kept, with the bound if there is room for it."""
    text = f"{gain}, but {excess_text(check)}"
    whole = f"{text} (limit {bound_text(check.limit).removesuffix(f' {TIMES}')})"
    return text if len(whole.split()) > MAX_WORDS or "(limit" in text else whole


def _without_search(claim: Claim) -> str:
    view = claim.view
    if view.online is None:
        return f"A {view.no_search}, without a winner"
    tried = counted(len(view.online.tried), "change")
    return f"Online tuning kept {view.online.times_kept or 'none'} of {tried}"


def _none(claim: Claim) -> str:
    """Return that no trial won, and what the trial that came nearest lacks."""
    if any(check.state == "broken" for check in claim.failed):
        return "no trial that beats the baseline keeps all limits"
    if claim.failed:
        count = len(claim.failed)
        return f"{counted(count, 'limit')} of trial {claim.failed_trial} {_are(count)} undecided"
    trials = f"none of {counted(len(claim.view.tried), 'trial')}"
    if claim.nearest is not None:
        return f"{trials} is proven better than the baseline"
    return f"{trials} beat the baseline within limits"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _progress(claim: Claim) -> str:
    """Return how many trials are done, and how many are planned if that is known."""
    done, planned = len(claim.view.tried), claim.view.planned
    if planned is None:
        return f"{counted(done, 'trial')} {_are(done)} done"
    return f"{done} of {counted(planned, 'trial')} {_are(planned)} done"


def _gain(claim: Claim) -> str:
    """The proven changes, chosen by size and named in the order of the objective."""
    rows = [row for row in claim.rows if row.role == "objective" and row.side == "better"]
    chosen: list[MetricRow] = []
    for row in sorted(rows, key=lambda row: -abs(log(row.ratio or 1))):
        if len(_joined([*chosen, row]).split()) <= MAX_WORDS:
            chosen.append(row)
    if not chosen:
        return f"gain: {_objective(claim)}"
    return _joined([row for row in rows if row in chosen])


def _joined(rows: list[MetricRow]) -> str:
    return ", ".join(change_text(row) for row in rows)


def change_text(row: MetricRow) -> str:
    """Return a change in words, e.g. `30 % less write amplification`."""
    name, ratio = row.metric.name, row.ratio or 1.0
    if name in _SPEEDS:
        factor = max(ratio, 1 / ratio)
        amount = f"{factor:.2g} {TIMES}" if factor >= _FACTOR_FROM else percent(ratio)
        return _SPEEDS[name].format(f"{amount} {'sooner' if ratio < 1 else 'later'}")
    if ratio >= _DOUBLE:
        return f"{_factor(ratio)} {TIMES} the {label(name)}"
    if name.endswith("_us"):
        return f"{percent(ratio)} {'lower' if ratio < 1 else 'higher'} {label(name)}"
    return f"{percent(ratio)} {'less' if ratio < 1 else 'more'} {label(name)}"


def _factor(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:,.0f}"  # noqa: PLR2004 - three digits


def percent(ratio: float) -> str:
    """Return how far a ratio is from 1: `30 %`, `0.4 %`, `99.6 %`."""
    change = 100 * abs(ratio - 1)
    if change >= 10 and not 99 <= change < 100:  # noqa: PLR2004 - two digits are enough
        return f"{change:,.0f} %"
    return f"{change:.3g} %" if change >= 99 else f"{change:.2g} %"  # noqa: PLR2004


def _objective(claim: Claim) -> str:
    """Return the change of the objective as a whole."""
    single = [row for row in claim.rows if row.role == "objective"]
    if len(single) == 1 and single[0].side != "undecided":
        return change_text(single[0])
    if claim.value is None:
        return "the objective could not be measured"
    which = "the objectives together are" if claim.view.objective.pareto else "the objective is"
    return f"{which} {percent(claim.value)} {'better' if claim.value < 1 else 'worse'}"


def _looks(claim: Claim) -> str:
    if claim.value is None:
        return "no different"
    return f"{percent(claim.value)} {'better' if claim.value < 1 else 'worse'}"


def _not_kept(claim: Claim, state: State) -> str:
    """Return which limits are in the state that forbids a gain."""
    failed = [check for check in claim.failed if check.state == state]
    names = {check.limit.metric for check in failed}
    if state == "unknown":
        return f"{counted(len(failed), 'limit')} could not be checked"
    if state == "broken" and OVERLOAD in names:
        return overload_text(claim)
    what = label(names.pop()) if len(names) == 1 else f"{len(names)} metrics"
    return f"limit on {what} {state}"


def _why_not(claim: Claim) -> str:
    reason = claim.reasons[0] if claim.reasons else "chance"
    if reason in _STATES:
        return _not_kept(claim, _STATES[reason])
    if reason == "objective worse":
        what = label(claim.lost[0]) if len(claim.lost) == 1 else f"{len(claim.lost)} objectives"
        return f"{what} got worse"
    if reason == "objective unknown":
        return "the objective could not be measured"
    return "the measured change may be chance"
