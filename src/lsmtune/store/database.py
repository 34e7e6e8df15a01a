"""The database file of a home: how it is opened, and the steps that bring it to this format.

It is opened for reading, and changed only by what changes a study.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from lsmtune.errors import Argument, UserError

APPLICATION_ID = 0x6C736D74
"""The number in the header of an SQLite file that says it is a database of lsmtune ("lsmt")."""

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE study (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL,
        spec TEXT NOT NULL,          -- JSON of the study's settings
        engine TEXT NOT NULL,        -- JSON of what the engine says of itself
        host TEXT NOT NULL           -- JSON of the machine's facts
    );
    CREATE TABLE verification (
        id INTEGER PRIMARY KEY,
        study_id INTEGER NOT NULL REFERENCES study (id),
        created_at TEXT NOT NULL,
        best_trial INTEGER NOT NULL, -- number of the trial that is verified
        scale TEXT NOT NULL,
        workload TEXT NOT NULL       -- JSON
    );
    CREATE TABLE trial (
        id INTEGER PRIMARY KEY,
        study_id INTEGER NOT NULL REFERENCES study (id),
        number INTEGER NOT NULL,     -- counts up within the study
        role TEXT NOT NULL,
        verification_id INTEGER REFERENCES verification (id),
        pair INTEGER,                -- within the verification
        config TEXT NOT NULL,        -- JSON of the tuned knobs
        spec TEXT NOT NULL,          -- JSON of all that the engine was given
        result TEXT NOT NULL,        -- JSON: status, reason, measurement
        started_at TEXT NOT NULL,
        duration_s REAL NOT NULL,
        evidence TEXT NOT NULL,      -- folder below the home's evidence folder
        UNIQUE (study_id, number)
    );
    """,
    # The preset that was called "all" when there were no more knobs is "core" now.
    """
    UPDATE study SET spec = json_set(spec, '$.knobs', 'core')
    WHERE json_extract(spec, '$.knobs') = 'all';
    """,
    # Why the search has ended, in words; NULL while it goes on.
    """
    ALTER TABLE study ADD COLUMN ended TEXT;
    """,
    # The limits by which the study is judged, as JSON; NULL for studies of lsmtune 0.2 and
    # older, which had other default limits and another rule.
    """
    ALTER TABLE study ADD COLUMN constraints TEXT;
    """,
    # The preset "core" of RocksDB lost the options that production systems leave alone.
    """
    UPDATE study SET spec = json_set(spec, '$.knobs', 'core-0.2')
    WHERE json_extract(spec, '$.knobs') = 'core'
    AND coalesce(json_extract(spec, '$.engine'), 'rocksdb') IN ('rocksdb', 'simulated');
    """,
    # The rule by which the study sizes its trials, as JSON; NULL for studies of lsmtune 0.2 and
    # older, and for published ones.
    """
    ALTER TABLE study ADD COLUMN rule TEXT;
    """,
    # The result of a simplification, as JSON; NULL before it. And the trial that it began with,
    # which also runs in a verification of the simple config.
    """
    ALTER TABLE study ADD COLUMN simplified TEXT;
    ALTER TABLE verification ADD COLUMN raw_trial INTEGER;
    """,
    # Many hosts: where a trial ran, in which attempt, and what the optimizer knew when it asked
    # (JSON: the number of stored runs, and the pending configs). NULL for runs of this process.
    # And the attempts that are under way on hosts.
    """
    ALTER TABLE trial ADD COLUMN host TEXT;
    ALTER TABLE trial ADD COLUMN attempt TEXT;
    ALTER TABLE trial ADD COLUMN asked TEXT;
    CREATE TABLE open_run (
        attempt TEXT PRIMARY KEY,
        study_id INTEGER NOT NULL REFERENCES study (id),
        host TEXT NOT NULL,
        role TEXT NOT NULL,
        config TEXT NOT NULL,        -- JSON of the tuned knobs
        spec TEXT NOT NULL,          -- JSON of all that the engine was given, with the seed
        task TEXT NOT NULL,          -- JSON of what else is needed to run it again
        asked TEXT NOT NULL,         -- JSON, as that of a trial
        started_at TEXT NOT NULL
    );
    """,
    # The attempts that hosts lost: each once, with its last loss.
    """
    CREATE TABLE lost_run (
        attempt TEXT PRIMARY KEY,
        study_id INTEGER NOT NULL REFERENCES study (id),
        host TEXT NOT NULL,
        role TEXT NOT NULL,
        started_at TEXT NOT NULL,
        ended_at TEXT NOT NULL,      -- when it was known to be lost
        reason TEXT NOT NULL,
        back_at TEXT                 -- when its host came back with it (NULL: it did not)
    );
    """,
    # The rehearsals of the files of a verification, as JSON by the number of the trial.
    """
    ALTER TABLE verification ADD COLUMN rehearsals TEXT;
    """,
)


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise UserError if a newer lsmtune made the database."""
    if (version := _version(connection)) > len(MIGRATIONS):
        raise UserError(
            f"{path}: a newer lsmtune wrote this file in format {version}, and this lsmtune reads "
            f"only formats up to {len(MIGRATIONS)}; upgrade lsmtune"
        )


def is_newest(connection: sqlite3.Connection) -> bool:
    """Return whether the database has the newest format."""
    return _version(connection) == len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the database to the newest version; UserError when it is newer than this lsmtune."""
    while (version := _version(connection)) != len(MIGRATIONS):
        check_version(connection, path)
        _step(connection, version)
    # Homes of lsmtune 0.2 and older have none.
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _step(connection: sqlite3.Connection, version: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _version(connection) == version:  # otherwise another process has done it meanwhile
            for statement in MIGRATIONS[version].split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {version + 1}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


DATABASE = "lsmtune.sqlite3"

_BUSY_S = 30.0
_TABLES = frozenset({"study", "trial", "verification"})
_FACTS = """
    SELECT application_id, user_version,
    (SELECT group_concat(name) FROM sqlite_master WHERE type = 'table')
    FROM pragma_application_id, pragma_user_version
"""


def is_home(path: Path) -> bool:
    """Whether the folder is one in which studies are kept."""
    return (path / DATABASE).is_file()


def check_writable(path: Path) -> None:
    """Raise UserError if lsmtune cannot write to the folder, or cannot make it."""
    place = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
    if place.is_dir() and not os.access(place, os.W_OK | os.X_OK):
        raise UserError(
            Argument("home", path),
            f": lsmtune cannot write to the folder {place}; name another folder, or "
            "change the permissions of this one",
        )


def open_to_read(database: Path) -> sqlite3.Connection:
    """Open the database of a home without changing its tables and rows.

    A database in an older format is read through a copy in memory. UserError if lsmtune did not
    make the file or a newer lsmtune made it; sqlite3.Error if the file is damaged.
    """
    connection = _connect(database)
    try:
        # In its own read-only mode, SQLite leaves files in the folder when it closes the database.
        connection.execute("PRAGMA query_only = ON")
        _check_is_ours(connection, database)
        check_version(connection, database)
        if is_newest(connection):
            return connection
        copy = sqlite3.connect(":memory:", isolation_level=None)
        try:
            copy.row_factory = sqlite3.Row
            connection.backup(copy)
            migrate(copy, database)
            copy.execute("PRAGMA query_only = ON")
        except BaseException:
            copy.close()
            raise
        connection.close()
        return copy
    except BaseException:
        connection.close()  # it may hold a lock
        raise


def open_to_write(database: Path) -> sqlite3.Connection:
    """Open the database of a home, or make it, in the newest format.

    UserError if lsmtune did not make the file or a newer lsmtune made it; sqlite3.Error if the
    file is damaged or cannot be written.
    """
    connection = _connect(database)
    try:
        connection.execute("PRAGMA query_only = ON")
        _check_is_ours(connection, database)
        connection.execute("PRAGMA query_only = OFF")
        migrate(connection, database)
        with suppress(sqlite3.OperationalError):  # another one is opening it, and does the same
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()  # it may hold a lock
        raise
    return connection


def _connect(database: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(_uri(database), uri=True, timeout=_BUSY_S, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _uri(database: Path) -> str:
    """Return the address of the database: read-only if SQLite cannot make files in its folder."""
    if os.access(database.parent, os.W_OK):
        return database.as_uri()
    # What is in the write-ahead log, of a process that was killed or still runs, must be read too.
    alone = not database.with_name(f"{database.name}-wal").exists()
    return f"{database.as_uri()}?{'immutable=1' if alone else 'mode=ro'}"


def _check_is_ours(connection: sqlite3.Connection, database: Path) -> None:
    """Raise UserError for a database of another program.

    Homes of lsmtune 0.2 and older have no application id; their tables tell. One that was cut off
    while it was made has nothing at all.
    """
    # One statement, so that all facts are from before or after a change of another process.
    ident, version, names = connection.execute(_FACTS).fetchone()
    tables = set((names or "").split(","))
    is_empty = not names and version == 0
    if ident == APPLICATION_ID or (ident == 0 and (is_empty or tables >= _TABLES)):
        return
    raise UserError(
        f"{database}: lsmtune did not make this database; name a new or empty folder with ",
        Argument("home"),
    )


def file_identity(file: Path) -> tuple[int, int]:
    """Return device and inode of a file; they change when another file replaces it."""
    facts = file.stat()
    return facts.st_dev, facts.st_ino


def reason_of(error: OSError | sqlite3.Error) -> str:
    """Return why the database could not be used."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
