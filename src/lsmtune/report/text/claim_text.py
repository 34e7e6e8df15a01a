"""Sentences and tables of a claim, for the terminal, the page and the exported files.

Its answers come first: what was gained, what it costs, and whether to trust it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log

from lsmtune.analysis.claim import GAINS, Alternative, Claim
from lsmtune.analysis.deploy import format_to_deploy
from lsmtune.analysis.measurable import disturbed_text
from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.analysis.study_view import OnlineCall, VerificationView
from lsmtune.analysis.trades import LEAST_COST, Cost
from lsmtune.limits import OVERLOAD
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import COMPOSITES
from lsmtune.report.text.constraint_text import (
    bound_text,
    constraint_cell,
    limit_text,
    measured_text,
    trade_step,
)
from lsmtune.report.text.facts import overload_text, pace_sentence, pace_text
from lsmtune.report.text.headline_text import headline_of, percent
from lsmtune.report.text.memory_text import assumed_cache_text, memory_sentence, small_tree_text
from lsmtune.report.text.metric_words import Ratio, label, metric_value
from lsmtune.report.text.rehearsal_text import rehearsal_notes, rehearsal_sentence
from lsmtune.report.text.simplification_text import simplification_sentences
from lsmtune.report.text.step_text import StepText, step_text
from lsmtune.report.text.words import TIMES, counted, listed, number, sentence_start
from lsmtune.simulator import MODELLED_VERSION
from lsmtune.verdict import UNKNOWN, LimitCheck

SIMULATED = (
    "UNVERIFIED on RocksDB: the numbers are simulated, not measured. The simulator models RocksDB "
    f"{MODELLED_VERSION}."
)

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
    first = [_cost_text(cost) for cost in claim.costs[:_SHOWN]]
    left = len(claim.costs) - len(first)
    more = f", and {counted(left, 'metric')} more (see the table)" if left else ""
    return f"{', '.join(first)}{more}"


def _cost_text(cost: Cost) -> str:
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


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A claim in words, in the order in which it is printed.

    `reasons` say why no gain is claimed, and which config keeps all limits.
    """

    headline: str
    answers: tuple[Answer, ...]
    summary: str
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    details: tuple[str, ...]
    steps: tuple[StepText, ...]
    trades: tuple[StepText, ...]
    undo: StepText | None


def claim_text(claim: Claim) -> ClaimText:
    """Return the claim in words."""
    return ClaimText(
        headline=headline_of(claim),
        answers=tuple(answers(claim)),
        summary=_summary(claim),
        reasons=() if claim.gain else tuple(_reasons(claim)),
        warnings=tuple(_warnings(claim)),
        details=tuple(_details(claim)),
        steps=tuple(step_text(claim, step) for step in claim.steps),
        trades=tuple(map(trade_step, claim.view.trades)),
        undo=_undo(claim),
    )


def _undo(claim: Claim) -> StepText | None:
    """Return the way back from the deployed file, if there is a file to deploy."""
    if claim.undo is None:
        return None
    if claim.view.own_base:
        return StepText("Deploy the copy of your own file that you saved before.", None)
    return StepText(
        "Write the file with the defaults of the engine, which were the baseline, and deploy it:",
        claim.undo,
    )


def _summary(claim: Claim) -> str:
    """One or two sentences: what the claim is based on."""
    if claim.view.is_interrupted:
        return _unfinished_summary(claim)
    if claim.status == "not verified":
        chosen = (
            f"You picked trial {claim.trial}."
            if claim.view.picked
            else "The best result of many trials is partly luck."
        )
        return f"{chosen} Verify trial {claim.trial} before you use its config."
    if claim.status == "nothing found":
        return "No config is proven better than the baseline. Keep the baseline."
    if claim.view.online is not None:
        return _online_summary(claim.view.online)
    if claim.status in ("no search", "not measured"):
        return f"The study has {counted(len(claim.view.tried), 'trial')}."
    picked = ", which you picked," if claim.view.picked else ""
    trial = f"trial {claim.trial}"
    has_gain = claim.gain or claim.status == "cannot be deployed"
    subject = f"The gain of {trial}{picked} is" if has_gain else f"Trial {claim.trial}{picked} was"
    return (
        f"{subject} verified at scale {claim.scale} in {counted(claim.pairs, 'pair')} of runs. "
        f"Each pair is one run of {trial} and one of the baseline with the same seed."
    )


