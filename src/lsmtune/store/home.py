"""The home folder: the database, the evidence, the locks and the work directories."""

import errno
import gzip
import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from lsmtune.errors import Argument, LsmtuneError, UserError, unknown_word
from lsmtune.limits import Limit
from lsmtune.rehearsal import Rehearsal
from lsmtune.store.database import (
    DATABASE,
    check_writable,
    file_identity,
    is_home,
    open_to_read,
    open_to_write,
    reason_of,
)
from lsmtune.store.open_runs import ADD, ADD_LOST, LostRun, OpenRun, lost_run_of, open_run_of
from lsmtune.store.records import (
    EngineRecord,
    NewTrial,
    StoredStudy,
    StoredTrial,
    StoredVerification,
    StudyHost,
    name_of,
    now_text,
    problem_of,
    study_of,
    trial_of,
    verification_of,
    whole,
)
from lsmtune.system.workdir import create_workdir, keep_workdir, remove_workdir, sweep_drafts
from lsmtune.system.write import refuse_link, refuse_links, remove_folder
from lsmtune.trials import Simplified, SizeRule
from lsmtune.workloads import Workload

MACHINE = "machine.json"
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)

_ZIPPED = ".gz"
_ZIPPED_LEVEL = 1
"""Fast: the time between two trials counts, and logs shrink well at any level."""


