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
class TrialView:
    """One trial; `value` (below 1 is a gain) and `violation` only where it was measured.

    `violation` is what the noise of the base's runs cannot explain of the worst limit's excess.
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

    @property
    def feasible(self) -> bool:
        """Whether it was measured and kept every limit."""
        return self.violation is not None and self.violation <= 0


@dataclass(frozen=True, slots=True)
class Change:
    """A knob that differs between base and best."""

    knob: Knob
    base: Value
    best: Value


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

    `base` is the representative base measurement (the median run by the objective), `best` that
    of the winner (the trial of the config that beat the base within the limits, judged over all
    its runs, whose medians are `best_metrics`); None while nothing did. `trials` are in the order
    of their end, base, repeats and verification runs included.
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
    changes: tuple[Change, ...]
    verification: VerificationView | None

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
        return "1" not in (self.scale, self.verification and self.verification.scale)

    @property
    def searched(self) -> tuple[TrialView, ...]:
        """The trials that the optimizer chose."""
        return tuple(trial for trial in self.measured if trial.role is Role.TRIAL)

    @property
    def failed(self) -> tuple[TrialView, ...]:
        """The trials that gave no measurement."""
        return tuple(trial for trial in self.measured if trial.status is not Status.COMPLETE)
