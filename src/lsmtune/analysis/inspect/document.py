"""What a LOG says as one JSON document; null where the LOG does not tell."""

from collections import Counter
from dataclasses import asdict
from typing import Any

from lsmtune.analysis.inspect.inspection import Inspection


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
        "findings": [
            {
                **asdict(finding),
                "first_step": finding.first_step,
                "actions": [asdict(action) for action in finding.actions],
            }
            for finding in log.findings
        ],
        "incomplete": list(log.incomplete),
        "needed": list(log.needed),
    }
