"""The JSON document of a study, made from its claim."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from lsmtune.analysis.claim import Alternative, Claim, claim_of
from lsmtune.analysis.full_memory import FullMemory
from lsmtune.analysis.hosts_used import HostUse
from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.analysis.simplification import Simplification
from lsmtune.analysis.study_view import StudyView, TrialView, VerificationView
from lsmtune.analysis.trades import Cost, Trade, price_of
from lsmtune.metrics.options_file import family_document
from lsmtune.objective import median_metrics
from lsmtune.report.text.headline_text import headline_of
from lsmtune.verdict import LimitCheck


def show_document(view: StudyView, claim: Claim | None = None) -> dict[str, Any]:
    """Return the JSON document of `lsmtune show`; `claim` is that of the view, if it is known."""
    return {
        "study": view.name,
        "engine": view.engine,
        "engine_version": view.engine_version,
        "library": view.origin and view.origin.model_dump(),
        "family": family_document(view.families),
        "measure": "running" if view.objective.is_running else "filled",
        "rate": view.pace and asdict(view.pace),
        "objective": view.objective.name,
        "goals": [goal.name for goal in view.objective.goals],
        "limits": [str(limit) for limit in view.objective.limits],
        "scale": view.scale,
        "workload": view.workload.model_dump(),
        "trials": view.counts,
        "ended": view.ended,
        "base": {"metrics": median_metrics(view.base_runs)},
        "memory": view.memory and _memory(view.memory),
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
        "claim": claim_document(claim or claim_of(view)),
        **({"hosts": [_host(use) for use in view.hosts]} if view.hosts else {}),
    }  # fmt: skip


def _host(use: HostUse) -> dict[str, Any]:
    return {
        "host": use.name,
        "runs_by_role": {role.value: count for role, count in sorted(use.runs.items())},
        "measured_s": use.measured_s,
        "under_way": use.under_way,
        "lost": use.lost,
        "lost_s": use.lost_s,
        "last_reason": use.last_reason,
        "baseline": use.baseline,
        "set_aside": use.set_aside,
    }


def _memory(found: FullMemory) -> dict[str, Any]:
    """Return the memory of the full-size tree with the winner, in bytes."""
    total = found.estimate.total if found.measured_bytes is None else found.measured_bytes
    by_consumer = asdict(found.estimate)
    return {"total": total, "limit": found.limit_bytes, "keys": found.keys, **by_consumer}


def trials_document(view: StudyView) -> list[dict[str, Any]]:
    """Return all runs as `lsmtune trials --json` prints them."""
    goals = [goal.name for goal in view.objective.goals]
    front = {trial.number for trial in view.front}
    return [
        {
            "trial": t.number, "role": t.role.value, "status": t.status.value, "reason": t.reason,
            "duration_s": t.duration_s, "objective": t.value, "violation": t.violation,
            "runs": t.runs, "median_objective": t.median,
            "on_front": t.number in front, "values": dict(zip(goals, t.values, strict=False)),
            "bounds": dict(zip(goals, t.bound, strict=False)),
            "disturbance": t.disturbance, "judgement": t.online and t.online.judgement,
            "breaks": list(t.breaks), "host": t.host,
            "changed": {change.knob.name: change.best for change in t.changes},
            "config": t.config, "metrics": t.metrics,
        }
        for t in view.trials
    ]  # fmt: skip


def _trial(view: StudyView, trial: TrialView) -> dict[str, Any]:
    shown = {
        "trial": trial.number,
        "config": {change.knob.name: change.best for change in trial.changes},
        "objective": trial.judged,
    }
    fitness = None if trial.judged is None else view.objective.fitness(trial.judged)
    return shown if fitness is None else {**shown, "fitness": fitness}


def _ended(trial: TrialView) -> dict[str, Any]:
    return {"trial": trial.number, "status": trial.status.value, "reason": trial.reason}


def _verification(verification: VerificationView) -> dict[str, Any]:
    verdict = verification.verdict
    price = _price(price_of(verdict))
    return {
        "scale": verification.scale,
        "pairs": verdict.pairs,
        "claim": "gain with a price" if price and verdict.claim == "gain" else verdict.claim,
        "price": price,
        "rate": verification.pace and asdict(verification.pace),
        "objective": asdict(verdict.objective),
        "goals": {name: asdict(goal) for name, goal in verdict.goals.items()},
        "ratios": {name: asdict(ratio) for name, ratio in verdict.ratios.items()},
        "better": list(verdict.better),
        "worse": list(verdict.worse),
        "limits": [{**check.model_dump(), "holds": check.holds} for check in verdict.limits],
        "notes": list(verdict.notes),
    }


def claim_document(claim: Claim) -> dict[str, Any]:
    """Return the claim as JSON."""
    return {
        "status": claim.status,
        "headline": headline_of(claim),
        "reasons": list(claim.reasons),
        "trial": claim.trial,
        "picked": claim.view.picked,
        "pairs": claim.pairs,
        "scale": claim.scale,
        "simulated": claim.view.is_simulated,
        "disturbed_runs": claim.view.kept_disturbed,
        "unverified_at_full_scale": claim.unverified_at_full_scale,
        "objective": claim.objective and asdict(claim.objective),
        "value": claim.value,
        "metrics": [_row_document(row) for row in claim.rows],
        "failed": [_constraint_document(check) for check in claim.failed],
        "failed_trial": claim.failed_trial,
        "undecided": [_constraint_document(check) for check in claim.undecided],
        "price": _price(claim.price),
        "rate": claim.view.shown_pace and asdict(claim.view.shown_pace),
        "blurred": list(claim.view.blurred),
        "alternative": claim.alternative and _other_document(claim.alternative),
        "nearest": claim.nearest and _other_document(claim.nearest),
        "next": [asdict(step) for step in claim.steps],
        "undo": claim.undo,
        "trades": [_trade(trade) for trade in claim.view.trades],
        "simplified": claim.view.simplification and _simplification(claim.view.simplification),
        "rehearsal": claim.view.rehearsal
        and {**claim.view.rehearsal.model_dump(mode="json"), "passed": claim.view.rehearsal.passed},
    }


def _price(price: Sequence[Cost]) -> list[dict[str, Any]]:
    """Return what a gain costs; the metric that was 0 has no ratio but a value."""
    return [
        {
            "metric": cost.metric,
            "ratio": cost.ratio and cost.ratio.median,
            "low": cost.ratio and cost.ratio.low,
            "high": cost.ratio and cost.ratio.high,
            "value": cost.value,
        }
        for cost in price
    ]


def _trade(trade: Trade) -> dict[str, Any]:
    return {
        "trial": trade.trial,
        "runs": trade.runs,
        "objective": trade.value,
        "ratios": dict(trade.ratios),
        "limit": _constraint_document(trade.check),
        "allowed_by": trade.check.relaxed(),
    }


def _simplification(found: Simplification) -> dict[str, Any]:
    return {
        "raw_trial": found.raw,
        "simple_trial": found.simple,
        "used": found.used,
        "taken_back": list(found.taken_back),
        "value": found.value,
        "kept_gain": found.kept and asdict(found.kept),
        "needed": [
            {
                "names": list(part.names),
                "trial": part.trial,
                "runs": part.runs,
                "value": asdict(part.value),
                "share": part.share,
                "loses": part.loses,
                "limits": list(part.limits),
            }
            for part in found.needed
        ],
        "untested": list(found.untested),
        "ended_early": found.ended_early,
    }


def _other_document(other: Alternative) -> dict[str, Any]:
    return {
        "trial": other.trial,
        "objective": other.ratio,
        "runs": other.runs,
        "verified": other.verified,
        "config": {change.knob.name: change.best for change in other.changes},
    }


def _row_document(row: MetricRow) -> dict[str, Any]:
    return {
        "metric": row.metric.name,
        "role": row.role,
        "base": row.baseline,
        "best": row.winner,
        "ratio": row.ratio,
        "interval": row.interval and asdict(row.interval),
        "side": row.side,
        "limits": [_constraint_document(check) for check in row.limits],
    }


def _constraint_document(check: LimitCheck) -> dict[str, Any]:
    return {
        "limit": str(check.limit),
        "state": check.state,
        "value": check.value,
        "interval": check.interval and asdict(check.interval),
        "asked": None if check.asked is None else str(check.asked),
        "deviation": check.deviation,
        "why": check.why,
    }
