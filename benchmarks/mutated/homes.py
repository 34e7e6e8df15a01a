"""Readers of a home: its database as bytes and by cells, and the evidence of trials."""

import random
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

from fakes.made_home import make_home
from lsmtune.store.home import Home
from mutated.mutations import mutated
from mutated.reader import Reader, commands, write_file

_DATABASE = "lsmtune.sqlite3"
_STUDIES = ("finished", "verified", "front", "server", "cluster")
_FORMATS = {"server": "my.cnf", "cluster": "tikv-toml"}
_AS_BYTES = 0.05
"""Share of the damaged cells that are bytes instead of text."""


@cache
def _made() -> Path:
    """Return a home that is made once per process."""
    return make_home(Path(tempfile.mkdtemp()) / "home")


def stored_home(folder: Path) -> Path:
    """Return a copy of the made home, one per folder."""
    home = folder / "stored"
    if not home.exists():
        shutil.copytree(_made(), home)
    return home


def _opened(data: bytes, folder: Path) -> None:
    """Show the study of a database, and one more thing of it: together they take long."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    for left in home.iterdir():
        left.unlink()
    write_file(data, home, _DATABASE)
    study = next((name for name in _STUDIES if f"{name}/0".encode() in data), "verified")
    flags = ("--home", home)
    others: tuple[tuple[str | Path, ...], ...] = (
        ("studies", *flags),
        ("show", study, *flags, "--json"),
        ("trials", study, *flags),
        ("export", study, *flags, "--format", _FORMATS.get(study, "db_bench"), "--trial", "1"),
        ("report", study, *flags, "-o", folder / "page.html"),
    )
    commands(("show", study, *flags), others[crc32(data) % len(others)])


_CELLS = (
    ("study", "name"), ("study", "spec"), ("study", "spec"), ("study", "engine"),
    ("study", "engine"), ("study", "host"), ("study", "created_at"), ("study", "ended"),
    ("trial", "number"), ("trial", "role"), ("trial", "config"), ("trial", "spec"),
    ("trial", "result"), ("trial", "result"), ("trial", "started_at"), ("trial", "duration_s"),
    ("trial", "evidence"), ("trial", "pair"), ("verification", "workload"),
    ("verification", "scale"), ("verification", "best_trial"),
)  # fmt: skip


def _changed_cell(seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """Return a database in which one cell is damaged; all else is as lsmtune wrote it."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(rng.choice(seeds))
        table, column = rng.choice(_CELLS)
        rows = database.execute(f"SELECT rowid, {column} FROM {table}").fetchall()  # noqa: S608
        if not rows:
            return database.serialize()
        row, value = rng.choice(rows)
        text = mutated(str(value).encode(), rng)
        stored: Any = text if rng.random() < _AS_BYTES else text.decode("utf-8", "replace")
        with suppress(sqlite3.Error):  # a value that the table itself refuses
            database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (stored, row))  # noqa: S608
        database.commit()
        return database.serialize()


def _stored_database() -> bytes:
    return (_made() / _DATABASE).read_bytes()


def _single_studies() -> list[bytes]:
    """Return a database for each study, without the other studies."""
    return [_only(study) for study in _STUDIES]


def _only(study: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(_stored_database())
        chosen = "(SELECT id FROM study WHERE name = ?)"
        for table in ("trial", "verification"):
            database.execute(f"DELETE FROM {table} WHERE study_id NOT IN {chosen}", (study,))  # noqa: S608
        database.execute("DELETE FROM study WHERE name != ?", (study,))
        database.commit()
        database.execute("VACUUM")
        return database.serialize()


def _evidence(data: bytes, folder: Path) -> None:
    home = stored_home(folder)
    path = home / "evidence" / "verified" / "00001" / "script.txt.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    with Home(home, create=False) as opened:
        for trial in opened.trials(opened.study("verified")):
            opened.read_evidence(trial, "script.txt")


def _evidence_text() -> list[bytes]:
    return [(_made() / "evidence" / "verified" / "00001" / "script.txt.gz").read_bytes()]


READERS = {
    "home_database": Reader(_opened, _single_studies),
    "home_rows": Reader(_opened, _single_studies, make=_changed_cell),
    "home_evidence": Reader(_evidence, _evidence_text),
}
