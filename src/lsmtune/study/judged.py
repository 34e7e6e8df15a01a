"""What the runs of a study say, for its optimizer and for early stops."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from lsmtune.knobs.types import Config
from lsmtune.objective import Metrics
from lsmtune.optimizers.base import Observation
from lsmtune.pruning import value_noise
from lsmtune.store.records import StoredTrial, undisturbed
from lsmtune.study.ranking import cautious_metrics
from lsmtune.trials import Role, Status

if TYPE_CHECKING:
    from lsmtune.study.history import History

Values = tuple[float, ...]


class Judged:
    """What the runs say while the baseline and the noise stay the same."""

    def __init__(self, history: "History", start: Config) -> None:
        objective = self._objective = history.objective
        self._levels = history.levels
        self._scorer = history.scorer
        self._base = base = history.base
        self.value_noise = value_noise(objective, base, history.repeated)
        self.to_beat: list[Values] = []
        first = Observation(
            start,
            objective.values(base, base),
            objective.violation(base, base),
            metrics=base,
            runs=self._values(history.base_runs),
        )
        self.observations = [first]
        self.tried = {start}
        for trial in filter(history.counts, undisturbed(history.runs, Role.TRIAL)):
            self.add(trial, history.runs_of(trial.config))

    def add(self, trial: StoredTrial, runs: Sequence[Metrics]) -> None:
        """Add a trial of the search, with the metrics of all complete runs of its config."""
        self.observations.append(self._observed(trial, runs))
        self.tried.add(trial.config)
        if trial.result.status is Status.COMPLETE:
            found = self._scorer.candidate(trial, runs)
            if found is not None and found.excess <= 0:
                self._beat(found.values)

    def _observed(self, trial: StoredTrial, runs: Sequence[Metrics]) -> Observation:
        asked, base, cut = self._objective, self._base, trial.result.status is Status.CUT
        measured = trial.result.bounds if cut else trial.result.metrics
        metrics = self._levels.levelled(trial.host, measured)
        if any(name not in metrics for name in asked.metrics):
            return Observation(trial.config, None, None)
        values = asked.values(metrics, base)
        if cut:
            return Observation(trial.config, values, 0.0, cut)
        expected = cautious_metrics(trial.config, metrics, self._scorer.base_config)
        violation = asked.violation(expected, base, self._scorer.noise(1))
        return Observation(
            trial.config, values, violation, metrics=metrics, runs=self._values(runs)
        )

    def _values(self, runs: Sequence[Metrics]) -> tuple[Values, ...]:
        """What each of several runs of a config comes to; nothing of a single run."""
        if len(runs) < 2:  # noqa: PLR2004 - a single run is no repeat
            return ()
        asked = self._objective
        return tuple(asked.values(run, self._base) for run in runs if not asked.missing(run))

    def _beat(self, values: Values) -> None:
        if any(_is_as_good(other, values) for other in self.to_beat):
            return
        kept = [other for other in self.to_beat if not _is_as_good(values, other)]
        self.to_beat = sorted([*kept, values], key=prod)


def _is_as_good(values: Values, others: Values) -> bool:
    return all(x <= y for x, y in zip(values, others, strict=True))
