"""Kinds of files with options, and which engine reads which kind."""

import re
from typing import Literal

from lsmtune.errors import UserError

FileKind = Literal["OPTIONS file", "my.cnf", "tikv.toml", "LOG"]

_KINDS: tuple[tuple[FileKind, re.Pattern[str]], ...] = (
    ("OPTIONS file", re.compile(r"^\s*\[(?:DBOptions|CFOptions)", re.MULTILINE)),
    ("tikv.toml", re.compile(
        r"^\s*\[(?:rocksdb|raftdb|raft-engine|raftstore|storage|coprocessor)[.\]]", re.MULTILINE)),
    ("my.cnf", re.compile(r"^\s*\[(?:mysqld|mariadbd?|server)\b", re.MULTILINE | re.IGNORECASE)),
    ("LOG", re.compile(r"^\d{4}/\d\d/\d\d-\d\d:\d\d:\d\d", re.MULTILINE)),
)  # fmt: skip
_READ_BY: dict[FileKind, tuple[str, ...]] = {
    "OPTIONS file": ("rocksdb", "simulated"), "my.cnf": ("myrocks",), "tikv.toml": ("tikv",),
}  # fmt: skip


def file_kind(text: str) -> FileKind | None:
    """Return the kind of a file by what it contains; None if it is none of these."""
    return next((kind for kind, sign in _KINDS if sign.search(text)), None)


def check_readable(text: str, path: str, engine: str) -> None:
    """Raise UserError if the base is a kind of file that another engine reads.

    An engine without a base refuses every file itself.
    """
    if not any(engine in engines for engines in _READ_BY.values()):
        return
    kind = file_kind(text)
    if kind == "LOG":
        raise UserError(
            f"base: {path}: this file is a LOG; `lsmtune inspect {path} --to-study FILE` writes a "
            "study with the options of the LOG"
        )
    if kind is not None and engine not in _READ_BY[kind]:
        raise UserError(
            f"base: {path}: this file is a{'n' if kind[0] in 'AEIO' else ''} {kind}; add "
            f"--engine {_READ_BY[kind][0]}"
        )
