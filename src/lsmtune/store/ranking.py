"""Which trial is best, judged over all runs of its config: one lucky run wins nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp

from pydantic import TypeAdapter, ValidationError

from lsmtune.errors import UserError
from lsmtune.knobs.families import option_name
from lsmtune.knobs.types import Config
from lsmtune.limits import Limit, earlier_default_limits
from lsmtune.objective import (
    Metrics,
    Objective,
    front,
    limit_penalty,
    log_deviation,
    log_deviations,
    median_metrics,
    noise_factors,
    parse_objective,
)
from lsmtune.spec import StudySettings
from lsmtune.store.records import StoredStudy, StoredTrial, complete_trials
from lsmtune.tables import problem_text
from lsmtune.trials import Role, Status
from lsmtune.verdict import LimitCheck, State

_LIMITS = TypeAdapter(tuple[Limit, ...])

_VALUE = "value"
_SPACE, _STYLE, _UNIVERSAL = "live_sst_bytes", "compaction_style", 1

LEAST_PROBABILITY = 0.8
"""A config can win if it keeps all limits with at least this probability."""


def study_objective(stored: StoredStudy, spec: StudySettings) -> Objective:
    """Return the objective of a study with the limits that it is judged by."""
    if stored.constraints is not None:
        limits = _limits(stored)
        most_pairs = max(spec.pairs, spec.max_pairs)
        cautious = stored.stored_rule is not None
        return replace(
            spec.parsed_objective, limits=limits, most_pairs=most_pairs, is_cautious=cautious
        )
    earlier = earlier_default_limits(spec.workload, spec.engine)
    found = parse_objective(spec.objective, spec.limits, earlier)
    return replace(found, by_intervals=False)


def _limits(stored: StoredStudy) -> tuple[Limit, ...]:
    try:
        return _LIMITS.validate_python(stored.constraints)
    except ValidationError as error:
        problem = problem_text(dict(error.errors()[0]), None)
        raise UserError(f"limits of study {stored.name!r}: {problem}") from error


@dataclass(frozen=True, slots=True)
class Candidate:
    """A config of the search: its trial, its number of runs, and their median metrics.

    `values` are its objectives / baseline, `value` their mean. `excess` is the excess of its
    medians over the worst limit that the noise of repeated runs does not explain. `kept` is
    the probability that it keeps all limits.
    """

    trial: StoredTrial
    runs: int
    metrics: Metrics
    values: tuple[float, ...]
    value: float
    excess: float
    kept: float

    @property
    def can_win(self) -> bool:
        """True if it probably keeps all limits."""
        return self.kept >= LEAST_PROBABILITY

    @property
    def promise(self) -> float:
        """The objective, made worse by the excess over the worst limit beyond noise."""
        return self.value * limit_penalty(self.excess)


def base_metrics(trials: Iterable[StoredTrial]) -> Metrics:
    """The median of the base's runs, metric by metric; empty before there is one."""
    return median_metrics(base_runs(trials))


def base_runs(trials: Iterable[StoredTrial]) -> list[Metrics]:
    """The metrics of each of the base's runs."""
    return [trial.result.metrics for trial in complete_trials(trials, Role.BASE)]


def repeated_runs(trials: Sequence[StoredTrial]) -> list[Sequence[Metrics]]:
    """The runs of the base and of every config that ran again: what `run_noise` is told."""
    searched = searched_runs(trials).values()
    return [runs for runs in (base_runs(trials), *searched) if len(runs) > 1]


def undisturbed(trials: Iterable[StoredTrial], *roles: Role) -> list[StoredTrial]:
    """The trials of these roles, without those that ran again because others disturbed them."""
    return [
        trial
        for trial in trials
        if trial.role in roles and trial.result.status is not Status.DISTURBED
    ]


def searched_runs(trials: Sequence[StoredTrial]) -> dict[Config, list[Metrics]]:
    """The metrics of all complete runs of each config that was searched."""
    runs: dict[Config, list[Metrics]] = {}
    for role in (Role.TRIAL, Role.REPEAT):
        for trial in complete_trials(trials, role):
            runs.setdefault(trial.config, []).append(trial.result.metrics)
    return runs


