"""Rows of the database as records; a row that lsmtune cannot have written is refused."""

import re
import sqlite3
from datetime import datetime
from math import isfinite
from typing import Any

from pydantic import ValidationError

from lsmtune.knobs.types import Config
from lsmtune.reading import parse_json
from lsmtune.simplified import Simplified
from lsmtune.store.records import StoredStudy, StoredTrial, StoredVerification
from lsmtune.tables import STUDY_NAME, problem_text, study_name
from lsmtune.trials import Role, TrialResult, TrialSpec
from lsmtune.units import parse_scale
from lsmtune.workloads import Workload

_EVIDENCE = rf"{STUDY_NAME}/\d{{5,}}"
"""Folder of a trial below the folder of all evidence: study and number."""


def study_of(row: sqlite3.Row) -> StoredStudy:
    """Return the row of a study as a record; ValueError, TypeError or UserError if it is none."""
    text = row["constraints"]
    constraints = None if text is None else parse_json(text, "constraints")
    if constraints is not None and not _is_list_of_tables(constraints):
        raise ValueError("constraints: must be a list of tables")
    return StoredStudy(
        id=whole(row, "id"),
        name=name_of(row),
        created_at=_time(row, "created_at"),
        spec=_table(row, "spec"),
        engine=_table(row, "engine"),
        host=_table(row, "host"),
        constraints=None if constraints is None else tuple(constraints),
        ended=None if row["ended"] is None else str(row["ended"]),
        stored_rule=None if row["rule"] is None else _table(row, "rule"),
        simplified=None
        if row["simplified"] is None
        else Simplified.model_validate(_table(row, "simplified")),
    )


def trial_of(row: sqlite3.Row) -> StoredTrial:
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
        spec=TrialSpec.model_validate(_table(row, "spec")),
        result=TrialResult.model_validate(_table(row, "result")),
        started_at=_time(row, "started_at"),
        duration_s=_seconds(row, "duration_s"),
        verification_id=None if row["verification_id"] is None else whole(row, "verification_id"),
        pair=None if row["pair"] is None else whole(row, "pair"),
        evidence=row["evidence"],
    )


def verification_of(row: sqlite3.Row) -> StoredVerification:
    """Return the row of a verification as a record; the same errors as `trial_of`."""
    return StoredVerification(
        id=whole(row, "id"),
        best_trial=whole(row, "best_trial"),
        scale=str(parse_scale(row["scale"], "scale")),
        workload=Workload.model_validate_json(row["workload"]),
        raw_trial=None if row["raw_trial"] is None else whole(row, "raw_trial"),
    )


def name_of(row: sqlite3.Row) -> str:
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


def _table(row: sqlite3.Row, column: str) -> dict[str, Any]:
    table = parse_json(row[column], column)
    if not isinstance(table, dict):
        raise ValueError(f"{column}: must be a table")
    return table


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, dict) for part in value)


def whole(row: sqlite3.Row, column: str) -> int:
    """Return an integer of a row; ValueError if it is none."""
    value = row[column]
    if not isinstance(value, int):
        raise ValueError(f"{column} = {value!r}: must be an integer")
    return value


def _seconds(row: sqlite3.Row, column: str) -> float:
    value = row[column]
    if not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{column} = {value!r}: must be a number")
    return float(value)


def _time(row: sqlite3.Row, column: str) -> str:
    datetime.fromisoformat(row[column])
    return str(row[column])
