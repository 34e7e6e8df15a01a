"""Verification: winner and base again, in random order, until the gain is certain or not."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.types import Config
from lsmtune.spec import MIN_PAIRS
from lsmtune.store.ranking import MOST_CONTENDERS, ranked_candidates
from lsmtune.store.records import (
    StoredTrial,
    StoredVerification,
    complete_pairs,
    complete_trials,
)
from lsmtune.studies.enough_data import check_expected_flushes, check_flushes
from lsmtune.studies.runner import Task
from lsmtune.studies.seeds import workload_seed
from lsmtune.studies.study import Study
from lsmtune.trials import Role, Status, TrialSpec
from lsmtune.verdict import Pair, Verdict, judge
from lsmtune.workloads import Workload

_PRECISE = 0.05
"""The interval's half width at which no more pairs are run."""
_MOST_FAILURES = 3
_SIDES = {Role.VERIFY_BEST: "winner", Role.VERIFY_BASE: "baseline"}


def verify(study: Study, scale: str, workload: Workload, trial: int | None = None) -> Verdict:
    """Verify the study's winner, or the trial of that number; UserError when there is none."""
    if trial is not None:
        return verify_trial(study, _searched(study, trial), scale, workload)
    if (winner := study.best()) is None:
        raise no_winner(study.stored.name)
    return verify_trial(study, winner.trial, scale, workload)


def no_winner(study: str) -> UserError:
    """Return the error of a verification of a study that found nothing."""
    return UserError(
        f"study {study!r}: nothing to verify; no trial is better than the baseline and keeps all "
        "constraints"
    )


def verify_contenders(study: Study) -> None:
    """Verify the best candidates one after the other until the gain of one is proven.

    Three runs may keep a limit that twelve runs break. Then the next candidate is verified, but no
    third one: among many, one would win by luck.
    """
    verified: set[int] = set()
    for wanted in range(1, MOST_CONTENDERS + 1):
        study.repeat_finalists(wanted)
        ranked = ranked_candidates(study.trials(), study.objective)
        trial = next((c.trial for c in ranked if c.trial.number not in verified), None)
        if trial is None:
            return
        verdict = verify_trial(study, trial, study.spec.scale, study.spec.workload)
        if verdict.claim == "gain":
            return
        verified.add(trial.number)


def _searched(study: Study, number: int) -> StoredTrial:
    found = [t for t in complete_trials(study.trials(), Role.TRIAL) if t.number == number]
    if not found:
        name = study.stored.name
        raise UserError(
            f"--trial {number}: study {name!r} has no complete trial of this number; "
            f"see `lsmtune trials {name}`"
        )
    return found[0]


def verify_trial(study: Study, trial: StoredTrial, scale: str, workload: Workload) -> Verdict:
    """Run pairs of the trial's config and the baseline, and judge them.

    It runs at least six and at most `max_pairs` pairs. It ends before if the objective is known to
    ± 5 % and no undecided constraint decides the claim. Each pair has its own workload seed and a
    random order. An interrupted verification continues. Raises LsmtuneError if runs keep failing.
    """
    base = study.settings_at(study.space.default(), Fraction(scale))
    check_expected_flushes(workload, base, study.objective.needed)
    verification = _begin(study, trial, scale, workload)
    earlier = len(_runs(study, verification))
    while not _enough(study, pairs := _pairs(study, verification)):
        if pairs:
            check_flushes(verification.workload, pairs[0][1], study.objective.needed)
        _run_pair(study, trial.config, verification)
        _check_failures(_runs(study, verification)[earlier:])
    return judge(pairs, study.objective)


def _begin(study: Study, best: StoredTrial, scale: str, workload: Workload) -> StoredVerification:
    """The verification of that trial under that load which has begun before, or a new one."""
    for earlier in reversed(study.home.verifications(study.stored)):
        if (earlier.best_trial, earlier.scale, earlier.workload) == (best.number, scale, workload):
            return earlier
    return study.home.add_verification(study.stored, best.number, scale, workload)


def _pairs(study: Study, verification: StoredVerification) -> list[Pair]:
    return complete_pairs(study.trials(), verification)


def _enough(study: Study, pairs: Sequence[Pair]) -> bool:
    if len(pairs) < max(MIN_PAIRS, study.spec.pairs):
        return False
    if len(pairs) >= study.spec.max_pairs:
        return True
    verdict = judge(pairs, study.objective)
    return verdict.half_width <= _PRECISE and not verdict.waits_for_constraints


def _run_pair(study: Study, best: Config, verification: StoredVerification) -> None:
    """Run a new pair; a pair that was cut off is not completed, its runs lie too far apart."""
    before = [trial.pair for trial in _runs(study, verification) if trial.pair is not None]
    pair = max(before, default=-1) + 1
    scale = Fraction(verification.scale)
    roles = [Role.VERIFY_BEST, Role.VERIFY_BASE]
    np.random.default_rng([study.spec.seed, verification.id, pair]).shuffle(roles)
    configs = {Role.VERIFY_BEST: best, Role.VERIFY_BASE: study.space.default()}
    settings = {role: study.settings_at(config, scale) for role, config in configs.items()}
    for role in roles:
        spec = TrialSpec(
            settings=settings[role],
            base_settings=settings[Role.VERIFY_BASE],
            workload=study.spec.load_at(configs[role], verification.workload),
            protocol=study.protocol,
            seed=workload_seed(study.spec.seed, "pair", pair, verification.id),
        )
        title = f"pair {pair + 1}, {_SIDES[role]}"
        study.run(
            Task(
                title, role, configs[role], spec,
                verification_id=verification.id, pair=pair, scale=scale,
            )
        )  # fmt: skip


def _runs(study: Study, verification: StoredVerification) -> list[StoredTrial]:
    trials = study.trials()
    return [trial for trial in trials if trial.verification_id == verification.id]


def _check_failures(runs: Sequence[StoredTrial]) -> None:
    measured = (Status.COMPLETE, Status.DISTURBED)
    failed = [trial.result for trial in runs if trial.result.status not in measured]
    if len(failed) > _MOST_FAILURES:
        raise LsmtuneError(
            f"verification stopped: {len(failed)} runs failed; reason of the last failed run: "
            f"{failed[-1].status.meaning}: {failed[-1].reason}"
        )