def _online_summary(call: OnlineCall) -> str:
    tried = (
        f"lsmtune tried {counted(len(call.tried), 'change')} of the options while the workload "
        "ran, one after the other."
    )
    kept = (
        f" At the end, {counted(len(call.kept), 'option')} differed from the baseline."
        if call.kept
        else " At the end, all options had the values of the baseline."
    )
    earlier = (
        f" Earlier calls tried {counted(call.earlier, 'change')}; each call starts from the "
        "baseline."
    )
    return tried + kept + (earlier if call.earlier else "")


def _unfinished_summary(claim: Claim) -> str:
    """What is known before the search has ended, and where the command to continue is."""
    so_far = {
        "not verified": f"So far, trial {claim.trial} is the best trial. It is not verified.",
        "nothing found": "So far, no config beats the baseline and keeps all limits.",
    }.get(claim.status, "So far, no trial can be compared with the baseline.")
    return f"{so_far} The first of the next steps continues the search."


def _warnings(claim: Claim) -> Iterator[str]:
    view = claim.view
    if view.is_simulated:
        yield SIMULATED
    if claim.unverified_at_full_scale:
        larger = claim.larger_scale
        yield (
            "UNVERIFIED at full size: no pairs of runs were measured with a full-size tree. The "
            if larger is None
            else f"Verified at {larger} of the size, not at full size. The "
        ) + (
            f"search ran at scale {view.scale}, "
            f"{small_tree_text(all_sizes_scale=view.all_sizes_scale)}. Verify it at a larger "
            "scale before you deploy."
        )
    if disturbed := disturbed_text(view.kept_disturbed):
        yield disturbed
    if view.assumed_cache_bytes is not None and claim.trial is not None:
        yield f"{sentence_start(assumed_cache_text(view.assumed_cache_bytes).with_flags())}."
    for other in claim.others:
        if other.verdict.claim != "gain":
            yield (
                f"No gain is verified at {_place(other)}: {_objective_text(other)}. If your "
                f"{'tree has this scale' if other.rate is None else 'store has this rate'}, keep "
                "the baseline."
            )
    yield from _open_texts(claim)
    if claim.gain and claim.worse:
        yield (
            "Compared with the baseline, the winner is proven worse in "
            f"{listed([label(name) for name in claim.worse])}. Deploy it only if your program can "
            "accept this."
        )
    if view.assertions_enabled:
        yield (
            "This build of the engine has assertions, which make the engine slow. Use the ratios "
            "to the baseline. Absolute times of a build without assertions are shorter."
        )
    yield from (
        f"The metric {note}. lsmtune computes the objective without these pairs of runs; nothing "
        "to do."
        for note in claim.notes
    )
    if claim.wide is not None:
        yield (
            f"The 95 % interval of the objective is wide: ± {number(100 * claim.wide)} %. To "
            "make the interval narrower, run lsmtune tune again with a larger value of --pairs."
        )


def _open_texts(claim: Claim) -> Iterator[str]:
    if claim.view.shown_pace is None:
        yield from (_probe_text(claim, check) for check in claim.undecided)
    elif claim.undecided:
        limits = [f"{limit_text(c.limit)} (measured {measured_text(c)})" for c in claim.undecided]
        yield (
            f"{counted(len(limits), 'limit')} open: {listed(limits)}. The runs do not prove that "
            f"trial {claim.trial} keeps the bounds, but its medians keep them. To have a bound "
            "proven, give it as your own limit."
        )


