"""The database file of a home: its tables, and how it is opened.

It is opened for reading, and changed only by what changes a study.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from lsmtune.errors import Argument, UserError

APPLICATION_ID = 0x6C736D74
"""The number in the header of an SQLite file that says it is a database of lsmtune ("lsmt")."""

FORMAT = 11
"""The number of this format, in the header of the file.

One lsmtune reads one format: no study of weeks ago is worth migrations and old rules of judging.
"""

LAST_READER = "lsmtune 0.2.0 (commit dff3aab2)"
"""The last version that reads the formats before this one."""

_SCHEMA = """
    CREATE TABLE study (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created_at TEXT NOT NULL,
        spec TEXT NOT NULL,          -- JSON of the settings
        engine TEXT NOT NULL,        -- JSON of what the engine says of itself, and of the baseline
        host TEXT NOT NULL,          -- JSON of the facts of the machine
        limits TEXT NOT NULL,        -- JSON of the limits by which the study is judged
        rule TEXT,                   -- JSON of the rule of sizes, NULL for published studies
        rate REAL,                   -- operations per second of a running store
        ended TEXT,                  -- why the search has ended, in words, NULL while it goes on
        simplified TEXT              -- JSON of the simplification, NULL before it
    );
    CREATE TABLE verification (
        id INTEGER PRIMARY KEY,
        study_id INTEGER NOT NULL REFERENCES study (id),
        created_at TEXT NOT NULL,
        best_trial INTEGER NOT NULL, -- number of the trial that is verified
        scale TEXT NOT NULL,
        workload TEXT NOT NULL,      -- JSON
        rate REAL,                   -- another rate than that of the study
        raw_trial INTEGER,           -- number of the winner before its simplification
        rehearsals TEXT              -- JSON of the rehearsals, by the number of the trial
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
        host TEXT,                   -- NULL for runs of this process
        attempt TEXT,                -- its name on the host
        asked TEXT,                  -- JSON: what the optimizer knew when it asked
        UNIQUE (study_id, number)
    );
    CREATE TABLE open_run (          -- the attempts that are under way on hosts
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
    CREATE TABLE lost_run (          -- the attempts that hosts lost: each once, with its last loss
        attempt TEXT PRIMARY KEY,
        study_id INTEGER NOT NULL REFERENCES study (id),
        host TEXT NOT NULL,
        role TEXT NOT NULL,
        started_at TEXT NOT NULL,
        ended_at TEXT NOT NULL,      -- when it was known to be lost
        reason TEXT NOT NULL,
        back_at TEXT                 -- when its host came back with it, if it did
    );
"""


def _create(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty file."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if _is_empty(connection):  # otherwise another process has made them meanwhile
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether the file has nothing: it is new, or was cut off while it was made."""
    # One statement, so that all facts are from before or after a change of another process.
    ident, version, names = connection.execute(_FACTS).fetchone()
    return ident == version == 0 and not names


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

    An empty file is one that another process makes now, or was killed while it made it. It has no
    study. UserError if lsmtune did not make the file, or made it in another format; sqlite3.Error
    if the file is damaged.
    """
    connection = _connect(database)
    try:
        if _is_empty(connection):
            connection.close()
            connection = _open(":memory:")
            _create(connection)
        _check_is_ours(connection, database)
        # In its own read-only mode, SQLite leaves files in the folder when it closes the database.
        connection.execute("PRAGMA query_only = ON")
    except BaseException:
        connection.close()  # it may hold a lock
        raise
    return connection


def open_to_write(database: Path) -> sqlite3.Connection:
    """Open the database of a home, or make it.

    UserError if lsmtune did not make the file, or made it in another format; sqlite3.Error if the
    file is damaged or cannot be written.
    """
    connection = _connect(database)
    try:
        if _is_empty(connection):
            _create(connection)
        _check_is_ours(connection, database)
        with suppress(sqlite3.OperationalError):  # another one is opening it, and does the same
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close()  # it may hold a lock
        raise
    return connection


def _connect(database: Path) -> sqlite3.Connection:
    return _open(_uri(database))


def _open(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, timeout=_BUSY_S, isolation_level=None)
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
    """Raise UserError if another program made the database, or another lsmtune in another format.

    The first homes of lsmtune have no application id; their tables tell.
    """
    ident, version, names = connection.execute(_FACTS).fetchone()
    if ident != APPLICATION_ID and not (ident == 0 and {*(names or "").split(",")} >= _TABLES):
        raise UserError(
            f"{database}: lsmtune did not make this database; name a new or empty folder with ",
            Argument("home"),
        )
    reads = f"wrote this file in format {version}, and this lsmtune reads only format {FORMAT}"
    if version > FORMAT:
        raise UserError(f"{database}: a newer lsmtune {reads}; upgrade lsmtune")
    if version < FORMAT:
        raise UserError(
            f"{database}: an older lsmtune {reads}; read it with {LAST_READER}, or name a new "
            "folder with ",
            Argument("home"),
        )


def file_identity(file: Path) -> tuple[int, int]:
    """Return device and inode of a file; they change when another file replaces it."""
    facts = file.stat()
    return facts.st_dev, facts.st_ino


def reason_of(error: OSError | sqlite3.Error) -> str:
    """Return why the database could not be used."""
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
