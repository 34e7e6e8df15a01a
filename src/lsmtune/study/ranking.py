"""What wins: pure functions over configs, their runs and their verifications.

`History` has the runs of a study and asks these functions. One lucky run wins nothing: a config is
judged by all its runs, and by the noise of all repeated runs of the study.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, log

from lsmtune.knobs.families import PLAIN
from lsmtune.knobs.types import Config
from lsmtune.limits import Limit
from lsmtune.objective import (
    Metrics,
    Objective,
    front,
    limit_penalty,
    log_deviation,
    log_deviations,
    median_metrics,
    noise_factors,
)
from lsmtune.spec import MIN_PAIRS
from lsmtune.stats import Interval, ratio_of_means
from lsmtune.store.records import StoredTrial, StoredVerification
from lsmtune.trials import Role, Simplified, Status
from lsmtune.verdict import FEWEST, LimitCheck, Pair, State, Verdict, judge, lost_early

_VALUE = "value"
_SPACE, _STYLE, _UNIVERSAL = "live_sst_bytes", "compaction_style", 1

LEAST_PROBABILITY = 0.8
"""A config can win if it keeps all limits with at least this probability."""

_EVEN = 0.5

MOST_CONTENDERS = 2
"""At most this number of configs of a study is verified until the gain of one is proven."""

MOST_LOST_GAIN = 0.1
"""All changes that are taken back may cost this share of the gain together."""

LEAST_KEPT_GAIN = 0.85
"""The simple config wins if it keeps at least this share of the gain of the raw winner."""


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


_CHANCE = {"get_data_blocks": 0.3, "get_missing_data_blocks": 0.3, "scan_sorted_runs": 0.3}
"""Least standard deviation of the log of counts of a filled store: they depend on its end.

A few runs of the baseline may all end with the same number of sorted runs, and the next one with
twice as many (benchmarks/read_counts.py).
"""


_UNIVERSAL_SPACE = 0.1
"""Standard deviation of the log of live space between runs of a config of universal compaction.

It depends on when the last large merge ended: 0.93 to 1.29 of the baseline's were measured in runs
of one config. Verification then needs a mean well below a limit to decide that it is kept.
"""


def cautious_metrics(config: Config, metrics: Metrics, base: Config | None) -> Metrics:
    """Return the metrics by which a config is held to its limits before verification."""
    if base is None or _SPACE not in metrics:
        return metrics
    if not _is_universal(config) or _is_universal(base):
        return metrics
    return {**metrics, _SPACE: metrics[_SPACE] * exp(_UNIVERSAL_SPACE)}


def _is_universal(config: Config) -> bool:
    styles = (value for name, value in config.items() if PLAIN.option(name) == _STYLE)
    return any(style == _UNIVERSAL for style in styles)


def _with_chance(deviations: dict[str, float]) -> dict[str, float]:
    """Return the deviations of repeated runs, those of counted reads not below what is usual."""
    least = {name: value for name, value in _CHANCE.items() if name in deviations}
    return {**deviations, **{name: max(deviations[name], least[name]) for name in least}}


class Scorer:
    """Compares configs of the search with the baseline, by the noise of all repeated runs."""

    def __init__(
        self,
        objective: Objective,
        base_runs: Sequence[Metrics],
        repeated: Sequence[Sequence[Metrics]],
        base_config: Config | None,
    ) -> None:
        """Use the runs of the baseline, and the runs of each config that ran more than once."""
        self.base_runs = base_runs
        self.base = median_metrics(base_runs)
        self.base_config = base_config
        found = log_deviations(repeated)
        self.deviations = found if objective.is_running else _with_chance(found)
        self._objective = objective
        self._checked = objective.grown(self.deviations, self.base)
        self._noise: dict[int, dict[str, float]] = {}
        self._repeated = repeated

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
        expected = cautious_metrics(trial.config, metrics, self.base_config)
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

    def breaks_more(self, found: Candidate, raw: Candidate) -> bool:
        """Return whether a candidate probably breaks a limit that the raw winner surely keeps."""
        states = (check.state for check in self.checks(raw))
        chances = zip(states, self.kept_each(found), strict=True)
        return any(state == "kept" and chance < _EVEN for state, chance in chances)

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
            limit=checked,
            state=state,
            use=checked.ratio(found.metrics, self.base),
            asked=None if checked == asked else asked,
            deviation=None if checked == asked else self._base_deviation(asked.metric),
            default=asked.default,
        )

    def _base_deviation(self, metric: str) -> float | None:
        return log_deviation(metric, [self.base_runs])

    def _kept(self, objective: Objective, metrics: Metrics, runs: int) -> float:
        counts = runs, len(self.base_runs)
        return objective.kept_probability(metrics, self.base, self.deviations, counts)


def check_medians(limits: Sequence[Limit], best: Metrics, base: Metrics) -> tuple[LimitCheck, ...]:
    """Return each limit, kept or broken by the medians alone, without regard to noise."""
    uses = [(limit, limit.ratio(best, base)) for limit in limits]
    return tuple(
        LimitCheck(limit=limit, state="kept" if use <= 1 else "broken", use=use)
        for limit, use in uses
    )


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


def finalists(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that ran most often."""
    most_runs = max((candidate.runs for candidate in found), default=0)
    return [c for c in found if c.runs == most_runs]


