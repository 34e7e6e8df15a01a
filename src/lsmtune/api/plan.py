"""What `tune` would do, without a run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.api.readiness import Ready, readiness
from lsmtune.api.resolve import Resolved
from lsmtune.api.run_time import RunTime, duration_s, expected_run_time, runs, time_text
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import EngineFacts
from lsmtune.knobs.space import KnobSpace
from lsmtune.metrics.options_file import families_in, family_document
from lsmtune.progress import Observer
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import Ground, StudySettings
from lsmtune.spec_defaults import reason_filled
from lsmtune.store.database import check_writable
from lsmtune.study.guard import FEWEST
from lsmtune.study.host_checks import disk_bytes, other_programs_percent
from lsmtune.study.opening import prepare
from lsmtune.tables import Online
from lsmtune.units import format_duration

_SLOWEST_BYTES_S = 5e6
"""Minimum of the observed bytes written per second, load and settling together."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A study before its first run.

    `ready` is what is known about data, disk and machine, and `run` the expected time of a run.
    """

    facts: EngineFacts
    spaces: KnobSpaces
    home: Path
    ready: tuple[Ready, ...]
    run: RunTime | None

    @property
    def spec(self) -> StudySettings:
        """The settings."""
        return self.spaces.spec

    @property
    def ground(self) -> Ground:
        """The context of the knobs."""
        return self.spaces.ground

    @property
    def space(self) -> KnobSpace:
        """The knob space at the scale of the trials."""
        return self.spaces.at()

    @property
    def time_text(self) -> str:
        """The number of runs and the time that the study takes, as far as it is known."""
        if self.spec.online is None:
            return time_text(self.spec, len(self.space.knobs), self.run)
        shortest, longest = map(format_duration, online_s(self.spec, self.spec.online))
        return f"{shortest} to {longest} (estimate)"


def plan(resolved: Resolved, home: Path, observer: Observer | None = None) -> Plan:
    """Return what `tune` would do. The engine starts only to report its version and options.

    Nothing is written. UserError if lsmtune cannot use the home.
    """
    observer = observer or Observer()
    check_writable(home)
    prepared = prepare(resolved.settings, home, observer, source=resolved.source)
    spec, space = prepared.spec, prepared.spaces.at()
    ready = tuple(readiness(spec, home, space, other_programs_percent()))
    run = expected_run_time(spec, home, prepared.facts)
    return Plan(prepared.facts, prepared.spaces, home, ready, run)


def online_s(spec: StudySettings, online: Online) -> tuple[float, float]:
    """Estimate the time of online tuning; at best, the store exists and each change loses.

    A window before each change, and right after each change and each revert, is not counted.
    """
    fewest, most = online.windows + 2 + FEWEST, 3 * online.windows + 3
    changes_s = spec.number_of_trials * online.window_s
    return fewest * changes_s, most * changes_s + spec.workload.user_bytes / _SLOWEST_BYTES_S


def plan_document(found: Plan) -> dict[str, Any]:
    """Return the plan as JSON."""
    spec, facts, ground, space, run = found.spec, found.facts, found.ground, found.space, found.run
    is_online, knobs = spec.online is not None, len(space.knobs)
    time_s = online_s(spec, spec.online) if spec.online else duration_s(spec, knobs, run)
    return {
        "study": spec.name,
        "home": str(found.home),
        "engine": spec.engine,
        "engine_version": facts.version,
        "library": facts.origin and facts.origin.model_dump(),
        "workload": spec.workload.told,
        "measure": None if is_online else spec.measure,
        "why_filled": reason_filled(spec, ENGINES[spec.engine], ground.base.settings),
        "rate": spec.rate,
        "scale": spec.scale,
        "base": spec.base,
        "base_notes": [*ground.base.notes, *ground.base.left_out],
        "family": family_document(families_in(ground.base.given, spec.family)),
        "objective": list(spec.objective),
        "limits": [] if is_online else [str(limit) for limit in spec.parsed_objective.limits],
        "memory_bytes": space.full_size.memory.limit_bytes,
        "optimizer": spec.optimizer,
        "knobs": {knob.name: knob.allowed_text() for knob in space.knobs},
        "runs": {
            "base": 0 if is_online else spec.base_runs,
            "trials": spec.trials,
            "pairs": 0 if is_online else spec.pairs,
        },
        "online": spec.online and {"changes": spec.trials, **spec.online.model_dump()},
        "budget_s": spec.budget_s,
        "until": spec.until,
        "number_of_runs": None if is_online else list(runs(spec, knobs)),
        "run_s": run and run.run_s,
        "duration_s": list(time_s),
        "disk_bytes": disk_bytes(spec),
        "ready": {one.name: one.document() for one in found.ready},
    }
