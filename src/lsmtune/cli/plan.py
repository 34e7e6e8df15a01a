"""What `lsmtune tune` would do, in words and as JSON."""

import json
from pathlib import Path
from typing import Any

from lsmtune.engines.base import EngineFacts
from lsmtune.knobs.space import KnobSpace
from lsmtune.spec import Ground, StudySpec
from lsmtune.units import format_bytes, format_duration

_SPACE_FACTOR = 4
"""A load may for a while take this many times the bytes that it writes."""
_TEMPLATES = 6
"""So many built databases of a read load may be kept at a time."""
_SLOWEST_BYTES_S, _FASTEST_BYTES_S = 5e6, 50e6
"""How fast stores have been seen to take in records, load and settling together."""
_SLOWEST_OPS_S, _FASTEST_OPS_S = 5e3, 1e5
"""How fast stores have been seen to answer reads that miss the caches."""


def disk_bytes(spec: StudySpec) -> int:
    """The most that trials take of the disk at a time."""
    kept = _TEMPLATES if spec.workload.preset.prepared else 0
    return (_SPACE_FACTOR + kept) * spec.workload.user_bytes


def runs(spec: StudySpec) -> tuple[int, int]:
    """The fewest and the most runs that the study takes."""
    finals = spec.finalists * spec.repeats
    fewest = spec.base_runs + spec.trials + 2 * spec.pairs
    return fewest, fewest + finals + 2 * (2 * max(spec.pairs, spec.max_pairs) - spec.pairs)


def duration_s(spec: StudySpec) -> tuple[float, float]:
    """How long the study may take: a guess from what is known before the first run."""
    load = spec.workload
    reads = 0 if load.kind == "write" else (load.client_operations or 0) * load.threads
    fewest, most = runs(spec)
    given_s = load.duration_s or 0
    shortest = load.user_bytes / _FASTEST_BYTES_S + reads / _FASTEST_OPS_S + given_s + 1
    longest = load.user_bytes / _SLOWEST_BYTES_S + reads / _SLOWEST_OPS_S + given_s + 1
    return fewest * shortest, most * longest


def plan_document(
    spec: StudySpec, home: Path, facts: EngineFacts, ground: Ground, space: KnobSpace
) -> dict[str, Any]:
    """The plan as JSON."""
    return {
        "study": spec.name,
        "home": str(home),
        "engine": spec.engine,
        "engine_version": facts.version,
        "workload": spec.workload.told,
        "scale": spec.scale,
        "base": spec.base,
        "base_notes": list(ground.base.notes),
        "objective": list(spec.objective),
        "limits": [str(limit) for limit in spec.parsed_objective.limits],
        "memory_bytes": space.memory.limit_bytes,
        "optimizer": spec.optimizer,
        "knobs": {knob.name: knob.allowed_text() for knob in space.knobs},
        "runs": {"base": spec.base_runs, "trials": spec.trials, "pairs": spec.pairs},
        "budget_s": spec.budget_s,
        "duration_s": list(duration_s(spec)),
        "disk_bytes": disk_bytes(spec),
    }


def plan_lines(
    spec: StudySpec, home: Path, facts: EngineFacts, ground: Ground, space: KnobSpace
) -> list[str]:
    """The plan in words."""
    load = spec.workload
    limits = "; ".join(str(limit) for limit in spec.parsed_objective.limits) or "none"
    shortest, longest = (format_duration(seconds) for seconds in duration_s(spec))
    budget = f", or {format_duration(spec.budget_s)} of search" if spec.budget_s else ""
    return [
        f"study {spec.name} in {home}: {spec.engine} {facts.version} under {json.dumps(load.told)}",
        f"  {load.preset.what}",
        f"base: {spec.base or 'the defaults of the engine'}",
        *(f"  {note}" for note in ground.base.notes),
        f"tree at scale {spec.scale}; objective {spec.parsed_objective.name}; limits: {limits}",
        f"memory for memtables + caches: at most {format_bytes(space.memory.limit_bytes)}",
        f"{len(space.knobs)} knobs, searched by {spec.optimizer}:",
        *(f"  {knob.name:38} {knob.allowed_text()}" for knob in space.knobs),
        f"runs: {spec.base_runs} of the base, up to {spec.trials} trials{budget}, "
        f"{spec.repeats} more of each of up to {spec.finalists} finalists, "
        f"then {spec.pairs} to {max(spec.pairs, spec.max_pairs)} pairs to verify the winner, "
        "and as many for the runner-up if it fails",
        f"time: {shortest} to {longest}, by what machines have been seen to do",
        f"disk: up to {format_bytes(disk_bytes(spec))} at a time",
    ]
