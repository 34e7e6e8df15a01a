"""What `lsmtune tune` would do, in words and as JSON."""

import json
from pathlib import Path
from typing import Any

from lsmtune.engines.base import EngineFacts
from lsmtune.knobs.space import KnobSpace
from lsmtune.spec import MANY_TRIALS, Ground, StudySpec
from lsmtune.studies.stopping import fewest_trials
from lsmtune.units import format_bytes, format_duration

_SPACE_FACTOR = 4
"""A load may for a while take this many times the bytes that it writes."""
_TEMPLATES = 6
"""So many built databases of a read load may be kept at a time."""
_SLOWEST_BYTES_S, _FASTEST_BYTES_S = 5e6, 50e6
"""How fast stores have been seen to take in records, load and settling together."""
_FASTEST_SIMULATED_S, _SLOWEST_SIMULATED_S = 0.01, 1.0
"""How long the simulator and what is around it have been seen to take for a run."""
_SLOWEST_OPS_S, _FASTEST_OPS_S = 5e3, 1e5
"""How fast stores have been seen to answer reads that miss the caches."""


def disk_bytes(spec: StudySpec) -> int:
    """The most that trials take of the disk at a time."""
    if spec.engine in ("tikv", "simulated"):
        return 0  # its data is elsewhere, or nowhere
    kept = _TEMPLATES if spec.workload.preset.prepared else 0
    return (_SPACE_FACTOR + kept) * spec.workload.user_bytes


def runs(spec: StudySpec, knobs: int) -> tuple[int, int | None]:
    """The fewest and the most runs that the study takes; None where there is no limit of trials."""
    finals = spec.finalists * spec.repeats
    verified = 2 * 2 * max(spec.pairs, spec.max_pairs)
    fewest = spec.base_runs + min(spec.trials, _fewest_trials(spec, knobs)) + 2 * spec.pairs
    most = spec.base_runs + spec.trials + finals + verified
    return fewest, None if spec.trials == MANY_TRIALS else most


def _fewest_trials(spec: StudySpec, knobs: int) -> int:
    if spec.until is None:
        return 1 if spec.trials == MANY_TRIALS else spec.trials
    return spec.until if isinstance(spec.until, int) else fewest_trials(knobs)


def duration_s(spec: StudySpec, knobs: int) -> tuple[float, float | None]:
    """How long the study may take: a guess from what is known before the first run.

    None where nobody knows how many trials there will be.
    """
    load = spec.workload
    if spec.engine == "simulated":
        fewest, most = runs(spec, knobs)
        return fewest * _FASTEST_SIMULATED_S, None if most is None else most * _SLOWEST_SIMULATED_S
    reads = 0 if load.kind == "write" else (load.client_operations or 0) * load.threads
    fewest, most = runs(spec, knobs)
    given_s = load.duration_s or 0
    shortest = load.user_bytes / _FASTEST_BYTES_S + reads / _FASTEST_OPS_S + given_s + 1
    longest = load.user_bytes / _SLOWEST_BYTES_S + reads / _SLOWEST_OPS_S + given_s + 1
    return fewest * shortest, None if most is None else most * longest


def _search_text(spec: StudySpec, knobs: int) -> str:
    """What may end the search."""
    ends = [] if spec.trials == MANY_TRIALS else [f"up to {spec.trials} trials"]
    if spec.budget_s is not None:
        ends.append(f"{format_duration(spec.budget_s)} of search")
    if isinstance(spec.until, int):
        ends.append(f"trials until {spec.until} in a row gain nothing")
    elif spec.until is not None:
        ends.append(f"trials until the search is stable, at least {fewest_trials(knobs)}")
    return ", or ".join(ends) or f"up to {spec.trials} trials"


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
        "base_notes": [*ground.base.notes, *ground.base.left_out],
        "objective": list(spec.objective),
        "limits": [str(limit) for limit in spec.parsed_objective.limits],
        "memory_bytes": space.memory.limit_bytes,
        "optimizer": spec.optimizer,
        "knobs": {knob.name: knob.allowed_text() for knob in space.knobs},
        "runs": {"base": spec.base_runs, "trials": spec.trials, "pairs": spec.pairs},
        "budget_s": spec.budget_s,
        "until": spec.until,
        "duration_s": list(duration_s(spec, len(space.knobs))),
        "disk_bytes": disk_bytes(spec),
    }


def plan_lines(
    spec: StudySpec, home: Path, facts: EngineFacts, ground: Ground, space: KnobSpace
) -> list[str]:
    """The plan in words."""
    load = spec.workload
    limits = "; ".join(str(limit) for limit in spec.parsed_objective.limits) or "none"
    shortest, longest = duration_s(spec, len(space.knobs))
    most = "whatever the search takes" if longest is None else format_duration(longest)
    return [
        f"study {spec.name} in {home}: {spec.engine} {facts.version} under {json.dumps(load.told)}",
        f"  {load.preset.what}",
        f"base: {spec.base or 'the defaults of the engine'}",
        *(f"  {note}" for note in (*ground.base.notes, *ground.base.left_out)),
        f"tree at scale {spec.scale}; objective {spec.parsed_objective.name}; limits: {limits}",
        f"memory for memtables + caches: at most {format_bytes(space.memory.limit_bytes)}",
        f"{len(space.knobs)} knobs, searched by {spec.optimizer}:",
        *(f"  {knob.name:38} {knob.allowed_text()}" for knob in space.knobs),
        f"runs: {spec.base_runs} of the base, {_search_text(spec, len(space.knobs))}, "
        f"{spec.repeats} more of each of up to {spec.finalists} finalists, "
        f"then {spec.pairs} to {max(spec.pairs, spec.max_pairs)} pairs to verify the winner, "
        "and as many for the runner-up if it fails",
        f"time: {format_duration(shortest)} to {most}, by what machines have been seen to do",
        f"disk: up to {format_bytes(disk_bytes(spec))} at a time",
    ]
