"""A study in words and as the JSON document of the contract."""

from typing import Any

from lsmtune.analysis.study_view import StudyView, VerificationView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import median_metrics
from lsmtune.stats import Interval
from lsmtune.trials import Status


def show_document(view: StudyView) -> dict[str, Any]:
    """The JSON of `lsmtune show`."""
    searched = view.searched
    complete = sum(trial.status is Status.COMPLETE for trial in searched)
    best = view.best_trial
    return {
        "study": view.name,
        "engine": view.engine,
        "engine_version": view.engine_version,
        "objective": view.objective.name,
        "limits": [str(limit) for limit in view.objective.limits],
        "scale": view.scale,
        "workload": view.workload.model_dump(),
        "trials": {
            "total": len(searched),
            "complete": complete,
            "failed": len(searched) - complete,
            "cut": 0,
            "disturbed": view.disturbed,
        },
        "base": {"metrics": median_metrics(view.base_runs)},
        "best": best
        and {
            "trial": best.number,
            "config": {change.knob.name: change.best for change in view.changes},
            "metrics": dict(view.best_metrics),
            "objective": best.value,
        },
        "failed_trials": [
            {"trial": t.number, "status": t.status.value, "reason": t.reason} for t in view.failed
        ],
        "verification": view.verification and _verification(view.verification),
    }


def _verification(verification: VerificationView) -> dict[str, Any]:
    verdict = verification.verdict
    return {
        "scale": verification.scale,
        "pairs": verdict.pairs,
        "claim": verdict.claim,
        "objective": _interval(verdict.objective),
        "ratios": {name: _interval(ratio) for name, ratio in verdict.ratios.items()},
        "better": list(verdict.better),
        "worse": list(verdict.worse),
        "limits": [limit.model_dump() for limit in verdict.limits],
    }


def _interval(interval: Interval) -> dict[str, float]:
    return {"median": interval.median, "low": interval.low, "high": interval.high}


def summary_lines(view: StudyView) -> list[str]:
    """The study in words: claim, gains, changed options, failed trials."""
    lines = [f"study {view.name}: {_count(view)}"]
    if view.best_trial is None:
        return [*lines, "no trial beat the base within the limits: the base stays"]
    lines += _claim(view)
    lines.append(f"options that changed (trial {view.best_trial.number}):")
    lines += [f"  {c.knob.name} = {c.best}  (base {c.base})" for c in view.changes]
    if view.unverified_at_full_scale:
        lines.append(f"found at scale {view.scale}: UNVERIFIED at scale 1")
    if view.assertions_enabled:
        lines.append("this db_bench has assertions on and is slow: read ratios, not times")
    return lines


def _count(view: StudyView) -> str:
    failed = [f"{t.status.value} (trial {t.number})" for t in view.searched if t in view.failed]
    return f"{len(view.searched)} trials" + (
        f", of which failed: {', '.join(failed)}" if failed else ""
    )


def _claim(view: StudyView) -> list[str]:
    if view.verification is None:
        return (
            [f"best trial: objective {view.best_trial.value:.3f} of the base, not verified"]
            if (view.best_trial and view.best_trial.value)
            else []
        )
    verdict = view.verification.verdict
    lines = [
        f"{verdict.claim}, verified in {verdict.pairs} pairs of runs: {view.objective.name} "
        f"{_text(verdict.objective)} of the base"
    ]
    lines += [
        f"  {name} {_text(verdict.ratios[name])} of the base ({METRICS[name].better} is better)"
        for name in _reported(view)
        if name in verdict.ratios
    ]
    broken = [limit for limit in verdict.limits if not limit.holds]
    return lines + [f"  limit broken: {b.limit} ({b.use:.2f} times the bound)" for b in broken]


def _reported(view: StudyView) -> list[str]:
    limited = [limit.metric for limit in view.objective.limits]
    return list(dict.fromkeys([*view.objective.metrics, "sustained_ops_s", *limited]))


def _text(interval: Interval) -> str:
    return f"{interval.median:.3f} x ({interval.low:.3f} to {interval.high:.3f})"
