"""The database file of a home: opened for reading, and changed only by what changes a study."""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from lsmtune.errors import Argument, UserError
from lsmtune.store.migrations import APPLICATION_ID, check_version, is_newest, migrate

DATABASE = "lsmtune.sqlite3"

_BUSY_S = 30.0
_TABLES = frozenset({"study", "trial", "verification"})
_FACTS = """
    SELECT application_id, user_version,
    (SELECT group_concat(name) FROM sqlite_master WHERE type = 'table')
    FROM pragma_application_id, pragma_user_version
"""


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
