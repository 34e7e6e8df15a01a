"""Runs of a study that also count for another one, which differs only in what it aims at."""

from lsmtune.store.home import Home
from lsmtune.store.records import NewTrial, StoredStudy
from lsmtune.trials import Role, Status

_ROLES = (Role.BASE, Role.TRIAL, Role.REPEAT)
_UNUSABLE = (Status.CUT, Status.DISTURBED)
"""Runs that were cut short because of the earlier objective, or were repeated."""


def copy_runs(home: Home, source: StoredStudy, target: StoredStudy) -> None:
    """Copy the runs of a study that the other one does not have yet.

    The configs, workload and engine of both studies must be the same.
    """
    known = {trial.started_at for trial in home.trials(target)}
    for trial in home.trials(source):
        usable = trial.role in _ROLES and trial.result.status not in _UNUSABLE
        if not usable or trial.started_at in known:
            continue
        new = NewTrial(
            trial.role, trial.config, trial.spec, trial.result, trial.started_at, trial.duration_s
        )
        home.add_trial(target, new, home.evidence_files(trial))
