"""The answers of the first screen: what was gained, what it costs, and whether to trust it."""

from collections.abc import Iterator, Sequence

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.constraints import Constraint
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.words import Ratio, counted, label

_SHOWN = 3
"""So many costs are shown with their ratios; the others by name."""
_GAP = " \N{MIDDLE DOT} "

Answer = tuple[str, str]
"""A label, such as `gain`, and its text."""


def answers(claim: Claim) -> Iterator[Answer]:
    """Yield gain, cost and trust of a claim about a winner; nothing for other claims."""
    if claim.status not in ("gain", "no gain", "loss", "not verified") or claim.unfinished:
        return
    yield ("gain" if claim.gain else "result"), _result(claim)
    yield "cost", _cost(claim)
    yield "trust", _GAP.join(_trust(claim))


def _result(claim: Claim) -> str:
    if claim.value is None:
        return "the objective could not be measured"
    ratio = Ratio(claim.value) if claim.objective is None else Ratio.of(claim.objective)
    better = "below"
    if claim.objectives == 1 and claim.objective_name in METRICS:
        higher = METRICS[claim.objective_name].better == "higher"
        ratio, better = (ratio.inverse(), "above") if higher else (ratio, better)
    name = "the objectives together" if claim.objectives > 1 else label(claim.objective_name)
    based = f"{counted(claim.pairs, 'pair')} of runs" if claim.pairs else "in the search"
    checks = [check for row in claim.rows for check in row.constraints]
    limits = f"; {_limits(checks)}" if checks else ""
    return f"{name} {ratio} the baseline ({better} 1 is better), {based}{limits}"


def _limits(checks: Sequence[Constraint]) -> str:
    """Return how many limits are kept, and which are not."""
    if all(check.state == "kept" for check in checks):
        return "all limits kept"
    parts = [f"{sum(check.state == 'kept' for check in checks)} limits kept"]
    for state in ("broken", "undecided", "unknown"):
        names = [label(check.limit.metric) for check in checks if check.state == state]
        if names:
            parts.append(f"{len(names)} {state} ({', '.join(names)})")
    return ", ".join(parts)


def _cost(claim: Claim) -> str:
    if not claim.pairs:
        return "unknown before pairs of runs"
    if not claim.costs:
        return "no metric is proven worse"
    first = [f"{label(cost.metric)} {Ratio.of(cost.ratio)}" for cost in claim.costs[:_SHOWN]]
    rest = [label(cost.metric) for cost in claim.costs[_SHOWN:]]
    more = f"; also worse: {', '.join(rest)}" if rest else ""
    return f"{', '.join(first)}{more}"


def _trust(claim: Claim) -> Iterator[str]:
    if claim.simulated:
        yield "simulated, not measured"
    if not claim.pairs:
        yield "not verified: the best of many trials is partly luck"
        return
    if claim.simulated:
        return
    if claim.scale == "1":
        yield "measured at full size"
    else:
        larger = claim.larger_scale
        also = f", a gain also at {larger}" if larger not in (None, claim.scale, "1") else ""
        never = ", and a gain at full size" if larger == "1" else ", not at full size"
        yield f"measured at {claim.scale} of the size{also}{never}"
    if claim.disturbed_of is not None:
        disturbed, runs = claim.disturbed_of
        yield (
            f"{disturbed} of {runs} runs disturbed by other programs, but counted"
            if disturbed
            else f"none of {runs} runs disturbed"
        )
    limits = [check for row in claim.rows for check in row.constraints]
    widened = sum(check.asked is not None for check in limits)
    if limits:
        yield (
            f"{widened} of {counted(len(limits), 'limit')} made wider, because runs vary too much"
            if widened
            else f"none of {counted(len(limits), 'limit')} made wider"
        )
