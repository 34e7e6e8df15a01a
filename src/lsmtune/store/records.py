"""The rows of the store as records, and the checks of each row that is read."""

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError
from lsmtune.knobs.types import Config
from lsmtune.limits import Limit
from lsmtune.reading import parse_json
from lsmtune.rehearsal import Rehearsal
from lsmtune.spec import StudySettings, make_spec
from lsmtune.study_keys import DEFAULT_ENGINE
from lsmtune.system.host import HostFacts, StorageFacts
from lsmtune.tables import STUDY_NAME, problem_text, study_name
from lsmtune.trials import (
    Base,
    Origin,
    Protocol,
    Role,
    Simplified,
    SizeRule,
    Status,
    TrialResult,
    TrialSpec,
)
from lsmtune.units import parse_scale
from lsmtune.verdict import Pair
from lsmtune.workloads import Workload


class EngineRecord(BaseModel):
    """The engine of a study and its baseline, as they were when the study began.

    `origin` is that of its library, if it has one; `versions` has those of all versions that a
    study compares. `described` describes an engine of another package: after a change of the
    package, the study does not go on.
    """

    model_config = ConfigDict(frozen=True)
    version: str
    program: str
    assertions_enabled: bool
    origin: Origin | None
    versions: dict[str, Origin]
    base: Base
    described: dict[str, Any] | None = None

    @property
    def libraries(self) -> dict[str, Origin]:
        """Where the engine's libraries are from, by version, the baseline's first.

        More than one if the study compares versions; empty if the engine has no library.
        """
        return self.versions or ({} if self.origin is None else {self.version: self.origin})


@dataclass(frozen=True)
class StudyHost(HostFacts):
    """The machine on which a study began, and the disk of its home."""

    storage: StorageFacts

    @property
    def text(self) -> str:
        """The machine in a few words: its CPU and the number of its cores."""
        return f"{self.cpu_model or 'unknown CPU'}, {self.logical_cpus} cores"


_HOST, _LIMITS = TypeAdapter(StudyHost), TypeAdapter(tuple[Limit, ...])


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """A study: its settings as the JSON object that was stored, and its facts.

    `limits` are those that the study is judged by. `ended` says why its search has ended; None
    while it goes on. `rule` is the rule by which it sizes its trials, if it has one. `simplified`
    is the result of its simplification. `rate` is that of a running store in operations per second;
    None before it is known.
    """

    id: int
    name: str
    created_at: str
    spec: dict[str, Any]
    engine: EngineRecord
    host: StudyHost
    limits: tuple[Limit, ...]
    ended: str | None = None
    rule: SizeRule | None = None
    simplified: Simplified | None = None
    rate: float | None = None

    @property
    def settings(self) -> StudySettings:
        """The checked settings; UserError if they are damaged, or if the engine is not known."""
        if self.engine_name not in ENGINES:
            raise UserError(f"study {self.name!r}: {self._missing_engine()}")
        return make_spec(self.spec, f"settings of study {self.name!r}")

    def _missing_engine(self) -> str:
        """Return what to do about an engine that this process does not have."""
        engine, kept = f"the engine {self.engine_name!r}", self.engine.described
        if not isinstance(kept, dict):
            return f"{engine} is not known; install the package that has this engine"
        if kept.get("package") is None:
            return f"{engine} is of a Python program; read the study in this program"
        return f"{engine} is of the package {kept['package']!r}; install this package"

    @property
    def engine_name(self) -> str:
        """The name of its engine, whose package may be gone.

        What reads all studies asks for it first, so a missing package hides no other study.
        """
        return str(self.spec.get("engine", DEFAULT_ENGINE))


