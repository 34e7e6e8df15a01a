"""Attempts on hosts as rows of the store: those that are under way, and those that were lost."""

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ConfigDict

from lsmtune.knobs.types import Config, Settings
from lsmtune.pruning import PruneRule
from lsmtune.reading import parse_json
from lsmtune.store.records import Asked
from lsmtune.trials import Role, TrialSpec

ADD = (
    "INSERT INTO open_run (study_id, attempt, host, role, config, spec, task, asked, started_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
ADD_LOST = (
    "INSERT OR REPLACE INTO lost_run "
    "(study_id, attempt, host, role, started_at, ended_at, reason, back_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class Rerun(BaseModel):
    """What is needed to run a trial again: the fields of a `Task` that are no columns.

    `repeats` is how often it may run again if it is disturbed.
    """

    model_config = ConfigDict(frozen=True)
    title: str
    base_settings: Settings
    prune: PruneRule | None = None
    verification_id: int | None = None
    pair: int | None = None
    scale: Fraction | None = None
    is_long: bool = False
    repeats: int


@dataclass(frozen=True, slots=True)
class OpenRun:
    """An attempt that was given to a host and has no stored result.

    `attempt` is RUN.NUMBER: the attempts of one run measure the same, and the first stored one
    counts.
    """

    attempt: str
    host: str
    role: Role
    config: Config
    spec: TrialSpec
    rerun: Rerun
    asked: Asked
    started_at: str

    @property
    def run(self) -> str:
        """The run of the attempt."""
        return run_of(self.attempt)

    def values(self, study: int) -> tuple[Any, ...]:
        """Return the values of `ADD`."""
        return (
            study, self.attempt, self.host, self.role, self.config.to_json(),
            self.spec.model_dump_json(), self.rerun.model_dump_json(), self.asked.to_json(),
            self.started_at,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LostRun:
    """An attempt that gave no result when it ended, or whose result could not be used.

    `ended_at` is when the loss was noticed. `back_at` is when its host came back with the attempt;
    None if it did not.
    """

    attempt: str
    host: str
    role: Role
    started_at: str
    ended_at: str
    reason: str
    back_at: str | None = None

    @property
    def lost_s(self) -> float:
        """The time from the start of the attempt to its loss, in seconds."""
        took = datetime.fromisoformat(self.ended_at) - datetime.fromisoformat(self.started_at)
        return max(0.0, took.total_seconds())  # the clock may have been set back

    def values(self, study: int) -> tuple[Any, ...]:
        """Return the values of `ADD_LOST`."""
        return (
            study, self.attempt, self.host, self.role, self.started_at, self.ended_at, self.reason,
            self.back_at,
        )  # fmt: skip


def run_of(attempt: str) -> str:
    """Return the run of an attempt."""
    return attempt.rpartition(".")[0]


def open_run_of(row: sqlite3.Row) -> OpenRun:
    """Return the row as a record; ValueError or TypeError if it is none."""
    rerun = Rerun.model_validate_json(row["task"])
    spec = TrialSpec.model_validate_json(row["spec"])
    return OpenRun(
        attempt=str(row["attempt"]),
        host=str(row["host"]),
        role=Role(row["role"]),
        config=Config(parse_json(row["config"], "config")),
        spec=spec.model_copy(update={"base_settings": rerun.base_settings}),
        rerun=rerun,
        asked=Asked.from_json(row["asked"]),
        started_at=str(row["started_at"]),
    )


def lost_run_of(row: sqlite3.Row) -> LostRun:
    """Return the row as a record; ValueError or TypeError if it is none."""
    found = LostRun(
        attempt=str(row["attempt"]),
        host=str(row["host"]),
        role=Role(row["role"]),
        started_at=str(row["started_at"]),
        ended_at=str(row["ended_at"]),
        reason=str(row["reason"]),
        back_at=None if row["back_at"] is None else str(row["back_at"]),
    )
    _ = found.lost_s  # raises for times that are none
    return found
