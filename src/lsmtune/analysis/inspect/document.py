"""What a LOG says as one JSON document; null where the LOG does not tell."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from lsmtune.analysis.inspect.applying import lines_to_apply
from lsmtune.analysis.inspect.inspection import Finding, Inspection

_INNER = ("current", "step")
"""Fields of a finding that the document has in its first step and its actions."""


def inspection_document(log: Inspection) -> dict[str, Any]:
    """The inspection without what only pictures need."""
    totals = log.totals
    return {
        "name": log.name,
        "kind": log.kind,
        "version": log.version,
        "verdict": log.verdict,
        "span_s": log.span_s,
        "options_changed": {name: asdict(c) for name, c in log.options_changed.items()}
        if log.version and any(log.options.values())
        else None,
        "main_family": log.main_family,
        "families": [asdict(family) for family in log.family_sums] or None,
        "options_given": dict(log.options_given) or None,
        "load": asdict(log.load),
        "levels": [asdict(level) for level in log.levels] or None,
        "totals": asdict(totals),
        "benchmarks": {
            name: {"ops_per_s": result.ops_per_s, "micros_per_op": result.micros_per_op}
            for name, result in log.results.items()
        },
        "runs": [asdict(run) for run in log.runs],
        "stalls": dict(log.stall_counts) or None,
        "stall_stretches_s": {
            f"{kind}: {cause}": seconds for (kind, cause), seconds in log.stall_seconds().items()
        }
        if totals.compactions is not None
        else None,
        "compactions": {
            "count": totals.compactions,
            "total_s": totals.compaction_s,
            "by_reason": dict(
                Counter(job.reason for job in log.jobs if job.kind == "compaction" and job.reason)
            )
            if totals.compactions is not None
            else None,
        },
        "findings": [_finding(finding, log) for finding in log.findings],
        "facts": [{**asdict(fact), "unit": fact.unit} for fact in log.facts],
        "incomplete": list(log.incomplete),
        "needed": list(log.needed),
        "needed_here": list(log.needed_here),
        "nothing_flushed": _nothing_flushed(log),
    }


def _finding(finding: Finding, log: Inspection) -> dict[str, Any]:
    told = {key: value for key, value in asdict(finding).items() if key not in _INNER}
    actions = [{**asdict(action), **_change(finding, action.option)} for action in finding.actions]
    first = finding.first_action
    return {
        **told,
        "cause": f"{finding.title}. {finding.evidence}",
        "do": finding.step.text,
        "apply": "; ".join(map(str, lines_to_apply(finding, log))) or None,
        "cost": None if first is None else first.cost,
        "first_step": finding.step.text,
        "actions": actions,
    }


def _change(finding: Finding, option: str) -> dict[str, str | None]:
    """Return direction and values of an option; most options are only there to be checked."""
    for change in finding.step.changes:
        if change.option == option:
            return {"direction": change.direction, "from": change.before, "to": change.after}
    return {"direction": None, "from": finding.current.get(option), "to": None}


def _nothing_flushed(log: Inspection) -> bool | None:
    """Return whether no flush and no compaction ran since the opening; None if it is unknown."""
    if log.extent.nothing_ran:
        return True
    return False if log.jobs else None
