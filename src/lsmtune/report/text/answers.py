"""The answers of the first screen: what was gained, what it costs, and whether to trust it."""

from collections.abc import Iterator, Sequence
from math import exp, log

from lsmtune.analysis.claim import GAINS, Claim
from lsmtune.analysis.deploy import format_to_deploy
from lsmtune.analysis.trades import LEAST_COST, Cost
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import COMPOSITES
from lsmtune.report.text.constraint_text import bound_text
from lsmtune.report.text.metric_words import Ratio, label, metric_value
from lsmtune.report.text.pace_text import pace_text
from lsmtune.report.text.rehearsal_text import rehearsal_sentence
from lsmtune.report.text.words import TIMES, counted, listed, number
from lsmtune.verdict import LimitCheck

_SHOWN = 5
"""At most this number of costs is shown."""
_GAP = " \N{MIDDLE DOT} "

Answer = tuple[str, str]
"""A label, such as `gain`, and its text."""


def answers(claim: Claim) -> Iterator[Answer]:
    """Yield gain, cost and trust of a claim about a winner; nothing for other claims."""
    view = claim.view
    if view.is_interrupted or claim.status not in (
        *GAINS, "no gain", "loss", "cannot be deployed", "not verified"
    ):  # fmt: skip
        return
    yield ("gain" if claim.gain else "result"), _result(claim)
    deployed = "" if claim.gain or not claim.costs else f"if you deployed trial {claim.trial}: "
    yield "cost", f"{deployed}{_cost(claim)}"
    if view.shown_pace is not None:
        yield "rate", f"a running store at {pace_text(view.shown_pace)}"
    yield "trust", _GAP.join(_trust(claim))
    if view.rehearsal is not None:
        yield "deploy", rehearsal_sentence(view.rehearsal)
    elif claim.gain and not view.is_simulated and format_to_deploy(view.engine).has_base:
        how = "`lsmtune verify` does it"
        yield "deploy", f"not rehearsed: lsmtune has not opened a store with this file; {how}"


def _result(claim: Claim) -> str:
    if claim.value is None:
        return "the objective could not be measured"
    ratio = Ratio.of(claim.objective or claim.value)
    better = "below"
    if not claim.view.objective.pareto and claim.view.objective.name not in COMPOSITES:
        higher = METRICS[claim.view.objective.name].better == "higher"
        ratio, better = (ratio.inverse(), "above") if higher else (ratio, better)
    parts = [label(row.metric.name) for row in claim.rows if row.role == "objective"]
    name = listed(parts) + (" together" if len(parts) > 1 else "")
    runs = f"in {counted(claim.pairs, 'pair')} of runs" if claim.pairs else "in the search"
    middle, interval = ratio.parts
    known = f"95 % interval {interval}, " if interval else ""
    limits = f"; {_limits(claim.limits)}" if claim.limits else ""
    return f"{middle} the baseline ({known}{better} 1 is better): {name}, {runs}{limits}"


def _limits(checks: Sequence[LimitCheck]) -> str:
    """Return how many limits are kept, and which are not."""
    if all(check.state == "kept" for check in checks):
        return "all limits kept"
    parts = [f"{sum(check.state == 'kept' for check in checks)} limits kept"]
    states = [_state(check) for check in checks]
    for state in ("broken", "undecided", "open", "unknown"):
        found = (check for check, its in zip(checks, states, strict=True) if its == state)
        if names := [label(check.limit.metric) for check in found]:
            parts.append(f"{len(names)} {state} ({', '.join(names)})")
    return ", ".join(parts)


def _state(check: LimitCheck) -> str:
    """Return the state of a limit; an undecided one that no gain depends on is open."""
    is_open = check.state == "undecided" and not check.forbids_gain
    return "open" if is_open else check.state


def _cost(claim: Claim) -> str:
    if not claim.pairs:
        return "unknown before pairs of runs"
    if not claim.costs:
        return f"no metric is proven worse by {number(100 * LEAST_COST)} % or more"
    first = [_change(cost) for cost in claim.costs[:_SHOWN]]
    left = len(claim.costs) - len(first)
    more = f", and {counted(left, 'metric')} more (see the table)" if left else ""
    return f"{', '.join(first)}{more}"


def _change(cost: Cost) -> str:
    name = label(cost.metric)
    if cost.ratio is None:
        return f"{name} from 0 to {metric_value(cost.metric, cost.value or 0.0)}"
    less = "; less is worse" if METRICS[cost.metric].better == "higher" else ""
    middle, interval = Ratio.of(cost.ratio).parts
    return f"{name} {middle} ({interval}{less})"


def _trust(claim: Claim) -> Iterator[str]:
    view = claim.view
    if view.is_simulated:
        yield "simulated, not measured"
    if not claim.pairs:
        yield "not verified: the best of many trials is partly luck"
        return
    if view.is_simulated:
        return
    if claim.scale == "1":
        yield "measured at full size"
    else:
        larger = claim.larger_scale
        also = f", a gain also at {larger}" if larger not in (None, claim.scale, "1") else ""
        never = ", and a gain at full size" if larger == "1" else ", not at full size"
        yield f"measured with a tree of {claim.scale} of the size{also}{never}"
    if view.verification is None or view.verification.disturbed is None:
        yield "nobody knows whether other programs disturbed runs"
    else:
        disturbed, runs = view.verification.disturbed
        yield (
            f"{disturbed} of {runs} runs disturbed by other programs, but counted"
            if disturbed
            else f"none of {runs} runs disturbed by other programs"
        )
    if view.blurred:
        names = listed([label(name) for name in view.blurred])
        yield f"no limit on {names}: this machine wakes its clients too late"
    if view.shown_pace is not None:
        return
    limits = claim.limits
    widened = [check for check in limits if check.asked is not None]
    if limits:
        yield (
            f"{len(widened)} of {counted(len(limits), 'limit')} had to be less strict, because "
            f"runs vary much; the least strict: {_widest(widened)}"
            if widened
            else f"none of {counted(len(limits), 'limit')} had to be less strict"
        )


def _growth(check: LimitCheck) -> float:
    """Return by which factor a limit is less strict than asked."""
    asked = check.asked or check.limit
    if min(check.limit.bound, asked.bound) <= 0:
        return 1.0
    return exp(abs(log(check.limit.bound / asked.bound)))


def _widest(widened: Sequence[LimitCheck]) -> str:
    """Return the limit that grew most: `p99 latency of gets <= 1.6 x instead of 1.1 x`."""
    most = max(widened, key=_growth)
    asked = most.asked or most.limit
    if asked.plus:
        return f"{label(asked.metric)}, {number(_growth(most))} {TIMES} the usual limit"
    sign = "\N{LESS-THAN OR EQUAL TO}" if asked.relation == "<=" else "\N{GREATER-THAN OR EQUAL TO}"
    name = f"{label(most.limit.metric)} {sign}"
    return f"{name} {bound_text(most.limit)} instead of {bound_text(asked)}"
