"""Views of the verifications of one trial."""

from collections.abc import Sequence

from lsmtune.analysis.study_view import VerificationView
from lsmtune.objective import Objective
from lsmtune.store.records import StoredTrial, StoredVerification, complete_pairs
from lsmtune.store.winner import verdict_of
from lsmtune.trials import Role, Status


def verifications_of(
    trials: Sequence[StoredTrial],
    found: Sequence[StoredVerification],
    number: int | None,
    objective: Objective,
    scale: str,
) -> tuple[VerificationView, ...]:
    """Return the trial's newest verification of each scale with enough pairs, newest first."""
    by_scale: dict[str, VerificationView] = {}
    for verification in reversed(found):
        role = None if number is None else verification.role_of(number)
        if role is None:
            continue
        pairs = complete_pairs(trials, verification, role)
        verdict = verdict_of(pairs, objective, is_own=verification.scale == scale)
        if verdict is not None and verification.scale not in by_scale:
            by_scale[verification.scale] = VerificationView(
                verification.scale,
                verification.workload,
                tuple(pairs),
                verdict,
                _disturbed(trials, verification, role),
            )
    return tuple(by_scale.values())


def _disturbed(
    trials: Sequence[StoredTrial], verification: StoredVerification, role: Role
) -> tuple[int, int]:
    """Return how many runs of the pairs were disturbed and kept, and the number of runs."""
    runs = [
        trial.result
        for trial in trials
        if trial.verification_id == verification.id
        and trial.role in (role, Role.VERIFY_BASE)
        and trial.result.status is Status.COMPLETE
    ]
    return sum(run.disturbance is not None for run in runs), len(runs)