_CHANCE = {"get_data_blocks": 0.3, "get_missing_data_blocks": 0.3, "scan_sorted_runs": 0.3}
"""Least standard deviation of the log of counts that depend on the end of a load.

A few runs of the baseline may all end with the same number of sorted runs, and the next one with
twice as many (benchmarks/read_counts.py).
"""


_UNIVERSAL_SPACE = 0.1
"""Standard deviation of the log of live space between runs of a config of universal compaction.

It depends on when the last large merge ended: 0.93 to 1.29 of the baseline's were measured in runs
of one config. Verification then needs a mean well below a limit to decide that it is kept.
"""


def cautious_metrics(
    config: Config, metrics: Metrics, base: Config | None, objective: Objective
) -> Metrics:
    """Return the metrics by which a config is held to its limits before verification."""
    if not objective.is_cautious or base is None or _SPACE not in metrics:
        return metrics
    if not _is_universal(config) or _is_universal(base):
        return metrics
    return {**metrics, _SPACE: metrics[_SPACE] * exp(_UNIVERSAL_SPACE)}


def _is_universal(config: Config) -> bool:
    styles = (value for name, value in config.items() if option_name(name) == _STYLE)
    return any(style == _UNIVERSAL for style in styles)


def _with_chance(deviations: dict[str, float]) -> dict[str, float]:
    """Return the deviations of repeated runs, those of counted reads not below what is usual."""
    least = {name: value for name, value in _CHANCE.items() if name in deviations}
    return {**deviations, **{name: max(deviations[name], least[name]) for name in least}}


