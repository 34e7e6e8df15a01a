"""Which trial is best, judged over all runs of its config: one lucky run wins nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsmtune.objective import Metrics, Objective, median_metrics
from lsmtune.store.records import StoredTrial
from lsmtune.trials import Role, Status


@dataclass(frozen=True, slots=True)
class Candidate:
    """A config that was searched: its trial, how often it ran, and its median metrics."""

    trial: StoredTrial
    runs: int
    metrics: Metrics
    value: float
    violation: float


def base_metrics(trials: Iterable[StoredTrial]) -> Metrics:
    """The median of the base's runs, metric by metric; empty before there is one."""
    return median_metrics([t.result.metrics for t in trials if _measured(t, Role.BASE)])


def candidates(trials: Sequence[StoredTrial], objective: Objective) -> list[Candidate]:
    """The measured configs, the most promising first, limits aside."""
    base = base_metrics(trials)
    searched = [t for t in trials if _measured(t, Role.TRIAL)] if base else []
    return sorted(
        (_candidate(trial, trials, base, objective) for trial in searched),
        key=lambda candidate: candidate.value,
    )


def best_candidate(trials: Sequence[StoredTrial], objective: Objective) -> Candidate | None:
    """The best config that beats the base and keeps every limit; None when there is none.

    Once finalists have been repeated, only they count.
    """
    found = candidates(trials, objective)
    most_runs = max((candidate.runs for candidate in found), default=0)
    return next(
        (c for c in found if c.runs == most_runs and c.violation <= 0 and c.value < 1), None
    )


def _candidate(
    trial: StoredTrial, trials: Sequence[StoredTrial], base: Metrics, objective: Objective
) -> Candidate:
    repeats = [t for t in trials if _measured(t, Role.REPEAT) and t.config == trial.config]
    metrics = median_metrics([run.result.metrics for run in (trial, *repeats)])
    return Candidate(
        trial,
        1 + len(repeats),
        metrics,
        objective.value(metrics, base),
        objective.violation(metrics, base),
    )


def _measured(trial: StoredTrial, role: Role) -> bool:
    return trial.role is role and trial.result.status is Status.COMPLETE