def _probe_text(claim: Claim, check: LimitCheck) -> str:
    return (
        f"The runs do not decide whether trial {claim.trial} keeps {limit_text(check.limit)}: "
        f"measured {measured_text(check)}. The workload only writes; lsmtune reads after it. If "
        "your program reads, tune a workload with these reads."
    )


def _grown_text(grown: Sequence[LimitCheck]) -> str:
    count = counted(len(grown), "default limit")
    return (
        f"The runs of the baseline vary too much to decide {count} with the usual bound. The table "
        "contains the wider bound and the usual bound. To keep the usual bound, give it as your "
        "own limit: lsmtune never widens your limits."
    )


def _objective_text(found: VerificationView) -> str:
    if found.verdict.objective == UNKNOWN:
        return "fewer than 2 pairs of runs have a value of the objective"
    return f"the objective is {Ratio.of(found.verdict.objective).sentence()}"


def _reasons(claim: Claim) -> Iterator[str]:
    if claim.nearest is not None:
        yield _nearest_text(claim, claim.nearest)
    yield from _failure_texts(claim)
    yield from (
        f"Trial {claim.trial} is proven worse than the baseline in {label(name)}."
        for name in claim.lost
    )
    alternative = alternative_text(claim)
    if alternative and claim.nearest is None:
        yield alternative


def _details(claim: Claim) -> Iterator[str]:
    view = claim.view
    if view.shown_pace is not None:
        yield pace_sentence(view.shown_pace)
    if objective := objective_sentence(claim):
        yield objective
    if view.simplification is not None:
        yield from simplification_sentences(view.simplification)
    if view.rehearsal is not None:
        yield from rehearsal_notes(view.rehearsal)
    if view.memory is not None:
        yield memory_sentence(view.memory)
    if view.front:
        yield front_text(len(view.front))
    if grown := [check for check in claim.limits if check.asked is not None]:
        yield _grown_text(grown)
    for other in claim.others:
        if other.verdict.claim == "gain":
            yield f"A gain is also verified at {_place(other)}: {_objective_text(other)}."


def _place(other: VerificationView) -> str:
    """Return scale and rate of a verification, as far as they are not those of the study."""
    return f"scale {other.scale}" if other.rate is None else f"{number(other.rate)} operations/s"


def front_text(trials: int) -> str:
    """Return how many trials are on the Pareto front, and how these trials differ."""
    text = f"The Pareto front has {counted(trials, 'trial')}."
    if trials > 1:
        text += (
            " Compared with any other trial of the front, a trial is better in one objective and "
            "worse in another objective."
        )
    return text


def objective_sentence(claim: Claim) -> str:
    """Return the objective, winner / baseline, as one sentence.

    Empty if it is unknown, or if it is a single metric, which the table has.
    """
    single = sum(row.role == "objective" for row in claim.rows) == 1
    if claim.value is None or single:
        return ""
    ratio = Ratio.of(claim.objective or claim.value)
    several = claim.view.objective.pareto
    name = "mean of the objectives" if several else f"objective “{claim.view.objective.name}”"
    fitness = "" if claim.fitness is None else f" The fitness of jin2022 is {claim.fitness:,.0f}."
    inverted = [
        label(row.metric.name)
        for row in claim.rows
        if row.role == "objective" and row.metric.better == "higher"
    ]
    trial = f"trial {claim.trial}"
    note = f"A ratio below 1 means that {trial} is better than the baseline."
    if inverted:
        note += f" For {listed(inverted)}, the ratio is baseline / {trial}."
    return f"The {name} of {trial} is {ratio.sentence()}. {note}{fitness}"


def _failure_texts(claim: Claim) -> Iterator[str]:
    """Yield a sentence per limit that forbids a gain; several undecided ones share one."""
    undecided = [check for check in claim.failed if check.state == "undecided"]
    shared = undecided if claim.nearest is not None and len(undecided) > 1 else []
    yield from (failure_text(claim, check) for check in claim.failed if check not in shared)
    if shared:
        limits = [f"{limit_text(c.limit)} (measured {measured_text(c)})" for c in shared]
        yield (
            f"The runs do not decide whether trial {claim.failed_trial} keeps {len(shared)} "
            f"limits: {listed(limits)}."
        )