class Scorer:
    """Compares configs of the search with the baseline, by the noise of all repeated runs."""

    def __init__(self, trials: Sequence[StoredTrial], objective: Objective) -> None:
        self.base = base_metrics(trials)
        self.deviations = _with_chance(log_deviations(repeated_runs(trials)))
        measured = complete_trials(trials, Role.BASE)
        self.base_config = measured[0].config if measured else None
        self.base_runs = base_runs(trials)
        self._objective = objective
        self._checked = objective.grown(self.deviations, self.base)
        self._noise: dict[int, dict[str, float]] = {}
        self._repeated = repeated_runs(trials)

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The limits as asked."""
        return self._objective.limits

    @property
    def value_deviation(self) -> float:
        """The standard deviation of the log of the objective between runs of one config."""
        return value_deviation(self._repeated, self._objective, self.base)

    def noise(self, runs: int) -> dict[str, float]:
        """Return the factor per metric by which the median of so many runs may be off."""
        if runs not in self._noise:
            self._noise[runs] = noise_factors(self.deviations, runs)
        return self._noise[runs]

    def candidate(self, trial: StoredTrial, runs: Sequence[Metrics]) -> Candidate | None:
        """Return a complete trial as a candidate, with the metrics of all runs of its config.

        None if the trial or the baseline lacks a metric of the objective or of a limit.
        """
        if self._objective.missing(self.base) or self._objective.missing(trial.result.metrics):
            return None
        metrics, base, checked = median_metrics(runs), self.base, self._checked
        expected = cautious_metrics(trial.config, metrics, self.base_config, self._objective)
        return Candidate(
            trial,
            len(runs),
            metrics,
            checked.values(metrics, base),
            checked.value(metrics, base),
            excess=checked.violation(expected, base, self.noise(len(runs))),
            kept=self._kept(checked, expected, len(runs)),
        )

    def checks(self, found: Candidate) -> tuple[LimitCheck, ...]:
        """Return each limit, checked on the medians of the candidate's runs.

        It is undecided if neither it nor its violation is probable enough. If the candidate
        cannot win because of its limits, at least one of them is not kept.
        """
        pairs = zip(self._checked.limits, self._objective.limits, strict=True)
        return tuple(self._check(found, checked, asked) for checked, asked in pairs)

    def doubtful(self, found: Candidate) -> tuple[str, ...]:
        """Return the metrics of the limits that the candidate does not surely keep."""
        checks = zip(self._checked.limits, self.checks(found), strict=True)
        return tuple(limit.metric for limit, check in checks if not check.holds)

    def kept_each(self, found: Candidate) -> list[float]:
        """Return the probability of each limit that the candidate keeps it."""
        return [self._kept_one(limit, found) for limit in self._checked.limits]

    def _kept_one(self, limit: Limit, found: Candidate) -> float:
        return self._kept(replace(self._checked, limits=(limit,)), found.metrics, found.runs)

    def _check(self, found: Candidate, checked: Limit, asked: Limit) -> LimitCheck:
        enough = LEAST_PROBABILITY ** (1 / len(self._checked.limits))
        kept = self._kept_one(checked, found)
        state: State = "kept" if kept >= enough else "undecided" if kept > 1 - enough else "broken"
        return LimitCheck(
            limit=str(checked),
            state=state,
            use=checked.ratio(found.metrics, self.base),
            asked=None if checked == asked else str(asked),
            deviation=None if checked == asked else self._base_deviation(asked.metric),
            default=asked.default,
        )

    def _base_deviation(self, metric: str) -> float | None:
        return log_deviation(metric, [self.base_runs])

    def _kept(self, objective: Objective, metrics: Metrics, runs: int) -> float:
        counts = runs, len(self.base_runs)
        return objective.kept_probability(metrics, self.base, self.deviations, counts)


def value_deviation(
    repeated: Iterable[Sequence[Metrics]], objective: Objective, base: Metrics
) -> float:
    """Return the standard deviation of the log of the objective between runs of one config.

    Each group has the runs of one config. 0 if no config ran twice.
    """
    values = [
        [{_VALUE: objective.value(run, base)} for run in runs if not objective.missing(run)]
        for runs in repeated
    ]
    return log_deviation(_VALUE, values) or 0.0


def candidates(trials: Sequence[StoredTrial], objective: Objective) -> list[Candidate]:
    """Return the measured configs, those with the best objective first."""
    scorer, runs = Scorer(trials, objective), searched_runs(trials)
    found = (scorer.candidate(t, runs[t.config]) for t in complete_trials(trials, Role.TRIAL))
    return sorted((c for c in found if c is not None), key=lambda candidate: candidate.value)


def candidate_of(
    trials: Sequence[StoredTrial], objective: Objective, number: int
) -> Candidate | None:
    """Return the trial of that number, of the search or of a simplification, as a candidate."""
    in_search = (c for c in candidates(trials, objective) if c.trial.number == number)
    if (found := next(in_search, None)) is not None:
        return found
    tested = complete_trials(trials, Role.SIMPLIFY)
    trial = next((t for t in tested if t.number == number), None)
    if trial is None:
        return None
    runs = [t.result.metrics for t in tested if t.config == trial.config]
    return Scorer(trials, objective).candidate(trial, runs)


def ranked_candidates(trials: Sequence[StoredTrial], objective: Objective) -> list[Candidate]:
    """Return the configs that beat the baseline, those with the best objective first.

    Only configs that keep all limits with a probability of at least 0.8 are in it, and once
    finalists have been repeated, only finalists.
    """
    found = finalists(candidates(trials, objective))
    return [c for c in found if c.can_win and c.value < 1]


def finalists(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that ran most often."""
    most_runs = max((candidate.runs for candidate in found), default=0)
    return [c for c in found if c.runs == most_runs]


def nearest_candidate(
    trials: Sequence[StoredTrial], objective: Objective
) -> tuple[Candidate, tuple[LimitCheck, ...]] | None:
    """Return the config that came nearest to a win, and its limits; for a study without one.

    It beats the baseline. A config that keeps all limits comes first, then one that ran as
    often as the finalists.
    """
    better = [c for c in candidates(trials, objective) if c.value < 1]
    keeping = [c for c in better if c.can_win]
    nearest = min(
        keeping or finalists(better), key=lambda candidate: candidate.promise, default=None
    )
    return None if nearest is None else (nearest, Scorer(trials, objective).checks(nearest))


def front_candidates(trials: Sequence[StoredTrial], objective: Objective) -> list[Candidate]:
    """The configs within the limits that neither the base nor another one beats in all goals.

    In the order of the first goal.
    """
    feasible = [c for c in candidates(trials, objective) if c.excess <= 0]
    base = (1.0,) * len(objective.goals)
    places = front([*(c.values for c in feasible), base])
    return sorted(
        (feasible[place] for place in places if place < len(feasible)), key=lambda c: c.values
    )
