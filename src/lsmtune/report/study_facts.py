"""Facts about a study: what ran, what was asked for, and how the search ended."""

from collections.abc import Iterator
from dataclasses import asdict

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.study_view import ONLINE, StudyView
from lsmtune.report.text.constraint_text import limit_text, measured_text
from lsmtune.report.text.facts import Fact, host_text, objective_text, pace_text, workload_text
from lsmtune.report.text.words import counted, listed
from lsmtune.trials import Role
from lsmtune.units import format_bytes, format_duration
from lsmtune.verdict import LimitCheck


def system_facts(view: StudyView) -> Iterator[Fact]:
    """Yield what ran: engine, baseline, machine, workload and scale."""
    origin = () if view.origin is None else (f"library: {view.origin.text}",)
    yield "Engine", (f"{view.engine} {view.engine_version}", *_build_text(view), *origin)
    if view.base_facts:
        yield "Baseline", view.base_facts
    yield "Machine", tuple(host_text(asdict(view.host)))
    endless = view.no_search == ONLINE or view.objective.is_running
    yield "Workload", tuple(workload_text(view.workload, view.engine, is_endless=endless))
    if view.pace is not None:
        yield "Rate", (pace_text(view.pace),)
    yield "Scale", (_scale_text(view),)


def study_facts(view: StudyView, claim: Claim) -> Iterator[Fact]:
    """Yield the facts of a study in any state, from not started to verified."""
    yield from system_facts(view)
    if view.verification and view.verification.workload != view.workload:
        yield (
            "Workload of the verification",
            tuple(workload_text(view.verification.workload, view.engine)),
        )
    yield "Objective", tuple(objective_text(view.objective))
    if view.online is not None:
        windows = f"{view.online.windows} windows of {format_duration(view.online.window_s)}"
        yield "Online tuning", (windows, f"optimizer: {view.optimizer}; seed: {view.seed}")
    if view.no_search is not None:
        return
    yield "Limits", tuple(_limits_text(view, claim)) or ("none",)
    if view.has_memory:
        where = " at full size" if view.all_sizes_scale else ""
        yield f"Memory limit{where}", (format_bytes(view.memory_limit_bytes),)
    yield "Search", tuple(_search_text(view))


def _build_text(view: StudyView) -> Iterator[str]:
    """Yield whether the engine has assertions, if that is known."""
    if view.assertions_enabled:
        yield "built with assertions"
    elif view.catalogue is not None and view.catalogue.is_rocksdbs:
        yield "built without assertions"


def _search_text(view: StudyView) -> Iterator[str]:
    yield f"optimizer: {view.optimizer}; seed: {view.seed}"
    searched = view.searched
    failed = sum(trial.status.failed for trial in searched)
    pruned = sum(trial in view.cut for trial in searched)
    yield f"{counted(len(searched), 'trial')}: {failed} failed, {pruned} pruned"
    other = sum(trial.role is not Role.TRIAL for trial in view.measured)
    yield f"{counted(other, 'other run')}: baseline, repeats, verification"
    if view.disturbed:
        yield f"{counted(view.disturbed, 'disturbed run')}, repeated"
    if view.kept_disturbed:
        yield f"{counted(view.kept_disturbed, 'disturbed run')}, kept"
    if view.ended is not None:
        yield f"ended: {view.ended}"


def _scale_text(view: StudyView) -> str:
    if view.no_search is not None:
        return f"all runs at scale {view.scale}"
    searched, scales = f"searched at {view.scale}", [v.scale for v in view.at_own_rate]
    return f"{searched}, verified at {listed(scales)}" if scales else searched


def _limits_text(view: StudyView, claim: Claim) -> Iterator[str]:
    if claim.limits and claim.nearest is None:
        yield from map(_check_text, claim.limits)
    else:
        yield from map(limit_text, view.objective.limits)


def _check_text(check: LimitCheck) -> str:
    if check.state == "unknown" or check.value is None:
        return f"{limit_text(check.limit)}: not checked; {check.why}"
    return f"{limit_text(check.limit)}: {check.state}, {measured_text(check)}"
