"""Measured screenings as lines of the batch format: of a study, and those that lsmtune ships."""

import gzip
from importlib.resources import files

from lsmtune.batch import BatchLine, as_flags, parse_batch
from lsmtune.engine_traits import ENGINES, has_versions
from lsmtune.knobs.defaults import nearest_of
from lsmtune.spec import catalogue_of
from lsmtune.store.home import Home
from lsmtune.store.records import undisturbed
from lsmtune.study.record import read_history
from lsmtune.trials import Role

SHIPPED_VERSION = "7.8.3"
"""RocksDB of the screenings whose files do not name a version; db_bench ran it."""
_DATA = files("lsmtune") / "data" / "jin2022"
_NAME, _KIND = "honest", ".jsonl.gz"


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


def shipped(version: str = SHIPPED_VERSION) -> list[BatchLine]:
    """Return the runs that ship, measured on one of the `shipped_versions`."""
    name = f"{_NAME}{_KIND}" if version == SHIPPED_VERSION else f"{_NAME}-{version}{_KIND}"
    return parse_batch(gzip.decompress((_DATA / name).read_bytes()).decode(), name)


def has_shipped(engine: str, workload: str) -> bool:
    """Return whether runs of an engine with a workload ship."""
    return workload in ENGINES[engine].shipped_workloads


def nearest_shipped(version: str) -> str:
    """Return the version nearest to a version whose runs with a fixed workload ship."""
    return nearest_of(version, shipped_versions())


def shipped_versions() -> list[str]:
    """Return the versions whose runs ship."""
    start = f"{_NAME}-"
    names = (file.name for file in _DATA.iterdir())
    others = (n.removesuffix(_KIND).removeprefix(start) for n in names if n.endswith(_KIND)
              and n.startswith(start))  # fmt: skip
    return [SHIPPED_VERSION, *sorted(others)]