def now_text() -> str:
    """The present moment as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class NewTrial:
    """A trial that has ended and is to be kept; `pair` counts within the verification."""

    role: Role
    config: Config
    spec: TrialSpec
    result: TrialResult
    started_at: str
    duration_s: float
    verification_id: int | None = None
    pair: int | None = None
    host: str | None = None
    attempt: str | None = None
    asked: "Asked | None" = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What an optimizer knew when it asked for a run: so many stored runs, and the pending ones.

    Optimizers are pure functions, so each decision can be made again.
    """

    runs: int
    pending: tuple[Config, ...] = ()

    def to_json(self) -> str:
        """Return the JSON that is stored."""
        return json.dumps({"runs": self.runs, "pending": [dict(one) for one in self.pending]})

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the record of a JSON text; ValueError or TypeError if it is none."""
        found = parse_json(text, "asked")
        return cls(int(found["runs"]), tuple(map(Config, found["pending"])))


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A trial that was kept; `evidence` is its folder below the home's evidence folder.

    `host` is where it ran if that was not this process, `attempt` its name there, and `asked` what
    the optimizer knew.
    """

    number: int
    role: Role
    config: Config
    spec: TrialSpec
    result: TrialResult
    started_at: str
    duration_s: float
    verification_id: int | None
    pair: int | None
    evidence: str
    host: str | None = None
    attempt: str | None = None
    asked: Asked | None = None


@dataclass(frozen=True, slots=True)
class StoredVerification:
    """A verification: which trial, at which scale, under which load.

    `rate` is another rate than that of the study, in operations per second; None: the study's.
    `raw_trial` is the winner before its simplification, if it runs too. `rehearsals` are those of
    the files of its trials, by the number of the trial.
    """

    id: int
    best_trial: int
    scale: str
    workload: Workload
    raw_trial: int | None = None
    rehearsals: Mapping[int, Rehearsal] = field(default_factory=dict)
    rate: float | None = None

    def is_at(self, scale: str) -> bool:
        """Return whether it ran at that scale, and at the rate of the study."""
        return self.scale == scale and self.rate is None

    def role_of(self, trial: int) -> Role | None:
        """Return the role of the runs of a trial in this verification; None if it has none."""
        roles = {self.raw_trial: Role.VERIFY_RAW, self.best_trial: Role.VERIFY_BEST}
        return roles.get(trial)


def complete_trials(trials: Iterable[StoredTrial], role: Role) -> list[StoredTrial]:
    """The trials of that role that were measured and may be compared."""
    return [t for t in trials if t.role is role and t.result.status is Status.COMPLETE]


def undisturbed(trials: Iterable[StoredTrial], *roles: Role) -> list[StoredTrial]:
    """The trials of these roles, without those that ran again because others disturbed them."""
    return [
        trial
        for trial in trials
        if trial.role in roles and trial.result.status is not Status.DISTURBED
    ]


def complete_pairs(
    trials: Iterable[StoredTrial],
    verification: StoredVerification,
    role: Role = Role.VERIFY_BEST,
) -> list[Pair]:
    """The metrics of the role and the base of every pair of which both runs were measured."""
    return [
        (run.result.metrics, base.result.metrics)
        for run, base in paired_runs(trials, verification, role)
    ]


def paired_runs(
    trials: Iterable[StoredTrial], verification: StoredVerification, role: Role
) -> list[tuple[StoredTrial, StoredTrial]]:
    """The runs of the role and the base of every pair of which both runs were measured."""
    runs = {
        (trial.pair, trial.role): trial
        for trial in trials
        if trial.verification_id == verification.id and trial.result.status is Status.COMPLETE
    }
    return [
        (runs[pair, role], runs[pair, Role.VERIFY_BASE])
        for pair, found in sorted(runs, key=lambda key: (key[0] or 0, key[1]))
        if found is role and (pair, Role.VERIFY_BASE) in runs
    ]


Row = sqlite3.Row | Mapping[str, Any]
"""A row of a table by the names of its columns."""
_EVIDENCE = rf"{STUDY_NAME}/\d{{5,}}"
"""Folder of a trial below the folder of all evidence: study and number."""


def study_of(row: Row) -> StoredStudy:
    """Return the row of a study as a record; ValueError, TypeError or UserError if it is none."""
    return StoredStudy(
        id=whole(row, "id"),
        name=name_of(row),
        created_at=_time(row, "created_at"),
        spec=_table(row, "spec"),
        engine=EngineRecord.model_validate(_table(row, "engine")),
        host=_HOST.validate_python(_table(row, "host")),
        limits=_LIMITS.validate_python(parse_json(row["limits"], "limits")),
        ended=None if row["ended"] is None else str(row["ended"]),
        rule=None if row["rule"] is None else SizeRule.model_validate(_table(row, "rule")),
        simplified=None
        if row["simplified"] is None
        else Simplified.model_validate(_table(row, "simplified")),
        rate=_rate(row),
    )


