"""The runs of a study, and what follows from them: search, reports and exports ask it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import log, prod, sqrt
from statistics import fmean

from lsmtune.host_levels import HostLevels
from lsmtune.knobs.types import Config
from lsmtune.objective import Metrics, Objective, median_metrics
from lsmtune.optimizers.base import Observation
from lsmtune.pruning import value_noise
from lsmtune.rehearsal import Rehearsal
from lsmtune.spec import StudySettings
from lsmtune.stats import Interval
from lsmtune.store.records import (
    StoredStudy,
    StoredTrial,
    StoredVerification,
    complete_pairs,
    complete_trials,
    undisturbed,
)
from lsmtune.study.ranking import (
    MOST_LOST_GAIN,
    Candidate,
    Scorer,
    cautious_metrics,
    check_medians,
    contenders,
    current_simplified,
    first_unverified,
    kept_gain,
    pareto_front,
    ranked,
    verdict_of,
    without_outdone,
)
from lsmtune.study.standing import Standing, standings
from lsmtune.trials import Role, Simplified, Status
from lsmtune.verdict import LimitCheck, Pair, Verdict

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


def study_objective(stored: StoredStudy, spec: StudySettings) -> Objective:
    """Return the objective of a study with the limits that it is judged by."""
    most_pairs = max(spec.pairs, spec.max_pairs)
    return replace(spec.parsed_objective, limits=stored.limits, most_pairs=most_pairs)


class History:
    """All runs and verifications of a study, and what follows from them.

    It is updated once per finished run, and made from the stored rows when a study is opened. The
    cost of a run of a new config does not depend on the number of earlier runs. A run of the
    baseline, or another run of a known config, changes the noise, so everything is judged again.
    """

    def __init__(
        self, spec: StudySettings, objective: Objective, start: Config | None = None
    ) -> None:
        """Begin without runs. `start` is the config of the baseline; a search needs it."""
        self.runs: list[StoredTrial] = []
        """All runs, in the order in which they ended."""
        self.complete_base: list[StoredTrial] = []
        """The complete runs of the baseline."""
        self.searched = 0
        """The number of trials of the search, without disturbed ones that ran again."""
        self.used_s = 0.0
        """The time that all trials of the search took, in seconds."""
        self.verifications: list[StoredVerification] = []
        """The verifications, in the order in which they began."""
        self.simplified: Simplified | None = None
        """The stored simplification; `current_simplified` is the one that still counts."""
        self.standings: dict[str, Standing] = {}
        """The standing of each host that has run the baseline."""
        self._spec = spec
        self._asked = objective
        self._objective: Objective | None = None
        self._start = start
        self._of_config: dict[Config, list[StoredTrial]] = {}
        self._of_verification: dict[int, list[StoredTrial]] = {}
        self._levels: HostLevels | None = None
        self._scorer: Scorer | None = None
        self._judged: Judged | None = None
        self._candidates: list[Candidate] | None = None
        self._verdicts: dict[tuple[int, Role, int], Verdict | None] = {}

    def add(self, runs: Iterable[StoredTrial]) -> None:
        """Add the next runs of the study."""
        for run in runs:
            self.runs.append(run)
            if run.verification_id is not None:
                self._of_verification.setdefault(run.verification_id, []).append(run)
            if run.role is Role.TRIAL:
                self.used_s += run.duration_s
            if run.role is Role.BASE and run.host is not None and self._stands_differently():
                self._count_again()
            elif self.counts(run):
                self._count(run)

    def counts(self, run: StoredTrial) -> bool:
        """Return whether a run counts: not if its host was set aside before it."""
        standing = None if run.host is None else self.standings.get(run.host)
        return standing is None or standing.counts(run.number)

    def metrics(self, run: StoredTrial) -> Metrics:
        """Return the metrics of a run as on the middle of all hosts, to compare it with `base`."""
        return self.levels.levelled(run.host, run.result.metrics)

    @property
    def levels(self) -> HostLevels:
        """The level of each host by its runs of the baseline."""
        if self._levels is None:
            by_host: dict[str | None, list[Metrics]] = {}
            for run in self.complete_base:
                by_host.setdefault(run.host, []).append(run.result.metrics)
            self._levels = HostLevels(by_host)
        return self._levels

    def _stands_differently(self) -> bool:
        """Look at the hosts again after a run of the baseline; return whether other runs count."""
        base = [run for run in self.runs if run.role is Role.BASE]
        before = self.standings
        self.standings = standings(base, self._asked, self._spec.base_runs)
        return {host: found.last for host, found in before.items() if found.is_set_aside} != {
            host: found.last for host, found in self.standings.items() if found.is_set_aside
        }

    def _count_again(self) -> None:
        self.complete_base, self.searched = [], 0
        self._of_config = {}
        self._judge_again()
        for run in filter(self.counts, self.runs):
            self._count(run)

    def _count(self, run: StoredTrial) -> None:
        is_complete = run.result.status is Status.COMPLETE
        if run.role is Role.BASE and is_complete:
            self.complete_base.append(run)
            self._judge_again()
        elif run.role in (Role.TRIAL, Role.REPEAT) and is_complete:
            if run.config in self._of_config:
                self._judge_again()
            self._of_config.setdefault(run.config, []).append(run)
            self._candidates = None
        if run.role is Role.TRIAL and run.result.status is not Status.DISTURBED:
            self.searched += 1
            if self._judged is not None:
                self._judged.add(run, self.runs_of(run.config) if is_complete else [])

    def _judge_again(self) -> None:
        self._scorer = self._judged = self._candidates = self._levels = self._objective = None
        self._verdicts.clear()

    def as_searched(self) -> "History":
        """The history as the search left it, without what ran after its last trial.

        So what is decided from it is decided the same after an interruption.
        """
        if not self.runs or self.runs[-1].role is Role.TRIAL:
            return self
        left = History(self._spec, self._asked, self._start)
        last = max((at for at, run in enumerate(self.runs) if run.role is Role.TRIAL), default=-1)
        left.add(self.runs[: last + 1])
        return left

    # The baseline, noise, and what the optimizer sees.

    @property
    def objective(self) -> Objective:
        """The objective with the limits that this machine can judge, see `blurred`."""
        if self._objective is None:
            self._objective = self._asked.without(self.blurred)
        return self._objective

    @property
    def has_own_rate(self) -> bool:
        """Whether the user gave the rate of a running store, not a share of the capacity."""
        return self._spec.is_running and not self._spec.given_rate[1]

    @property
    def blurred(self) -> tuple[str, ...]:
        """The p99 metrics without a default limit, because clients wake too late for it.

        The runs of the baseline decide it each time, so the stored limits never change.
        """
        base = median_metrics([run.result.metrics for run in self.complete_base])
        return self._asked.blurred(base)

    @property
    def base_runs(self) -> list[dict[str, float]]:
        """The metrics of each complete run of the baseline, as on the middle of all hosts."""
        return [dict(self.metrics(run)) for run in self.complete_base]

    @property
    def base(self) -> Metrics:
        """The baseline: the medians of its runs; empty without a run."""
        return self.scorer.base

    @property
    def repeated(self) -> list[Sequence[Metrics]]:
        """The runs of the baseline and of every config that ran again: they show the noise."""
        groups = [self.complete_base, *self._of_config.values()]
        return [[self.metrics(run) for run in runs] for runs in groups if len(runs) > 1]

    @property
    def scorer(self) -> Scorer:
        """Compares configs with the baseline, by the noise of all repeated runs."""
        if self._scorer is None:
            base = self.complete_base[0].config if self.complete_base else None
            self._scorer = Scorer(self.objective, self.base_runs, self.repeated, base)
        return self._scorer

    @property
    def observations(self) -> Sequence[Observation]:
        """The baseline and the trials of the search as the optimizer sees them."""
        return self._known.observations

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

    def runs_of(self, config: Config) -> Sequence[Metrics]:
        """Return the metrics of all complete runs of a config in the search; see `metrics`."""
        return [self.metrics(run) for run in self._of_config.get(config, ())]

    @property
    def _known(self) -> Judged:
        if self._judged is None:
            if self._start is None:
                raise ValueError("the observations need the config of the baseline")
            self._judged = Judged(self, self._start)
        return self._judged

    # Configs, the best first.

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The measured configs of the search, those with the best objective first."""
        if self._candidates is None:
            trials = filter(self.counts, complete_trials(self.runs, Role.TRIAL))
            found = (self.scorer.candidate(t, self.runs_of(t.config)) for t in trials)
            self._candidates = sorted((c for c in found if c is not None), key=lambda c: c.value)
        return self._candidates

    def candidate(self, number: int) -> Candidate | None:
        """Return the trial of that number, of the search or a simplification, as a candidate."""
        in_search = (c for c in self.candidates if c.trial.number == number)
        if (found := next(in_search, None)) is not None:
            return found
        tested = list(filter(self.counts, complete_trials(self.runs, Role.SIMPLIFY)))
        trial = next((t for t in tested if t.number == number), None)
        if trial is None:
            return None
        runs = [self.metrics(t) for t in tested if t.config == trial.config]
        return self.scorer.candidate(trial, runs)

    def gain(self, config: Config) -> float:
        """Return the gain of a raw winner as a logarithm, without the run that selected it."""
        return -self._level(self._runs_again(config))

    def _runs_again(self, config: Config) -> list[StoredTrial]:
        """Return the complete runs of a config after the one that selected it."""
        roles = (Role.REPEAT, Role.SIMPLIFY)
        runs = [t for role in roles for t in complete_trials(self.runs, role)]
        return [run for run in runs if run.config == config]

    def loses_gain(self, runs: Sequence[StoredTrial], raw: Config) -> bool:
        """Return whether runs with fewer changes lose too much of the raw winner's gain.

        What the noise of the runs explains is no loss.
        """
        again = self._runs_again(raw)
        gain, counts = -self._level(again), (len(runs), len(again))
        error = self.scorer.value_deviation * sqrt(sum(1 / count for count in counts))
        return self._level(runs) + gain > max(MOST_LOST_GAIN * gain, error)

    def _level(self, runs: Sequence[StoredTrial]) -> float:
        """Return the mean logarithm of the objective / baseline over the runs that count."""
        counted = map(self.metrics, filter(self.counts, runs))
        return fmean(log(self.objective.value(metrics, self.base)) for metrics in counted)

    @property
    def ranked(self) -> list[Candidate]:
        """The configs that beat the baseline and probably keep all limits; see `ranked`."""
        return ranked(self.candidates)

    @property
    def front(self) -> list[Candidate]:
        """The Pareto front within the limits; see `pareto_front`."""
        return pareto_front(self.candidates, self.objective)

    # Verification, rehearsal and winner.

    def checks(self, found: Candidate, *, by_medians: bool) -> tuple[LimitCheck, ...]:
        """Return each limit, checked on a config: by its newest pairs of runs, if there are any.

        Else the noise of repeated runs decides which limits are open (`Scorer.checks`). With
        `by_medians` the medians decide alone: for a winner that probably keeps all limits, and for
        a trial that the user picked, so that their limits are told as the user asked for them.
        """
        if (verdict := self.verdicts.get(found.trial.number)) is not None:
            return verdict.limits
        if by_medians:
            return check_medians(self.objective.limits, found.metrics, self.base)
        return self.scorer.checks(found)

    def rehearsal(self, number: int) -> Rehearsal | None:
        """Return the newest rehearsal of the files of a trial; None without one."""
        found = (v.rehearsals.get(number) for v in reversed(self.verifications))
        return next((one for one in found if one is not None), None)

    @property
    def not_deployable(self) -> set[int]:
        """The numbers of the trials whose files failed in their newest rehearsal."""
        rehearsed = {number for v in self.verifications for number in v.rehearsals}
        return {n for n in rehearsed if (one := self.rehearsal(n)) and not one.passed}

    @property
    def contenders_of_search(self) -> list[Candidate]:
        """The configs that may be verified, without a simplification; see `contenders`."""
        return self._deployable(contenders(self.candidates, self.scorer))

    def _deployable(self, found: Iterable[Candidate]) -> list[Candidate]:
        """Return the candidates without those whose config failed in a rehearsal."""
        configs = [c.trial.config for n in self.not_deployable if (c := self.candidate(n))]
        return [candidate for candidate in found if candidate.trial.config not in configs]

    @property
    def current_simplified(self) -> Simplified | None:
        """The simplification while it is of the best config."""
        return current_simplified(self.simplified, self.contenders_of_search, self.verifications)

    @property
    def contenders(self) -> list[Candidate]:
        """The configs that may be verified, the best first.

        After a simplification, they are the simple config and the raw winner.
        """
        simplified = self.current_simplified
        if simplified is None or simplified.simple is None:
            return self.contenders_of_search
        both = (self.candidate(number) for number in (simplified.simple, simplified.raw))
        return self._deployable(candidate for candidate in both if candidate is not None)

    def runs_of_verification(self, verification: StoredVerification) -> list[StoredTrial]:
        """Return the runs of a verification."""
        return self._of_verification.get(verification.id, [])

    def pairs(self, verification: StoredVerification, role: Role = Role.VERIFY_BEST) -> list[Pair]:
        """Return the complete pairs of runs of a verification, with the side of that role."""
        return complete_pairs(self.runs_of_verification(verification), verification, role)

    def kept_gain(self, verification: StoredVerification) -> Interval | None:
        """Return which share of the raw winner's gain the simple config keeps; see `kept_gain`."""
        return kept_gain(self.runs_of_verification(verification), self.objective)

    def verdict(self, verification: StoredVerification, role: Role) -> Verdict | None:
        """Return what the pairs of a side say; None while they are too few."""
        pairs = self.pairs(verification, role)
        key = verification.id, role, len(pairs)
        if key not in self._verdicts:
            is_own = verification.is_at(self._spec.scale)
            self._verdicts[key] = verdict_of(pairs, self.objective, is_own=is_own)
        return self._verdicts[key]

    @property
    def verdicts(self) -> dict[int, Verdict]:
        """The verdict of each trial in its newest verification, by the number of the trial.

        A verification that has not yet run as many pairs as a claim needs says nothing, and one at
        another rate decides nothing.
        """
        return self._newest_verdicts(self._at_own_rate)

    @property
    def _at_own_rate(self) -> list[StoredVerification]:
        return [found for found in self.verifications if found.rate is None]

    @property
    def proven(self) -> set[int]:
        """The numbers of the trials whose gain is proven by their newest verification."""
        return {number for number, verdict in self.verdicts.items() if verdict.claim == "gain"}

    def winner(self) -> Candidate | None:
        """Return the winner of the study, its verifications considered; None without one.

        It is the best config whose gain is proven; of a simplification, the simple config if it
        keeps enough of the gain. A config that failed in its rehearsal comes after those that did
        not. Without a proven gain, see `first_unverified`. What decides is
        the newest verification at the study's own scale and load; one at another shows whether the
        gain carries over. One at another rate decides nothing.
        """
        own = self._spec.scale, self._spec.workload
        ordered = sorted(self._at_own_rate, key=lambda v: (v.scale, v.workload) == own)
        verdicts = self._newest_verdicts(ordered)
        proven = {number for number, verdict in verdicts.items() if verdict.claim == "gain"}
        used = without_outdone(proven, ordered, self.kept_gain)
        found = [self.candidate(number) for number in used]
        failed = self.not_deployable
        best = min(
            (c for c in found if c is not None),
            key=lambda c: (c.trial.number in failed, c.value),
            default=None,
        )
        return first_unverified(self.contenders, verdicts) if best is None else best

    def _newest_verdicts(self, verifications: Iterable[StoredVerification]) -> dict[int, Verdict]:
        found = {}
        for verification in verifications:
            for number in (verification.raw_trial, verification.best_trial):
                role = None if number is None else verification.role_of(number)
                verdict = None if role is None else self.verdict(verification, role)
                if number is not None and verdict is not None:
                    found[number] = verdict
        return found
