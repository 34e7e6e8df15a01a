"""Export of a study to an Optuna storage: a SQLite file for optuna-dashboard and Optuna."""

import os
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

from lsmtune.analysis.read_study import view_of
from lsmtune.analysis.study_view import StudyView, TrialView
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.types import Knob, Value
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.record import StudyRecord, read_record, study_catalogue
from lsmtune.system.workdir import sweep_workdirs, workdir
from lsmtune.system.write import place_to_write
from lsmtune.trials import Status

_MARK = "made_by"
_MAKER = "lsmtune"
_FOREIGN_STUDIES = """
    SELECT COUNT(*) FROM studies WHERE study_id NOT IN
    (SELECT study_id FROM study_user_attributes WHERE key = ? AND value_json = ?)
"""


def storage_url(file: Path) -> str:
    """Return the URL of the file for Optuna; UserError if a URL cannot contain its path."""
    if "?" in str(file):
        raise UserError(
            Argument("storage", file), ": the path of an Optuna storage must not contain '?'"
        )
    return f"sqlite:///{file}"


def export_study(home: Home, name: str, file: Path) -> int:
    """Write all trials of the study into an Optuna storage and return their number.

    They keep their order. A trial is complete if it can be compared with the baseline. It then has
    a value per objective (1 is the baseline, lower is better) and the limit "limits" (above
    0: broken). A pruned trial is pruned. All others are failed, including disturbed runs and
    verification runs at another scale or workload. Metrics, role and status are user attributes.
    A range that is widened to include a special value becomes linear.

    A file from an earlier export is replaced. Raises UserError if the file has other content or
    cannot be written.
    """
    record = read_record(home, name)
    view = view_of(home, record)
    file = _place(file, home)
    _check_is_ours(file)
    trials = _frozen_trials(record, view)
    try:
        sweep_workdirs(file.parent)
        with workdir(file.parent, f".{file.name}-{os.getpid()}") as directory:
            partial = directory / file.name
            _write(storage_url(partial), view, trials)
            partial.replace(file)
    except (OSError, StorageInternalError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.__cause__ or error
        raise UserError(Argument("storage", file), f": cannot be written ({reason})") from error
    return len(trials)


def _place(file: Path, home: Home) -> Path:
    """Return the path to write to; UserError if it cannot be the path of a storage."""
    storage_url(file)
    try:
        return place_to_write(file, home.path)
    except UserError as error:
        raise UserError(Argument("storage", error)) from error
    except OSError as error:
        raise UserError(
            Argument("storage", file), f": cannot be written ({error.strerror})"
        ) from error


def _check_is_ours(file: Path) -> None:
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            foreign = connection.execute(_FOREIGN_STUDIES, (_MARK, f'"{_MAKER}"')).fetchone()[0]
    except sqlite3.Error:
        foreign = 1
    if foreign:
        raise UserError(
            Argument("storage", file),
            ": the file has content that lsmtune did not write; choose another file",
        )


def _write(url: str, view: StudyView, trials: Iterable[FrozenTrial]) -> None:
    goals = [goal.name for goal in view.objective.goals]
    with _opened(url) as storage:
        study = optuna.create_study(
            storage=storage, study_name=view.name, directions=["minimize"] * len(goals)
        )
        study.set_metric_names([f"{goal} (trial / base)" for goal in goals])
        for key, value in _study_attributes(view).items():
            study.set_user_attr(key, value)
        study.add_trials(trials)


@contextmanager
def _opened(url: str) -> Iterator[RDBStorage]:
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        storage = RDBStorage(url)
        try:
            yield storage
        finally:
            storage.remove_session()
            storage.engine.dispose()
            optuna.logging.set_verbosity(verbosity)


def _study_attributes(view: StudyView) -> dict[str, Any]:
    verdict = view.verification.verdict if view.verification else None
    return {
        _MARK: _MAKER,
        "engine": f"{view.engine} {view.engine_version}",
        "library": view.origin and view.origin.model_dump(),
        "workload": view.workload.model_dump(mode="json"),
        "scale": view.scale,
        "limits": [str(limit) for limit in view.objective.limits],
        "optimizer": view.optimizer,
        "best_trial": view.best_trial.number if view.best_trial else None,
        "verified": verdict.claim if verdict else None,
    }


def _frozen_trials(record: StudyRecord, view: StudyView) -> list[FrozenTrial]:
    spec, stored = record.spec, record.history.runs
    alike = {v.id for v in record.history.verifications if v.scale == spec.scale} | {None}
    knobs = [knob.scaled(float(spec.scale_value)) for knob in study_catalogue(spec).knobs]
    distributions = _distributions(knobs, [trial.config for trial in stored])

    def values(row: StoredTrial, seen: TrialView) -> tuple[float, ...]:
        same = row.verification_id in alike and row.spec.workload == spec.workload
        return seen.values if same else ()

    views = zip(stored, view.trials, strict=True)
    return [_frozen(row, seen, values(row, seen), distributions) for row, seen in views]


def _frozen(
    row: StoredTrial,
    seen: TrialView,
    values: tuple[float, ...],
    distributions: Mapping[str, BaseDistribution],
) -> FrozenTrial:
    attributes = {"trial": row.number, "role": row.role.value, "status": row.result.status.value}
    reason = {} if row.result.reason is None else {"reason": row.result.reason}
    broken = {} if seen.violation is None else {"limits": seen.violation}
    trial = create_trial(
        state=_state(row.result.status, values),
        values=values or None,
        params=dict(row.config),
        distributions={name: distributions[name] for name in row.config},
        user_attrs={**attributes, **reason, **row.result.metrics},
        constraints=broken if values else None,
    )
    start = datetime.fromisoformat(row.started_at).astimezone().replace(tzinfo=None)
    trial.datetime_start = start  # Optuna's times are local ones without a zone
    trial.datetime_complete = start + timedelta(seconds=row.duration_s)
    return trial


def _state(status: Status, values: tuple[float, ...]) -> TrialState:
    if values:
        return TrialState.COMPLETE
    return TrialState.PRUNED if status is Status.CUT else TrialState.FAIL


def _distributions(
    knobs: Sequence[Knob], configs: Sequence[Mapping[str, Value]]
) -> dict[str, BaseDistribution]:
    return {
        knob.name: _distribution(knob, {c[knob.name] for c in configs if knob.name in c})
        for knob in knobs
    }


def _distribution(knob: Knob, ran: Iterable[Value]) -> BaseDistribution:
    """Return the knob's values for Optuna, including those that ran outside its range."""
    if not knob.is_range:
        return CategoricalDistribution(list(dict.fromkeys([*knob.values, *sorted(ran, key=str)])))
    numbers = [*knob.bounds(), *map(float, ran)]
    low, high = min(numbers), max(numbers)
    log = knob.log and low > 0
    if knob.kind == "int":
        return IntDistribution(int(low), int(high), log=log)
    return FloatDistribution(low, high, log=log)