def trial_of(row: Row) -> StoredTrial:
    """Return the row of a trial as a record; ValueError, TypeError or UserError if it is none."""
    if not re.fullmatch(_EVIDENCE, row["evidence"]):
        raise ValueError(f"evidence = {row['evidence']!r}: must be STUDY/NUMBER")
    config = _table(row, "config")
    if not all(isinstance(value, bool | int | float | str) for value in config.values()):
        raise ValueError("config: the values of knobs must be numbers, words, true or false")
    return StoredTrial(
        number=whole(row, "number"),
        role=Role(row["role"]),
        config=Config(config),
        spec=_shared_parts(TrialSpec.model_validate(_table(row, "spec"))),
        result=TrialResult.model_validate(_table(row, "result")),
        started_at=_time(row, "started_at"),
        duration_s=_number(row, "duration_s"),
        verification_id=None if row["verification_id"] is None else whole(row, "verification_id"),
        pair=None if row["pair"] is None else whole(row, "pair"),
        evidence=row["evidence"],
        host=None if row["host"] is None else str(row["host"]),
        attempt=None if row["attempt"] is None else str(row["attempt"]),
        asked=None if row["asked"] is None else Asked.from_json(row["asked"]),
    )


def _shared_parts(spec: TrialSpec) -> TrialSpec:
    """Return the spec with the workload and the protocol of an earlier row, if they are equal.

    Those of thousands of trials take much memory.
    """
    shared = {"workload": _shared(spec.workload), "protocol": _shared(spec.protocol)}
    return spec.model_copy(update=shared)


@lru_cache(maxsize=64)
def _shared(part: Workload | Protocol) -> Workload | Protocol:
    return part


def verification_of(row: Row) -> StoredVerification:
    """Return the row of a verification as a record; the same errors as `trial_of`."""
    return StoredVerification(
        id=whole(row, "id"),
        best_trial=whole(row, "best_trial"),
        scale=str(parse_scale(row["scale"], "scale")),
        workload=Workload.model_validate_json(row["workload"]),
        raw_trial=None if row["raw_trial"] is None else whole(row, "raw_trial"),
        rehearsals=_rehearsals(row),
        rate=_rate(row),
    )


def _rehearsals(row: Row) -> dict[int, Rehearsal]:
    if row["rehearsals"] is None:
        return {}
    found = _table(row, "rehearsals").items()
    return {int(number): Rehearsal.model_validate(one) for number, one in found}


def name_of(row: Row) -> str:
    """Return the name of the row of a study; ValueError if lsmtune cannot have given it."""
    try:
        return study_name(row["name"])
    except ValueError as error:
        raise ValueError(f"name = {row['name']!r}: {error}") from error


def problem_of(error: Exception) -> str:
    """Return what is wrong with a row, in one line."""
    if isinstance(error, ValidationError):
        return problem_text(dict(error.errors()[0]), None)
    return " ".join(str(error).split())


def _table(row: Row, column: str) -> dict[str, Any]:
    table = parse_json(row[column], column)
    if not isinstance(table, dict):
        raise ValueError(f"{column}: must be a table")
    return table


def whole(row: Row, column: str) -> int:
    """Return an integer of a row; ValueError if it is none."""
    value = row[column]
    if not isinstance(value, int):
        raise ValueError(f"{column} = {value!r}: must be an integer")
    return value


def _number(row: Row, column: str) -> float:
    value = row[column]
    if not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{column} = {value!r}: must be a number")
    return float(value)


def _rate(row: Row) -> float | None:
    if row["rate"] is None:
        return None
    if (rate := _number(row, "rate")) <= 0:
        raise ValueError(f"rate = {rate!r}: must be above 0")
    return rate


def _time(row: Row, column: str) -> str:
    datetime.fromisoformat(row[column])
    return str(row[column])
