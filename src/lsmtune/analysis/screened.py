"""Runs of a screening as lines of the batch format."""

from lsmtune.batch import BatchLine, as_flags
from lsmtune.engine_traits import has_versions
from lsmtune.spec import catalogue_of
from lsmtune.store.home import Home
from lsmtune.store.records import undisturbed
from lsmtune.study.record import read_history
from lsmtune.trials import Role


def screened_lines(home: Home, study: str) -> list[BatchLine]:
    """Return the runs of the configs of a study, in order; UserError if it does not exist."""
    stored = home.study(study)
    spec = stored.settings
    catalogue = catalogue_of(spec.engine, spec.workload)
    version = stored.engine.version if has_versions(spec.engine) else None
    history = read_history(home, stored, spec)
    trials = [t for t in undisturbed(history.runs, Role.TRIAL, Role.REPEAT) if history.counts(t)]
    has_hosts = len({trial.host for trial in trials}) > 1
    return [
        BatchLine(
            id=f"{study}-{trial.number}",
            workload=trial.spec.workload,
            knobs=as_flags(trial.spec.settings, catalogue),
            metrics={name: float(f"{value:.6g}") for name, value in trial.result.metrics.items()},
            error=None if trial.result.metrics else f"{trial.result.status}: {trial.result.reason}",
            seed=trial.spec.seed,
            disturbance=trial.result.disturbance,
            rocksdb=version,
            engine=spec.engine,
            host=trial.host if has_hosts else None,
        )
        for trial in trials
    ]
