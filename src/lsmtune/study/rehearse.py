"""The rehearsal of a verified config: its files on a store of the baseline.

It measures nothing, so it is no trial: its record is stored with the verification.
"""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Deployed, Places, Rehearses, TrialFailedError, Watch
from lsmtune.errors import UserError
from lsmtune.knobs.existing import changes_between
from lsmtune.knobs.types import Settings
from lsmtune.progress import Observer
from lsmtune.rehearsal import Rehearsal
from lsmtune.spec import load_at
from lsmtune.study.session import Session, WorkLeft
from lsmtune.study.verify import verify_contenders
from lsmtune.system.lock import host_lock
from lsmtune.system.workdir import workdir
from lsmtune.trials import TrialSpec
from lsmtune.workloads import Workload

MOST_NEXT = 2
"""At most this number of further configs is verified after one that cannot be deployed."""

MOST_RECORDS = 100_000
"""The store of a rehearsal has at most this number of records, unless a template has more."""

FilesOf = Callable[[Session], Deployed]
"""Returns the files of the winner of a study."""


def verify_deployable(study: Session, files_of: FilesOf, observer: Observer) -> None:
    """Verify contenders, and rehearse the winner; the next best follows if its files fail."""
    while len(study.history.not_deployable) <= MOST_NEXT:
        verify_contenders(study)
        winner = study.best()
        if winner is None or winner.trial.number not in study.history.proven:
            return
        if winner.trial.number in study.history.not_deployable:
            return  # no other config is proven
        rehearse(study, winner.trial.number, files_of, observer)
        if winner.trial.number not in study.history.not_deployable:
            return  # its files passed, or could not be rehearsed


def rehearse(study: Session, trial: int, files_of: FilesOf, observer: Observer) -> None:
    """Rehearse the files of a verified trial and store the result, unless that was done before.

    An engine that cannot do it is no error; a remark says so. So is a baseline that fails.
    """
    engine = study.engine
    if study.history.rehearsal(trial) is not None or not isinstance(engine, Rehearses):
        return
    if study.is_looking:
        raise WorkLeft
    files = files_of(study)
    observer.remark(
        f"rehearsal: opening a store {'with' if files.new_store else 'of the baseline with'} the "
        "exported file"
    )
    started = time.monotonic()
    try:
        with (
            _turn(study, observer),
            workdir(study.home.work, f"{study.stored.name}-open") as folder,
        ):
            places = Places(folder, study.home.templates)
            watch = Watch(lambda phase: None)
            base = study.ground.base
            found = engine.rehearse(_baseline_run(study), base, files, places, watch)
    except (TrialFailedError, UserError) as error:
        observer.remark(f"rehearsal: not done: {error}")
        return
    found = found.model_copy(update={"seconds": time.monotonic() - started})
    found = _allowed(study, trial, found)
    verification = next(v for v in reversed(study.history.verifications) if v.role_of(trial))
    study.add_rehearsal(verification, trial, found)


def _turn(study: Session, observer: Observer) -> AbstractContextManager[None]:
    """Hold the host, so that no timed run of another study is disturbed."""
    return host_lock(observer.remark) if study.times_matter else nullcontext()


def _baseline_run(study: Session) -> TrialSpec:
    """Return the run whose store is opened. It measures nothing, so it has fewer records."""
    config = study.space.default()
    load = load_at(study.spec.workload, config)
    if load.definition.has("num") and not load.definition.prepared and load.num > MOST_RECORDS:
        load = Workload.model_validate({**load.model_dump(), "num": MOST_RECORDS})
    changes = {"workload": load, "protocol": study.protocol}
    return study.trial_spec(config).model_copy(update=changes)


def _allowed(study: Session, trial: int, found: Rehearsal) -> Rehearsal:
    """Add the steps that the changes need, if the user allowed changes without a way back."""
    candidate = study.history.candidate(trial)
    if found.failed is None or not study.spec.one_way or candidate is None:
        return found
    names = ENGINES[study.spec.engine].catalogue().names
    before: Settings = study.space.settings(study.space.default())
    after = study.space.settings(candidate.trial.config)
    table = dict(changes_between(before, after, names, study.ground.rocksdb_version))
    known = [table[name] for name in found.options if name in table]
    if len(known) < len(found.options) or any(change.is_forbidden for change in known):
        return found
    steps = tuple(dict.fromkeys(change.step for change in known if change.step is not None))
    return found.model_copy(update={"needs": steps})
