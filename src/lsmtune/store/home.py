"""The home folder: the database, the evidence, the locks and the work directories."""

import errno
import gzip
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lsmtune.errors import LsmtuneError, UserError, unknown_word
from lsmtune.knobs.types import Config
from lsmtune.store.migrations import migrate
from lsmtune.store.records import NewTrial, StoredStudy, StoredTrial, StoredVerification
from lsmtune.system.workdir import create_workdir, keep_workdir, remove_workdir, sweep_drafts
from lsmtune.trials import Role, TrialResult, TrialSpec
from lsmtune.workloads import Workload

_DATABASE = "lsmtune.sqlite3"
MACHINE = "machine.json"
_BUSY_S = 30.0
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
_ZIPPED_LEVEL = 1
"""Fast: the time between two trials counts, and logs shrink well at any level."""


def is_home(path: Path) -> bool:
    """Whether the folder is one in which studies are kept."""
    return (path / _DATABASE).is_file()


class Home:
    """Everything that lsmtune keeps, in one folder; a context manager that closes the database.

    UserError when the folder is not one that lsmtune can use. One on a read-only medium can be
    read. Whatever adds or changes something raises LsmtuneError when it cannot be kept, mostly
    for want of space; what was kept before is safe then, and the same call can be made again.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path.absolute()
        self._open(create)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._db.close()

    @property
    def work(self) -> Path:
        """Where trials run; nothing there outlives them."""
        return self.path / "work"

    @property
    def templates(self) -> Path:
        """Where engines keep built databases between trials."""
        return self.path / "templates"

    @property
    def evidence(self) -> Path:
        """Where the files of each trial are kept."""
        return self.path / "evidence"

    @property
    def machine_path(self) -> Path:
        """What `lsmtune doctor --calibrate` has found of this machine."""
        return self.path / MACHINE

    def lock_path(self, study: str) -> Path:
        """The lock file of a study."""
        return self.path / f"{study}.lock"

    def _open(self, create: bool) -> None:
        database = self.path / _DATABASE
        if not create and not is_home(self.path):
            raise UserError(
                f"--home {self.path}: this folder contains no study; run `lsmtune tune` to "
                "start a study"
            )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._check_is_ours(database)
            self._db = _connect(database)
            self.evidence.mkdir(exist_ok=True)
            self.work.mkdir(exist_ok=True)
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"--home {self.path}: cannot use this folder: {_reason(error)}"
            ) from error

    def _check_is_ours(self, database: Path) -> None:
        """Refuse to spread files over a folder that somebody else filled."""
        found = {path for path in self.path.iterdir() if path != self.machine_path}
        if found and database not in found:
            raise UserError(
                f"--home {self.path}: the folder contains other files and no lsmtune study; "
                "name a new or empty folder"
            )

    def add_study(
        self,
        name: str,
        spec: Mapping[str, Any],
        engine: Mapping[str, Any],
        host: Mapping[str, Any],
        constraints: Sequence[Mapping[str, Any]],
    ) -> StoredStudy:
        """Store a new study; its name must be free."""
        self._write(
            "INSERT INTO study (name, created_at, spec, engine, host, constraints) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (name, now_text(), *(json.dumps(part) for part in (spec, engine, host, constraints))),
        )
        return self.study(name)

    def find_study(self, name: str) -> StoredStudy | None:
        """The study of that name, if there is one."""
        row = self._db.execute("SELECT * FROM study WHERE name = ?", (name,)).fetchone()
        return None if row is None else _study(row)

    def study(self, name: str) -> StoredStudy:
        """The study of that name; UserError naming those that there are."""
        found = self.find_study(name)
        if found is None:
            names = self.study_names()
            wrong = (
                unknown_word("study", name, names) if names else "this folder contains no study yet"
            )
            raise UserError(f"--home {self.path}: {wrong}")
        return found

    def study_names(self) -> list[str]:
        """The names of all studies, oldest first."""
        return [row["name"] for row in self._db.execute("SELECT name FROM study ORDER BY id")]

    def update_spec(self, study: StoredStudy, spec: Mapping[str, Any]) -> None:
        """Replace the settings of a study (its budget may grow)."""
        self._write("UPDATE study SET spec = ? WHERE id = ?", (json.dumps(spec), study.id))

    def update_ended(self, study: StoredStudy, ended: str | None) -> None:
        """Keep why the search of a study has ended; None when it goes on."""
        self._write("UPDATE study SET ended = ? WHERE id = ?", (ended, study.id))

    def add_trial(self, study: StoredStudy, trial: NewTrial, files: Mapping[str, Path]) -> int:
        """Keep a trial: first its evidence, then its row, in one transaction; its number."""
        number = self._next_number(study)
        folder = f"{study.name}/{number:05d}"
        path = create_workdir(self.evidence / study.name, f"{number:05d}")
        with self._kept():
            _keep_evidence(path, trial, files)
        self._write(
            "INSERT INTO trial (study_id, number, role, verification_id, pair, config, spec, "
            "result, started_at, duration_s, evidence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                study.id, number, trial.role, trial.verification_id, trial.pair,
                trial.config.to_json(), trial.spec.model_dump_json(),
                trial.result.model_dump_json(), trial.started_at, trial.duration_s, folder,
            ),
        )  # fmt: skip
        keep_workdir(path)
        return number

    def update_engine(self, study: StoredStudy, engine: Mapping[str, Any]) -> StoredStudy:
        """Replace what is kept of the engine and the base."""
        self._write("UPDATE study SET engine = ? WHERE id = ?", (json.dumps(engine), study.id))
        return self.study(study.name)

    def trials(self, study: StoredStudy, first: int = 0) -> list[StoredTrial]:
        """The trials of a study in the order in which they ended, from a number on."""
        rows = self._db.execute(
            "SELECT * FROM trial WHERE study_id = ? AND number >= ? ORDER BY number",
            (study.id, first),
        )
        return [_trial(row) for row in rows]

    def add_verification(
        self, study: StoredStudy, best_trial: int, scale: str, workload: Workload
    ) -> StoredVerification:
        """Begin a verification of a trial."""
        self._write(
            "INSERT INTO verification (study_id, created_at, best_trial, scale, workload) "
            "VALUES (?, ?, ?, ?, ?)",
            (study.id, now_text(), best_trial, scale, workload.model_dump_json()),
        )
        return self.verifications(study)[-1]

    def verifications(self, study: StoredStudy) -> list[StoredVerification]:
        """The verifications of a study, oldest first."""
        rows = self._db.execute(
            "SELECT * FROM verification WHERE study_id = ? ORDER BY id", (study.id,)
        )
        return [
            StoredVerification(
                row["id"],
                row["best_trial"],
                row["scale"],
                Workload.model_validate_json(row["workload"]),
            )
            for row in rows
        ]

    def read_evidence(self, trial: StoredTrial, name: str) -> str | None:
        """The text of a file that was kept with a trial, or None."""
        path = self.evidence / trial.evidence / f"{name}.gz"
        if not path.is_file():
            return None
        with gzip.open(path, "rt", errors="replace") as file:
            return file.read()

    def sweep_evidence(self, study: StoredStudy) -> None:
        """Remove the folders of trials that were cut off before their row was written."""
        sweep_drafts(self.evidence / study.name)
        kept = {Path(trial.evidence).name for trial in self.trials(study)}
        for path in (self.evidence / study.name).glob("[0-9]*"):
            if path.name not in kept:
                with suppress(UserError):  # it has no marker: somebody else has put it there
                    remove_workdir(path)

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        with self._kept():
            self._db.execute(statement, values)

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            if isinstance(error, OSError) and error.errno not in _DISK_ERRORS:
                raise
            raise LsmtuneError(
                f"--home {self.path}: cannot write to this folder: {_reason(error)}"
            ) from error

    def _next_number(self, study: StoredStudy) -> int:
        row = self._db.execute(
            "SELECT COALESCE(MAX(number) + 1, 0) FROM trial WHERE study_id = ?", (study.id,)
        ).fetchone()
        return int(row[0])


def _connect(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(_uri(database), uri=True, timeout=_BUSY_S, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        migrate(connection, database)
        with suppress(sqlite3.OperationalError):  # another one is opening it, and does the same
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()  # it may hold a lock
        raise
    return connection


def _uri(database: Path) -> str:
    """How SQLite finds the database: read-only where it could not make its own files beside it."""
    if os.access(database.parent, os.W_OK):
        return database.as_uri()
    # What is in the write-ahead log, of a process that was killed or still runs, must be read too.
    alone = not database.with_name(f"{database.name}-wal").exists()
    return f"{database.as_uri()}?{'immutable=1' if alone else 'mode=ro'}"


def _reason(error: OSError | sqlite3.Error) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


def _keep_evidence(folder: Path, trial: NewTrial, files: Mapping[str, Path]) -> None:
    (folder / "spec.json").write_text(trial.spec.model_dump_json(indent=1))
    for name, path in files.items():
        with (
            path.open("rb") as source,
            closing(gzip.open(folder / f"{name}.gz", "wb", _ZIPPED_LEVEL)) as target,
        ):
            shutil.copyfileobj(source, target)


def now_text() -> str:
    """The present moment as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _study(row: sqlite3.Row) -> StoredStudy:
    return StoredStudy(
        id=row["id"],
        name=row["name"],
        created_at=row["created_at"],
        spec=json.loads(row["spec"]),
        engine=json.loads(row["engine"]),
        host=json.loads(row["host"]),
        constraints=None if row["constraints"] is None else tuple(json.loads(row["constraints"])),
        ended=row["ended"],
    )


def _trial(row: sqlite3.Row) -> StoredTrial:
    return StoredTrial(
        number=row["number"],
        role=Role(row["role"]),
        config=Config(json.loads(row["config"])),
        spec=TrialSpec.model_validate_json(row["spec"]),
        result=TrialResult.model_validate_json(row["result"]),
        started_at=row["started_at"],
        duration_s=row["duration_s"],
        verification_id=row["verification_id"],
        pair=row["pair"],
        evidence=row["evidence"],
    )
