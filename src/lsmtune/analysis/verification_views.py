"""Views of the verifications of one trial."""

from collections.abc import Sequence

from lsmtune.analysis.pace import Pace, pace_of
from lsmtune.analysis.study_view import VerificationView
from lsmtune.objective import median_metrics
from lsmtune.store.records import StoredTrial, StoredVerification
from lsmtune.study.history import History
from lsmtune.trials import Role, Status


def verifications_of(history: History, number: int | None) -> tuple[VerificationView, ...]:
    """Return the trial's newest verification of each scale and rate, if its pairs are enough.

    The newest is the first one.
    """
    found: dict[tuple[str, float | None], VerificationView] = {}
    for verification in reversed(history.verifications):
        role = None if number is None else verification.role_of(number)
        if role is None:
            continue
        verdict = history.verdict(verification, role)
        place = verification.scale, verification.rate
        if verdict is not None and place not in found:
            found[place] = VerificationView(
                verification.scale,
                verification.workload,
                tuple(history.pairs(verification, role)),
                verdict,
                _disturbed(history.runs_of_verification(verification), role),
                _pace(history, verification),
                verification.rate,
            )
    return tuple(found.values())


def _pace(history: History, verification: StoredVerification) -> Pace | None:
    base = median_metrics([base for _, base in history.pairs(verification)])
    runs = history.runs_of_verification(verification)
    given = history.has_own_rate or verification.rate is not None
    return pace_of(runs, base, verification.workload, given=given)


def _disturbed(trials: Sequence[StoredTrial], role: Role) -> tuple[int, int]:
    """Return how many runs of the pairs were disturbed and kept, and the number of runs."""
    runs = [
        trial.result
        for trial in trials
        if trial.role in (role, Role.VERIFY_BASE) and trial.result.status is Status.COMPLETE
    ]
    return sum(run.disturbance is not None for run in runs), len(runs)
