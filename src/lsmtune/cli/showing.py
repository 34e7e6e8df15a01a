"""A study in words and as the JSON document of the contract."""

from dataclasses import asdict
from typing import Any

from lsmtune.analysis.study_view import StudyView, TrialView, VerificationView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import median_metrics
from lsmtune.stats import Interval
from lsmtune.trials import Status
from lsmtune.verdict import LimitCheck


def show_document(view: StudyView) -> dict[str, Any]:
    """The JSON of `lsmtune show`."""
    return {
        "study": view.name,
        "engine": view.engine,
        "engine_version": view.engine_version,
        "objective": view.objective.name,
        "goals": [goal.name for goal in view.objective.goals],
        "limits": [str(limit) for limit in view.objective.limits],
        "scale": view.scale,
        "workload": view.workload.model_dump(),
        "trials": _counts(view),
        "ended": view.ended,
        "base": {"metrics": median_metrics(view.base_runs)},
        "best": view.best_trial and {
            **_trial(view, view.best_trial), "metrics": dict(view.best_metrics)
        },
        "front": [
            {**_trial(view, trial), "metrics": trial.metrics, "values": list(trial.values)}
            for trial in view.front
        ],
        "failed_trials": [_ended(trial) for trial in view.failed],
        "cut_trials": [_ended(trial) for trial in view.cut],
        "verification": view.verification and _verification(view.verification),
        "verifications": [_verification(found) for found in view.verifications],
    }  # fmt: skip


def _counts(view: StudyView) -> dict[str, int]:
    searched = view.searched
    return {
        "total": len(searched),
        "complete": sum(trial.status is Status.COMPLETE for trial in searched),
        "failed": sum(trial.status.failed for trial in searched),
        "cut": sum(trial.status is Status.CUT for trial in searched),
        "disturbed": view.disturbed,
    }


def _trial(view: StudyView, trial: TrialView) -> dict[str, Any]:
    shown = {
        "trial": trial.number,
        "config": {change.knob.name: change.best for change in trial.changes},
        "objective": trial.value,
    }
    fitness = None if trial.value is None else view.objective.fitness(trial.value)
    return shown if fitness is None else {**shown, "fitness": fitness}


def _ended(trial: TrialView) -> dict[str, Any]:
    return {"trial": trial.number, "status": trial.status.value, "reason": trial.reason}


def _verification(verification: VerificationView) -> dict[str, Any]:
    verdict = verification.verdict
    return {
        "scale": verification.scale,
        "pairs": verdict.pairs,
        "claim": verdict.claim,
        "objective": asdict(verdict.objective),
        "goals": {name: asdict(goal) for name, goal in verdict.goals.items()},
        "ratios": {name: asdict(ratio) for name, ratio in verdict.ratios.items()},
        "better": list(verdict.better),
        "worse": list(verdict.worse),
        "limits": [limit.model_dump() for limit in verdict.limits],
        "notes": list(verdict.notes),
    }


def summary_lines(view: StudyView) -> list[str]:
    """The study in words: claim, gains, changed options, the front, failed trials."""
    lines = [f"study {view.name}: {_count(view)}"]
    lines += [] if view.ended is None else [f"search ended: {view.ended}"]
    lines += ["simulated, not measured: UNVERIFIED on RocksDB"] if view.is_simulated else []
    if view.best_trial is None:
        told = view.no_search or "no trial beat the base within the limits: the base stays"
        return [*lines, told, *_front_lines(view)]
    lines += _claim(view, view.best_trial)
    lines.append(f"options that changed (trial {view.best_trial.number}):")
    lines += [f"  {c.knob.name} = {c.best}  (base {c.base})" for c in view.changes]
    lines += _front_lines(view)
    if view.unverified_at_full_scale:
        lines.append(f"found at scale {view.scale}: UNVERIFIED at scale 1")
    if view.assertions_enabled:
        lines.append("this db_bench has assertions on and is slow: read ratios, not times")
    return lines


def _count(view: StudyView) -> str:
    failed = [f"{t.status.value} (trial {t.number})" for t in view.searched if t.status.failed]
    cut = _counts(view)["cut"]
    return (
        f"{len(view.searched)} trials"
        + (f", of which failed: {', '.join(failed)}" if failed else "")
        + (f"; {cut} cut, because they could no longer win" if cut else "")
    )


def _claim(view: StudyView, best: TrialView) -> list[str]:
    if not view.verifications:
        chosen = "picked trial" if view.picked else "best trial"
        if best.value is None:
            return []
        return [f"{chosen}: objective {_value_text(view, best.value)} of the base, not verified"]
    lines = _verdict_lines(view, view.verifications[0])
    return lines + [
        f"at scale {other.scale}: {other.verdict.claim} in {other.verdict.pairs} pairs, "
        f"{_text(other.verdict.objective)} of the base"
        for other in view.verifications[1:]
    ]


def _verdict_lines(view: StudyView, verification: VerificationView) -> list[str]:
    verdict = verification.verdict
    fitness = view.objective.fitness(verdict.objective.median)
    lines = [
        f"{verdict.claim}, verified in {verdict.pairs} pairs of runs at scale "
        f"{verification.scale}: {view.objective.name} {_text(verdict.objective)} of the base"
        + ("" if fitness is None else f", fitness {fitness:.0f}")
    ]
    lines += [
        f"  {name} {_text(verdict.ratios[name])} of the base ({METRICS[name].better} is better)"
        for name in _reported(view)
        if name in verdict.ratios
    ]
    lines += [_limit_text(check) for check in verdict.limits if not check.holds]
    lines += [f"  shown to be worse than the base: {name}" for name in verdict.lost_goals]
    return lines + [f"  not judged: {note}" for note in verdict.notes]


def _limit_text(check: LimitCheck) -> str:
    if check.use is None:
        return f"  limit not kept, as it cannot be checked: {check.limit} ({check.why})"
    return f"  limit broken: {check.limit} ({check.use:.2f} times the bound)"


def _value_text(view: StudyView, value: float) -> str:
    fitness = view.objective.fitness(value)
    return f"{value:.3f}" + ("" if fitness is None else f" (fitness {fitness:.0f})")


def _reported(view: StudyView) -> list[str]:
    limited = [limit.metric for limit in view.objective.limits]
    speed = "sustained_ops_s" if view.workload.kind == "write" else "throughput_ops_s"
    return list(dict.fromkeys([*view.objective.metrics, speed, *limited]))


def _front_lines(view: StudyView) -> list[str]:
    if not view.objective.pareto:
        return []
    if not view.front:
        return ["the front is empty: the base is as good as every trial within the limits"]
    goals = [goal.name for goal in view.objective.goals]
    lines = [f"the front of {' and '.join(goals)}, as ratios to the base (below 1 is better):"]
    lines += [
        f"  trial {trial.number}: "
        + ", ".join(f"{g} {v:.3f}" for g, v in zip(goals, trial.values, strict=True))
        for trial in view.front
    ]
    return [*lines, f"to take one: lsmtune export {view.name} --trial N --format options"]


def _text(interval: Interval) -> str:
    return f"{interval.median:.3f} x ({interval.low:.3f} to {interval.high:.3f})"