def ranked(found: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that beat the baseline, those with the best objective first.

    Only configs that keep all limits with a probability of at least 0.8 are in it, and once
    finalists have been repeated, only finalists.
    """
    return [c for c in finalists(found) if c.can_win and c.value < 1]


def nearest_candidate(found: Sequence[Candidate]) -> Candidate | None:
    """Return the config that came nearest to a win; for a study without one.

    It beats the baseline. A config that keeps all limits comes first, then one that ran as
    often as the finalists.
    """
    better = [c for c in found if c.value < 1]
    keeping = [c for c in better if c.can_win]
    return min(keeping or finalists(better), key=lambda c: c.promise, default=None)


def pareto_front(found: Sequence[Candidate], objective: Objective) -> list[Candidate]:
    """Return the configs within the limits that neither the baseline nor another one beats.

    They are in the order of the first objective.
    """
    feasible = [c for c in found if c.excess <= 0]
    base = (1.0,) * len(objective.goals)
    places = front([*(c.values for c in feasible), base])
    return sorted(
        (feasible[place] for place in places if place < len(feasible)), key=lambda c: c.values
    )


def contenders(found: Sequence[Candidate], scorer: Scorer) -> list[Candidate]:
    """Return the configs of a search that may be verified, the best first.

    They are the configs that probably keep all limits. Without one, they are the configs that ran
    as often as the finalists, beat the baseline and break no limit for sure. Three runs may not
    decide a limit; pairs of runs do.
    """
    sure = ranked(found)
    if sure:
        return sure
    better = [c for c in finalists(found) if c.value < 1]
    hopeful = [c for c in better if not any(x.state == "broken" for x in scorer.checks(c))]
    return sorted(hopeful, key=lambda candidate: candidate.promise)


def current_simplified(
    simplified: Simplified | None,
    contenders: Sequence[Candidate],
    verifications: Sequence[StoredVerification],
) -> Simplified | None:
    """Return the simplification while it is of the best config; None after a better one was found.

    `contenders` are those of the search. A config that was verified is no longer a candidate for a
    simplification.
    """
    if simplified is None or not contenders:
        return simplified
    best = contenders[0].trial.number
    verified = best in verified_trials(verifications)
    return simplified if best == simplified.raw or verified else None


def verified_trials(verifications: Iterable[StoredVerification]) -> set[int | None]:
    """Return the numbers of the trials whose verification has begun."""
    return {number for v in verifications for number in (v.best_trial, v.raw_trial)}


def without_outdone(
    proven: set[int],
    verifications: Iterable[StoredVerification],
    kept_gain: Callable[[StoredVerification], Interval | None],
) -> set[int]:
    """Return the proven trials without those that another proven one replaces.

    Of a simple config and its raw winner, the simple one is used if it keeps enough of the gain.
    """
    outdone = set()
    for verification in verifications:
        simple, raw = verification.best_trial, verification.raw_trial
        if raw is not None and proven >= {simple, raw}:
            kept = kept_gain(verification)
            outdone.add(simple if kept is not None and kept.median < LEAST_KEPT_GAIN else raw)
    return proven - outdone


def first_unverified(ranked: Sequence[Candidate], verified: Iterable[int]) -> Candidate | None:
    """Return the winner while no gain is proven: the first contender that is not verified.

    If the best config fails its verification, the runner-up takes its place, and no third config:
    among many, one would win by luck. If both failed, it is the first contender.
    """
    done = set(verified)
    unverified = [c for c in ranked[:MOST_CONTENDERS] if c.trial.number not in done]
    return next(iter([*unverified, *ranked]), None)


def kept_gain(trials: Iterable[StoredTrial], objective: Objective) -> Interval | None:
    """Return which share of the raw winner's gain the simple config keeps, with its interval.

    `trials` are those of one verification. The share is the logarithm of the objective, simple /
    baseline, divided by that of raw / baseline, over the pairs in which both ran. None with fewer
    than two, and if the raw winner has no proven gain.
    """
    runs = {
        (trial.pair, trial.role): trial.result.metrics
        for trial in trials
        if trial.result.status is Status.COMPLETE and not objective.missing(trial.result.metrics)
    }
    logs = [
        [
            log(objective.value(runs[pair, side], runs[pair, Role.VERIFY_BASE]))
            for side in (Role.VERIFY_BEST, Role.VERIFY_RAW)
        ]
        for pair, role in runs
        if role is Role.VERIFY_RAW
        and (pair, Role.VERIFY_BEST) in runs
        and (pair, Role.VERIFY_BASE) in runs
    ]
    if len(logs) < FEWEST:
        return None
    simple, raw = zip(*logs, strict=True)
    return ratio_of_means(simple, raw) if sum(raw) < 0 else None


def verdict_of(pairs: Sequence[Pair], objective: Objective, *, is_own: bool) -> Verdict | None:
    """Return what the pairs of a verification say; None while they are too few.

    At another scale than the study's own, where runs take long, fewer pairs may already say that
    there is no gain.
    """
    if len(pairs) >= MIN_PAIRS:
        return judge(pairs, objective)
    return None if is_own else lost_early(pairs, objective)
