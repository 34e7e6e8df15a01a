"""The JSON documents of a study, made from its records by a table of names."""

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from enum import StrEnum
from typing import Any

from lsmtune.analysis.claim import Alternative, Claim, claim_of
from lsmtune.analysis.hosts_used import HostUse
from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.analysis.simplification import Simplification
from lsmtune.analysis.study_view import FullMemory, StudyView, TrialView, VerificationView
from lsmtune.analysis.trades import Cost, Trade, price_of
from lsmtune.limits import Limit
from lsmtune.metrics.options_file import family_document
from lsmtune.objective import median_metrics
from lsmtune.rehearsal import Rehearsal
from lsmtune.report.text.headline_text import headline_of
from lsmtune.verdict import LimitCheck


def _keys(text: str) -> dict[str, str]:
    """Return keys of a document with the attributes that they show: `key` or `key=attribute`."""
    pairs = (word.partition("=") for word in text.split())
    return {key: attribute or key for key, _, attribute in pairs}


_KEYS: dict[type, dict[str, str]] = {
    Claim: _keys(
        "status reasons trial picked=view.picked pairs scale simulated=view.is_simulated"
        " disturbed_runs=view.kept_disturbed unverified_at_full_scale objective value metrics=rows"
        " failed failed_trial undecided price rate=view.shown_pace blurred=view.blurred alternative"
        " nearest next=steps undo trades=view.trades simplified=view.simplification"
        " rehearsal=view.rehearsal"
    ),
    MetricRow: _keys(
        "metric=metric.name role base=baseline best=winner ratio interval side limits"
    ),
    LimitCheck: _keys("limit state value interval asked deviation why"),
    Cost: _keys("metric ratio=ratio.median low=ratio.low high=ratio.high value"),
    Trade: _keys("trial runs objective=value ratios limit=check allowed_by=check.relaxed"),
    Alternative: _keys("trial objective=ratio runs verified config=changed"),
    Simplification: _keys(
        "raw_trial=raw simple_trial=simple used taken_back value kept_gain=kept needed untested"
        " ended_early"
    ),
    Rehearsal: _keys(" ".join([*Rehearsal.model_fields, "passed"])),
    HostUse: _keys(
        "host=name runs_by_role=runs measured_s under_way lost lost_s last_reason baseline"
        " set_aside"
    ),
}
"""What the documents show of a record, by key; other records show all their fields."""


def document(value: Any) -> Any:
    """Return a record, or anything that consists of records, as JSON."""
    if isinstance(value, Limit | StrEnum):
        return str(value)
    if isinstance(value, Mapping):
        return {document(key): document(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return [document(one) for one in value]
    if (keys := _KEYS.get(type(value))) is not None:
        return {key: document(_attribute(value, path)) for key, path in keys.items()}
    if is_dataclass(value):
        return {one.name: document(getattr(value, one.name)) for one in fields(value)}
    return value


def _attribute(value: Any, path: str) -> Any:
    """Return an attribute, or one of an attribute; None if the record on the way is None."""
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    return value


def show_document(view: StudyView, claim: Claim | None = None) -> dict[str, Any]:
    """Return the JSON document of `lsmtune show`; `claim` is that of the view, if it is known."""
    claim = claim or claim_of(view)
    return {
        "study": view.name,
        "engine": view.engine,
        "engine_version": view.engine_version,
        "library": view.origin and view.origin.model_dump(),
        "family": family_document(view.families),
        "measure": "running" if view.objective.is_running else "filled",
        "rate": document(view.pace),
        "objective": view.objective.name,
        "goals": [goal.name for goal in view.objective.goals],
        "limits": [str(limit) for limit in view.objective.limits],
        "scale": view.scale,
        "workload": view.workload.model_dump(),
        "trials": view.counts,
        "ended": view.ended,
        "base": {"metrics": median_metrics(view.base_runs)},
        "memory": view.memory and _memory(view.memory),
        "best": view.best_trial and _trial(view, view.best_trial),
        "front": [{**_trial(view, trial), "values": list(trial.values)} for trial in view.front],
        "failed_trials": [_ended(trial) for trial in view.failed],
        "cut_trials": [_ended(trial) for trial in view.cut],
        "verification": view.verification and _verification(view.verification),
        "verifications": [_verification(found) for found in view.verifications],
        "claim": {"status": claim.status, "headline": headline_of(claim), **document(claim)},
        **({"hosts": document(view.hosts)} if view.hosts else {}),
    }  # fmt: skip


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
            "breaks": list(t.breaks), "host": t.host, "changed": t.changed,
            "config": t.config, "metrics": t.metrics,
        }
        for t in view.trials
    ]  # fmt: skip


def _trial(view: StudyView, trial: TrialView) -> dict[str, Any]:
    shown = {"trial": trial.number, "config": trial.changed, "objective": trial.judged}
    fitness = None if trial.judged is None else view.objective.fitness(trial.judged)
    shown = shown if fitness is None else {**shown, "fitness": fitness}
    return {**shown, "metrics": trial.metrics}


def _ended(trial: TrialView) -> dict[str, Any]:
    return {"trial": trial.number, "status": trial.status.value, "reason": trial.reason}


def _verification(verification: VerificationView) -> dict[str, Any]:
    verdict = verification.verdict
    price = price_of(verdict)
    return {
        "scale": verification.scale,
        "pairs": verdict.pairs,
        "claim": "gain with a price" if price and verdict.claim == "gain" else verdict.claim,
        "price": document(price),
        "rate": document(verification.pace),
        "objective": document(verdict.objective),
        "goals": document(verdict.goals),
        "ratios": document(verdict.ratios),
        "better": list(verdict.better),
        "worse": list(verdict.worse),
        "limits": [{**check.model_dump(), "holds": check.holds} for check in verdict.limits],
        "notes": list(verdict.notes),
    }
