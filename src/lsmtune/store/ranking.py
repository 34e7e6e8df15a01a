"""Which trial is best, judged over all runs of its config: one lucky run wins nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsmtune.objective import Metrics, Objective, median_metrics, run_noise
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.trials import Role


@dataclass(frozen=True, slots=True)
class Candidate:
    """A config that was searched: its trial, how often it ran, and its median metrics.

    `excess` is by how much the worst limit is exceeded beyond the noise of the base's own runs.
    """

    trial: StoredTrial
    runs: int
    metrics: Metrics
    value: float
    excess: float

    @property
    def penalised_value(self) -> float:
        """The objective, made worse by as much as the worst limit is exceeded beyond noise."""
        return self.value * (1 + max(0.0, self.excess))


def base_metrics(trials: Iterable[StoredTrial]) -> Metrics:
    """The median of the base's runs, metric by metric; empty before there is one."""
    return median_metrics(base_runs(trials))


def base_runs(trials: Iterable[StoredTrial]) -> list[Metrics]:
    """The metrics of each of the base's runs."""
    return [trial.result.metrics for trial in complete_trials(trials, Role.BASE)]


def candidates(trials: Sequence[StoredTrial], objective: Objective) -> list[Candidate]:
    """The measured configs, the most promising first, limits aside."""
    base = base_metrics(trials)
    searched = complete_trials(trials, Role.TRIAL) if base else []
    return sorted(
        (
            _candidate(trial, trials, base, objective)
            for trial in searched
            if not objective.missing(trial.result.metrics)
        ),
        key=lambda candidate: candidate.value,
    )


def best_candidate(trials: Sequence[StoredTrial], objective: Objective) -> Candidate | None:
    """The best config that beats the base within the limits; None when there is none.

    Once finalists have been repeated, only they count. A limit that is exceeded by no more than
    the base's runs differ among themselves does not exclude a config: verification will tell.
    """
    found = candidates(trials, objective)
    most_runs = max((candidate.runs for candidate in found), default=0)
    return next((c for c in found if c.runs == most_runs and c.excess <= 0 and c.value < 1), None)


def _candidate(
    trial: StoredTrial, trials: Sequence[StoredTrial], base: Metrics, objective: Objective
) -> Candidate:
    repeats = [t for t in complete_trials(trials, Role.REPEAT) if t.config == trial.config]
    metrics = median_metrics([run.result.metrics for run in (trial, *repeats)])
    noise = run_noise(base_runs(trials), of_runs=1 + len(repeats))
    return Candidate(
        trial,
        1 + len(repeats),
        metrics,
        objective.value(metrics, base),
        objective.violation(metrics, base, noise),
    )
