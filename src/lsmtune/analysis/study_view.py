"""A study as its reader wants it: base, best, how it got there, and what was proven."""

from dataclasses import dataclass
from typing import Any

from lsmtune.knobs.types import Knob, Value
from lsmtune.metrics.measurement import Measurement
from lsmtune.objective import Metrics, Objective
from lsmtune.trials import Role, Status
from lsmtune.verdict import Pair, Verdict
from lsmtune.workloads import Workload


@dataclass(frozen=True, slots=True)
class Change:
    """A knob that differs between base and best."""

    knob: Knob
    base: Value
    best: Value


@dataclass(frozen=True, slots=True)
class TrialView:
    """One trial; `value` (below 1 is a gain) and `violation` only where it was measured.

    `values` has the value for each goal. `violation` is what the noise of repeated runs cannot
    explain of the worst limit's excess. `bound` is, of a trial that was cut, the values that it
    could at best still have reached, where its bounds tell. `changes` is how its config differs
    from the base's.
    """

    number: int
    role: Role
    status: Status
    reason: str | None
    duration_s: float
    config: dict[str, Value]
    metrics: dict[str, float]
    value: float | None
    violation: float | None
    values: tuple[float, ...] = ()
    bound: tuple[float, ...] = ()
    changes: tuple[Change, ...] = ()

    @property
    def feasible(self) -> bool:
        """Whether it was measured and kept every limit."""
        return self.violation is not None and self.violation <= 0


@dataclass(frozen=True, slots=True)
class VerificationView:
    """A verification: the runs of best and base pair by pair, and what they show."""

    scale: str
    workload: Workload
    pairs: tuple[Pair, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class StudyView:
    """Everything that `show`, the page and the export say about a study.

    `base_facts` say what the base is and what of it could not be taken over.
    `base` is the representative base measurement (the median run by the objective), `best` that
    of the winner (the trial of the config that beat the base within the limits and stood up to
    verification, if it was verified, or the trial that the user picked), judged over all its
    runs, whose medians are `best_metrics`; None while nothing did. `no_search` says what a study
    is that searches nothing: it has no best unless one is picked. `verifications` are those of
    the best trial, the newest of each scale, newest first. `front` holds, where there are several
    goals, the trials that no other beats in all of them, with the medians of all their runs.
    `trials` are in the order of their end, base, repeats and verification runs included. `ended`
    says why the search has ended; None while it goes on.
    """

    name: str
    engine: str
    engine_version: str
    assertions_enabled: bool
    host: dict[str, Any]
    workload: Workload
    scale: str
    objective: Objective
    optimizer: str
    seed: int
    memory_limit_bytes: int
    trials: tuple[TrialView, ...]
    base: Measurement | None
    base_runs: tuple[dict[str, float], ...]
    best: Measurement | None
    best_trial: TrialView | None
    best_metrics: Metrics
    verifications: tuple[VerificationView, ...] = ()
    front: tuple[TrialView, ...] = ()
    picked: bool = False
    base_facts: tuple[str, ...] = ()
    no_search: str | None = None
    ended: str | None = None

    @property
    def verification(self) -> VerificationView | None:
        """The newest verification of the best trial."""
        return self.verifications[0] if self.verifications else None

    @property
    def changes(self) -> tuple[Change, ...]:
        """How the best config differs from the base's."""
        return self.best_trial.changes if self.best_trial else ()

    @property
    def measured(self) -> tuple[TrialView, ...]:
        """The trials without those that were repeated because others disturbed them."""
        return tuple(trial for trial in self.trials if trial.status is not Status.DISTURBED)

    @property
    def disturbed(self) -> int:
        """How many runs were repeated because others used the CPU."""
        return len(self.trials) - len(self.measured)

    @property
    def unverified_at_full_scale(self) -> bool:
        """Whether the winner was found in a smaller tree and not yet verified in a full one."""
        return "1" not in (self.scale, *(found.scale for found in self.verifications))

    @property
    def is_simulated(self) -> bool:
        """Whether nothing ran: what it says is foretold, not measured."""
        return self.engine == "simulated"

    @property
    def searched(self) -> tuple[TrialView, ...]:
        """The trials that the optimizer chose."""
        return tuple(trial for trial in self.measured if trial.role is Role.TRIAL)

    @property
    def failed(self) -> tuple[TrialView, ...]:
        """The trials that gave no measurement although they were let to."""
        return tuple(trial for trial in self.trials if trial.status.failed)

    @property
    def cut(self) -> tuple[TrialView, ...]:
        """The trials that were ended early because they could no longer win."""
        return tuple(trial for trial in self.trials if trial.status is Status.CUT)
