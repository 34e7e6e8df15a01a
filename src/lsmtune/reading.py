"""Reading of files that users name: regular files of a bounded size, and their TOML and JSON."""

import gzip
import json
import stat
import sys
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from lsmtune.errors import UserError

_MIB = 1 << 20
MOST_BYTES = 256 * _MIB
"""Maximum size of a file that lsmtune reads as a whole."""
_MOST_LEVELS = 100
_MOST = 1e300
"""Maximum size of an integer: a float has about 1.8e308 as maximum."""
_TOO_LONG = "a number has too many digits"
GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""
_TOO_DEEP = "lists or tables are nested too deeply"


def check_regular(path: Path, where: str) -> None:
    """Raise UserError if the path is not a regular file: a pipe or a device may never end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UserError(where, f": cannot read the file: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe, a device or a socket"
        raise UserError(where, f": {kind}; name a regular file")


def read_text(path: Path, where: str, most_bytes: int = MOST_BYTES) -> str:
    """Return the text of a regular file in UTF-8, plain or gzip, of at most so many bytes.

    UserError that begins with `where` otherwise.
    """
    check_regular(path, where)
    try:
        with path.open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            with gzip.open(file) if packed else nullcontext(file) as unpacked:
                content = unpacked.read(most_bytes + 1)
        if len(content) > most_bytes:
            raise UserError(where, f": the file is larger than {most_bytes // _MIB} MiB")
        return content.decode("utf-8")
    except (EOFError, zlib.error) as error:
        raise UserError(where, ": the gzip file is truncated or damaged") from error
    except OSError as error:
        why = error.strerror or "the gzip file is truncated or damaged"
        raise UserError(where, f": cannot read the file: {why}") from error
    except UnicodeDecodeError as error:
        raise UserError(where, ": the file is not a text file in UTF-8") from error


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the document of a TOML text; UserError that begins with `where` if it is not TOML."""
    try:
        document: dict[str, Any] = _checked_depth(tomllib.loads(text), where)
    except tomllib.TOMLDecodeError as error:
        raise UserError(where, f": not a TOML file: {error}") from error
    except (RecursionError, ValueError, OverflowError) as error:
        raise UserError(where, f": {_too_large(error)}") from None
    if any("\0" in part for part in _texts(document)):  # no path and no argument can have it
        raise UserError(where, ": a text contains the character U+0000; remove this character")
    return document


def parse_json(text: str, where: str) -> Any:
    """Return the document of a JSON text; UserError that begins with `where` if it is not JSON."""
    try:
        return _checked_depth(json.loads(text, object_pairs_hook=_shared_names), where)
    except json.JSONDecodeError as error:
        raise UserError(where, f": invalid JSON: {error.msg}") from error
    except (RecursionError, ValueError, OverflowError) as error:
        raise UserError(where, f": {_too_large(error)}") from None


def _shared_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the table. Equal names of many texts are one object, else they are half of memory."""
    return {sys.intern(name): value for name, value in pairs}


def _checked_depth(document: Any, where: str) -> Any:
    """Return the document; UserError if it is too deep or an integer is too large for a float.

    What works on the document later calls itself for each level: at most 100.
    """
    level = [document]
    for _ in range(_MOST_LEVELS):
        if any(isinstance(part, int) and abs(part) > _MOST for part in level):
            raise UserError(where, f": {_TOO_LONG}")
        level = [part for value in level for part in _parts(value)]
        if not level:
            return document
    raise UserError(where, f": {_TOO_DEEP}")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in _parts(value):
        yield from _texts(part)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_large(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return _TOO_LONG
