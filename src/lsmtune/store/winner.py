"""Which config of a study is its winner, given its search, simplification and verifications."""

from collections.abc import Sequence
from math import log

from lsmtune.objective import Objective
from lsmtune.simplified import Simplified
from lsmtune.spec import MIN_PAIRS, StudySettings
from lsmtune.stats import Interval, ratio_of_means
from lsmtune.store.ranking import (
    Candidate,
    Scorer,
    candidate_of,
    candidates,
    finalists,
    ranked_candidates,
)
from lsmtune.store.records import StoredTrial, StoredVerification, complete_pairs
from lsmtune.trials import Role, Status
from lsmtune.verdict import FEWEST, Pair, Verdict, judge, lost_early

MOST_CONTENDERS = 2
"""So many configs of a study are verified until the gain of one is proven."""

LEAST_KEPT_GAIN = 0.85
"""The simple config wins if it keeps at least this share of the gain of the raw winner."""


def contenders(
    trials: Sequence[StoredTrial], objective: Objective, simplified: Simplified | None = None
) -> list[Candidate]:
    """Return the configs that may be verified, the best first.

    After a simplification they are the simple config and the raw winner. Before it, they are the
    configs that probably keep all limits. Without one, they are the configs that ran as often
    as the finalists, beat the baseline and break no limit for sure. Three runs may not decide
    a limit; pairs of runs do.
    """
    if simplified is not None and simplified.simple is not None:
        numbers = simplified.simple, simplified.raw
        found = [candidate_of(trials, objective, number) for number in numbers]
        return [candidate for candidate in found if candidate is not None]
    sure = ranked_candidates(trials, objective)
    if sure or not objective.is_cautious:
        return sure
    scorer = Scorer(trials, objective)
    better = [c for c in finalists(candidates(trials, objective)) if c.value < 1]
    hopeful = [c for c in better if not any(x.state == "broken" for x in scorer.checks(c))]
    return sorted(hopeful, key=lambda candidate: candidate.promise)


def study_winner(
    trials: Sequence[StoredTrial],
    verifications: Sequence[StoredVerification],
    objective: Objective,
    spec: StudySettings,
    simplified: Simplified | None = None,
) -> Candidate | None:
    """The study's winner, given its verifications in the order in which they began.

    The best config whose gain is proven; of a simplification, the simple config if it keeps enough
    of the gain. While there is none, the first of the `contenders` that has not been verified: when
    the best does not stand up to verification, the runner-up takes its place, and no third, for
    among many one would win by luck. If none stood up, the first. What decides is the newest
    verification at the study's own scale and load; one at another tells whether the gain carries
    over.
    """

    def is_own(verification: StoredVerification) -> bool:
        return (verification.scale, verification.workload) == (spec.scale, spec.workload)

    ordered = sorted(verifications, key=is_own)
    verdicts = newest_verdicts(trials, ordered, objective, spec.scale)
    proven = {number for number, verdict in verdicts.items() if verdict.claim == "gain"}
    proven -= _outdone(trials, ordered, objective, proven)
    found = [candidate_of(trials, objective, number) for number in proven]
    best = min((c for c in found if c is not None), key=lambda c: c.value, default=None)
    if best is not None:
        return best
    ranked = contenders(trials, objective, current(trials, objective, verifications, simplified))
    unverified = [c for c in ranked[:MOST_CONTENDERS] if c.trial.number not in verdicts]
    return next(iter([*unverified, *ranked]), None)


def current(
    trials: Sequence[StoredTrial],
    objective: Objective,
    verifications: Sequence[StoredVerification],
    simplified: Simplified | None,
) -> Simplified | None:
    """Return the simplification while it is of the best config; None after a better one was found.

    A config that was verified is no longer a candidate for a simplification.
    """
    if simplified is None:
        return None
    best = next(iter(contenders(trials, objective)), None)
    if best is None or best.trial.number == simplified.raw:
        return simplified
    return simplified if best.trial.number in verified_trials(verifications) else None


def verified_trials(verifications: Sequence[StoredVerification]) -> set[int | None]:
    """Return the numbers of the trials whose verification has begun."""
    return {number for v in verifications for number in (v.best_trial, v.raw_trial)}


def _outdone(
    trials: Sequence[StoredTrial],
    verifications: Sequence[StoredVerification],
    objective: Objective,
    proven: set[int],
) -> set[int]:
    """Return of each proven simple config and its proven raw winner the one that is not used.

    The simple config is used if it keeps enough of the gain.
    """
    found = set()
    for verification in verifications:
        simple, raw = verification.best_trial, verification.raw_trial
        if raw is not None and proven >= {simple, raw}:
            kept = kept_gain(trials, verification, objective)
            found.add(simple if kept is not None and kept.median < LEAST_KEPT_GAIN else raw)
    return found


def kept_gain(
    trials: Sequence[StoredTrial], verification: StoredVerification, objective: Objective
) -> Interval | None:
    """Return which share of the raw winner's gain the simple config keeps, with its interval.

    It is the logarithm of the objective, simple / baseline, divided by that of raw / baseline, over
    the pairs in which both ran. None with fewer than two, and if the raw winner has no proven gain.
    """
    runs = {
        (trial.pair, trial.role): trial.result.metrics
        for trial in trials
        if trial.verification_id == verification.id
        and trial.result.status is Status.COMPLETE
        and not objective.missing(trial.result.metrics)
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


def newest_verdicts(
    trials: Sequence[StoredTrial],
    verifications: Sequence[StoredVerification],
    objective: Objective,
    scale: str,
) -> dict[int, Verdict]:
    """What the last one of the verifications of each trial says, by the trial's number.

    `scale` is that of the study. A verification that has not yet run as many pairs as a claim needs
    says nothing.
    """
    verdicts = {}
    for verification in verifications:
        for number in (verification.raw_trial, verification.best_trial):
            role = None if number is None else verification.role_of(number)
            if number is None or role is None:
                continue
            pairs = complete_pairs(trials, verification, role)
            verdict = verdict_of(pairs, objective, is_own=verification.scale == scale)
            if verdict is not None:
                verdicts[number] = verdict
    return verdicts


def verdict_of(pairs: Sequence[Pair], objective: Objective, *, is_own: bool) -> Verdict | None:
    """Return what the pairs of a verification say; None while they are too few.

    At another scale than the study's own, where runs take long, fewer pairs may already say that
    there is no gain.
    """
    if len(pairs) >= MIN_PAIRS:
        return judge(pairs, objective)
    return None if is_own else lost_early(pairs, objective)
