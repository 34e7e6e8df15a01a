"""The runs of a study as its search uses them, kept up to date run by run."""

from collections.abc import Iterable, Sequence
from math import prod

from lsmtune.knobs.types import Config
from lsmtune.objective import Metrics, Objective
from lsmtune.optimizers.base import Observation
from lsmtune.store.ranking import (
    Scorer,
    base_runs,
    cautious_metrics,
    repeated_runs,
    searched_runs,
    undisturbed,
)
from lsmtune.store.records import StoredTrial
from lsmtune.study.early_stop import value_noise
from lsmtune.trials import Role, Status

Values = tuple[float, ...]


class History:
    """All runs of a study, and what they tell the optimizer and the pruning.

    The cost of a run of a new config does not depend on the number of earlier runs. A run of the
    baseline, or another run of a known config, changes the noise, so everything is judged again.
    """

    def __init__(self, start: Config, objective: Objective) -> None:
        self.runs: list[StoredTrial] = []
        """All runs, in the order in which they ended."""
        self.complete_base: list[StoredTrial] = []
        """The complete runs of the baseline."""
        self.searched = 0
        """The number of trials of the search, without disturbed ones that ran again."""
        self.used_s = 0.0
        """The time that all trials of the search took, in seconds."""
        self._start = start
        self._objective = objective
        self._measured: set[Config] = set()
        self._judged: _Judged | None = None

    def add(self, runs: Iterable[StoredTrial]) -> None:
        """Add the next runs of the study."""
        for run in runs:
            self.runs.append(run)
            is_complete = run.result.status is Status.COMPLETE
            if run.role is Role.BASE and is_complete:
                self.complete_base.append(run)
                self._judged = None
            elif run.role in (Role.TRIAL, Role.REPEAT) and is_complete:
                if run.config in self._measured:
                    self._judged = None
                self._measured.add(run.config)
            if run.role is Role.TRIAL:
                self.used_s += run.duration_s
                if run.result.status is not Status.DISTURBED:
                    self.searched += 1
                    if self._judged is not None:
                        self._judged.add(run, [run.result.metrics] if is_complete else [])

    def as_searched(self) -> "History":
        """The history as the search left it, without what ran after its last trial.

        So what is decided from it is decided the same after an interruption.
        """
        if not self.runs or self.runs[-1].role is Role.TRIAL:
            return self
        left = History(self._start, self._objective)
        last = max((at for at, run in enumerate(self.runs) if run.role is Role.TRIAL), default=-1)
        left.add(self.runs[: last + 1])
        return left

    @property
    def observations(self) -> Sequence[Observation]:
        """The baseline and the trials of the search as the optimizer sees them."""
        return self._known.observations

    @property
    def base(self) -> Metrics:
        """The baseline: the medians of its runs."""
        return self._known.base

    @property
    def value_noise(self) -> Values:
        """The factor per goal by which the value of one run may be off by chance."""
        return self._known.value_noise

    @property
    def to_beat(self) -> Sequence[Values]:
        """The values of the configs that keep all limits beyond noise, the best first.

        Configs that another one beats in every goal are left out.
        """
        return self._known.to_beat

    def tried(self, config: Config) -> bool:
        """Return whether the config is the baseline or was tried by the search."""
        return config in self._known.tried

    @property
    def _known(self) -> "_Judged":
        if self._judged is None:
            self._judged = _Judged(self._start, self._objective, self.runs)
        return self._judged


class _Judged:
    """What the runs say while the baseline and the noise stay the same."""

    def __init__(self, start: Config, objective: Objective, runs: Sequence[StoredTrial]) -> None:
        self._objective = objective
        self._scorer = Scorer(runs, objective)
        self.base = self._scorer.base
        self.value_noise = value_noise(objective, self.base, repeated_runs(runs))
        self.to_beat: list[Values] = []
        first = Observation(
            start,
            objective.values(self.base, self.base),
            objective.violation(self.base, self.base),
            metrics=self.base,
            runs=self._values(base_runs(runs)),
        )
        self.observations = [first]
        self.tried = {start}
        searched = searched_runs(runs)
        for trial in undisturbed(runs, Role.TRIAL):
            self.add(trial, searched.get(trial.config, []))

    def add(self, trial: StoredTrial, runs: Sequence[Metrics]) -> None:
        """Add a trial of the search, with the metrics of all complete runs of its config."""
        self.observations.append(self._observed(trial, runs))
        self.tried.add(trial.config)
        if trial.result.status is Status.COMPLETE:
            found = self._scorer.candidate(trial, runs)
            if found is not None and found.excess <= 0:
                self._beat(found.values)

    def _observed(self, trial: StoredTrial, runs: Sequence[Metrics]) -> Observation:
        asked, base, cut = self._objective, self.base, trial.result.status is Status.CUT
        metrics = trial.result.bounds if cut else trial.result.metrics
        if any(name not in metrics for name in asked.metrics):
            return Observation(trial.config, None, None)
        values = asked.values(metrics, base)
        if cut:
            return Observation(trial.config, values, 0.0, cut)
        expected = cautious_metrics(trial.config, metrics, self._scorer.base_config, asked)
        violation = asked.violation(expected, base, self._scorer.noise(1))
        return Observation(
            trial.config, values, violation, metrics=metrics, runs=self._values(runs)
        )

    def _values(self, runs: Sequence[Metrics]) -> tuple[Values, ...]:
        """What each of several runs of a config comes to; nothing of a single run."""
        if len(runs) < 2:  # noqa: PLR2004 - a single run is no repeat
            return ()
        asked = self._objective
        return tuple(asked.values(run, self.base) for run in runs if not asked.missing(run))

    def _beat(self, values: Values) -> None:
        if any(_is_as_good(other, values) for other in self.to_beat):
            return
        kept = [other for other in self.to_beat if not _is_as_good(values, other)]
        self.to_beat = sorted([*kept, values], key=prod)


def _is_as_good(values: Values, others: Values) -> bool:
    return all(x <= y for x, y in zip(values, others, strict=True))