_MORE_PAIRS = "More pairs of runs may decide. To run more pairs, set --pairs of `lsmtune tune`."


def _nearest_text(claim: Claim, found: Alternative) -> str:
    """Return which trial came nearest to a win, and how near."""
    runs = "its only run" if found.runs == 1 else f"the median of its {found.runs} runs"
    text = (
        f"Trial {found.trial} came nearest: in {runs}, its objective is {percent(found.ratio)} "
        f"better than that of the baseline. It has {counted(len(found.changes), 'changed option')}."
    )
    if found.verified:
        return f"{text} The pairs of runs of trial {found.trial} did not prove a gain."
    return text if claim.failed else f"{text} It keeps all limits, but this is not verified."


def failure_text(claim: Claim, check: LimitCheck) -> str:
    """Return which limit a trial did not keep, and by which value."""
    if check.state == "unknown" or check.value is None:
        return f"lsmtune cannot check the limit {limit_text(check.limit)}: {check.why}."
    limit, measured = limit_text(check.limit), measured_text(check)
    if check.limit.metric == OVERLOAD and check.state == "broken":
        return f"Trial {claim.failed_trial} {overload_text(claim)}."
    if check.state == "undecided":
        undecided = (
            f"The runs do not decide whether trial {claim.failed_trial} keeps the limit "
            f"{limit}: measured {measured}."
        )
        return undecided if claim.nearest is not None else f"{undecided} {_MORE_PAIRS}"
    return f"Trial {claim.failed_trial} breaks the limit {limit}: measured {measured}."


def alternative_text(claim: Claim) -> str:
    """Return the best config that keeps all limits; empty if a gain is claimed."""
    found = claim.alternative
    if found is None:
        return ""
    if found.trial == claim.trial:
        return f"Trial {found.trial} keeps all limits, but its gain is not proven."
    if found.ratio >= 1:
        return (
            "The baseline is the best config that keeps all limits. The next best config is "
            f"trial {found.trial}: its objective is {percent(found.ratio)} worse than that of the "
            "baseline."
        )
    changed = f"Trial {found.trial} has {counted(len(found.changes), 'changed option')}."
    if found.runs == 1 and not found.verified:
        return (
            f"Trial {found.trial} had the best objective of the trials that kept all limits: "
            f"{percent(found.ratio)} better than the baseline. Trial {found.trial} ran only once, "
            f"and no gain was verified. {changed}"
        )
    proof = (
        f" The pairs of runs of trial {found.trial} did not prove a gain." if found.verified else ""
    )
    return (
        f"Trial {found.trial} is the best config that keeps all limits. In the search, the "
        f"objective of trial {found.trial} was {percent(found.ratio)} better than that of the "
        f"baseline. {changed}{proof}"
    )


def metric_cells(row: MetricRow) -> tuple[str, str, str, str, str]:
    """Return a row as texts: baseline, winner, change, 95 % interval, limit."""
    baseline, winner = (
        "not measured" if value is None else metric_value(row.metric.name, value)
        for value in (row.baseline, row.winner)
    )
    constraints = "; ".join(constraint_cell(check) for check in row.limits)
    return baseline, winner, *_change(row), constraints or "none"


def _change(row: MetricRow) -> tuple[str, str]:
    """The ratio with its side, and the interval."""
    if row.ratio is None:
        return "no ratio", "none"
    ratio, interval = Ratio.of(row.interval or row.ratio).parts
    if row.interval is None:
        return ratio, "none"
    return f"{ratio} {'unproven' if row.side == 'undecided' else row.side}", interval


def ratio_words(row: MetricRow) -> str:
    """Return the name of a row's metric and its change, for a note."""
    if row.ratio is None:
        return f"{row.metric.name} without a ratio"
    return f"{row.metric.name} {Ratio.of(row.interval or row.ratio)}"