class Home:
    """Everything that lsmtune keeps, in one folder; a context manager that closes the database.

    Without `create` it is opened for reading: nothing in it changes until a study is changed.
    UserError when the folder is not one that lsmtune can use, contains a link, or has rows that
    lsmtune cannot have written. One on a read-only medium can be read. Whatever adds or changes
    something raises LsmtuneError when it cannot be kept, mostly for want of space; what was kept
    before is safe then, and the same call can be made again.
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

    def _error(self, text: str, kind: type[LsmtuneError] = UserError) -> LsmtuneError:
        """Return an error about this folder."""
        return kind(Argument("home", self.path), f": {text}")

    def _open(self, create: bool) -> None:
        database = self.path / DATABASE
        if not create and not is_home(self.path):
            raise self._error("this folder contains no study; run `lsmtune tune` to start a study")
        if create:
            check_writable(self.path)
        try:
            if create:
                self.path.mkdir(parents=True, exist_ok=True)
            self._check_is_ours(database)
            refuse_links(self.path)
            self._db = open_to_write(database) if create else open_to_read(database)
            self._identity = file_identity(database)
            self._writes = create
            if create:
                self.evidence.mkdir(exist_ok=True)
                self.work.mkdir(exist_ok=True)
        except UnicodeDecodeError as error:  # in a message that SQLite makes of damaged bytes
            raise self._error(f"{DATABASE} is damaged") from error
        except (OSError, sqlite3.Error) as error:
            raise self._error(f"cannot use this folder: {reason_of(error)}") from error

    def _check_is_ours(self, database: Path) -> None:
        """Refuse to spread files over a folder that somebody else filled."""
        found = {path for path in self.path.iterdir() if path != self.machine_path}
        if found and database not in found:
            raise self._error(
                "the folder contains other files and no lsmtune study; name a new or empty folder",
            )

    def check_is_there(self) -> None:
        """Raise LsmtuneError if somebody has removed or replaced the folder since it was opened."""
        try:
            same = file_identity(self.path / DATABASE) == self._identity
        except (FileNotFoundError, NotADirectoryError):
            same = False
        if not same:
            raise self._error(
                "another program removed or replaced this folder while lsmtune used it; the "
                "result of the last run is not kept",
                LsmtuneError,
            )

    def add_study(
        self,
        name: str,
        spec: Mapping[str, Any],
        engine: EngineRecord,
        host: StudyHost,
        limits: Sequence[Limit],
        *,
        rule: SizeRule | None = None,
    ) -> StoredStudy:
        """Store a new study; its name must be free."""
        tables = json.dumps(asdict(host)), json.dumps([asdict(limit) for limit in limits])
        self._write(
            "INSERT INTO study (name, created_at, spec, engine, host, limits, rule) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                name, now_text(), json.dumps(spec), engine.model_dump_json(), *tables,
                None if rule is None else rule.model_dump_json(),
            ),
        )  # fmt: skip
        return self.study(name)

    def find_study(self, name: str) -> StoredStudy | None:
        """The study of that name, if there is one."""
        with self._reading(f"study {name!r}"):
            rows = self._db.execute("SELECT * FROM study WHERE name = ?", (name,))
            return next((study_of(row) for row in rows), None)

    def study(self, name: str) -> StoredStudy:
        """The study of that name; UserError naming those that there are."""
        found = self.find_study(name)
        if found is None:
            names = self.study_names()
            wrong = (
                unknown_word("study", name, names) if names else "this folder contains no study yet"
            )
            raise self._error(wrong)
        return found

    def study_names(self) -> list[str]:
        """The names of all studies, oldest first."""
        with self._reading("a study"):
            rows = self._db.execute("SELECT name FROM study ORDER BY id")
            return [name_of(row) for row in rows]

    def rename_study(self, study: StoredStudy, new: str) -> None:
        """Give a study a free name; the same call completes a renaming that was cut off."""
        old_folder, new_folder = self.evidence / study.name, self.evidence / new
        if old_folder.exists() and os.path.lexists(new_folder):
            raise UserError(f"{new_folder}: the folder exists; choose another name")
        with self._transaction():
            self._db.execute(
                "UPDATE study SET name = ?, spec = ? WHERE id = ?",
                (new, json.dumps({**study.spec, "study": new}), study.id),
            )
            self._db.execute(
                "UPDATE trial SET evidence = ? || substr(evidence, ?) WHERE study_id = ?",
                (new, len(study.name) + 1, study.id),
            )
            if old_folder.exists():
                old_folder.rename(new_folder)

    def delete_study(self, study: StoredStudy) -> None:
        """Delete the runs of a study: first their evidence, then their rows in one transaction.

        The same call completes a deletion that was cut off.
        """
        with self._transaction():
            remove_folder(self.evidence / study.name)
            for table in ("trial", "open_run", "lost_run", "verification"):
                self._db.execute(f"DELETE FROM {table} WHERE study_id = ?", (study.id,))  # noqa: S608
            self._db.execute("DELETE FROM study WHERE id = ?", (study.id,))

    def update_spec(self, study: StoredStudy, spec: dict[str, Any]) -> StoredStudy:
        """Replace the settings of a study (its budget may grow)."""
        self._write("UPDATE study SET spec = ? WHERE id = ?", (json.dumps(spec), study.id))
        return replace(study, spec=spec)

    def update_rate(self, study: StoredStudy, rate: float) -> StoredStudy:
        """Keep the rate of a running study."""
        self._write("UPDATE study SET rate = ? WHERE id = ?", (rate, study.id))
        return replace(study, rate=rate)

    def update_simplified(self, study: StoredStudy, found: Simplified) -> StoredStudy:
        """Store the result of a simplification."""
        values = found.model_dump_json(), study.id
        self._write("UPDATE study SET simplified = ? WHERE id = ?", values)
        return replace(study, simplified=found)

    def update_ended(self, study: StoredStudy, ended: str | None) -> StoredStudy:
        """Keep why the search of a study has ended; None when it goes on."""
        self._write("UPDATE study SET ended = ? WHERE id = ?", (ended, study.id))
        return replace(study, ended=ended)

    def add_trial(
        self, study: StoredStudy, trial: NewTrial, files: Mapping[str, Path]
    ) -> StoredTrial:
        """Keep a trial: first its evidence, then its row, in one transaction; return the row."""
        self.check_is_there()  # or the evidence would make the folder again
        number = self.count_runs(study)
        folder = f"{study.name}/{number:05d}"
        path = create_workdir(self.evidence / study.name, f"{number:05d}")
        with self._kept():
            keep_files(path, trial, files)
        row = {
            "study_id": study.id,
            "number": number,
            "role": trial.role,
            "verification_id": trial.verification_id,
            "pair": trial.pair,
            "config": trial.config.to_json(),
            "spec": trial.spec.model_dump_json(),
            "result": trial.result.model_dump_json(),
            "started_at": trial.started_at,
            "duration_s": trial.duration_s,
            "evidence": folder,
            "host": trial.host,
            "attempt": trial.attempt,
            "asked": trial.asked and trial.asked.to_json(),
        }
        marks = ", ".join(f":{name}" for name in row)
        self._write(f"INSERT INTO trial ({', '.join(row)}) VALUES ({marks})", row)  # noqa: S608
        keep_workdir(path)
        with self._reading(f"a trial of study {study.name!r}"):
            return trial_of(row)  # as the next call reads it, so that both decide the same

    def add_open_run(self, study: StoredStudy, run: OpenRun) -> None:
        """Keep that a host is given an attempt."""
        self._write(ADD, run.values(study.id))

    def remove_open_run(self, attempt: str) -> None:
        """Remove an attempt that has ended."""
        self._write("DELETE FROM open_run WHERE attempt = ?", (attempt,))

    def open_runs(self, study: StoredStudy) -> list[OpenRun]:
        """The attempts of a study that were given out and not removed, oldest first."""
        with self._reading(f"an open run of study {study.name!r}"):
            rows = self._db.execute(
                "SELECT * FROM open_run WHERE study_id = ? ORDER BY rowid", (study.id,)
            )
            return [open_run_of(row) for row in rows]

    def add_lost_run(self, study: StoredStudy, run: LostRun) -> None:
        """Keep that an attempt was lost; it replaces an earlier loss of the same attempt."""
        self._write(ADD_LOST, run.values(study.id))

    def update_lost_run(self, attempt: str, back_at: str) -> None:
        """Keep that a host came back with an attempt, if the attempt was lost."""
        self._write("UPDATE lost_run SET back_at = ? WHERE attempt = ?", (back_at, attempt))

    def lost_runs(self, study: StoredStudy) -> list[LostRun]:
        """The attempts of a study that hosts lost, the latest loss last."""
        with self._reading(f"a lost run of study {study.name!r}"):
            rows = self._db.execute(
                "SELECT * FROM lost_run WHERE study_id = ? ORDER BY rowid", (study.id,)
            )
            return [lost_run_of(row) for row in rows]

    def trials(self, study: StoredStudy) -> list[StoredTrial]:
        """The trials of a study in the order in which they ended."""
        with self._reading(f"a trial of study {study.name!r}"):
            rows = self._db.execute(
                "SELECT * FROM trial WHERE study_id = ? ORDER BY number", (study.id,)
            )
            return [trial_of(row) for row in rows]

    def add_verification(
        self,
        study: StoredStudy,
        best_trial: int,
        scale: str,
        workload: Workload,
        raw_trial: int | None = None,
        *,
        rate: float | None = None,
    ) -> StoredVerification:
        """Begin a verification of a trial, with the winner before its simplification or alone.

        `rate` is another rate than that of the study.
        """
        self._write(
            "INSERT INTO verification "
            "(study_id, created_at, best_trial, scale, workload, raw_trial, rate) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (study.id, now_text(), best_trial, scale, workload.model_dump_json(), raw_trial, rate),
        )
        return self.verifications(study)[-1]

    def update_rehearsals(
        self, verification: StoredVerification, rehearsals: Mapping[int, Rehearsal]
    ) -> StoredVerification:
        """Replace the rehearsals of a verification, by the number of the trial."""
        text = json.dumps({number: one.model_dump() for number, one in rehearsals.items()})
        values = text, verification.id
        self._write("UPDATE verification SET rehearsals = ? WHERE id = ?", values)
        return replace(verification, rehearsals=dict(rehearsals))

    def verifications(self, study: StoredStudy) -> list[StoredVerification]:
        """The verifications of a study, oldest first."""
        with self._reading(f"a verification of study {study.name!r}"):
            rows = self._db.execute(
                "SELECT * FROM verification WHERE study_id = ? ORDER BY id", (study.id,)
            )
            return [verification_of(row) for row in rows]

    def read_evidence(self, trial: StoredTrial, name: str) -> str | None:
        """The text of a file that was kept with a trial, or None; UserError if it is damaged."""
        return read_kept(self.evidence / trial.evidence, name)

    def evidence_files(self, trial: StoredTrial) -> dict[str, Path]:
        """The files that were kept with a trial, by their names; each is compressed."""
        return kept_files(self.evidence / trial.evidence)

    def sweep_evidence(self, study: StoredStudy) -> None:
        """Remove the folders of trials that were cut off before their row was written."""
        sweep_drafts(self.evidence / study.name)
        with self._reading(f"a trial of study {study.name!r}"):
            rows = self._db.execute("SELECT evidence FROM trial WHERE study_id = ?", (study.id,))
            kept = {Path(row["evidence"]).name for row in rows}
        for path in (self.evidence / study.name).glob("[0-9]*"):
            if path.name not in kept:
                with suppress(UserError):  # it has no marker: somebody else has put it there
                    remove_workdir(path)

    def _write(self, statement: str, values: tuple[Any, ...] | dict[str, Any]) -> None:
        with self._kept():
            self._db.execute(statement, values)

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Raise UserError for rows that are damaged, or that lsmtune cannot have written."""
        try:
            yield
        except sqlite3.ProgrammingError:  # not the file's fault
            raise
        except (sqlite3.DatabaseError, ValueError, TypeError, LookupError, UserError) as error:
            raise self._error(
                f"cannot read {what} in {DATABASE}: {problem_of(error)}; the file is damaged or "
                "was changed by another program",
            ) from error

    @contextmanager
    def _kept(self) -> Iterator[None]:
        self.check_is_there()  # SQLite goes on writing to a file that was removed
        try:
            self._make_writable()
            yield
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):  # a bug, not the disk's fault
            raise
        except (OSError, sqlite3.DatabaseError) as error:
            if isinstance(error, OSError) and error.errno not in _DISK_ERRORS:
                raise
            text = f"cannot write to this folder: {reason_of(error)}"
            raise self._error(text, LsmtuneError) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all changes of the block to the database, or none."""
        with self._kept():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise

    def _make_writable(self) -> None:
        if not self._writes:
            self._db.close()
            self._db = open_to_write(self.path / DATABASE)
            self._writes = True

    def count_runs(self, study: StoredStudy) -> int:
        """The number of runs of a study, which is also the number of the next one."""
        with self._reading(f"study {study.name!r}"):
            row = self._db.execute(
                "SELECT COALESCE(MAX(number) + 1, 0) AS number FROM trial WHERE study_id = ?",
                (study.id,),
            ).fetchone()
            return whole(row, "number")


def keep_files(folder: Path, trial: NewTrial, files: Mapping[str, Path]) -> None:
    """Write what the engine was given, and copies of the files, into the folder."""
    (folder / "spec.json").write_text(trial.spec.model_dump_json(indent=1))
    for name, path in files.items():
        if path.suffix == _ZIPPED:
            shutil.copyfile(path, folder / f"{name}{_ZIPPED}")
            continue
        with (
            path.open("rb") as source,
            closing(gzip.open(folder / f"{name}{_ZIPPED}", "wb", _ZIPPED_LEVEL)) as target,
        ):
            shutil.copyfileobj(source, target)


def read_kept(folder: Path, name: str) -> str | None:
    """Return the text of a kept file, or None; UserError if it is damaged or a link."""
    path = folder / f"{name}{_ZIPPED}"
    for place in (folder, path):
        refuse_link(place)
    if not path.is_file():
        return None
    try:
        with gzip.open(path, "rt", errors="replace") as file:
            return file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: the file is damaged: {error}") from error


def kept_files(folder: Path) -> dict[str, Path]:
    """Return the kept files by their names; each is compressed."""
    return {path.name.removesuffix(_ZIPPED): path for path in folder.glob(f"*{_ZIPPED}")}
